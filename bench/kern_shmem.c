/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kern_shmem.c - the kernels on OpenSHMEM's ordinary collectives: each PE has a copy of
 * each result.  No PE may still read dest when another PE starts the next collective: a
 * sync of the team precedes a broadcast and an fcollect; reductions alternate between two
 * dest elements, because no PE leaves a reduction before all PEs have entered it.
 */
#include "kern_put.h"

static size_t open_result(struct kern_result *r)
{
    int npes = shmem_team_n_pes(kern_put_team(r->team));
    r->dest = shmem_align(64, r->bytes);
    r->source = shmem_align(64, (r->bytes + 63) / (size_t)npes / 64 * 64 + 64);
    if (r->dest == NULL || r->source == NULL)
        kern_fail(
            "no symmetric memory for a result of %zu bytes; set SHMEM_SYMMETRIC_SIZE",
            r->bytes);
    return r->bytes;
}

static void close_result(struct kern_result *r)
{
    shmem_free(r->dest);
    shmem_free(r->source);
}

static const void *broadcast(struct kern_result *r, const void *src, size_t bytes,
                             int root)
{
    shmem_team_t team = kern_put_team(r->team);
    shmem_team_sync(team);
    if (shmem_broadcastmem(team, r->dest, src, bytes, root) != 0)
        kern_fail("a broadcast of %zu bytes failed", bytes);
    return r->dest;
}

static void *block(struct kern_result *r, size_t bytes)
{
    (void)bytes;
    return r->source;
}

static const void *fcollect(struct kern_result *r, size_t bytes)
{
    shmem_team_t team = kern_put_team(r->team);
    shmem_team_sync(team);
    if (shmem_fcollectmem(team, r->dest, r->source, bytes) != 0)
        kern_fail("an fcollect of %zu bytes failed", bytes);
    return r->dest;
}

static double max(struct kern_result *r, double mine)
{
    double *dest = (double *)(void *)r->dest + r->turn, *source = (void *)r->source;
    r->turn = !r->turn;
    *source = mine;
    if (shmem_double_max_reduce(kern_put_team(r->team), dest, source, 1) != 0)
        kern_fail("a reduction failed");
    return *dest;
}

const struct kern_lib kern_lib = {
    .form = "ordinary collectives",
    .grid = kern_put_grid,
    .open = open_result,
    .close = close_result,
    .broadcast = broadcast,
    .block = block,
    .fcollect = fcollect,
    .max = max,
    .exchange = kern_put_exchange,
};
