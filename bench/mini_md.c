/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mini_md.c - molecular dynamics as in MiniMD: n x n x n cells of 4 particles with
 * Lennard-Jones forces in a periodic cube.  Each PE has a box, each thread a share of its
 * particles; ghosts are exchanged in each step, the lists of neighbours are made every
 * REBUILD steps.
 * Verified: energy and momentum are conserved, each particle is there once, and a small
 * problem ends where a serial model ends that compares all pairs of particles.
 */
#include "mini_md.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DENSITY     0.8442
#define TEMPERATURE 1.44
#define CUTOFF      2.5
#define SKIN        0.3
#define STEP        0.002
#define DRIFT_MAX   2e-4 /* of the energy */
#define ERROR_MAX   1e-8

enum { STEPS = 50, REBUILD = 10, NEIGHBOURS_MAX = 160, MODEL_MAX = 1000 };

static struct md md;
static size_t particles; /* of all PEs */
static double mean[3];   /* velocity of all particles before begin corrects it */
static int (*neighbours)[NEIGHBOURS_MAX];
static int *neighbour_count;
static md_vector *model; /* final positions by particle, or NULL */

/* The cells in which neighbours are searched. */
static struct {
    int n[3];
    double width[3];
    size_t *start; /* in `member`, of each cell and after the last */
    int *member;
} cells;

/* Sums of all PEs, before the first and after the last step. */
static struct {
    double energy[2], momentum[3], count, ids, squares;
} sums;

static const char *md_check(const struct mini_job *job)
{
    double side = cbrt(4 * pow((double)job->n, 3) / DENSITY);

    return domain_width(side, job->npes) < CUTOFF + SKIN || side < 2 * CUTOFF
               ? "the boxes of PEs are too small"
               : NULL;
}

/* -- initial state ------------------------------------------------------------------- */

/* The position and the velocity of particle `id` on a face-centred cubic lattice. */
static void initial(size_t id, double *x, double *v)
{
    static const double basis[4][3] = {
        {0, 0, 0}, {0.5, 0.5, 0}, {0.5, 0, 0.5}, {0, 0.5, 0.5}};
    size_t n = md.job.n, cell = id / 4;
    size_t at[3] = {cell % n, cell / n % n, cell / n / n};

    for (int d = 0; d < 3; d++) {
        x[d] = ((double)at[d] + basis[id % 4][d] + 0.25) * md.side / (double)n;
        v[d] = (coll_uniform(md.job.seed, (int)id, (uint64_t)d) - 0.5) *
                   sqrt(12 * TEMPERATURE) -
               mean[d];
    }
}

static void md_open(const struct mini_job *job)
{
    md_vector x, v;
    size_t cell_count = 1;

    particles = 4 * job->n * job->n * job->n;
    md = (struct md){.job = *job,
                     .density = DENSITY,
                     .reach = CUTOFF + SKIN,
                     .side = cbrt((double)particles / DENSITY)};
    domain_open(&md);
    neighbours = mini_memory(md.capacity * sizeof(*neighbours));
    neighbour_count = mini_memory(md.capacity * sizeof(*neighbour_count));
    for (int d = 0; d < 3; d++) {
        double outer = md.hi[d] - md.lo[d] + 2 * md.reach;
        cells.n[d] = (int)(outer / md.reach);
        cells.width[d] = outer / cells.n[d];
        cell_count *= (size_t)cells.n[d];
    }
    cells.start = mini_memory((cell_count + 1) * sizeof(*cells.start));
    cells.member = mini_memory(md.capacity * sizeof(*cells.member));
    memset(mean, 0, sizeof(mean));
    md_vector total = {0};
    for (size_t id = 0; id < particles; id++) {
        initial(id, x, v);
        for (int d = 0; d < 3; d++)
            total[d] += v[d];
    }
    for (int d = 0; d < 3; d++)
        mean[d] = total[d] / (double)particles;
}

static void md_close(void)
{
    free(neighbours);
    free(neighbour_count);
    free(cells.start);
    free(cells.member);
    free(model);
    model = NULL;
    domain_close(&md);
}

static void md_begin(void)
{
    md_vector x, v;

    md.n = md.ghosts = 0;
    for (size_t id = 0; id < particles; id++) {
        bool mine = true;
        initial(id, x, v);
        for (int d = 0; d < 3; d++)
            mine = mine && x[d] >= md.lo[d] && x[d] < md.hi[d];
        if (!mine)
            continue;
        memcpy(md.x[md.n], x, sizeof(x));
        memcpy(md.v[md.n], v, sizeof(v));
        md.id[md.n++] = (double)id;
    }
}

/* -- neighbours ---------------------------------------------------------------------- */

