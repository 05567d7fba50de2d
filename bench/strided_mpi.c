/* SPDX-License-Identifier: BSD-3-Clause */
/* strided_mpi.c - exchanges with MPI: derived datatypes, and code that packs by hand. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "strided.h"

const char strided_library[] = "MPI";

enum { TO_WEST, TO_EAST };

static MPI_Datatype columns_type;
static MPI_Datatype send_type[STRIDED_PES_MAX], receive_type[STRIDED_PES_MAX];
static int ones[STRIDED_PES_MAX], zeros[STRIDED_PES_MAX];
static int types; /* of send_type and receive_type */
static double *arrived, *message;

/* ---- derived datatypes ---------------------------------------------------------------
 */

static void halo_open_datatype(const struct strided_halo *h)
{
    MPI_Type_vector((int)h->rows, (int)h->radius, (int)h->pitch, MPI_DOUBLE,
                    &columns_type);
    MPI_Type_commit(&columns_type);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void halo_datatype(const struct strided_halo *h, int parity)
{
    double *row = strided_first_row(h, parity);
    MPI_Request request[4];
    MPI_Status status[4];

    MPI_Irecv(row + h->columns + h->radius, 1, columns_type, h->east, TO_WEST,
              MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(row, 1, columns_type, h->west, TO_EAST, MPI_COMM_WORLD, &request[1]);
    MPI_Isend(row + h->radius, 1, columns_type, h->west, TO_WEST, MPI_COMM_WORLD,
              &request[2]);
    MPI_Isend(row + h->columns, 1, columns_type, h->east, TO_EAST, MPI_COMM_WORLD,
              &request[3]);
    MPI_Waitall(4, request, status);
}

/* What a PE sends is in the order of the columns of its block. */
static void matrix_open_datatype(const struct strided_matrix *m)
{
    const int n = (int)m->n, rows = (int)m->rows;
    const MPI_Aint size = sizeof(struct strided_complex);
    MPI_Datatype element, column, resized, block, part;

    MPI_Type_contiguous(2, MPI_DOUBLE, &element);
    MPI_Type_vector(rows, 1, n, element, &column);
    MPI_Type_create_resized(column, 0, size, &resized);
    MPI_Type_contiguous(rows, resized, &block);
    MPI_Type_vector(rows, rows, n, element, &part);
    types = m->npes;
    for (int pe = 0; pe < types; pe++) {
        MPI_Aint at = pe * rows * size;
        ones[pe] = 1;
        zeros[pe] = 0;
        MPI_Type_create_hindexed(1, &ones[0], &at, block, &send_type[pe]);
        MPI_Type_create_hindexed(1, &ones[0], &at, part, &receive_type[pe]);
        MPI_Type_commit(&send_type[pe]);
        MPI_Type_commit(&receive_type[pe]);
    }
    MPI_Type_free(&element);
    MPI_Type_free(&column);
    MPI_Type_free(&resized);
    MPI_Type_free(&block);
    MPI_Type_free(&part);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void transpose_datatype(const struct strided_matrix *m, int parity)
{
    MPI_Alltoallw(m->source, ones, zeros, send_type, m->dest[parity], ones, zeros,
                  receive_type, MPI_COMM_WORLD);
}

static void close_datatype(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    for (int pe = 0; pe < types; pe++) {
        MPI_Type_free(&send_type[pe]);
        MPI_Type_free(&receive_type[pe]);
    }
    if (types == 0)
        MPI_Type_free(&columns_type);
    types = 0;
}

/* ---- packed by hand ------------------------------------------------------------------
 */

static void open_buffers(size_t bytes)
{
    arrived = strided_memory(bytes);
    message = strided_memory(bytes);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void close_packed(void)
{
    free(arrived);
    free(message);
}

static void halo_open_packed(const struct strided_halo *h)
{
    open_buffers(2 * h->rows * h->radius * sizeof(double));
}

static void halo_packed(const struct strided_halo *h, int parity)
{
    double *row = strided_first_row(h, parity);
    const size_t half = h->rows * h->radius;
    MPI_Request request[4];
    MPI_Status status[4];

    MPI_Irecv(arrived, (int)half, MPI_DOUBLE, h->east, TO_WEST, MPI_COMM_WORLD,
              &request[0]);
    MPI_Irecv(arrived + half, (int)half, MPI_DOUBLE, h->west, TO_EAST, MPI_COMM_WORLD,
              &request[1]);
    strided_pack_columns(h, row + h->radius, message);
    MPI_Isend(message, (int)half, MPI_DOUBLE, h->west, TO_WEST, MPI_COMM_WORLD,
              &request[2]);
    strided_pack_columns(h, row + h->columns, message + half);
    MPI_Isend(message + half, (int)half, MPI_DOUBLE, h->east, TO_EAST, MPI_COMM_WORLD,
              &request[3]);
    MPI_Waitall(4, request, status);
    strided_unpack_columns(h, row + h->columns + h->radius, arrived);
    strided_unpack_columns(h, row, arrived + half);
}

static void matrix_open_packed(const struct strided_matrix *m)
{
    open_buffers(m->rows * m->n * sizeof(struct strided_complex));
}

static void transpose_packed(const struct strided_matrix *m, int parity)
{
    const size_t n = m->n, rows = m->rows, bytes = rows * sizeof(struct strided_complex);
    struct strided_complex *out = (struct strided_complex *)(void *)message;
    const struct strided_complex *in = (struct strided_complex *)(void *)arrived;

    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < rows; i++)
            *out++ = m->source[i * n + j];
    MPI_Alltoall(message, (int)(rows * bytes), MPI_BYTE, arrived, (int)(rows * bytes),
                 MPI_BYTE, MPI_COMM_WORLD);
    for (size_t pe = 0; pe < (size_t)m->npes; pe++)
        for (size_t j = 0; j < rows; j++, in += rows)
            memcpy(m->dest[parity] + j * n + pe * rows, in, bytes);
}

const struct strided_form strided_forms[] = {
    {"datatype", halo_open_datatype, halo_datatype, matrix_open_datatype,
     transpose_datatype, close_datatype, false},
    {"packed", halo_open_packed, halo_packed, matrix_open_packed, transpose_packed,
     close_packed, false}};
const int strided_forms_count = sizeof(strided_forms) / sizeof(strided_forms[0]);
