/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll_mpi.c - backend of the benchmarks of collectives for MPI.  PE 0 broadcasts from
 * its source buffer and makes no local copy.  MPI counts are int: blocks are < 2 GiB.
 */
#include "coll.h"

#include <mpi.h>
#include <stdlib.h>

static void init(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
}

static void fini(void)
{
    MPI_Finalize();
}

static void stop(int status)
{
    MPI_Abort(MPI_COMM_WORLD, status);
}

static int me(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

static int npes(void)
{
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
}

static void *alloc(size_t bytes)
{
    return aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
}

static void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void gather(double *all, const double *mine, size_t n)
{
    MPI_Allgather(mine, (int)n, MPI_DOUBLE, all, (int)n, MPI_DOUBLE, MPI_COMM_WORLD);
}

static void pingpong(void *dest, const void *src, size_t bytes, long n)
{
    int rank = me(), count = (int)bytes;
    for (long i = 0; rank < 2 && i < n; i++) {
        if (rank == 0)
            MPI_Send(src, count, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(dest, count, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(src, count, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
}

static void allreduce(double *dest, const double *src, size_t n)
{
    MPI_Allreduce(src, dest, (int)n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void inscan(double *dest, const double *src, size_t n)
{
    MPI_Scan(src, dest, (int)n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void exscan(double *dest, const double *src, size_t n)
{
    MPI_Exscan(src, dest, (int)n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void broadcast(void *dest, const void *src, size_t bytes)
{
    void *data = me() == 0 ? (void *)(uintptr_t)src : dest;
    MPI_Bcast(data, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void fcollect(void *dest, const void *src, size_t bytes)
{
    int n = (int)bytes;
    MPI_Allgather(src, n, MPI_BYTE, dest, n, MPI_BYTE, MPI_COMM_WORLD);
}

static void alltoall(void *dest, const void *src, size_t bytes)
{
    int n = (int)bytes;
    MPI_Alltoall(src, n, MPI_BYTE, dest, n, MPI_BYTE, MPI_COMM_WORLD);
}

const struct coll_lib coll_lib = {
    .name = "MPI",
    .init = init,
    .fini = fini,
    .stop = stop,
    .me = me,
    .npes = npes,
    .alloc = alloc,
    .free = free,
    .barrier = barrier,
    .gather = gather,
    .pingpong = pingpong,
    .allreduce = allreduce,
    .inscan = inscan,
    .exscan = exscan,
    .broadcast = broadcast,
    .fcollect = fcollect,
    .alltoall = alltoall,
};
