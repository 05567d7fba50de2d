/* SPDX-License-Identifier: BSD-3-Clause */
/* nohang_coll.c - cases: barriers, collectives of teams and active sets, node-shared
 * results. */
#include "tests/ft/nohang.h"

enum { BLOCK = 8192, LARGE = 131072, CELLS = BLOCK * 16 };
enum { SHARED_BYTES = 65536 };

static long coll_in[CELLS], coll_out[CELLS * 2];
static long coll_psync[BOARD_ROUNDS][SHMEM_COLLECT_SYNC_SIZE + SHMEM_REDUCE_SYNC_SIZE +
                                     SHMEM_ALLTOALL_SYNC_SIZE];
static long coll_work[CELLS];

/* Elements of a PE's block, and of a call without blocks. */
static size_t coll_block(const struct nohang_round *r)
{
    static const size_t n[] = {1, 3, 30, 200, 1000, BLOCK};
    size_t most = CELLS / (size_t)r->npes;
    size_t chosen = n[nohang_draw(r, 10, 6)];

    return chosen < most ? chosen : most;
}

static size_t coll_any(const struct nohang_round *r)
{
    static const size_t n[] = {1, 8, 100, 2000, 20000, LARGE};

    return n[nohang_draw(r, 10, 6)];
}

/* ---- barriers --------------------------------------------------------------------- */

static int coll_barrier_all(struct nohang_round *r)
{
    (void)r;
    shmem_barrier_all();
    return 0;
}

static int coll_sync_all(struct nohang_round *r)
{
    (void)r;
    shmem_sync_all();
    return 0;
}

static int coll_team_sync(struct nohang_round *r)
{
    return shmem_team_sync(r->team);
}

/* ---- teams ------------------------------------------------------------------------ */

static int coll_broadcast(struct nohang_round *r)
{
    int root = nohang_draw(r, 11, r->npes);
    size_t n = coll_any(r);

    switch (nohang_draw(r, 12, 3)) {
    case 0:
        return shmem_long_broadcast(r->team, coll_out, coll_in, n, root);
    case 1:
        return shmem_double_broadcast(r->team, (double *)coll_out,
                                      (const double *)coll_in, n, root);
    default:
        return shmem_broadcastmem(r->team, coll_out, coll_in, n, root);
    }
}

static int coll_collect(struct nohang_round *r)
{
    size_t n = coll_block(r);

    if (nohang_draw(r, 12, 2) == 0)
        return shmem_long_collect(r->team, coll_out, coll_in, n - (size_t)(r->me % 2));
    return shmem_collectmem(r->team, coll_out, coll_in, n * 3);
}

static int coll_fcollect(struct nohang_round *r)
{
    if (nohang_draw(r, 12, 2) == 0)
        return shmem_long_fcollect(r->team, coll_out, coll_in, coll_block(r));
    return shmem_fcollectmem(r->team, coll_out, coll_in, coll_block(r));
}

static int coll_alltoall(struct nohang_round *r)
{
    if (nohang_draw(r, 12, 2) == 0)
        return shmem_long_alltoall(r->team, coll_out, coll_in, coll_block(r));
    return shmem_alltoallmem(r->team, coll_out, coll_in, coll_block(r));
}

static int coll_alltoalls(struct nohang_round *r)
{
    size_t n = coll_block(r) / 2 + 1;

    n = n * 2 * (size_t)r->npes <= CELLS ? n : 1;
    return shmem_long_alltoalls(r->team, coll_out, coll_in, 2, 1, n);
}

static int coll_reduce(struct nohang_round *r)
{
    size_t n = coll_any(r);

    switch (nohang_draw(r, 12, 9)) {
    case 0:
        return shmem_int_sum_reduce(r->team, (int *)coll_out, (int *)coll_in, n);
    case 1:
        return shmem_long_sum_reduce(r->team, coll_out, coll_in, n);
    case 2:
        return shmem_double_sum_reduce(r->team, (double *)coll_out, (double *)coll_in, n);
    case 3:
        return shmem_double_max_reduce(r->team, (double *)coll_out, (double *)coll_in, n);
    case 4:
        return shmem_float_min_reduce(r->team, (float *)coll_out, (float *)coll_in, n);
    case 5:
        return shmem_uint64_and_reduce(r->team, (uint64_t *)coll_out, (uint64_t *)coll_in,
                                       n);
    case 6:
        return shmem_uint32_or_reduce(r->team, (uint32_t *)coll_out, (uint32_t *)coll_in,
                                      n);
    case 7:
        return shmem_uchar_xor_reduce(r->team, (unsigned char *)coll_out,
                                      (unsigned char *)coll_in, n);
    default:
        return shmem_longlong_prod_reduce(r->team, (long long *)coll_out,
                                          (long long *)coll_in, n);
    }
}

