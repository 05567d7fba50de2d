/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mini_fe.c - finite elements as in MiniFE: Poisson's equation on a cube of n x n x n
 * trilinear hexahedra, assembled by the threads and solved by conjugate gradients.
 *
 * A thread has consecutive lines of elements and of nodes.  Lines of elements of equal
 * parity have no node in common: the threads assemble the even lines, and after a barrier
 * the odd ones, without locks.  A PE that has the elements below a plane of nodes of the
 * next PE sends it its contributions to that plane.
 *
 * The solution u = 1 + x^2 + 2 y^2 - z^2 / 2 + x y z is also that of the discrete
 * equations at all nodes: bilinear and trilinear terms are in the space of the elements,
 * and for squares of one coordinate the nodal values are exact as in one dimension.
 */
#include "mini_solver.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 1e-12
#define ERROR_MAX 1e-7

enum { ITERATIONS_MAX = 1000, CORNERS = 8 };

static struct {
    struct solver s;
    size_t n;                  /* elements per side */
    double h;                  /* side of an element */
    solver_row *edge_a;        /* symmetric: contributions of the PE below */
    double *edge_b;            /* symmetric */
    uint64_t *sent_a, *sent_b; /* symmetric: signals of its threads */
    uint64_t runs;
} fe;

static const char *fe_check(const struct mini_job *job)
{
    return solver_check(job, job->n, job->n + 1);
}

static void fe_open(const struct mini_job *job)
{
    size_t side = job->n + 1;

    fe.n = job->n;
    fe.h = 1 / (double)job->n;
    fe.runs = 0;
    solver_open(&fe.s, job, side, side, side);
    fe.edge_a = mini_need(fe.s.area * sizeof(*fe.edge_a));
    fe.edge_b = mini_need(fe.s.area * sizeof(*fe.edge_b));
    fe.sent_a = mini_need(MINI_THREADS_MAX * MINI_LINE);
    fe.sent_b = mini_need(MINI_THREADS_MAX * MINI_LINE);
    shmem_barrier_all();
}

static void fe_close(void)
{
    shmem_free(fe.edge_a);
    shmem_free(fe.edge_b);
    shmem_free(fe.sent_a);
    shmem_free(fe.sent_b);
    solver_close(&fe.s);
}

static void fe_begin(void)
{
    fe.runs++;
}

static double fe_exact(size_t i, size_t j, size_t k)
{
    double x = fe.h * (double)i, y = fe.h * (double)j, z = fe.h * (double)k;

    return 1 + x * x + 2 * y * y - z * z / 2 + x * y * z;
}

static const double source = -5; /* minus the Laplacian of fe_exact */

/* -- elements ------------------------------------------------------------------------ */

/* The value and the gradient of the shape function of a corner at q in [0, 1]^3. */
static double fe_shape(int corner, const double *q, double *gradient)
{
    double value[3], slope[3];

    for (int d = 0; d < 3; d++) {
        bool far = corner >> d & 1;
        value[d] = far ? q[d] : 1 - q[d];
        slope[d] = far ? 1 / fe.h : -1 / fe.h;
    }
    gradient[0] = slope[0] * value[1] * value[2];
    gradient[1] = value[0] * slope[1] * value[2];
    gradient[2] = value[0] * value[1] * slope[2];
    return value[0] * value[1] * value[2];
}

/* Integrates over an element with 2 x 2 x 2 Gauss points. */
static void fe_element(double ke[CORNERS][CORNERS], double *load)
{
    double half = 0.5 / sqrt(3), weight = fe.h * fe.h * fe.h / 8;

    memset(ke, 0, CORNERS * CORNERS * sizeof(double));
    memset(load, 0, CORNERS * sizeof(double));
    for (int g = 0; g < 8; g++) {
        double q[3], value[CORNERS], gradient[CORNERS][3];
        for (int d = 0; d < 3; d++)
            q[d] = 0.5 + (g >> d & 1 ? half : -half);
        for (int a = 0; a < CORNERS; a++)
            value[a] = fe_shape(a, q, gradient[a]);
        for (int a = 0; a < CORNERS; a++) {
            load[a] += weight * source * value[a];
            for (int b = 0; b < CORNERS; b++)
                ke[a][b] += weight * (gradient[a][0] * gradient[b][0] +
                                      gradient[a][1] * gradient[b][1] +
                                      gradient[a][2] * gradient[b][2]);
        }
    }
}

static void fe_scatter(size_t ex, size_t ey, size_t ez)
{
    double ke[CORNERS][CORNERS], load[CORNERS];

    fe_element(ke, load);
    for (int a = 0; a < CORNERS; a++) {
        int ax = a & 1, ay = a >> 1 & 1, az = a >> 2;
        size_t row =
            solver_point(&fe.s, ex + (size_t)ax, ey + (size_t)ay, ez + (size_t)az);
        fe.s.b[row] += load[a];
        for (int b = 0; b < CORNERS; b++) {
            int dx = (b & 1) - ax, dy = (b >> 1 & 1) - ay, dz = (b >> 2) - az;
            fe.s.a[row][SOLVER_SELF + dz * 9 + dy * 3 + dx] += ke[a][b];
        }
    }
}

