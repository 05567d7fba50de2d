/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kern_shared.c - the kernels on node-shared results (shmemx_shared_*): the PEs of a node
 * have one copy of each result, and a PE writes its block of an fcollect in place.
 */
#include <shmemx.h>

#include "kern_put.h"

static shmemx_shared_t handle_of(const struct kern_result *r)
{
    return r->handle;
}

/* The first PE of the team on each node accounts for the copy of its node. */
static size_t open_result(struct kern_result *r)
{
    shmem_team_t team = kern_put_team(r->team);
    shmemx_shared_t shared;
    int first = 0;
    if (shmemx_shared_create(team, r->bytes, &shared) != 0)
        kern_fail(
            "no node-shared memory for a result of %zu bytes; set SHMEM_SHARED_SIZE",
            r->bytes);
    r->handle = shared;
    r->source = shmem_align(64, 64);
    if (r->source == NULL)
        kern_fail("no symmetric memory");
    while (shmem_ptr(r->source, shmem_team_translate_pe(team, first, SHMEM_TEAM_WORLD)) ==
           NULL)
        first++;
    return first == shmem_team_my_pe(team) ? r->bytes : 0;
}

static void close_result(struct kern_result *r)
{
    shmemx_shared_t shared = handle_of(r);
    shmemx_shared_destroy(&shared);
    shmem_free(r->source);
}

static const void *broadcast(struct kern_result *r, const void *src, size_t bytes,
                             int root)
{
    if (shmemx_shared_broadcast(handle_of(r), src, bytes, root) != 0)
        kern_fail("a broadcast of %zu bytes failed", bytes);
    return shmemx_shared_ptr(handle_of(r));
}

static void *block(struct kern_result *r, size_t bytes)
{
    size_t i = (size_t)shmem_team_my_pe(kern_put_team(r->team));
    if (shmemx_shared_reclaim(handle_of(r)) != 0)
        kern_fail("shmemx_shared_reclaim failed");
    return (char *)shmemx_shared_ptr(handle_of(r)) + i * bytes;
}

static const void *fcollect(struct kern_result *r, size_t bytes)
{
    if (shmemx_shared_fcollect(handle_of(r), NULL, bytes) != 0)
        kern_fail("an fcollect of %zu bytes failed", bytes);
    return shmemx_shared_ptr(handle_of(r));
}

static double max(struct kern_result *r, double mine)
{
    double *source = (void *)r->source;
    *source = mine;
    if (shmemx_double_shared_max_reduce(handle_of(r), source, 1) != 0)
        kern_fail("a reduction failed");
    return *(const double *)shmemx_shared_ptr(handle_of(r));
}

const struct kern_lib kern_lib = {
    .form = "node-shared results",
    .grid = kern_put_grid,
    .open = open_result,
    .close = close_result,
    .broadcast = broadcast,
    .block = block,
    .fcollect = fcollect,
    .max = max,
    .exchange = kern_put_exchange,
};
