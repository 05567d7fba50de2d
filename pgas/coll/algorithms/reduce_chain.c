/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_chain.c - large reductions on one node as a pipelined chain or tree: each PE
 * combines its elements with the partial results of its children, the root of the chain
 * or tree has the result, and all other PEs copy it from there.  The data is pipelined in
 * segments.
 *
 * Three shapes:
 *  - chain, in arrival order: each PE combines with its predecessor, so one step remains
 *    when the last PE arrives.  (Mohammadalizadehbakhtevari 2021, algorithm 5.1 and
 *    "PAP+Bcast", over symmetric memory: without messages and without an array of ranks.)
 *  - tree, in arrival order: in each pair of subtrees the later arriver is the parent.
 *    If the PEs arrive together this takes log2 n steps in place of n - 1; the last
 *    arriver has log2 n steps left.  (Proposed there as future work.)
 *  - static: the same tree in PE order, independent of the arrival order.
 * Uses: arrival, mailbox, reduce_int, datatype.
 *
 * The partial result of a PE is in its dest, from which its parent reads it; the
 * contribution of a leaf is read from its source.
 *
 * Invariants.  No PE enters the next call before all PEs have entered this one.  When the
 * root has the result, all cells of `order` have been read (arrival.c).  `parts` of a PE
 * is the number of segments of its dest that its parent may read.  A PE overwrites a
 * segment of its dest with the result only after the root has the result of that segment,
 * so all partial results of that segment have been read.  The root returns after all
 * other PEs have copied from its dest.
 */
#include "config.h"

#include "pgas/coll/sync/arrival.h"
#include "pgas/coll/sync/mailbox.h"
#include "pgas/coll/algorithms/reduce_int.h"
#include "pgas/datatype/copy.h"

enum {
    SEGMENT_BYTES = 32 * 1024, /* at least */
    SEGMENTS_MAX = 1 << 15,
    SOURCES_MAX = 64, /* children of a PE: at most 2 log2 npes */
};
_Static_assert((int)SEGMENTS_MAX < (int)MAILBOX_PARTS, "segment number fits `parts`");

/* ---- segments -------------------------------------------------------------------- */

/* Number of elements of the segment that starts at element `first`. */
static size_t reduce_chain_segment_at(const struct reduce_job *j, size_t first)
{
    size_t most = (SEGMENT_BYTES + reduce_bytes(j) / SEGMENTS_MAX) / j->size;

    return j->n - first < most ? j->n - first : most;
}

/* The children of a PE, in the order in which it combines them. */
struct sources {
    int n;
    struct {
        int pe;
        const char *data; /* symmetric address: its source, or its dest */
    } of[SOURCES_MAX];
};

/* Combine one segment of all children with this PE's elements. */
static void reduce_chain_add_segment(const struct reduce_job *j, const struct mailbox *b,
                                     const struct sources *s, uint64_t segment, size_t at,
                                     size_t n)
{
    for (int k = 0; k < s->n; k++) {
        int pe = s->of[k].pe;
        mailbox_await_parts(b, pe, segment + 1);
        const char *theirs = reduce_at(j, s->of[k].data + at, n * j->size, pe);
        if (k == 0)
            j->op->three(j->dest + at, theirs, j->source + at, n);
        else
            j->op->two(j->dest + at, theirs, n);
    }
}

static void reduce_chain_add_mine(const struct reduce_job *j, const struct mailbox *b,
                                  const struct sources *s)
{
    uint64_t segment = 0;

    if (s->n == 0) {
        mailbox_publish_parts(b, MAILBOX_PARTS - 1); /* leaf: its source */
        return;
    }
    for (size_t first = 0, n; first < j->n; first += n) {
        n = reduce_chain_segment_at(j, first);
        reduce_chain_add_segment(j, b, s, segment++, first * j->size, n);
        mailbox_publish_parts(b, segment);
    }
}

