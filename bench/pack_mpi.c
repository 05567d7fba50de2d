/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack_mpi.c - measures MPI_Pack and MPI_Unpack with a vector type, in the cells of
 * pack_bench.  Uses: pack_cells, MPI.
 */
#include <mpi.h>

#include <float.h>
#include <stdio.h>

#include "pack_cells.h"

struct turn {
    const struct pack_cell *cell;
    char *packed, *strided;
    MPI_Datatype type;
};

static void mpi_call(const void *arg)
{
    const struct turn *t = arg;
    int at = 0;

    if (t->cell->unpack)
        MPI_Unpack(t->packed, (int)t->cell->bytes, &at, t->strided, 1, t->type,
                   MPI_COMM_SELF);
    else
        MPI_Pack(t->strided, 1, t->type, t->packed, (int)t->cell->bytes, &at,
                 MPI_COMM_SELF);
}

/* Of the widest elements that divide the block and the stride */
static MPI_Datatype mpi_vector(const struct pack_cell *c)
{
    size_t bits = c->block | c->stride, unit = bits & -bits;
    MPI_Datatype element = unit >= 8   ? MPI_DOUBLE
                           : unit >= 4 ? MPI_INT
                           : unit >= 2 ? MPI_SHORT
                                       : MPI_CHAR;
    int count = (int)(c->bytes / c->block);
    MPI_Datatype type;

    unit = unit > 8 ? 8 : unit;
    MPI_Type_vector(count, (int)(c->block / unit), (int)(c->stride / unit), element,
                    &type);
    MPI_Type_commit(&type);
    return type;
}

int main(int argc, char **argv)
{
    static struct pack_cells cells;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;

    MPI_Init(&argc, &argv);
    pack_cells_read(&cells, argc, argv);
    MPI_Get_library_version(version, &length);
    const char *name = version[0] == 'O' ? "ompi" : "mpich";
    char *packed = pack_cells_buffer(cells.most_packed);
    char *strided = pack_cells_buffer(cells.most_strided);
    for (size_t i = 0; i < cells.n; i++) {
        const struct pack_cell *c = &cells.cell[i];
        struct turn t = {c, packed + c->packed_at, strided + c->strided_at,
                         mpi_vector(c)};
        long n = pack_cells_repetitions(mpi_call, &t, cells.seconds);
        double best = DBL_MAX;
        for (int r = 0; r < cells.rounds; r++) {
            double seconds = pack_cells_time(mpi_call, &t, n);
            best = seconds < best ? seconds : best;
        }
        pack_cells_print(t.cell, name, best);
        MPI_Type_free(&t.type);
    }
    MPI_Finalize();
    return 0;
}
