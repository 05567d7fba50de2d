/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strided_shmem.c - exchanges with OpenSHMEM 1.6: strided puts, alltoalls, and code that
 * packs and sends contiguous messages: by hand, or with shmemx_pack and layouts.
 */
#include <shmemx.h>
#include <string.h>

#include "strided.h"

const char strided_library[] = "OpenSHMEM";

/* Signals of the PEs that send to this one; the value is the number of the call.  A fence
 * before the signals of a call keeps those of two calls in order.  Two
 * buffers, by parity, are enough: a PE is at most one call ahead of those to which it
 * sends, because it waits for their data of each call. */
static uint64_t from_west, from_east, from_pe[STRIDED_PES_MAX];
static uint64_t calls;

/* Symmetric buffers of the form that packs: messages that arrive, and one to send */
static char *arrived[2], *message;

/* What one PE sends to another one, and where that stores it */
static shmemx_layout_t send_layout, receive_layout;

static void open_signals(void)
{
    calls = from_west = from_east = 0;
    memset(from_pe, 0, sizeof(from_pe));
    shmem_barrier_all();
}

static void halo_open_strided(const struct strided_halo *h)
{
    (void)h;
    open_signals();
}

static void matrix_open_strided(const struct strided_matrix *m)
{
    (void)m;
    open_signals();
}

static void close_strided(void)
{
    shmem_barrier_all();
}

/* ---- strided puts ------------------------------------------------------------------ */

/* Columns `from` of this PE's tile to columns `to` of that of `pe` */
static void put_columns(const struct strided_halo *h, int parity, size_t to, size_t from,
                        int pe)
{
    double *row = strided_first_row(h, parity);
    ptrdiff_t pitch = (ptrdiff_t)h->pitch;

    if (h->radius == 1)
        shmem_double_iput(row + to, row + from, pitch, pitch, h->rows, pe);
    else
        shmem_double_ibput(row + to, row + from, pitch, pitch, h->radius, h->rows, pe);
}

static void signal_neighbors(const struct strided_halo *h)
{
    shmem_fence();
    calls++;
    shmem_signal_set(&from_east, calls, h->west);
    shmem_signal_set(&from_west, calls, h->east);
    shmem_signal_wait_until(&from_west, SHMEM_CMP_GE, calls);
    shmem_signal_wait_until(&from_east, SHMEM_CMP_GE, calls);
}

static void halo_strided(const struct strided_halo *h, int parity)
{
    put_columns(h, parity, h->columns + h->radius, h->radius, h->west);
    put_columns(h, parity, 0, h->columns, h->east);
    signal_neighbors(h);
}

/* ---- transposition by strided puts ------------------------------------------------- */

static void signal_all(const struct strided_matrix *m)
{
    shmem_fence();
    for (int pe = 0; pe < m->npes; pe++)
        shmem_signal_set(&from_pe[m->me], calls, pe);
    for (int pe = 0; pe < m->npes; pe++)
        shmem_signal_wait_until(&from_pe[pe], SHMEM_CMP_GE, calls);
}

/* A column of this PE's block becomes a part of a row of the other PE. */
static void transpose_strided(const struct strided_matrix *m, int parity)
{
    const size_t n = m->n, rows = m->rows;

    calls++;
    for (int d = 0; d < m->npes; d++) {
        int pe = (m->me + d) % m->npes;
        for (size_t j = 0; j < rows; j++)
            shmem_iput128(m->dest[parity] + j * n + (size_t)m->me * rows,
                          m->source + (size_t)pe * rows + j, 1, (ptrdiff_t)n, rows, pe);
    }
    signal_all(m);
}

/* ---- alltoalls --------------------------------------------------------------------- */

/* alltoalls copies elements of any type as bytes; there is none for complex numbers. */
_Static_assert(sizeof(long double) == sizeof(struct strided_complex),
               "a complex number is as large as a long double");

/* Row i of each PE becomes column i of the blocks. */
static void transpose_alltoalls(const struct strided_matrix *m, int parity)
{
    for (size_t i = 0; i < m->rows; i++)
        shmem_longdouble_alltoalls(
            SHMEM_TEAM_WORLD, (long double *)(void *)(m->dest[parity] + i),
            (const long double *)(const void *)(m->source + i * m->n), (ptrdiff_t)m->rows,
            1, m->rows);
}

/* ---- packed by hand ---------------------------------------------------------------- */

static void open_buffers(size_t bytes)
{
    arrived[0] = coll_need("strided_bench", bytes);
    arrived[1] = coll_need("strided_bench", bytes);
    message = coll_need("strided_bench", bytes);
    open_signals();
}

static void close_packed(void)
{
    shmem_free(message);
    shmem_free(arrived[1]);
    shmem_free(arrived[0]);
}

static void halo_open_packed(const struct strided_halo *h)
{
    open_buffers(2 * h->rows * h->radius * sizeof(double));
}

/* The first half of a buffer is for data from the west. */
static void halo_packed(const struct strided_halo *h, int parity)
{
    double *row = strided_first_row(h, parity);
    const size_t half = h->rows * h->radius;
    double *west = (double *)(void *)arrived[parity], *east = west + half;
    double *out = (double *)(void *)message;

    calls++;
    shmem_fence();
    strided_pack_columns(h, row + h->radius, out);
    shmem_double_put_signal(east, out, half, &from_east, calls, SHMEM_SIGNAL_SET,
                            h->west);
    strided_pack_columns(h, row + h->columns, out + half);
    shmem_double_put_signal(west, out + half, half, &from_west, calls, SHMEM_SIGNAL_SET,
                            h->east);
    shmem_signal_wait_until(&from_east, SHMEM_CMP_GE, calls);
    strided_unpack_columns(h, row + h->columns + h->radius, east);
    shmem_signal_wait_until(&from_west, SHMEM_CMP_GE, calls);
    strided_unpack_columns(h, row, west);
}