static void reduce_chain_copy_result(const struct reduce_job *j, const struct mailbox *b,
                                     int root)
{
    uint64_t segment = 0;

    for (size_t first = 0, n; first < j->n; first += n) {
        size_t at = first * j->size;
        n = reduce_chain_segment_at(j, first);
        mailbox_await_parts(b, root, ++segment);
        copy_bytes(j->dest + at, reduce_at(j, j->dest + at, n * j->size, root),
                   n * j->size);
    }
}

/* ---- chain ----------------------------------------------------------------------- */

/* The root waits until all other PEs have copied the result. */
static void reduce_chain_end(const struct reduce_job *j, struct mailbox *b, int root)
{
    if (j->team->me == root)
        mailbox_await_all_closed(b);
    else
        reduce_chain_copy_result(j, b, root);
    mailbox_close(b);
}

void reduce_chain(const struct reduce_job *j)
{
    struct mailbox b = mailbox_open(j->team, 0, j->fn);
    struct arrival p = arrival_enter(&b);
    struct sources s = {.n = p.before >= 0};

    s.of[0].pe = p.before;
    s.of[0].data = p.position == 1 ? j->source : j->dest;
    if (p.position == j->team->npes - 1)
        mailbox_release(&b);
    reduce_chain_add_mine(j, &b, &s);
    reduce_chain_end(j, &b, mailbox_await_release(&b));
}

/* ---- trees ----------------------------------------------------------------------- */

/*
 * Positions count from 1 here (as in a Fenwick tree).  Let low(p) be the lowest set bit
 * of p.  The PE at position p combines the contributions of positions p - low(p) + 1 ..
 * p, so its children are p - d for d = 1, 2, 4, .. < low(p).  The last position p = npes
 * also combines the subtrees before it: q = p - low(p), then q - low(q), and so on while
 * q > 0.
 */
static int reduce_chain_low(int p)
{
    return p & -p;
}

static void reduce_chain_add_source(const struct reduce_job *j, struct sources *s, int p,
                                    int pe)
{
    s->of[s->n].pe = pe;
    s->of[s->n++].data = p % 2 != 0 ? j->source : j->dest;
}

typedef int (*pe_at)(const struct mailbox *b, int p);

static int reduce_chain_pe_by_order(const struct mailbox *b, int p)
{
    (void)b;
    return p - 1;
}

static int reduce_chain_pe_by_arrival(const struct mailbox *b, int p)
{
    return arrival_pe(b, p - 1);
}

/* The children that are likely to be ready first are combined first. */
static struct sources reduce_chain_sources_of(const struct reduce_job *j,
                                              const struct mailbox *b, int p, pe_at pe)
{
    struct sources s = {.n = 0};

    for (int q = p - reduce_chain_low(p); p == j->team->npes && q > 0;
         q -= reduce_chain_low(q))
        reduce_chain_add_source(j, &s, q, pe(b, q));
    for (int d = reduce_chain_low(p) / 2; d > 0; d /= 2)
        reduce_chain_add_source(j, &s, p - d, pe(b, p - d));
    return s;
}

void reduce_tree(const struct reduce_job *j)
{
    struct mailbox b = mailbox_open(j->team, 0, j->fn);
    int p = arrival_enter(&b).position + 1;

    arrival_publish(&b, p - 1);
    if (p == j->team->npes)
        mailbox_release(&b);
    struct sources s = reduce_chain_sources_of(j, &b, p, reduce_chain_pe_by_arrival);
    reduce_chain_add_mine(j, &b, &s);
    reduce_chain_end(j, &b, mailbox_await_release(&b));
}

void reduce_static(const struct reduce_job *j)
{
    struct mailbox b = mailbox_open(j->team, 0, j->fn);
    struct sources s =
        reduce_chain_sources_of(j, &b, j->team->me + 1, reduce_chain_pe_by_order);

    reduce_chain_add_mine(j, &b, &s);
    reduce_chain_end(j, &b, j->team->npes - 1);
}