static void cell_of(const double *x, int *at)
{
    for (int d = 0; d < 3; d++) {
        at[d] = (int)((x[d] - md.lo[d] + md.reach) / cells.width[d]);
        at[d] = at[d] < 0 ? 0 : at[d] >= cells.n[d] ? cells.n[d] - 1 : at[d];
    }
}

static size_t cell_index(const int *at)
{
    return (size_t)((at[2] * cells.n[1] + at[1]) * cells.n[0] + at[0]);
}

/* Sorts particles and ghosts into the cells. */
static void fill_cells(void)
{
    size_t count = (size_t)(cells.n[0] * cells.n[1] * cells.n[2]), all = md.n + md.ghosts;
    int at[3];

    memset(cells.start, 0, (count + 1) * sizeof(*cells.start));
    for (size_t i = 0; i < all; i++) {
        cell_of(md.x[i], at);
        cells.start[cell_index(at)]++;
    }
    for (size_t c = 1; c <= count; c++)
        cells.start[c] += cells.start[c - 1];
    for (size_t i = all; i-- > 0;) {
        cell_of(md.x[i], at);
        cells.member[--cells.start[cell_index(at)]] = (int)i;
    }
}

static double distance2(const double *a, const double *b)
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];

    return x * x + y * y + z * z;
}

/* Appends the neighbours of i in one cell to its list. */
static void search_cell(size_t i, const int *at)
{
    size_t cell = cell_index(at);

    for (size_t m = cells.start[cell]; m < cells.start[cell + 1]; m++) {
        int j = cells.member[m];
        if ((size_t)j == i || distance2(md.x[i], md.x[j]) >= md.reach * md.reach)
            continue;
        if (neighbour_count[i] == NEIGHBOURS_MAX)
            mini_fail("md: a particle of PE %d has more than %d neighbours", md.job.me,
                      NEIGHBOURS_MAX);
        neighbours[i][neighbour_count[i]++] = j;
    }
}

static void list_neighbours(size_t i)
{
    int at[3], near[3];

    neighbour_count[i] = 0;
    cell_of(md.x[i], at);
    for (int k = 0; k < 27; k++) {
        near[0] = at[0] + k % 3 - 1;
        near[1] = at[1] + k / 3 % 3 - 1;
        near[2] = at[2] + k / 9 - 1;
        if (near[0] >= 0 && near[0] < cells.n[0] && near[1] >= 0 &&
            near[1] < cells.n[1] && near[2] >= 0 && near[2] < cells.n[2])
            search_cell(i, near);
    }
}

static void rebuild(struct mini_worker *w)
{
    domain_borders(&md, w);
    if (w->id == 0)
        fill_cells();
    mini_barrier(w);
    for (size_t i = mini_split(md.n, w->id, w->threads);
         i < mini_split(md.n, w->id + 1, w->threads); i++)
        list_neighbours(i);
}

/* -- forces and steps ---------------------------------------------------------------- */

/* The force of a pair at a squared distance, divided by the distance; adds the energy. */
static double pair_force(double r2, double *energy)
{
    static const double shift = 4 * (1 / (244.140625 * 244.140625) - 1 / 244.140625);
    double s6 = 1 / (r2 * r2 * r2);

    *energy += 4 * (s6 * s6 - s6) - shift;
    return 48 * (s6 * s6 - 0.5 * s6) / r2;
}

/* The forces on this thread's particles; returns its part of the potential energy. */
static double forces(struct mini_worker *w)
{
    size_t last = mini_split(md.n, w->id + 1, w->threads);
    double energy = 0;

    for (size_t i = mini_split(md.n, w->id, w->threads); i < last; i++) {
        double f[3] = {0};
        for (int k = 0; k < neighbour_count[i]; k++) {
            const double *other = md.x[neighbours[i][k]];
            double r2 = distance2(md.x[i], other);
            if (r2 >= CUTOFF * CUTOFF)
                continue;
            double c = pair_force(r2, &energy);
            for (int d = 0; d < 3; d++)
                f[d] += c * (md.x[i][d] - other[d]);
        }
        memcpy(md.f[i], f, sizeof(f));
    }
    mini_barrier(w);
    return energy / 2;
}

static void kick(double *v, const double *f)
{
    for (int d = 0; d < 3; d++)
        v[d] += STEP / 2 * f[d];
}

static void drift(double *x, const double *v)
{
    for (int d = 0; d < 3; d++)
        x[d] += STEP * v[d];
}

