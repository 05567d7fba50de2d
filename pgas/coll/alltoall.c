/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall.c - see alltoall.h.  Uses: core/team, core/net, alltoall_far, arrival,
 * barrier, board, pick, stage, rma, rma/order, datatype/copy.
 *
 * Over nodes see exchange_far.  Else every two PEs exchange their blocks when the later
 * one of them comes; or every PE fetches its blocks from all others between two barriers,
 * beginning with its own, so that the PEs do not all read from the same one at a time.
 */
#include "config.h"

#include "pgas/coll/alltoall.h"
#include "pgas/coll/alltoall_far.h"
#include "pgas/coll/arrival.h"
#include "pgas/coll/barrier.h"
#include "pgas/coll/board.h"
#include "pgas/coll/bridge.h"
#include "pgas/coll/pick.h"
#include "pgas/coll/stage.h"
#include "pgas/core/net.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"

/* Each shows all of its blocks, and all take theirs. */
static void exchange_board(struct shmem_team *team, char *dest, const void *source,
                           size_t each, const char *fn)
{
    struct board b = board_open(team, (size_t)team->npes * each, fn);

    copy_bytes(board_mine(&b), source, (size_t)team->npes * each);
    board_post(&b);
    for (int i = 0; i < team->npes; i++)
        copy_bytes(dest + (size_t)i * each, board_of(&b, i) + (size_t)team->me * each,
                   each);
    board_close_all(&b);
}

/* What PE i has for this one. */
static void take_block(const struct shmem_team *team, int i, char *to, const void *source,
                       size_t each, const char *fn)
{
    const char *block = (const char *)source + (size_t)team->me * each;
    size_t npes = (size_t)team->npes;
    int pe = team_world_pe(team, i);

    if (unlikely(net_far(pe)))
        rma_get_nbi(SHMEM_CTX_DEFAULT, to, block, each, pe, fn);
    else
        copy_part(to, peer_at(block, each, pe, fn), each, each * npes * npes);
}

static void exchange_barrier(struct shmem_team *team, void *dest, const void *source,
                             size_t each, const char *fn)
{
    size_t all = (size_t)team->npes * each;
    char *to = stage_open(dest, all, source, all, all, fn);

    barrier_sync(team, fn); /* all sources are ready */
    for (int k = 0; k < team->npes; k++) {
        int i = (team->me + k) % team->npes;
        take_block(team, i, to + (size_t)i * each, source, each, fn);
    }
    if (unlikely(team->far))
        order_quiet(SHMEM_CTX_DEFAULT, fn);
    barrier_sync(team, fn); /* all sources have been read */
    stage_close(to, dest, all);
}

/* Each puts its blocks to all others, beginning with the one after it. */
static void exchange_puts(struct shmem_team *team, char *dest, const char *source,
                          size_t each, const char *fn)
{
    char *mine = dest + (size_t)team->me * each;

    barrier_sync(team, fn); /* all dests may be written */
    for (int k = 1; k < team->npes; k++) {
        int i = (team->me + k) % team->npes;
        rma_put_nbi(SHMEM_CTX_DEFAULT, mine, source + (size_t)i * each, each,
                    team_world_pe(team, i), fn);
    }
    copy_bytes(mine, source + (size_t)team->me * each, each);
    order_quiet(SHMEM_CTX_DEFAULT, fn);
    barrier_sync(team, fn); /* all have been written */
}

static enum pick_algorithm algorithm_far(struct shmem_team *team, size_t each,
                                         const char *fn)
{
    enum pick_algorithm a = pick(team, PICK_BRIDGE_ALLTOALL, each);

    if (a == BRIDGE_ALLTOALL_GATHER && !alltoall_gathers(team, each))
        a = BRIDGE_ALLTOALL_BRUCK;
    if (a == BRIDGE_ALLTOALL_BRUCK && !alltoall_bruck_fits(team, each, fn))
        a = BRIDGE_ALLTOALL_PAIRWISE;
    return a;
}

static void exchange_far(struct shmem_team *team, void *dest, const void *source,
                         size_t each, const char *fn)
{
    size_t all = (size_t)team->npes * each;
    enum pick_algorithm a = algorithm_far(team, each, fn);

    barrier_guard(team, fn);
    if (a == BRIDGE_ALLTOALL_GATHER)
        alltoall_gather(team, dest, source, each, fn);
    else if (a == BRIDGE_ALLTOALL_BRUCK)
        alltoall_bruck(team, dest, source, each, fn);
    else if (a != BRIDGE_ALLTOALL_BARRIER && !stage_overlap(dest, all, source, all))
        exchange_puts(team, dest, source, each, fn);
    else
        exchange_barrier(team, dest, source, each, fn);
    barrier_unguard(team, fn);
}

static void exchange_near(struct shmem_team *team, void *dest, const void *source,
                          size_t each, const char *fn)
{
    size_t all = (size_t)team->npes * each;

    barrier_guard(team, fn);
    enum pick_algorithm a = pick(team, PICK_ALLTOALL, each);
    if (a == ALLTOALL_BOARD)
        exchange_board(team, dest, source, each, fn);
    else if (a == ALLTOALL_ARRIVAL && !stage_overlap(dest, all, source, all))
        arrival_blocks(team, dest, source, each, each, fn);
    else
        exchange_barrier(team, dest, source, each, fn);
    barrier_unguard(team, fn);
}

int alltoall(struct shmem_team *team, void *dest, const void *source, size_t n,
             size_t size, const char *fn)
{
    size_t each = rma_bytes(n, size, fn);
    size_t all = rma_bytes((size_t)team->npes, each, fn);

    if (all == 0)
        return 0;
    (void)peer_at(source, all, pgas_self.me, fn);
    (void)peer_at(dest, all, pgas_self.me, fn);
    if (board_has(team))
        exchange_near(team, dest, source, each, fn);
    else if (team->nodes != NULL)
        exchange_far(team, dest, source, each, fn);
    else
        exchange_barrier(team, dest, source, each, fn);
    return 0;
}
