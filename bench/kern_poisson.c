/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kern_poisson.c - u_xx + u_yy = 4 in the unit square, n x n points inside, the solution
 * x^2 + y^2 + x y on the boundary: the 5-point formula is exact for it, so that the
 * points converge to the solution itself.
 * Each PE has a strip of rows.  An iteration: a halo exchange with the neighbours; a
 * Gauss-Seidel sweep over the strip; a maximum reduction of the distance to the solution,
 * which ends the loop when it is below eps.  The number of iterations depends on the
 * number of strips.  The model has the same strips in one process, so its answers are
 * equal to the last bit.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kern.h"

enum { LANES = 8, MODEL_MAX = 64, ITERATIONS_MAX = 10 * 1000 * 1000 };

/* Rows first .. first + rows - 1 of the grid; halo: the row above and the one below. */
struct strip {
    size_t first, rows;
    double *u, *solution, *halo;
};

static struct kern_job job;
static struct strip mine;
static struct kern_result greatest;
static double *scratch; /* n */
static double distance;
static long iterations;

static double exact(size_t i, size_t j) /* of row i, column j; 0: the boundary */
{
    double x = (double)j / (double)(job.n + 1), y = (double)i / (double)(job.n + 1);
    return x * x + y * y + x * y;
}

static size_t usual(const struct kern_job *j)
{
    (void)j;
    return 64;
}

static void check_size(const struct kern_job *j)
{
    if (j->n < (size_t)j->npes)
        coll_wrong("poisson: a side of %zu points is too short for %d PEs", j->n,
                   j->npes);
}

/* A row has n + 2 points, including those of the boundary. */
static size_t pitch(void)
{
    return job.n + 2;
}

/* Initial state: the values of the boundary, 0 inside. */
static void begin_strip(const struct strip *s)
{
    for (size_t j = 0; j < pitch(); j++) {
        s->halo[j] = exact(s->first - 1, j);
        s->halo[pitch() + j] = exact(s->first + s->rows, j);
    }
    memset(s->u, 0, s->rows * pitch() * sizeof(double));
    for (size_t i = 0; i < s->rows; i++) {
        s->u[i * pitch()] = exact(s->first + i, 0);
        s->u[i * pitch() + job.n + 1] = exact(s->first + i, job.n + 1);
    }
}

static void open_strip(struct strip *s, int pe)
{
    s->first = 1 + job.n * (size_t)pe / (size_t)job.npes;
    s->rows = 1 + job.n * (size_t)(pe + 1) / (size_t)job.npes - s->first;
    s->u = kern_memory(s->rows * pitch() * sizeof(double));
    s->solution = kern_memory(s->rows * pitch() * sizeof(double));
    for (size_t i = 0; i < s->rows; i++)
        for (size_t j = 0; j < pitch(); j++)
            s->solution[i * pitch() + j] = exact(s->first + i, j);
}

/* Only the left neighbour depends on the previous iteration: the other terms are computed
 * in a loop that can be vectorized. */
static void sweep_row(double *restrict row, const double *restrict above,
                      const double *restrict below)
{
    double h = 1.0 / (double)(job.n + 1), left = row[0];
    for (size_t j = 1; j <= job.n; j++)
        scratch[j - 1] = 0.25 * (above[j] + below[j] + row[j + 1] - 4 * h * h);
    for (size_t j = 1; j <= job.n; j++)
        row[j] = left = scratch[j - 1] + 0.25 * left;
}

static void row_distance(double *most, const double *row, const double *solution)
{
    for (size_t j = 0; j < job.n; j += LANES)
        for (size_t l = 0; l < LANES; l++) {
            double d = fabs(row[j + l] - solution[j + l]);
            most[l] = d > most[l] ? d : most[l];
        }
}

/* Returns the greatest distance to the solution. */
static double sweep(const struct strip *s)
{
    double most[LANES] = {0};
    for (size_t i = 0; i < s->rows; i++) {
        double *row = s->u + i * pitch();
        sweep_row(row, i == 0 ? s->halo : row - pitch(),
                  i == s->rows - 1 ? s->halo + pitch() : row + pitch());
        row_distance(most, row + 1, s->solution + i * pitch() + 1);
    }
    for (int l = 1; l < LANES; l++)
        most[0] = most[l] > most[0] ? most[l] : most[0];
    return most[0];
}

