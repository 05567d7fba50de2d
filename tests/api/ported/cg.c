/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cg.c - conjugate gradients, after M. R. Hestenes and E. Stiefel, "Methods of Conjugate
 * Gradients for Solving Linear Systems", 1952, for Poisson's equation on a square with
 * the five-point stencil.  The rows of the grid are distributed; neighbours put their
 * edge rows into each other's halo and wait for a counter.  The reductions alternate
 * between two sets of work arrays, so that no barrier is needed between them.
 * The solution x (1 - x) y (1 - y) is a polynomial for which the stencil is exact.
 */
#include <math.h>
#include <mpp/shmem.h>
#include <stdio.h>
#include <stdlib.h>

#define N         30 /* inner points of a side */
#define MAX_STEPS (N * N)
#define ENOUGH    1e-13 /* stop at this fraction of the initial residual norm */
#define LIMIT     1e-10 /* maximum error of the solution */

static int me, npes, rows, top;     /* my rows are top .. top + rows */
static double p[(N + 2) * (N + 2)]; /* search direction, with halo */
static double u[N * N], r[N * N], q[N * N];
static long from_above, from_below; /* steps whose halo has arrived */
static long used_above, used_below; /* steps whose halo the neighbour has read */
static double part[2], sum[2];
static long pSync[2][_SHMEM_REDUCE_SYNC_SIZE];
static double pWrk[2][_SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static int turn;

static int first(int pe)
{
    return N * pe / npes;
}

static double sum_over_all(double value)
{
    turn = !turn;
    part[turn] = value;
    shmem_double_sum_to_all(&sum[turn], &part[turn], 1, 0, 0, npes, pWrk[turn],
                            pSync[turn]);
    return sum[turn];
}

static double max_over_all(double value)
{
    turn = !turn;
    part[turn] = value;
    shmem_double_max_to_all(&sum[turn], &part[turn], 1, 0, 0, npes, pWrk[turn],
                            pSync[turn]);
    return sum[turn];
}

static double *row_of_p(int row)
{
    return &p[(row + 1) * (N + 2) + 1];
}

/* My first row is the halo below the last one of the PE above, and so on. */
static void exchange_halo(long step)
{
    if (me > 0) {
        int above = first(me) - first(me - 1);
        shmem_long_wait_until(&used_above, _SHMEM_CMP_GE, step - 1);
        shmem_double_put(row_of_p(above), row_of_p(0), N, me - 1);
        shmem_fence();
        shmem_long_inc(&from_below, me - 1);
    }
    if (me < npes - 1) {
        shmem_long_wait_until(&used_below, _SHMEM_CMP_GE, step - 1);
        shmem_double_put(row_of_p(-1), row_of_p(rows - 1), N, me + 1);
        shmem_fence();
        shmem_long_inc(&from_above, me + 1);
    }
    if (me > 0)
        shmem_long_wait_until(&from_above, _SHMEM_CMP_GE, step);
    if (me < npes - 1)
        shmem_long_wait_until(&from_below, _SHMEM_CMP_GE, step);
}

/* q = A p; then signals the neighbours that the halo may be overwritten. */
static void apply(long step)
{
    int i, j;
    exchange_halo(step);
    for (i = 0; i < rows; i++) {
        const double *at = row_of_p(i);
        for (j = 0; j < N; j++, at++)
            q[i * N + j] = 4 * at[0] - at[-1] - at[1] - at[-(N + 2)] - at[N + 2];
    }
    if (me > 0)
        shmem_long_inc(&used_below, me - 1);
    if (me < npes - 1)
        shmem_long_inc(&used_above, me + 1);
}

/* The right-hand side of the known solution, times the square of the mesh size. */
static void set_up(void)
{
    const double h = 1.0 / (N + 1);
    int i, j;
    for (i = 0; i < rows; i++)
        for (j = 0; j < N; j++) {
            double x = (j + 1) * h, y = (top + i + 1) * h;
            r[i * N + j] = 2 * h * h * (x * (1 - x) + y * (1 - y));
            row_of_p(i)[j] = r[i * N + j];
        }
}

static double dot(const double *a, const double *b)
{
    double value = 0;
    int i;
    for (i = 0; i < rows * N; i++)
        value += a[i] * b[i];
    return sum_over_all(value);
}

/* Returns the number of steps. */
static long solve(void)
{
    double rho = dot(r, r), stop = rho * ENOUGH * ENOUGH, old, alpha, pq;
    long step = 0;
    int i, j;
    while (rho > stop && step < MAX_STEPS) {
        apply(++step);
        for (pq = 0, i = 0; i < rows; i++)
            for (j = 0; j < N; j++)
                pq += row_of_p(i)[j] * q[i * N + j];
        alpha = rho / sum_over_all(pq);
        for (i = 0; i < rows * N; i++)
            r[i] -= alpha * q[i];
        old = rho;
        rho = dot(r, r);
        for (i = 0; i < rows; i++)
            for (j = 0; j < N; j++) {
                u[i * N + j] += alpha * row_of_p(i)[j];
                row_of_p(i)[j] = r[i * N + j] + rho / old * row_of_p(i)[j];
            }
    }
    return step;
}

static double find_error(void)
{
    const double h = 1.0 / (N + 1);
    double error = 0;
    int i, j;
    for (i = 0; i < rows; i++)
        for (j = 0; j < N; j++) {
            double x = (j + 1) * h, y = (top + i + 1) * h;
            error = fmax(error, fabs(u[i * N + j] - x * (1 - x) * y * (1 - y)));
        }
    return max_over_all(error);
}

int main(void)
{
    double error;
    long steps;
    int i;
    start_pes(0);
    me = _my_pe();
    npes = _num_pes();
    if (npes > N) {
        fprintf(stderr, "cg: for at most %d PEs\n", N);
        return 1;
    }
    for (i = 0; i < _SHMEM_REDUCE_SYNC_SIZE; i++)
        pSync[0][i] = pSync[1][i] = _SHMEM_SYNC_VALUE;
    shmem_barrier_all();
    top = first(me);
    rows = first(me + 1) - top;
    set_up();
    steps = solve();
    error = find_error();
    if (me == 0)
        printf("cg: %d PEs: %ld steps, error %.1e\n", npes, steps, error);
    return !(error < LIMIT) || steps >= MAX_STEPS;
}
