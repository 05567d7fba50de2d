/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll_active.c - backend of the benchmarks of collectives for OpenSHMEM 1.4 and before,
 * with active sets.  A collective that no PE leaves before all PEs have entered it
 * alternates between two work arrays.  The root (PE 0) may leave a broadcast early, so
 * broadcasts cycle through BROADCASTS work arrays, with a barrier before the first array
 * is reused: each measured time includes 1 / BROADCASTS of a barrier.
 */
#include "coll.h"
#include "coll_put.h"

#include <shmem.h>

enum { BROADCASTS = 512, TURNS = 2 };
enum {
    SYNC_SIZE = SHMEM_REDUCE_SYNC_SIZE > SHMEM_COLLECT_SYNC_SIZE ? SHMEM_REDUCE_SYNC_SIZE
                                                                 : SHMEM_COLLECT_SYNC_SIZE
};

static long *turns[TURNS], *broadcasts, *exchanges[TURNS];
static double *work[TURNS];
static size_t work_n;
static int npes;

static long *new_sync(size_t n)
{
    long *sync = shmem_malloc(n * sizeof(*sync));
    if (sync == NULL)
        shmem_global_exit(1);
    for (size_t i = 0; i < n; i++)
        sync[i] = SHMEM_SYNC_VALUE;
    return sync;
}

static void init(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    coll_put_init();
    npes = shmem_n_pes();
    for (int i = 0; i < TURNS; i++) {
        turns[i] = new_sync(SYNC_SIZE);
        exchanges[i] = new_sync(SHMEM_ALLTOALL_SYNC_SIZE);
    }
    broadcasts = new_sync((size_t)BROADCASTS * SHMEM_BCAST_SYNC_SIZE);
    shmem_barrier_all();
}

static int next_turn(void)
{
    static int turn;
    turn = (turn + 1) % TURNS;
    return turn;
}

/* Collective: all PEs call it with the same sizes. */
static void need_work(size_t n)
{
    size_t needed = n / 2 + 1;
    if (needed < SHMEM_REDUCE_MIN_WRKDATA_SIZE)
        needed = SHMEM_REDUCE_MIN_WRKDATA_SIZE;
    if (needed <= work_n)
        return;
    for (int i = 0; i < TURNS; i++) {
        if (work[i] != NULL)
            shmem_free(work[i]);
        work[i] = shmem_malloc(needed * sizeof(double));
        if (work[i] == NULL)
            shmem_global_exit(1);
    }
    work_n = needed;
}

static void allreduce(double *dest, const double *src, size_t n)
{
    int turn = next_turn();
    need_work(n);
    shmem_double_sum_to_all(dest, (double *)(uintptr_t)src, (int)n, 0, 0, npes,
                            work[turn], turns[turn]);
}

static void broadcast(void *dest, const void *src, size_t bytes)
{
    static size_t turn;
    if (turn == BROADCASTS) {
        shmem_barrier_all();
        turn = 0;
    }
    shmem_broadcast64(dest, src, bytes / 8, 0, 0, 0, npes,
                      broadcasts + turn++ * SHMEM_BCAST_SYNC_SIZE);
}

static void fcollect(void *dest, const void *src, size_t bytes)
{
    shmem_fcollect64(dest, src, bytes / 8, 0, 0, npes, turns[next_turn()]);
}

static void alltoall(void *dest, const void *src, size_t bytes)
{
    shmem_alltoall64(dest, src, bytes / 8, 0, 0, npes, exchanges[next_turn()]);
}

const struct coll_lib coll_lib = {
    .name = "OpenSHMEM, active sets",
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
    .broadcast = broadcast,
    .fcollect = fcollect,
    .alltoall = alltoall,
};
