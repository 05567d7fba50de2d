/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall.c - see alltoall.h.  Uses: core/team, core/net, barrier, board, pick, stage,
 * rma, rma/order, rma/strided, datatype/copy.
 *
 * Over nodes see exchange_far.  Else every PE fetches its blocks from all others,
 * beginning with its own, so that the PEs do not all read from the same one at a time.
 */
#include "config.h"

#include "pgas/coll/alltoall.h"
#include "pgas/coll/alltoall_far.h"
#include "pgas/coll/barrier.h"
#include "pgas/coll/board.h"
#include "pgas/coll/bridge.h"
#include "pgas/coll/pick.h"
#include "pgas/coll/stage.h"
#include "pgas/core/log.h"
#include "pgas/core/net.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"
#include "pgas/rma/strided.h"

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

/* What is small goes with the barrier, from all to all. */
static void exchange_gathered(struct shmem_team *team, char *dest, const void *source,
                              size_t each, const char *fn)
{
    size_t mine = (size_t)team->npes * each;
    const char *box = bridge_gather(team, source, mine, -1, fn);

    for (int i = 0; i < team->npes; i++)
        copy_bytes(dest + (size_t)i * each,
                   bridge_part(team, box, mine, i) + (size_t)team->me * each, each);
}

static enum pick_algorithm algorithm_far(struct shmem_team *team, size_t each,
                                         const char *fn)
{
    enum pick_algorithm a = pick(team, PICK_BRIDGE_ALLTOALL, each);
    size_t npes = (size_t)team->npes;

    if (a == BRIDGE_ALLTOALL_GATHER && !bridge_fits(team, npes, npes * each))
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
        exchange_gathered(team, dest, source, each, fn);
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
    barrier_guard(team, fn);
    if (pick(team, PICK_ALLTOALL, (size_t)team->npes * each) == ALLTOALL_BOARD)
        exchange_board(team, dest, source, each, fn);
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

/* Bytes from the first to behind the last of n elements with that stride. */
static size_t span(size_t n, ptrdiff_t stride, const struct exchange *x, const char *fn)
{
    size_t bytes;

    if (n == 0)
        return 0;
    if (__builtin_mul_overflow(n - 1, (size_t)stride, &bytes) ||
        __builtin_mul_overflow(bytes, x->size, &bytes) ||
        __builtin_add_overflow(bytes, x->size, &bytes))
        log_die(
            "%s: %zu elements of %zu bytes with stride %td reach farther than a size_t "
            "holds",
            fn, n, x->size, stride);
    return bytes;
}

static void scatter(char *dest, const char *from, size_t n, const struct exchange *x)
{
    size_t step = (size_t)x->dst * x->size;

    for (size_t e = 0; e < n; e++)
        copy_bytes(dest + e * step, from + e * x->size, x->size);
}

/* From a far PE, element by element: here after the quiet. */
static void fetch_far(char *to, const char *block, const struct strided *s, int pe,
                      const char *fn)
{
    size_t to_step = (size_t)s->dst * s->size, step = (size_t)s->sst * s->size;

    for (size_t e = 0; e < s->nblocks; e++)
        rma_get_nbi(SHMEM_CTX_DEFAULT, to + e * to_step, block + e * step, s->size, pe,
                    fn);
}

/* Fetch this PE's blocks to `to`, where the elements have stride dst. */
static void fetch(const struct shmem_team *team, char *to, ptrdiff_t dst,
                  const char *source, const struct exchange *x, const char *fn)
{
    struct strided s = {dst, x->sst, 1, x->n, x->size};
    size_t to_block = x->n * x->size * (size_t)dst;
    const char *block = source + (size_t)team->me * x->n * x->size * (size_t)x->sst;

    for (int k = 0; k < team->npes; k++) {
        int i = (team->me + k) % team->npes, pe = team_world_pe(team, i);
        char *at = to + (size_t)i * to_block;
        if (unlikely(net_far(pe)))
            fetch_far(at, block, &s, pe, fn);
        else
            strided_get(SHMEM_CTX_DEFAULT, at, block, s, pe, fn);
    }
    if (unlikely(team->far))
        order_quiet(SHMEM_CTX_DEFAULT, fn); /* one for all */
}

int alltoalls(struct shmem_team *team, void *dest, const void *source, struct exchange x,
              const char *fn)
{
    if (x.dst == 1 && x.sst == 1)
        return alltoall(team, dest, source, x.n, x.size, fn);
    if (x.dst < 1 || x.sst < 1)
        log_die("%s: arguments 'dst' = %td, 'sst' = %td, but they must be at least 1", fn,
                x.dst, x.sst);
    size_t n = rma_bytes(x.n, (size_t)team->npes, fn);
    size_t dest_bytes = span(n, x.dst, &x, fn), source_bytes = span(n, x.sst, &x, fn);
    char *to =
        stage_open(dest, dest_bytes, source, source_bytes, rma_bytes(n, x.size, fn), fn);

    barrier_sync(team, fn); /* all sources are ready */
    fetch(team, to, to == dest ? x.dst : 1, source, &x, fn);
    barrier_sync(team, fn); /* all sources have been read */
    if (to != dest)
        scatter(dest, to, n, &x);
    stage_close(to, dest, 0);
    return 0;
}
