/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * summa.c - matrix product on a grid of PEs, after R. van de Geijn and J. Watts, "SUMMA:
 * Scalable Universal Matrix Multiplication Algorithm", 1997, a generalization of G. Fox's
 * algorithm of 1987 to grids that need not be square.  In step k the owners broadcast
 * column k of A along the rows of the grid and row k of B along its columns.  Active sets
 * need strides that are powers of two, so the width of the grid is one.  The values are
 * small integers, so the result must be exact.
 */
#include <mpp/shmem.h>
#include <stdio.h>
#include <stdlib.h>

#define N 48

static long row_sync[_SHMEM_BCAST_SYNC_SIZE], column_sync[_SHMEM_BCAST_SYNC_SIZE];
static long row_barrier[_SHMEM_BARRIER_SYNC_SIZE];
static long column_barrier[_SHMEM_BARRIER_SYNC_SIZE];
static double column_of_a[N], row_of_b[N]; /* operands of the current step */
static double a_part[N], b_part[N];        /* the root's source of the broadcast */

static int me, npes;
static int width, height, log_width; /* PEs of a row and of a column of the grid */
static int x, y;                     /* coordinates of this PE in the grid */

static double a_at(int i, int j)
{
    return (i * 7 + j * 3) % 17 - 8;
}

static double b_at(int i, int j)
{
    return (i * 5 + j * 11) % 19 - 9;
}

static int first(int part, int parts)
{
    return N * part / parts;
}

static int part_of(int index, int parts)
{
    int part = 0;
    while (first(part + 1, parts) <= index)
        part++;
    return part;
}

/* The largest width that divides npes and is a power of two not above the height. */
static void make_grid(void)
{
    width = 1;
    log_width = 0;
    while (npes % (2 * width) == 0 && 4 * width * width <= npes) {
        width *= 2;
        log_width++;
    }
    height = npes / width;
    x = me % width;
    y = me / width;
}

/* shmem_broadcast64 does not write the root's own target. */
static void broadcast_along_row(int k, const double *a, int columns)
{
    int root = part_of(k, width), rows = first(y + 1, height) - first(y, height), i;
    if (x == root)
        for (i = 0; i < rows; i++)
            column_of_a[i] = a_part[i] = a[i * columns + k - first(x, width)];
    shmem_broadcast64(column_of_a, a_part, (size_t)rows, root, y * width, 0, width,
                      row_sync);
}

static void broadcast_along_column(int k, const double *b, int columns)
{
    int root = part_of(k, height), j;
    if (y == root)
        for (j = 0; j < columns; j++)
            row_of_b[j] = b_part[j] = b[(k - first(y, height)) * columns + j];
    shmem_broadcast64(row_of_b, b_part, (size_t)columns, root, x, log_width, height,
                      column_sync);
}

static void multiply(const double *a, const double *b, double *c)
{
    int rows = first(y + 1, height) - first(y, height);
    int columns = first(x + 1, width) - first(x, width);
    int i, j, k;
    for (k = 0; k < N; k++) {
        broadcast_along_row(k, a, columns);
        broadcast_along_column(k, b, columns);
        for (i = 0; i < rows; i++)
            for (j = 0; j < columns; j++)
                c[i * columns + j] += column_of_a[i] * row_of_b[j];
        /* The next broadcast must not start before all PEs have used the operands and
         * have left the pSync arrays. */
        shmem_barrier(y * width, 0, width, row_barrier);
        shmem_barrier(x, log_width, height, column_barrier);
    }
}

static int count_wrong(const double *c)
{
    int columns = first(x + 1, width) - first(x, width), wrong = 0, i, j, k;
    for (i = first(y, height); i < first(y + 1, height); i++)
        for (j = first(x, width); j < first(x + 1, width); j++) {
            double sum = 0;
            for (k = 0; k < N; k++)
                sum += a_at(i, k) * b_at(k, j);
            wrong += c[(i - first(y, height)) * columns + j - first(x, width)] != sum;
        }
    return wrong;
}

int main(void)
{
    double *a, *b, *c;
    int i, j, n = 0, wrong;
    start_pes(0);
    me = _my_pe();
    npes = _num_pes();
    if (npes > N) {
        fprintf(stderr, "summa: for at most %d PEs\n", N);
        return 1;
    }
    for (i = 0; i < _SHMEM_BCAST_SYNC_SIZE; i++)
        row_sync[i] = column_sync[i] = _SHMEM_SYNC_VALUE;
    for (i = 0; i < _SHMEM_BARRIER_SYNC_SIZE; i++)
        row_barrier[i] = column_barrier[i] = _SHMEM_SYNC_VALUE;
    make_grid();
    a = malloc(N * N * sizeof(double));
    b = malloc(N * N * sizeof(double));
    c = calloc(N * N, sizeof(double));
    for (i = first(y, height); i < first(y + 1, height); i++)
        for (j = first(x, width); j < first(x + 1, width); j++, n++) {
            a[n] = a_at(i, j);
            b[n] = b_at(i, j);
        }
    shmem_barrier_all();
    multiply(a, b, c);
    wrong = count_wrong(c);
    if (wrong != 0)
        fprintf(stderr, "summa: PE %d (%d, %d) of %d x %d: %d wrong\n", me, y, x, height,
                width, wrong);
    free(c);
    free(b);
    free(a);
    return wrong != 0;
}
