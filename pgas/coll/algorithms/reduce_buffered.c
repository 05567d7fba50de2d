/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_buffered.c - large rooted reductions on one node as a buffered chain in arrival
 * order: as reduce_chain.c, but a PE returns as soon as it has buffered its partial
 * results.  (Mohammadalizadehbakhtevari 2021, algorithm 5.1; there a PE waits until its
 * successor has read them.)  The ring buffers are scratch memory; in the first call of a
 * team all PEs exchange their offsets (scratch_of_pes).
 *
 * Each PE except the last arriver combines its elements with the partial result of its
 * predecessor, segment by segment, into its ring buffer, and
 * returns; its source may then be modified.  The last arriver writes the result to the
 * root's dest.  If a call has more segments than the ring buffer has entries
 * (REDUCE_ENTRIES), a PE waits until its successor has read the segment that occupies the
 * entry.
 *
 * Invariants.
 * - Segments are numbered from 1 across all rooted chains of the team.  Segment q is the
 *   same on all PEs, and occupies entry q % REDUCE_ENTRIES.
 * - `filled` of an entry is the number of the segment in it; `freed` is the number of the
 *   last segment that was read from it.  A PE overwrites an entry only if `freed` is the
 *   segment that it last stored there.  (A PE does not store all segments: the last
 *   arriver of a call stores none.)
 * - All segments that a PE stores in one call are read by one PE, and the next segment is
 *   stored in an entry only after the previous one was freed; so `freed` has one writer
 *   at a time.
 * - Up to MAILBOX_SLOTS calls may be in progress.  The `queue` word of a call is reused
 * only after all PEs have ended that call (mailbox.c).
 * - The root's dest is written only after all PEs, including the root, have arrived.  It
 *   may be the root's source; by the time a segment of it is written, that segment of the
 *   source has been read.
 * Uses: arrival, mailbox, reduce_int, core/check, datatype.
 */
#include "config.h"

#include "pgas/coll/sync/arrival.h"
#include "pgas/coll/sync/mailbox.h"
#include "pgas/coll/algorithms/reduce_int.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/check/check.h"
#include "pgas/core/base/stress.h"
#include "pgas/datatype/copy.h"

struct mailbox reduce_open_ahead(const struct reduce_job *j, char **slot)
{
    struct mailbox b = mailbox_open(j->team, MAILBOX_SLOT_BYTES, j->fn);

    *slot = mailbox_own(&b);
    return b;
}

struct arrival reduce_arrive_ahead(const struct mailbox *b)
{
    return arrival_at(&node_words(b->team, 0)->reduce.queue[b->call % MAILBOX_SLOTS].tail,
                      b);
}

/* A segment; its entry of the ring buffer is number % REDUCE_ENTRIES on each PE. */
struct part {
    uint64_t number;
    size_t at, n; /* byte offset, number of elements */
};

static size_t reduce_buffered_index_of(const struct part *p)
{
    return p->number % REDUCE_ENTRIES;
}

static struct reduce_entry *reduce_buffered_entry_of(const struct mailbox *b, int i,
                                                     const struct part *p)
{
    return &node_words(b->team, i)->reduce.entry[reduce_buffered_index_of(p)];
}

static char *reduce_buffered_data_of(const struct mailbox *b, int i, const struct part *p)
{
    const char *here = scratch_at(&b->team->coll->reduce.ring, i,
                                  reduce_buffered_index_of(p) * REDUCE_ENTRY_BYTES);

    return peer_at(here, REDUCE_ENTRY_BYTES, team_world_pe(b->team, i), b->fn);
}

static size_t reduce_buffered_offset_of(const struct part *p)
{
    return offsetof(struct node_words, reduce.entry) +
           reduce_buffered_index_of(p) * sizeof(struct reduce_entry);
}

/* ---- producer -------------------------------------------------------------------- */

