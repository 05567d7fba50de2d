/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arrival.c - see arrival.h.  Uses: core/peer, core/team, core/stress, barrier, board,
 * pick, datatype/copy.
 *
 * Invariants.  `tail` is the last PE that has come to this call and how many have come
 * with it: who comes swaps itself in.  It has the lower 32 bits of the call's number; but
 * an older call with the same ones is over, so all PEs are in its `tail`, and those of
 * this call are fewer as long as one still comes.  `order` of the first PE says which PE
 * is at which position.  A cell is written in the next call by a PE that has ended this
 * one, and none ends this one before all cells have been read that will be.
 *
 * An exchange.  Who has written its cell, with release, has a source that may be read and
 * a dest that may be written: so whoever comes later moves what the two have for each
 * other, and after the barrier at the end all has been moved.  With more PEs than
 * processors each has to be scheduled once to come and once to leave, where a barrier at
 * the beginning would take one time more (4 PEs on 2 processors, 512 bytes for each: 1.9
 * us in place of 3.1).  But the last one moves the most, and cache lines go both ways
 * between the processors: with a processor for each PE two barriers are faster.  (Tried,
 * and slower: a PE that is still there takes from those that come later by itself.)
 */
#include "config.h"

#include "pgas/coll/arrival.h"
#include "pgas/coll/barrier.h"
#include "pgas/coll/pick.h"
#include "pgas/core/peer.h"
#include "pgas/core/stress.h"
#include "pgas/datatype/copy.h"

enum {
    TAIL_BITS = 16,  /* of `tail`: for a PE, and for how many there are */
    ORDER_BITS = 16, /* of `order`: for a PE */
};
_Static_assert((int)PICK_LEAD_PES < 1 << TAIL_BITS, "a PE's number fits `tail`");
_Static_assert((int)PICK_ORDER_PES == (int)TEAM_ORDER, "each has a cell in `order`");

#define TAIL_MASK (((uint64_t)1 << TAIL_BITS) - 1)

struct arrival arrival_at(uint64_t *tail, const struct board *b)
{
    uint64_t seen, next, number = b->call << 2 * TAIL_BITS;
    struct arrival a;

    do {
        seen = load_relaxed_u64(tail);
        stress_point();
        bool mine = seen - number < (uint64_t)1 << 2 * TAIL_BITS &&
                    (int)(seen >> TAIL_BITS & TAIL_MASK) < b->team->npes;
        a.position = mine ? (int)(seen >> TAIL_BITS & TAIL_MASK) : 0;
        a.before = mine ? (int)(seen & TAIL_MASK) : -1;
        next = number | (uint64_t)(a.position + 1) << TAIL_BITS | (uint64_t)b->team->me;
    } while (cas_acq_rel_u64(tail, seen, next) != seen);
    return a;
}

struct arrival arrival_come(const struct board *b)
{
    return arrival_at(&team_words(b->team, 0)->tail, b);
}

/* ---- in order -------------------------------------------------------------------- */

static size_t cell_of(int position)
{
    return offsetof(struct team_words, order) + (size_t)position * sizeof(uint64_t);
}

void arrival_note(const struct board *b, int position)
{
    board_store_first(b, cell_of(position),
                      b->call << ORDER_BITS | (uint64_t)b->team->me);
}

int arrival_pe(const struct board *b, int position)
{
    uint64_t cell = board_wait_first(b, cell_of(position), b->call << ORDER_BITS);

    return (int)(cell & (((uint64_t)1 << ORDER_BITS) - 1));
}

void arrival_exchange(struct shmem_team *team, arrival_pair *pair, const void *job,
                      const char *fn)
{
    struct board b = board_open(team, 0, fn);
    int position = arrival_come(&b).position;

    arrival_note(&b, position);
    while (--position >= 0)
        pair(job, arrival_pe(&b, position));
    barrier_sync(team, fn);
}

/* ---- blocks ---------------------------------------------------------------------- */

struct blocks {
    const struct shmem_team *team;
    char *dest;
    const char *source;
    size_t each, step;
    const char *fn;
};

/* This PE's block of PE i. */
static void take(const struct blocks *x, int i)
{
    const char *from = x->source + (size_t)x->team->me * x->step;
    size_t npes = (size_t)x->team->npes;

    copy_part(x->dest + (size_t)i * x->each,
              peer_at(from, x->each, team_world_pe(x->team, i), x->fn), x->each,
              x->each * npes * npes);
}

/* What PE i has for this one, and the other way round. */
static void swap(const void *job, int i)
{
    const struct blocks *x = job;
    char *to = x->dest + (size_t)x->team->me * x->each;
    size_t npes = (size_t)x->team->npes;

    take(x, i);
    copy_part(peer_at(to, x->each, team_world_pe(x->team, i), x->fn),
              x->source + (size_t)i * x->step, x->each, x->each * npes * npes);
}

void arrival_blocks(struct shmem_team *team, char *dest, const char *source, size_t each,
                    size_t step, const char *fn)
{
    struct blocks x = {team, dest, source, each, step, fn};

    take(&x, team->me);
    arrival_exchange(team, swap, &x, fn);
}
