/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mini_cg.c - conjugate gradients as in HPCCG: each point of a cube of n x n x n points
 * has 27 on the diagonal and -1 for each neighbour; the right side belongs to a solution
 * of ones.
 */
#include "mini_solver.h"

#include <math.h>

#define TOLERANCE 1e-9
#define ERROR_MAX 1e-7

enum { ITERATIONS_MAX = 500 };

static struct solver cube;

static const char *cg_check(const struct mini_job *job)
{
    return solver_check(job, job->n, job->n);
}

static bool cg_inside(size_t at, int distance)
{
    return !(at == 0 && distance < 0) && !(at == cube.nx - 1 && distance > 0);
}

static void cg_open(const struct mini_job *job)
{
    size_t n = job->n;

    solver_open(&cube, job, n, n, n);
    for (size_t z = cube.z0; z < cube.z0 + cube.planes; z++)
        for (size_t y = 0; y < n; y++)
            for (size_t x = 0; x < n; x++) {
                size_t i = solver_point(&cube, x, y, z);
                cube.b[i] = 0;
                for (int e = 0; e < SOLVER_ENTRIES; e++) {
                    bool inside = cg_inside(x, e % 3 - 1) &&
                                  cg_inside(y, e / 3 % 3 - 1) && cg_inside(z, e / 9 - 1);
                    cube.a[i][e] = e == SOLVER_SELF ? 27 : inside ? -1 : 0;
                    cube.b[i] += cube.a[i][e];
                }
            }
}

static void cg_begin(void) {}

static void cg_run(struct mini_worker *w)
{
    solver_run(&cube, w, TOLERANCE, ITERATIONS_MAX);
}

static void cg_verify(void)
{
    for (size_t i = 0; i < cube.planes * cube.area; i++)
        if (!(fabs(cube.x[i] - 1) < ERROR_MAX))
            mini_fail("cg: after %ld iterations point %zu of PE %d of %d is %.17g, not 1",
                      cube.iterations, i, cube.me, cube.npes, cube.x[i]);
}

static void cg_close(void)
{
    solver_close(&cube);
}

const struct mini_app mini_cg = {
    .name = "cg",
    .usual = "32",
    .check_size = cg_check,
    .open = cg_open,
    .begin = cg_begin,
    .run = cg_run,
    .verify = cg_verify,
    .close = cg_close,
};
