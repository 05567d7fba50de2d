/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arrival.c - see arrival.h.  Uses: core/peer, core/team, core/stress, barrier, mailbox,
 * select, datatype/copy.
 *
 * Invariants.
 * - `tail` holds (lower 32 bits of the call number, number of arrivals, last arriver); an
 *   arriving PE installs itself by compare-and-swap.  An older call whose number has the
 *   same lower 32 bits is complete, so its tail has count == npes; a `tail` that was
 *   never used has count == 0; in this call 0 < count < npes until the last PE arrives.
 *   So the three cannot be confused.
 * - `order` of team PE 0 maps positions to PEs.  A cell is written in the next call only
 *   by a PE that has ended this call, and no PE ends this call before all reads of cells
 *   in this call are complete.
 * Model: tests/models/arrival.pml.
 *
 * Exchange.  PEs append themselves to the arrival list with a store-release to their
 * cell.  From then on the PE's source may be read and its dest may be written.  In each
 * pair the later arrival performs both copies; a barrier at the end completes the
 * exchange.  On an oversubscribed node each PE is scheduled once to arrive and once to
 * leave, whereas a barrier at the beginning would require one more time slice (4 PEs on 2
 * processors, 512 bytes per block: 1.9 us instead of 3.1 us).  But the last arriver moves
 * the most data, and cache lines travel in both directions, so with one processor per PE
 * two barriers are faster.  (A variant in which waiting PEs copy from later arrivals
 * themselves was measured to be slower.)
 */
#include "config.h"

#include "pgas/coll/sync/arrival.h"
#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/select/select.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/memory/peer.h"
#include "pgas/core/base/stress.h"
#include "pgas/datatype/copy.h"

enum {
    TAIL_BITS = 16,  /* width of the PE and of the count in `tail` */
    ORDER_BITS = 16, /* width of the PE in a cell of `order` */
};
_Static_assert((int)SELECT_COMBINER_PES < 1 << TAIL_BITS,
               "PE numbers and counts fit `tail`");
_Static_assert((int)SELECT_ORDER_PES == (int)ARRIVAL_ORDER,
               "`order` has one cell per PE");

#define TAIL_MASK (((uint64_t)1 << TAIL_BITS) - 1)

struct arrival arrival_at(uint64_t *tail, const struct mailbox *b)
{
    uint64_t seen, next, number = b->call << 2 * TAIL_BITS;
    struct arrival a;

    do {
        seen = load_relaxed_u64(tail);
        stress_point();
        int count = (int)(seen >> TAIL_BITS & TAIL_MASK);
        bool mine = seen - number < (uint64_t)1 << 2 * TAIL_BITS && count > 0 &&
                    count < b->team->npes;
        a.position = mine ? count : 0;
        a.before = mine ? (int)(seen & TAIL_MASK) : -1;
        next = number | (uint64_t)(a.position + 1) << TAIL_BITS | (uint64_t)b->team->me;
    } while (cas_acq_rel_u64(tail, seen, next) != seen);
    return a;
}

struct arrival arrival_enter(const struct mailbox *b)
{
    return arrival_at(&node_words(b->team, 0)->arrival.tail, b);
}

/* ---- arrival list ---------------------------------------------------------------- */

static size_t arrival_cell_of(int position)
{
    return offsetof(struct node_words, arrival.order) +
           (size_t)position * sizeof(uint64_t);
}

void arrival_publish(const struct mailbox *b, int position)
{
    mailbox_store_first(b, arrival_cell_of(position),
                        b->call << ORDER_BITS | (uint64_t)b->team->me);
}

int arrival_pe(const struct mailbox *b, int position)
{
    uint64_t cell =
        mailbox_wait_first(b, arrival_cell_of(position), b->call << ORDER_BITS);

    return (int)(cell & (((uint64_t)1 << ORDER_BITS) - 1));
}

void arrival_exchange(struct shmem_team *team, arrival_pair *pair, const void *job,
                      const char *fn)
{
    struct mailbox b = mailbox_open(team, 0, fn);
    int position = arrival_enter(&b).position;

    arrival_publish(&b, position);
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

/* Copy the block from PE i to this PE. */
static void arrival_copy_block(const struct blocks *x, int i)
{
    const char *from = x->source + (size_t)x->team->me * x->step;
    size_t npes = (size_t)x->team->npes;

    copy_part(x->dest + (size_t)i * x->each,
              peer_at(from, x->each, team_world_pe(x->team, i), x->fn), x->each,
              x->each * npes * npes);
}

/* Copy the blocks between PE i and this PE in both directions. */
static void arrival_swap(const void *job, int i)
{
    const struct blocks *x = job;
    char *to = x->dest + (size_t)x->team->me * x->each;
    size_t npes = (size_t)x->team->npes;

    arrival_copy_block(x, i);
    copy_part(peer_at(to, x->each, team_world_pe(x->team, i), x->fn),
              x->source + (size_t)i * x->step, x->each, x->each * npes * npes);
}

void arrival_blocks(struct shmem_team *team, char *dest, const char *source, size_t each,
                    size_t step, const char *fn)
{
    struct blocks x = {team, dest, source, each, step, fn};

    arrival_copy_block(&x, team->me);
    arrival_exchange(team, arrival_swap, &x, fn);
}
