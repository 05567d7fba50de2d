/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll_shmem.c - backend of the benchmarks of collectives for OpenSHMEM 1.6 and later,
 * with teams.
 */
#include "coll.h"
#include "coll_put.h"

#include <shmem.h>

static void init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    coll_put_init();
}

static void allreduce(double *dest, const double *src, size_t n)
{
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, dest, src, n);
}

static void inscan(double *dest, const double *src, size_t n)
{
    shmem_double_sum_inscan(SHMEM_TEAM_WORLD, dest, src, n);
}

static void exscan(double *dest, const double *src, size_t n)
{
    shmem_double_sum_exscan(SHMEM_TEAM_WORLD, dest, src, n);
}

static void broadcast(void *dest, const void *src, size_t bytes)
{
    shmem_broadcastmem(SHMEM_TEAM_WORLD, dest, src, bytes, 0);
}

static void fcollect(void *dest, const void *src, size_t bytes)
{
    shmem_fcollectmem(SHMEM_TEAM_WORLD, dest, src, bytes);
}

static void alltoall(void *dest, const void *src, size_t bytes)
{
    shmem_alltoallmem(SHMEM_TEAM_WORLD, dest, src, bytes);
}

const struct coll_lib coll_lib = {
    .name = "OpenSHMEM, teams",
    .init = init,
    .fini = shmem_finalize,
    .stop = shmem_global_exit,
    .me = shmem_my_pe,
    .npes = shmem_n_pes,
    .alloc = coll_put_alloc,
    .free = shmem_free,
    .barrier = shmem_barrier_all,
    .gather = coll_put_gather,
    .pingpong = coll_put_pingpong,
    .allreduce = allreduce,
    .inscan = inscan,
    .exscan = exscan,
    .broadcast = broadcast,
    .fcollect = fcollect,
    .alltoall = alltoall,
};
