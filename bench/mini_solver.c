/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mini_solver.c - conjugate gradients with threads.  Before each product of the matrix
 * and p, each thread sends its lines of the first and last plane of p to the PEs below
 * and above, and computes the inner planes while they travel.  A PE sends p again only
 * after the sum that follows the product, which all threads of all PEs have finished by
 * then, so that a halo plane is never overwritten while it is read.
 */
#include "mini_solver.h"

#include <math.h>
#include <stdlib.h>

const char *solver_check(const struct mini_job *job, size_t ny, size_t nz)
{
    if (ny < (size_t)job->threads)
        return "there are fewer lines than threads";
    return nz < (size_t)job->npes ? "there are fewer planes than PEs" : NULL;
}

size_t solver_first_plane(const struct solver *s, int pe)
{
    return mini_split(s->nz, pe, s->npes);
}

size_t solver_planes(const struct solver *s, int pe)
{
    return solver_first_plane(s, pe + 1) - solver_first_plane(s, pe);
}

void solver_open(struct solver *s, const struct mini_job *job, size_t nx, size_t ny,
                 size_t nz)
{
    size_t most = nz / (size_t)job->npes + 1, pad = nx + 1, rows;

    *s = (struct solver){.me = job->me,
                         .npes = job->npes,
                         .threads = job->threads,
                         .nx = nx,
                         .ny = ny,
                         .nz = nz,
                         .area = nx * ny};
    s->z0 = solver_first_plane(s, job->me);
    s->planes = solver_planes(s, job->me);
    rows = (s->planes + 1) * s->area;
    s->a = mini_memory(rows * sizeof(*s->a));
    s->b = mini_memory(rows * sizeof(double));
    s->x = mini_memory(rows * sizeof(double));
    s->r = mini_memory(rows * sizeof(double));
    s->q = mini_memory(rows * sizeof(double));
    s->p_base = mini_need(((most + 2) * s->area + 2 * pad) * sizeof(double));
    s->p = s->p_base + pad;
    for (int k = 0; k < 2; k++)
        s->from[k] = mini_need(MINI_THREADS_MAX * MINI_LINE);
    shmem_barrier_all();
}

void solver_close(struct solver *s)
{
    free(s->a);
    free(s->b);
    free(s->x);
    free(s->r);
    free(s->q);
    shmem_free(s->p_base);
    for (int k = 0; k < 2; k++)
        shmem_free(s->from[k]);
}

/* q = A p for the lines y0 <= y < y1 of plane k of this PE.  An entry of a row that would
 * leave the brick is 0; what it is multiplied with is another element of p, or its pad.
 */
static void multiply(const struct solver *s, size_t k, size_t y0, size_t y1)
{
    ptrdiff_t at[SOLVER_ENTRIES];

    for (int e = 0; e < SOLVER_ENTRIES; e++)
        at[e] = (ptrdiff_t)s->area * (e / 9 - 1) + (ptrdiff_t)s->nx * (e / 3 % 3 - 1) +
                e % 3 - 1;
    for (size_t i = k * s->area + y0 * s->nx; i < k * s->area + y1 * s->nx; i++) {
        const double *row = s->a[i], *p = s->p + s->area + i;
        double sum = 0;
        for (int e = 0; e < SOLVER_ENTRIES; e++)
            sum += row[e] * p[at[e]];
        s->q[i] = sum;
    }
}

static void send_planes(struct solver *s, struct mini_worker *w, uint64_t turn)
{
    size_t y0, y1 = solver_lines(s, w->id, &y0);
    size_t line = y0 * s->nx, bytes = (y1 - y0) * s->nx * sizeof(double);

    if (s->me > 0)
        mini_send(w, s->p + (solver_planes(s, s->me - 1) + 1) * s->area + line,
                  s->p + s->area + line, bytes, mini_signal(s->from[1], w->id), turn,
                  s->me - 1);
    if (s->me < s->npes - 1)
        mini_send(w, s->p + line, s->p + s->planes * s->area + line, bytes,
                  mini_signal(s->from[0], w->id), turn, s->me + 1);
}

/* A thread needs its own lines of the halo planes, and one of each adjacent thread. */
static void recv_planes(struct solver *s, struct mini_worker *w, uint64_t turn)
{
    size_t y0, y1 = solver_lines(s, w->id, &y0);

    for (int k = 0; k < 2; k++) {
        double *halo = s->p + (k == 0 ? 0 : (s->planes + 1) * s->area);
        if (s->me == (k == 0 ? 0 : s->npes - 1))
            continue;
        for (int t = w->id - 1; t <= w->id + 1; t++)
            if (t >= 0 && t < w->threads)
                mini_recv(w, mini_signal(s->from[k], t), turn);
        mini_spoil(halo + (y0 + y1) / 2 * s->nx + s->nx / 2);
    }
}

static void product(struct solver *s, struct mini_worker *w, uint64_t turn)
{
    size_t y0, y1 = solver_lines(s, w->id, &y0);

    send_planes(s, w, turn);
    mini_barrier(w); /* the adjacent threads have updated their lines of p */
    for (size_t k = 1; k + 1 < s->planes; k++)
        multiply(s, k, y0, y1);
    recv_planes(s, w, turn);
    multiply(s, 0, y0, y1);
    if (s->planes > 1)
        multiply(s, s->planes - 1, y0, y1);
}

enum update { UPDATE_BEGIN, UPDATE_SOLUTION, UPDATE_DIRECTION };

/* Updates this thread's elements of the vectors; returns its part of r * r. */
static double update(struct solver *s, struct mini_worker *w, enum update what, double c)
{
    size_t y0, y1 = solver_lines(s, w->id, &y0);
    double *p = s->p + s->area, sum = 0;

    for (size_t k = 0; k < s->planes; k++)
        for (size_t i = k * s->area + y0 * s->nx; i < k * s->area + y1 * s->nx; i++) {
            if (what == UPDATE_BEGIN) {
                s->x[i] = 0;
                p[i] = s->r[i] = s->b[i];
            } else if (what == UPDATE_SOLUTION) {
                s->x[i] += c * p[i];
                s->r[i] -= c * s->q[i];
            } else {
                p[i] = s->r[i] + c * p[i];
            }
            sum += s->r[i] * s->r[i];
        }
    return sum;
}

static double dot_pq(const struct solver *s, const struct mini_worker *w)
{
    size_t y0, y1 = solver_lines(s, w->id, &y0);
    const double *p = s->p + s->area;
    double sum = 0;

    for (size_t k = 0; k < s->planes; k++)
        for (size_t i = k * s->area + y0 * s->nx; i < k * s->area + y1 * s->nx; i++)
            sum += p[i] * s->q[i];
    return sum;
}

void solver_run(struct solver *s, struct mini_worker *w, double tolerance, long most)
{
    uint64_t turn = s->exchanges;
    double first = mini_sum(w, update(s, w, UPDATE_BEGIN, 0)), rr = first;
    long i;

    for (i = 0; i < most && rr > tolerance * tolerance * first; i++) {
        product(s, w, ++turn);
        double pq = mini_sum(w, dot_pq(s, w));
        double next = mini_sum(w, update(s, w, UPDATE_SOLUTION, rr / pq));
        update(s, w, UPDATE_DIRECTION, next / rr);
        rr = next;
    }
    mini_barrier(w);
    if (w->id == 0) {
        s->exchanges = turn;
        s->iterations = i;
        s->residual = sqrt(rr / first);
    }
}