/* Sums over all particles, with the potential energy of this thread's. */
static void measure_state(struct mini_worker *w, double energy, int when)
{
    size_t last = mini_split(md.n, w->id + 1, w->threads), n = 0;
    double momentum[3] = {0}, ids = 0, squares = 0;

    for (size_t i = mini_split(md.n, w->id, w->threads); i < last; i++, n++) {
        for (int d = 0; d < 3; d++) {
            energy += md.v[i][d] * md.v[i][d] / 2;
            momentum[d] += md.v[i][d];
        }
        ids += md.id[i];
        squares += md.id[i] * md.id[i];
    }
    double mine[] = {energy,    momentum[0], momentum[1], momentum[2],
                     (double)n, ids,         squares};
    double all[7];
    for (int k = 0; k < 7; k++)
        all[k] = mini_sum(w, mine[k]);
    if (w->id == 0) {
        sums.energy[when] = all[0];
        memcpy(sums.momentum, all + 1, sizeof(sums.momentum));
        sums.count = all[4];
        sums.ids = all[5];
        sums.squares = all[6];
    }
}

static void md_run(struct mini_worker *w)
{
    double energy;

    rebuild(w);
    energy = forces(w);
    measure_state(w, energy, 0);
    for (int step = 1; step <= STEPS; step++) {
        size_t last = mini_split(md.n, w->id + 1, w->threads);
        for (size_t i = mini_split(md.n, w->id, w->threads); i < last; i++) {
            kick(md.v[i], md.f[i]);
            drift(md.x[i], md.v[i]);
        }
        if (step % REBUILD == 0) {
            domain_migrate(&md, w);
            rebuild(w);
        } else {
            domain_forward(&md, w);
        }
        energy = forces(w);
        last = mini_split(md.n, w->id + 1, w->threads);
        for (size_t i = mini_split(md.n, w->id, w->threads); i < last; i++)
            kick(md.v[i], md.f[i]);
    }
    measure_state(w, energy, 1);
}

/* -- verification -------------------------------------------------------------------- */

/* The distance in a periodic dimension */
static double nearest(double distance)
{
    return distance - md.side * round(distance / md.side);
}

static void model_forces(md_vector *f)
{
    double energy = 0;

    memset(f, 0, particles * sizeof(*f));
    for (size_t i = 0; i < particles; i++)
        for (size_t j = 0; j < i; j++) {
            md_vector r, origin = {0};
            for (int d = 0; d < 3; d++)
                r[d] = nearest(model[i][d] - model[j][d]);
            double r2 = distance2(r, origin);
            double c = r2 < CUTOFF * CUTOFF ? pair_force(r2, &energy) : 0;
            for (int d = 0; d < 3; d++) {
                f[i][d] += c * r[d];
                f[j][d] -= c * r[d];
            }
        }
}

static void run_model(void)
{
    md_vector *v = mini_memory(particles * sizeof(*v));
    md_vector *f = mini_memory(particles * sizeof(*f));

    model = mini_memory(particles * sizeof(*model));
    for (size_t id = 0; id < particles; id++)
        initial(id, model[id], v[id]);
    model_forces(f);
    for (int step = 0; step < STEPS; step++) {
        for (size_t id = 0; id < particles; id++) {
            kick(v[id], f[id]);
            drift(model[id], v[id]);
        }
        model_forces(f);
        for (size_t id = 0; id < particles; id++)
            kick(v[id], f[id]);
    }
    free(v);
    free(f);
}

static void compare_with_model(void)
{
    for (size_t i = 0; i < md.n; i++)
        for (int d = 0; d < 3; d++) {
            double error = nearest(md.x[i][d] - model[(size_t)md.id[i]][d]);
            if (!(fabs(error) < ERROR_MAX))
                mini_fail("md: particle %.0f of PE %d of %d is %g from its place in the "
                          "serial model",
                          md.id[i], md.job.me, md.job.npes, error);
        }
}

static void md_verify(void)
{
    double n = (double)particles, ids = n * (n - 1) / 2;
    double squares = (n - 1) * n * (2 * n - 1) / 6;
    double drifted = sums.energy[1] / sums.energy[0] - 1;

    if (sums.count != n || sums.ids != ids || sums.squares != squares)
        mini_fail(
            "md: %.0f particles with the sum %.0f, not %.0f with %.0f, on PE %d of %d",
            sums.count, sums.ids, n, ids, md.job.me, md.job.npes);
    if (!(fabs(drifted) < DRIFT_MAX))
        mini_fail("md: the energy was %.9g and is %.9g, on PE %d of %d", sums.energy[0],
                  sums.energy[1], md.job.me, md.job.npes);
    for (int d = 0; d < 3; d++)
        if (!(fabs(sums.momentum[d]) < ERROR_MAX * n))
            mini_fail("md: the momentum is %g, not 0, on PE %d of %d", sums.momentum[d],
                      md.job.me, md.job.npes);
    if (particles <= MODEL_MAX && model == NULL)
        run_model();
    if (model != NULL)
        compare_with_model();
}

const struct mini_app mini_md = {
    .name = "md",
    .usual = "10",
    .check_size = md_check,
    .open = md_open,
    .begin = md_begin,
    .run = md_run,
    .verify = md_verify,
    .close = md_close,
};