static void matrix_open_packed(const struct strided_matrix *m)
{
    open_buffers(m->rows * m->n * sizeof(struct strided_complex));
}

/* The buffers have blocks [pe][row][column] of the target. */
static void transpose_packed(const struct strided_matrix *m, int parity)
{
    const size_t n = m->n, rows = m->rows, bytes = rows * sizeof(struct strided_complex);
    struct strided_complex *out = (struct strided_complex *)(void *)message;
    const struct strided_complex *in = (struct strided_complex *)(void *)arrived[parity];

    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < rows; i++)
            *out++ = m->source[i * n + j];
    shmem_alltoallmem(SHMEM_TEAM_WORLD, arrived[parity], message, rows * bytes);
    for (size_t pe = 0; pe < (size_t)m->npes; pe++)
        for (size_t j = 0; j < rows; j++, in += rows)
            memcpy(m->dest[parity] + j * n + pe * rows, in, bytes);
}

/* ---- packed with layouts ----------------------------------------------------------- */

static void check_layout(int status)
{
    if (status != 0)
        strided_fail("a layout could not be created");
}

static void halo_open_layout(const struct strided_halo *h)
{
    const size_t block = h->radius * sizeof(double);
    const ptrdiff_t stride = (ptrdiff_t)(h->pitch * sizeof(double));

    check_layout(shmemx_layout_vector(block, stride, h->rows, &send_layout));
    check_layout(shmemx_layout_vector(block, stride, h->rows, &receive_layout));
    halo_open_packed(h);
}

static void halo_layout(const struct strided_halo *h, int parity)
{
    double *row = strided_first_row(h, parity);
    const size_t half = h->rows * h->radius, bytes = half * sizeof(double);
    double *west = (double *)(void *)arrived[parity], *east = west + half;
    double *out = (double *)(void *)message;

    calls++;
    shmem_fence();
    shmemx_pack(send_layout, row + h->radius, 0, out, bytes);
    shmem_double_put_signal(east, out, half, &from_east, calls, SHMEM_SIGNAL_SET,
                            h->west);
    shmemx_pack(send_layout, row + h->columns, 0, out + half, bytes);
    shmem_double_put_signal(west, out + half, half, &from_west, calls, SHMEM_SIGNAL_SET,
                            h->east);
    shmem_signal_wait_until(&from_east, SHMEM_CMP_GE, calls);
    shmemx_unpack(receive_layout, row + h->columns + h->radius, 0, east, bytes);
    shmem_signal_wait_until(&from_west, SHMEM_CMP_GE, calls);
    shmemx_unpack(receive_layout, row, 0, west, bytes);
}

/* A block in the order of its columns, and the rows that it becomes */
static void matrix_open_layout(const struct strided_matrix *m)
{
    const size_t size = sizeof(struct strided_complex), count[] = {m->rows, m->rows};
    const ptrdiff_t pitch = (ptrdiff_t)(m->n * size);
    const ptrdiff_t stride[] = {pitch, (ptrdiff_t)size};

    check_layout(shmemx_layout_nested(size, 2, count, stride, &send_layout));
    check_layout(shmemx_layout_vector(m->rows * size, pitch, m->rows, &receive_layout));
    matrix_open_packed(m);
}

static void transpose_layout(const struct strided_matrix *m, int parity)
{
    const size_t bytes = shmemx_layout_size(send_layout);

    for (size_t pe = 0; pe < (size_t)m->npes; pe++)
        shmemx_pack(send_layout, m->source + pe * m->rows, 0, message + pe * bytes,
                    bytes);
    shmem_alltoallmem(SHMEM_TEAM_WORLD, arrived[parity], message, bytes);
    for (size_t pe = 0; pe < (size_t)m->npes; pe++)
        shmemx_unpack(receive_layout, m->dest[parity] + pe * m->rows, 0,
                      arrived[parity] + pe * bytes, bytes);
}

static void close_layout(void)
{
    shmemx_layout_free(&send_layout);
    shmemx_layout_free(&receive_layout);
    close_packed();
}

/* ---- puts with layouts ------------------------------------------------------------- */

static void halo_put_layout(const struct strided_halo *h, int parity)
{
    double *row = strided_first_row(h, parity);

    shmemx_put_layout(row + h->columns + h->radius, receive_layout, row + h->radius,
                      send_layout, h->west);
    shmemx_put_layout(row, receive_layout, row + h->columns, send_layout, h->east);
    signal_neighbors(h);
}

static void transpose_put_layout(const struct strided_matrix *m, int parity)
{
    calls++;
    for (int d = 0; d < m->npes; d++) {
        int pe = (m->me + d) % m->npes;
        shmemx_put_layout(m->dest[parity] + (size_t)m->me * m->rows, receive_layout,
                          m->source + (size_t)pe * m->rows, send_layout, pe);
    }
    signal_all(m);
}

const struct strided_form strided_forms[] = {
    {"strided", halo_open_strided, halo_strided, matrix_open_strided, transpose_strided,
     close_strided, false},
    {"alltoalls", NULL, NULL, matrix_open_strided, transpose_alltoalls, close_strided,
     true},
    {"packed", halo_open_packed, halo_packed, matrix_open_packed, transpose_packed,
     close_packed, false},
    {"layout", halo_open_layout, halo_layout, matrix_open_layout, transpose_layout,
     close_layout, false},
    {"put_layout", halo_open_layout, halo_put_layout, matrix_open_layout,
     transpose_put_layout, close_layout, false}};
const int strided_forms_count = sizeof(strided_forms) / sizeof(strided_forms[0]);
