/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kern_mpi.c - the kernels on MPI: each process has a copy of each result, except that
 * the root of a broadcast uses its source buffer.
 */
#include <mpi.h>
#include <stdlib.h>

#include "kern.h"

static MPI_Comm teams[KERN_TEAMS];
static int me, npes;

static void grid(int columns)
{
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &npes);
    teams[KERN_WORLD] = MPI_COMM_WORLD;
    MPI_Comm_split(MPI_COMM_WORLD, me / columns, me, &teams[KERN_ROW]);
    MPI_Comm_split(MPI_COMM_WORLD, me % columns, me, &teams[KERN_COLUMN]);
}

static size_t open_result(struct kern_result *r)
{
    r->dest = aligned_alloc(64, (r->bytes + 63) / 64 * 64);
    if (r->dest == NULL)
        kern_fail("no memory for a result of %zu bytes", r->bytes);
    return r->bytes;
}

static void close_result(struct kern_result *r)
{
    free(r->dest);
}

static const void *broadcast(struct kern_result *r, const void *src, size_t bytes,
                             int root)
{
    int rank;
    MPI_Comm_rank(teams[r->team], &rank);
    void *data = rank == root ? (void *)(uintptr_t)src : r->dest;
    MPI_Bcast(data, (int)bytes, MPI_BYTE, root, teams[r->team]);
    return data;
}

static void *block(struct kern_result *r, size_t bytes)
{
    int rank;
    MPI_Comm_rank(teams[r->team], &rank);
    return r->dest + (size_t)rank * bytes;
}

static const void *fcollect(struct kern_result *r, size_t bytes)
{
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, r->dest, (int)bytes, MPI_BYTE,
                  teams[r->team]);
    return r->dest;
}

static double max(struct kern_result *r, double mine)
{
    double all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, teams[r->team]);
    return all;
}

static void exchange(double *halo, const double *first, const double *last, size_t n)
{
    int above = me > 0 ? me - 1 : MPI_PROC_NULL;
    int below = me < npes - 1 ? me + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(first, (int)n, MPI_DOUBLE, above, 0, halo + n, (int)n, MPI_DOUBLE, below,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(last, (int)n, MPI_DOUBLE, below, 1, halo, (int)n, MPI_DOUBLE, above, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

const struct kern_lib kern_lib = {
    .form = "MPI",
    .grid = grid,
    .open = open_result,
    .close = close_result,
    .broadcast = broadcast,
    .block = block,
    .fcollect = fcollect,
    .max = max,
    .exchange = exchange,
};