static void fe_assemble(struct mini_worker *w)
{
    size_t first = mini_split(fe.n, w->id, w->threads);
    size_t last = mini_split(fe.n, w->id + 1, w->threads);
    size_t z1 = fe.s.z0 + fe.s.planes < fe.n ? fe.s.z0 + fe.s.planes : fe.n;

    for (size_t parity = 0; parity < 2; parity++) {
        for (size_t ez = fe.s.z0; ez < z1; ez++)
            for (size_t ey = first; ey < last; ey++)
                for (size_t ex = 0; ey % 2 == parity && ex < fe.n; ex++)
                    fe_scatter(ex, ey, ez);
        mini_barrier(w);
    }
}

/* Sends this thread's lines of the plane above this PE's, adds those from below. */
static void fe_exchange(struct mini_worker *w)
{
    struct solver *s = &fe.s;
    size_t y0, y1 = solver_lines(s, w->id, &y0);
    size_t first = y0 * s->nx, n = (y1 - y0) * s->nx;
    size_t above = s->planes * s->area + first;

    if (s->me < s->npes - 1) {
        mini_send(w, fe.edge_a + first, s->a + above, n * sizeof(*s->a),
                  mini_signal(fe.sent_a, w->id), fe.runs, s->me + 1);
        mini_send(w, fe.edge_b + first, s->b + above, n * sizeof(*s->b),
                  mini_signal(fe.sent_b, w->id), fe.runs, s->me + 1);
    }
    if (s->me == 0)
        return;
    mini_recv(w, mini_signal(fe.sent_a, w->id), fe.runs);
    mini_recv(w, mini_signal(fe.sent_b, w->id), fe.runs);
    mini_spoil(&fe.edge_a[(y0 + y1) / 2 * s->nx + s->nx / 2][SOLVER_SELF]);
    for (size_t i = first; i < first + n; i++) {
        s->b[i] += fe.edge_b[i];
        for (int e = 0; e < SOLVER_ENTRIES; e++)
            s->a[i][e] += fe.edge_a[i][e];
    }
}

/* -- boundary values, application ---------------------------------------------------- */

static bool fe_fixed(size_t x, size_t y, size_t z)
{
    return x == 0 || y == 0 || z == 0 || x == fe.n || y == fe.n || z == fe.n;
}

/* Gives the row of a node its boundary values, and keeps the matrix symmetric. */
static void fe_fix(size_t x, size_t y, size_t z)
{
    size_t i = solver_point(&fe.s, x, y, z);
    double *row = fe.s.a[i];

    if (fe_fixed(x, y, z)) {
        memset(row, 0, sizeof(solver_row));
        row[SOLVER_SELF] = fe.h; /* of the magnitude of the other rows */
        fe.s.b[i] = fe.h * fe_exact(x, y, z);
        return;
    }
    for (int e = 0; e < SOLVER_ENTRIES; e++) {
        size_t nx = x + (size_t)(e % 3) - 1, ny = y + (size_t)(e / 3 % 3) - 1;
        size_t nz = z + (size_t)(e / 9) - 1;
        if (fe_fixed(nx, ny, nz)) {
            fe.s.b[i] -= row[e] * fe_exact(nx, ny, nz);
            row[e] = 0;
        }
    }
}

static void fe_run(struct mini_worker *w)
{
    struct solver *s = &fe.s;
    size_t y0, y1 = solver_lines(s, w->id, &y0), n = (y1 - y0) * s->nx;

    for (size_t k = 0; k <= s->planes; k++) {
        memset(s->a + k * s->area + y0 * s->nx, 0, n * sizeof(*s->a));
        memset(s->b + k * s->area + y0 * s->nx, 0, n * sizeof(*s->b));
    }
    mini_barrier(w);
    fe_assemble(w);
    fe_exchange(w);
    for (size_t z = s->z0; z < s->z0 + s->planes; z++)
        for (size_t y = y0; y < y1; y++)
            for (size_t x = 0; x < s->nx; x++)
                fe_fix(x, y, z);
    solver_run(s, w, TOLERANCE, ITERATIONS_MAX);
}

static void fe_verify(void)
{
    const struct solver *s = &fe.s;

    for (size_t z = s->z0; z < s->z0 + s->planes; z++)
        for (size_t y = 0; y < s->ny; y++)
            for (size_t x = 0; x < s->nx; x++) {
                double u = s->x[solver_point(s, x, y, z)], exact = fe_exact(x, y, z);
                if (!(fabs(u - exact) < ERROR_MAX))
                    mini_fail(
                        "fe: after %ld iterations node %zu, %zu, %zu of PE %d of %d "
                        "is %.17g, not %.17g",
                        s->iterations, x, y, z, s->me, s->npes, u, exact);
            }
}

const struct mini_app mini_fe = {
    .name = "fe",
    .usual = "24",
    .check_size = fe_check,
    .open = fe_open,
    .begin = fe_begin,
    .run = fe_run,
    .verify = fe_verify,
    .close = fe_close,
};
