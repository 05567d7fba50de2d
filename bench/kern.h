/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kern.h - application kernels (SUMMA, 2-D Poisson, matrix factorization) and the library
 * interface that they need in addition to `coll_lib`.  The kernels are the same for all
 * libraries; kern_shmem.c (ordinary collectives), kern_shared.c (node-shared results) and
 * kern_mpi.c define `kern_lib`.
 * Uses: coll.h.  Used by: kern_*.c.
 */
#ifndef BENCH_KERN_H
#define BENCH_KERN_H

#include "coll.h"

/* PE i is in row i / columns and in column i % columns of the grid. */
enum kern_team { KERN_WORLD, KERN_ROW, KERN_COLUMN, KERN_TEAMS };

/* The buffer for the results of a team's collectives.  A result is valid until this PE
 * calls the next collective, or `block`, with it. */
struct kern_result {
    enum kern_team team;
    size_t bytes; /* capacity */
    char *dest;   /* this and the following members are the library's */
    char *source;
    void *handle;
    int turn;
};

struct kern_lib {
    const char *form;
    void (*grid)(int columns); /* creates the teams; called once */

    /* Collective over the team.  open returns the bytes that this PE accounts for. */
    size_t (*open)(struct kern_result *r);
    void (*close)(struct kern_result *r);

    /* These return a pointer to the result. */
    const void *(*broadcast)(struct kern_result *r, const void *src, size_t bytes,
                             int root);
    void *(*block)(struct kern_result *r, size_t bytes); /* this PE's block of fcollect */
    const void *(*fcollect)(struct kern_result *r, size_t bytes);
    double (*max)(struct kern_result *r, double mine);

    /* Sends `first` to the second half of PE me - 1's halo and `last` to the first half
     * of PE me + 1's; n elements each.  `halo` is symmetric.  Between two calls the
     * caller completes a collective of all PEs. */
    void (*exchange)(double *halo, const double *first, const double *last, size_t n);
};

extern const struct kern_lib kern_lib;

/* Wrappers that add their time to kern_waited; kern_open adds to kern_held. */
extern double kern_waited; /* seconds */
extern double kern_held;   /* bytes, this PE's share */
void kern_open(struct kern_result *r, enum kern_team team, size_t bytes);
const void *kern_broadcast(struct kern_result *r, const void *src, size_t bytes,
                           int root);
void *kern_block(struct kern_result *r, size_t bytes);
const void *kern_fcollect(struct kern_result *r, size_t bytes);
double kern_max(struct kern_result *r, double mine);
void kern_exchange(double *halo, const double *first, const double *last, size_t n);

/* Prints an error message about a wrong result and ends all PEs. */
#define kern_fail(...)     coll_fail("kern_bench", __VA_ARGS__)
#define kern_memory(bytes) coll_memory("kern_bench", bytes)

/* Columns of the grid: the smallest possible multiple of the rows. */
int kern_columns(int npes);

/* The parameters of a kernel. */
struct kern_job {
    int me, npes, columns;
    size_t n;
    uint64_t seed;
    double eps;
};

/* The number of figures that must be equal with all libraries. */
enum { KERN_ANSWERS = 2 };

struct kernel {
    const char *name;
    const char *answers[KERN_ANSWERS];           /* their names; NULL for unused ones */
    size_t (*usual)(const struct kern_job *job); /* default size */
    void (*check_size)(const struct kern_job *job); /* calls coll_wrong if invalid */
    void (*open)(const struct kern_job *job);
    void (*begin)(void);                  /* restores the initial state before each run */
    void (*run)(void);                    /* timed; called after a barrier */
    void (*verify)(double *answers);      /* after each run; kern_fail if wrong */
    void (*model)(const double *answers); /* compares with a serial model */
    bool (*small)(const struct kern_job *job); /* whether the model is affordable */
    void (*close)(void);
};

extern const struct kernel kern_summa, kern_poisson, kern_bpmf;

#endif
