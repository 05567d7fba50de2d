/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_chain.c - a large reduction on one node in the order in which its PEs arrive:
 * each adds its elements to what the one that came before it has, so that when the last
 * one comes one step is left to do; the others then copy the result from that one.
 * (Mohammadalizadehbakhtevari 2021, algorithm 5.1 and "PAP+Bcast", over symmetric memory:
 * no messages, no array of ranks, and in segments, so that where several are waiting each
 * one's segments follow those of the one before.)
 * Uses: board, reduce_int, datatype.
 *
 * What a PE has combined lies in its dest, from which the next one reads it; the first
 * one has nothing to combine, and is read from its source.
 *
 * Invariants.  `tail` of the first PE is the last PE that has come to this call and how
 * many came before it: who comes swaps itself in, and so knows for whom to wait.  Nobody
 * comes to the next chain before all have come to this one.  `handed` of a PE says how
 * many segments of its dest the next one may read.  A segment of dest is overwritten with
 * the result when the last PE has that segment of it: so all before it have read theirs.
 * The last PE returns when all others have copied from its dest.
 */
#include "config.h"

#include "pgas/coll/board.h"
#include "pgas/coll/reduce_int.h"
#include "pgas/core/stress.h"
#include "pgas/datatype/copy.h"

enum {
    SEGMENT_BYTES = 32 * 1024, /* at least */
    SEGMENTS_MAX = 1 << 15,
    TAIL_BITS = 12,   /* of `tail`: for a PE, and for how many there are */
    HANDED_BITS = 16, /* of `handed`: for segments */
};
_Static_assert((int)PICK_CHAIN_PES < 1 << TAIL_BITS, "a PE's number fits `tail`");
_Static_assert((int)SEGMENTS_MAX < 1 << HANDED_BITS, "a segment's number fits `handed`");

#define TAIL_MASK (((uint64_t)1 << TAIL_BITS) - 1)

struct reduce_place reduce_arrive(uint64_t *tail, const struct board *b)
{
    uint64_t seen, next, number = b->call << 2 * TAIL_BITS;
    struct reduce_place p;

    do {
        seen = load_relaxed_u64(tail);
        stress_point();
        bool mine = seen - number < (uint64_t)1 << 2 * TAIL_BITS;
        p.position = mine ? (int)(seen >> TAIL_BITS & TAIL_MASK) : 0;
        p.before = mine ? (int)(seen & TAIL_MASK) : -1;
        next = number | (uint64_t)(p.position + 1) << TAIL_BITS | (uint64_t)b->team->me;
    } while (cas_acq_rel_u64(tail, seen, next) != seen);
    return p;
}

static void hand_on(const struct board *b, uint64_t segments)
{
    stress_point();
    store_release_u64(&team_words(b->team, b->team->me)->handed,
                      b->call << HANDED_BITS | segments);
    board_wake(b, offsetof(struct team_words, handed));
}

static void await_segment(const struct board *b, int i, uint64_t segment)
{
    board_wait(b, offsetof(struct team_words, handed), i,
               b->call << HANDED_BITS | (segment + 1));
}

/* Elements of the segment that begins at element `first`. */
static size_t segment_at(const struct reduce_job *j, size_t first)
{
    size_t most = (SEGMENT_BYTES + reduce_bytes(j) / SEGMENTS_MAX) / j->size;

    return j->n - first < most ? j->n - first : most;
}

/* What those before have combined, and this PE's elements. */
static void add_mine(const struct reduce_job *j, const struct board *b,
                     struct reduce_place p)
{
    const char *theirs = p.position == 1 ? j->source : j->dest;
    uint64_t segment = 0;

    for (size_t first = 0, n; first < j->n; first += n) {
        size_t at = first * j->size;
        n = segment_at(j, first);
        await_segment(b, p.before, segment++);
        j->op->three(j->dest + at, reduce_at(j, theirs + at, n * j->size, p.before),
                     j->source + at, n);
        hand_on(b, segment);
    }
}

static void take_result(const struct reduce_job *j, const struct board *b)
{
    int leader = board_await_lead(b);
    uint64_t segment = 0;

    for (size_t first = 0, n; first < j->n; first += n) {
        size_t at = first * j->size;
        n = segment_at(j, first);
        await_segment(b, leader, segment++);
        copy_bytes(j->dest + at, reduce_at(j, j->dest + at, n * j->size, leader),
                   n * j->size);
    }
}

void reduce_chain(const struct reduce_job *j)
{
    struct board b = board_open(j->team, 0, j->fn);
    struct reduce_place p = reduce_arrive(&team_words(j->team, 0)->tail, &b);
    bool last = p.position == j->team->npes - 1;

    if (last)
        board_lead(&b);
    if (p.before < 0)
        hand_on(&b, ((uint64_t)1 << HANDED_BITS) - 1); /* the source, all of it */
    else
        add_mine(j, &b, p);
    if (last)
        board_await_all_closed(&b);
    else
        take_result(j, &b);
    board_close(&b);
}