static double *last_row(const struct strip *s)
{
    return s->u + (s->rows - 1) * pitch();
}

static void open_grid(const struct kern_job *j)
{
    job = *j;
    open_strip(&mine, job.me);
    mine.halo = coll_need("kern_bench", 2 * pitch() * sizeof(double));
    scratch = kern_memory(job.n * sizeof(double));
    kern_open(&greatest, KERN_WORLD, 2 * sizeof(double));
}

static void begin(void)
{
    begin_strip(&mine);
}

static void run(void)
{
    distance = INFINITY;
    for (iterations = 0; distance >= job.eps && iterations < ITERATIONS_MAX;
         iterations++) {
        kern_exchange(mine.halo, mine.u, last_row(&mine), pitch());
        distance = kern_max(&greatest, sweep(&mine));
    }
}

static void verify(double *answers)
{
    for (size_t i = 0; i < mine.rows; i++)
        for (size_t j = 0; j < pitch(); j++) {
            double d = fabs(mine.u[i * pitch() + j] - exact(mine.first + i, j));
            if (!(d < job.eps && d <= distance))
                kern_fail("poisson: after %ld iterations point %zu, %zu is %g off on PE "
                          "%d of %d",
                          iterations, mine.first + i, j, d, job.me, job.npes);
        }
    answers[0] = (double)iterations;
    answers[1] = distance;
}

/* -- model: the same strips in one process ------------------------------------------- */
static struct strip *open_model(void)
{
    struct strip *all = kern_memory((size_t)job.npes * sizeof(*all));
    for (int pe = 0; pe < job.npes; pe++) {
        open_strip(&all[pe], pe);
        all[pe].halo = kern_memory(2 * pitch() * sizeof(double));
        begin_strip(&all[pe]);
    }
    return all;
}

static void close_model(struct strip *all)
{
    for (int pe = 0; pe < job.npes; pe++) {
        free(all[pe].u);
        free(all[pe].solution);
        free(all[pe].halo);
    }
    free(all);
}

static double iterate_model(struct strip *all)
{
    size_t bytes = pitch() * sizeof(double);
    double most = 0;
    for (int pe = 1; pe < job.npes; pe++) {
        memcpy(all[pe].halo, last_row(&all[pe - 1]), bytes);
        memcpy(all[pe - 1].halo + pitch(), all[pe].u, bytes);
    }
    for (int pe = 0; pe < job.npes; pe++) {
        double d = sweep(&all[pe]);
        most = d > most ? d : most;
    }
    return most;
}

static void model(const double *answers)
{
    struct strip *all = open_model();
    double off = 0;
    for (long i = 0; i < (long)answers[0]; i++) {
        off = iterate_model(all);
        if (off < job.eps && i + 1 < (long)answers[0])
            kern_fail("poisson: the model takes %ld iterations, not %ld", i + 1,
                      (long)answers[0]);
    }
    size_t bytes = mine.rows * pitch() * sizeof(double);
    if (off != answers[1] || memcmp(all[job.me].u, mine.u, bytes) != 0)
        kern_fail("poisson: the points differ from the model's on PE %d of %d, which are "
                  "%.17g off, not %.17g",
                  job.me, job.npes, off, answers[1]);
    close_model(all);
}

static bool small(const struct kern_job *j)
{
    return j->n <= MODEL_MAX;
}

static void close_grid(void)
{
    kern_lib.close(&greatest);
    coll_lib.free(mine.halo);
    free(mine.u);
    free(mine.solution);
    free(scratch);
}

const struct kernel kern_poisson = {
    .name = "poisson",
    .answers = {"iterations", "distance"},
    .usual = usual,
    .check_size = check_size,
    .open = open_grid,
    .begin = begin,
    .run = run,
    .verify = verify,
    .model = model,
    .small = small,
    .close = close_grid,
};
