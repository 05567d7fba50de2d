/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_chain.c - a large reduction on one node in which each PE adds its elements to
 * what some others have, and one of them has the result in the end; the others copy it
 * from that one.  In segments: where several are waiting each one's segments follow those
 * of the one before.  Three shapes, over the PEs in the order in which they arrive or in
 * that of the team:
 *  - chain, by arrival: each takes over from the one that came before it, so that when
 * the last one comes one step is left to do.  (Mohammadalizadehbakhtevari 2021, algorithm
 *    5.1 and "PAP+Bcast", over symmetric memory: no messages, no array of ranks.)
 *  - tree, by arrival: of two neighbours the one that came later takes over from the
 * other one, of two such pairs again the later one, and so on: log2 n steps instead of n
 * - 1 where they come together, and as many for the last one to come (there: future
 * work).
 *  - static: the same tree in the order of the team, whoever comes when.
 * Uses: arrival, board, reduce_int, datatype.
 *
 * What a PE has combined lies in its dest, from which the next one reads it; who has
 * nothing to combine is read from its source.
 *
 * Invariants.  Nobody comes to the next call before all have come to this one; who has
 * the result knows that all cells of `order` have been read (arrival.c).  `handed` of a
 * PE says how many segments of its dest the next one may read.  A segment of dest is
 * overwritten with the result when the last PE has that segment of it: so all before it
 * have been read.  The last PE returns when all others have copied from its dest.
 */
#include "config.h"

#include "pgas/coll/arrival.h"
#include "pgas/coll/board.h"
#include "pgas/coll/reduce_int.h"
#include "pgas/datatype/copy.h"

enum {
    SEGMENT_BYTES = 32 * 1024, /* at least */
    SEGMENTS_MAX = 1 << 15,
    SOURCES_MAX = 64, /* from which a PE takes over: twice the log2 of the PEs */
};
_Static_assert((int)SEGMENTS_MAX < (int)BOARD_PARTS, "a segment's number is a part's");

/* ---- segments -------------------------------------------------------------------- */

/* Elements of the segment that begins at element `first`. */
static size_t segment_at(const struct reduce_job *j, size_t first)
{
    size_t most = (SEGMENT_BYTES + reduce_bytes(j) / SEGMENTS_MAX) / j->size;

    return j->n - first < most ? j->n - first : most;
}

/* From where a PE takes over, in this order. */
struct sources {
    int n;
    struct {
        int pe;
        const char *data; /* symmetric: its source, or its dest */
    } of[SOURCES_MAX];
};

/* One segment of them all, and this PE's. */
static void add_segment(const struct reduce_job *j, const struct board *b,
                        const struct sources *s, uint64_t segment, size_t at, size_t n)
{
    for (int k = 0; k < s->n; k++) {
        int pe = s->of[k].pe;
        board_await_handed(b, pe, segment + 1);
        const char *theirs = reduce_at(j, s->of[k].data + at, n * j->size, pe);
        if (k == 0)
            j->op->three(j->dest + at, theirs, j->source + at, n);
        else
            j->op->two(j->dest + at, theirs, n);
    }
}

static void add_mine(const struct reduce_job *j, const struct board *b,
                     const struct sources *s)
{
    uint64_t segment = 0;

    if (s->n == 0) {
        board_hand_on(b, BOARD_PARTS - 1); /* the source, all of it */
        return;
    }
    for (size_t first = 0, n; first < j->n; first += n) {
        n = segment_at(j, first);
        add_segment(j, b, s, segment++, first * j->size, n);
        board_hand_on(b, segment);
    }
}

static void take_result(const struct reduce_job *j, const struct board *b, int leader)
{
    uint64_t segment = 0;

    for (size_t first = 0, n; first < j->n; first += n) {
        size_t at = first * j->size;
        n = segment_at(j, first);
        board_await_handed(b, leader, ++segment);
        copy_bytes(j->dest + at, reduce_at(j, j->dest + at, n * j->size, leader),
                   n * j->size);
    }
}

/* ---- chain ----------------------------------------------------------------------- */

/* This PE has the result, or takes it from the one that has it. */
static void end(const struct reduce_job *j, struct board *b, int leader)
{
    if (j->team->me == leader)
        board_await_all_closed(b);
    else
        take_result(j, b, leader);
    board_close(b);
}

void reduce_chain(const struct reduce_job *j)
{
    struct board b = board_open(j->team, 0, j->fn);
    struct arrival p = arrival_come(&b);
    struct sources s = {.n = p.before >= 0};

    s.of[0].pe = p.before;
    s.of[0].data = p.position == 1 ? j->source : j->dest;
    if (p.position == j->team->npes - 1)
        board_lead(&b);
    add_mine(j, &b, &s);
    end(j, &b, board_await_lead(&b));
}

/* ---- trees ----------------------------------------------------------------------- */

/*
 * Positions count from 1 here.  Position p has the elements of the low(p) positions that
 * end with it, where low(p) is the lowest bit of p: so it takes over from p - 1, p - 2,
 * p - 4 .. as long as what is subtracted is less than low(p).  The last one takes over
 * too from those that have what lies before: p - low(p), and again from there.
 */
static int low(int p)
{
    return p & -p;
}

static void add_source(const struct reduce_job *j, struct sources *s, int p, int pe)
{
    s->of[s->n].pe = pe;
    s->of[s->n++].data = p % 2 != 0 ? j->source : j->dest;
}

typedef int (*pe_at)(const struct board *b, int p);

static int pe_by_order(const struct board *b, int p)
{
    (void)b;
    return p - 1;
}

static int pe_by_arrival(const struct board *b, int p)
{
    return arrival_pe(b, p - 1);
}

/* Those first that are likely to be ready first. */
static struct sources sources_of(const struct reduce_job *j, const struct board *b, int p,
                                 pe_at pe)
{
    struct sources s = {.n = 0};

    for (int q = p - low(p); p == j->team->npes && q > 0; q -= low(q))
        add_source(j, &s, q, pe(b, q));
    for (int d = low(p) / 2; d > 0; d /= 2)
        add_source(j, &s, p - d, pe(b, p - d));
    return s;
}

void reduce_tree(const struct reduce_job *j)
{
    struct board b = board_open(j->team, 0, j->fn);
    int p = arrival_come(&b).position + 1;

    arrival_note(&b, p - 1);
    if (p == j->team->npes)
        board_lead(&b);
    struct sources s = sources_of(j, &b, p, pe_by_arrival);
    add_mine(j, &b, &s);
    end(j, &b, board_await_lead(&b));
}

void reduce_static(const struct reduce_job *j)
{
    struct board b = board_open(j->team, 0, j->fn);
    struct sources s = sources_of(j, &b, j->team->me + 1, pe_by_order);

    add_mine(j, &b, &s);
    end(j, &b, j->team->npes - 1);
}