static int coll_scan(struct nohang_round *r)
{
    size_t n = coll_any(r) / 4 + 1;

    if (nohang_draw(r, 12, 2) == 0)
        return shmem_long_sum_inscan(r->team, coll_out, coll_in, n);
    return shmem_double_sum_exscan(r->team, (double *)coll_out, (double *)coll_in, n);
}

/* ---- active sets ------------------------------------------------------------------ */

/* The longest run of live PEs that contains the victim. */
static bool coll_set(const struct nohang_round *r, int *start, int *size)
{
    int first = r->victim, end = r->victim + 1, me = shmem_my_pe();

    while (nohang_has(nohang_alive, first - 1))
        first--;
    while (end < BOARD_PES && nohang_has(nohang_alive, end))
        end++;
    *start = first;
    *size = end - first;
    return first <= me && me < end;
}

static int coll_active(struct nohang_round *r)
{
    int start, size;
    long *psync = coll_psync[r->number];

    if (!coll_set(r, &start, &size)) {
        check_sleep_us(100);
        return 0;
    }
    size_t n = coll_block(r);
    switch (nohang_draw(r, 12, 8)) {
    case 0:
        shmem_barrier(start, 0, size, psync);
        break;
    case 1:
        shmem_sync(start, 0, size, psync);
        break;
    case 2:
        shmem_broadcast64(coll_out, coll_in, n, 0, start, 0, size, psync);
        break;
    case 3:
        shmem_collect64(coll_out, coll_in, n, start, 0, size, psync);
        break;
    case 4:
        shmem_fcollect32(coll_out, coll_in, n, start, 0, size, psync);
        break;
    case 5:
        shmem_alltoall64(coll_out, coll_in, n, start, 0, size, psync);
        break;
    case 6:
        shmem_alltoalls32(coll_out, coll_in, 1, 1, n, start, 0, size, psync);
        break;
    default:
        shmem_long_sum_to_all(coll_out, coll_in, (int)n, start, 0, size, coll_work,
                              psync);
    }
    return 0;
}

/* ---- node-shared results ---------------------------------------------------------- */

static void coll_shared_begin(struct nohang_round *r)
{
    CHECK_EQ(shmemx_shared_create(r->team, SHARED_BYTES, &r->shared), 0);
}

static void coll_shared_end(struct nohang_round *r)
{
    shmemx_shared_destroy(&r->shared);
}

static int coll_shared(struct nohang_round *r)
{
    size_t n = SHARED_BYTES / sizeof(long) / (nohang_draw(r, 12, 2) == 0 ? 1 : 500);
    int root = nohang_draw(r, 13, r->npes), rc;

    switch (nohang_draw(r, 11, 4)) {
    case 0:
        return shmemx_shared_broadcast(r->shared, coll_in, n * sizeof(long), root);
    case 1:
        return shmemx_shared_fcollect(r->shared, coll_in,
                                      n * sizeof(long) / (size_t)r->npes);
    case 2:
        return shmemx_long_shared_sum_reduce(r->shared, coll_in, n);
    default:
        rc = shmemx_shared_reclaim(r->shared);
        if (rc == 0)
            rc = shmemx_shared_broadcast(r->shared, NULL, n, root);
        return rc;
    }
}

static int coll_shared_create(struct nohang_round *r)
{
    shmemx_shared_t shared;
    int rc = shmemx_shared_create(r->team, SHARED_BYTES, &shared);

    if (rc == 0)
        shmemx_shared_destroy(&shared);
    return rc;
}

const struct nohang_case nohang_coll[] = {
    {.name = "barrier_all", .call = coll_barrier_all, .result = WORLD_RESULT},
    {.name = "sync_all", .call = coll_sync_all, .result = WORLD_RESULT},
    {.name = "team_sync", .call = coll_team_sync, .result = TEAM_RESULT},
    {.name = "broadcast", .call = coll_broadcast, .result = TEAM_RESULT},
    {.name = "collect", .call = coll_collect, .result = TEAM_RESULT},
    {.name = "fcollect", .call = coll_fcollect, .result = TEAM_RESULT},
    {.name = "alltoall", .call = coll_alltoall, .result = TEAM_RESULT},
    {.name = "alltoalls", .call = coll_alltoalls, .result = TEAM_RESULT},
    {.name = "reduce", .call = coll_reduce, .result = TEAM_RESULT},
    {.name = "scan", .call = coll_scan, .result = TEAM_RESULT},
    {.name = "active", .call = coll_active, .result = ANY_RESULT},
    {.name = "shared",
     .call = coll_shared,
     .result = TEAM_RESULT,
     .begin = coll_shared_begin,
     .end = coll_shared_end},
    {.name = "shared_create", .call = coll_shared_create, .result = TEAM_RESULT},
};
const int nohang_coll_count = sizeof nohang_coll / sizeof *nohang_coll;