/* Wait until the entry is free.  The producer need not know which PE is the reader. */
static char *reduce_buffered_acquire(const struct mailbox *b, const struct part *p)
{
    mailbox_wait_own(b,
                     reduce_buffered_offset_of(p) + offsetof(struct reduce_entry, freed),
                     b->team->coll->reduce.stored[reduce_buffered_index_of(p)]);
    return reduce_buffered_data_of(b, b->team->me, p);
}

static void reduce_buffered_publish(const struct mailbox *b, const struct part *p)
{
    stress_point();
    store_release_u64(&reduce_buffered_entry_of(b, b->team->me, p)->filled, p->number);
    b->team->coll->reduce.stored[reduce_buffered_index_of(p)] = p->number;
    mailbox_wake(b, reduce_buffered_offset_of(p));
}

/* ---- consumer -------------------------------------------------------------------- */

static const char *reduce_buffered_await(const struct mailbox *b, const struct part *p,
                                         int before)
{
    mailbox_wait(b, reduce_buffered_offset_of(p), before, p->number);
    return reduce_buffered_data_of(b, before, p);
}

static void reduce_buffered_release(const struct mailbox *b, const struct part *p,
                                    int before)
{
    stress_point();
    store_release_u64(&reduce_buffered_entry_of(b, before, p)->freed, p->number);
    mailbox_wake_owner(
        b, reduce_buffered_offset_of(p) + offsetof(struct reduce_entry, freed), before);
}

/* ---- the chain ------------------------------------------------------------------- */

/* to = this PE's elements of a segment combined with the predecessor's partial result. */
static void reduce_buffered_add_part(const struct reduce_job *j, const struct mailbox *b,
                                     const struct part *p, int before, char *to)
{
    const char *mine = j->source + p->at;

    if (before < 0) {
        copy_bytes(to, mine, p->n * j->size);
        return;
    }
    j->op->three(to, reduce_buffered_await(b, p, before), mine, p->n);
    reduce_buffered_release(b, p, before);
}

/* dest is the root's dest as mapped here; NULL if this PE is not the last arriver. */
static void reduce_buffered_run(const struct reduce_job *j, const struct mailbox *b,
                                int before, char *dest)
{
    size_t most = REDUCE_ENTRY_BYTES / j->size;
    struct part p = {.number = j->team->coll->reduce.segments, .n = 0};

    for (size_t first = 0; first < j->n; first += p.n) {
        p.number++;
        p.at = first * j->size;
        p.n = j->n - first < most ? j->n - first : most;
        reduce_buffered_add_part(j, b, &p, before,
                                 dest != NULL ? dest + p.at
                                              : reduce_buffered_acquire(b, &p));
        if (dest == NULL)
            reduce_buffered_publish(b, &p);
    }
    j->team->coll->reduce.segments = p.number;
}

char *reduce_root_dest(const struct reduce_job *j, const struct mailbox *b)
{
    if (j->team->me == j->root)
        return j->dest;
    uint64_t symaddr = *(const uint64_t *)mailbox_of(b, j->root);
    return reduce_at(j, symaddr_decode(symaddr), reduce_bytes(j), j->root);
}

void reduce_chain_buffered(const struct reduce_job *j)
{
    char *slot, *dest = NULL;

    if (!scratch_of_pes(j->team, &j->team->coll->reduce.ring,
                        offsetof(struct node_words, reduce.ring),
                        REDUCE_ENTRIES * REDUCE_ENTRY_BYTES, j->fn)) {
        reduce_slices_to(j);
        return;
    }
    struct mailbox b = reduce_open_ahead(j, &slot);
    bool root = j->team->me == j->root;

    if (root) {
        *(uint64_t *)slot = symaddr_encode(j->dest);
        mailbox_post(&b);
    }
    struct arrival p = reduce_arrive_ahead(&b);
    bool last = p.position == j->team->npes - 1;
    if (last)
        dest = reduce_root_dest(j, &b);
    reduce_buffered_run(j, &b, p.before, dest);
    if (last && !root)
        mailbox_release(&b); /* the result is in the root's dest */
    else if (root && !last)
        (void)mailbox_await_release(&b);
    mailbox_close(&b);
}
