/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mini_solver.h - conjugate gradients for a matrix whose rows are the points of a brick
 * and whose entries couple a point with its 26 neighbours.  PEs have consecutive planes
 * of the brick (z), the threads of a PE the same lines (y) of all its planes.
 * Uses: mini.h.  Used by: mini_cg.c, mini_fe.c.
 */
#ifndef BENCH_MINI_SOLVER_H
#define BENCH_MINI_SOLVER_H

#include "mini.h"

/* Entry (dz + 1) * 9 + (dy + 1) * 3 + dx + 1 of a row is for the point at that distance.
 */
enum { SOLVER_ENTRIES = 27, SOLVER_SELF = 13 };

typedef double solver_row[SOLVER_ENTRIES];

struct solver {
    int me, npes, threads;
    size_t nx, ny, nz; /* points of the brick */
    size_t z0, planes; /* planes z0 <= z < z0 + planes are this PE's */
    size_t area;       /* points of a plane */
    solver_row *a;     /* rows of the planes of this PE, and space for one plane more */
    double *b, *x;     /* as `a` */
    double *r, *q;
    double *p;          /* symmetric; point 0 of the plane below z0 */
    double *p_base;     /* its memory, which begins a line and a point earlier */
    uint64_t *from[2];  /* symmetric: signals of the threads of the PEs below, above */
    uint64_t exchanges; /* begun before this run */
    long iterations;
    double residual; /* the last one relative to the first */
};

/* Collective.  `tolerance` is relative. */
void solver_open(struct solver *s, const struct mini_job *job, size_t nx, size_t ny,
                 size_t nz);
void solver_run(struct solver *s, struct mini_worker *w, double tolerance, long most);
void solver_close(struct solver *s);

/* The first plane of PE `pe`; its number of planes. */
size_t solver_first_plane(const struct solver *s, int pe);
size_t solver_planes(const struct solver *s, int pe);

/* The lines of thread t: from *y0 to before the result. */
static inline size_t solver_lines(const struct solver *s, int t, size_t *y0)
{
    *y0 = mini_split(s->ny, t, s->threads);
    return mini_split(s->ny, t + 1, s->threads);
}

/* The index of a point of this PE; z is a plane of the brick. */
static inline size_t solver_point(const struct solver *s, size_t x, size_t y, size_t z)
{
    return (z - s->z0) * s->area + y * s->nx + x;
}

/* NULL, or what is wrong with the numbers of lines and planes. */
const char *solver_check(const struct mini_job *job, size_t ny, size_t nz);

#endif
