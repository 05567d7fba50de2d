/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * kern.h - application kernels (SUMMA, 2-D Poisson, matrix factorisation), and what they
 * need of a library besides `coll_lib`.  The kernels are the same for all libraries;
 * kern_shmem.c (ordinary collectives), kern_shared.c (node-shared results) and kern_mpi.c
 * fill in `kern_lib`.
 * Uses: coll.h.  Used by: kern_*.c.
 */
#ifndef BENCH_KERN_H
#define BENCH_KERN_H

#include "coll.h"

/* PE i is in row i / columns and in column i % columns of the grid. */
enum kern_team { KERN_WORLD, KERN_ROW, KERN_COLUMN, KERN_TEAMS };

/* Where the results of a team's collectives come to.  A result stays until this PE calls
 * the next collective, or `block`, with it. */
struct kern_result {
    enum kern_team team;
    size_t bytes; /* the most that comes */
    char *dest;   /* of the library, like the rest */
    char *source;
    void *handle;
    int turn;
};

struct kern_lib {
    const char *form;
    void (*grid)(int columns); /* makes the teams; once */

    /* All PEs of the team.  open returns the bytes that this PE keeps for it. */
    size_t (*open)(struct kern_result *r);
    void (*close)(struct kern_result *r);

    /* These return where to read the result. */
    const void *(*broadcast)(struct kern_result *r, const void *src, size_t bytes,
                             int root);
    void *(*block)(struct kern_result *r,
                   size_t bytes); /* where to write one's own ... */
    const void *(*fcollect)(struct kern_result *r, size_t bytes); /* ... for this */
    double (*max)(struct kern_result *r, double mine);

    /* PE i's `first` to the second half of PE i - 1's halo, `last` to the first half of
     * PE i + 1's; n elements each.  `halo` is symmetric.  Whoever calls it again has seen
     * the result of a collective of all PEs since. */
    void (*exchange)(double *halo, const double *first, const double *last, size_t n);
};

extern const struct kern_lib kern_lib;

/* The same, with the time that they take added up; kern_open adds up what is held. */
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
void kern_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void *kern_memory(size_t bytes); /* zeroed, private; or the end */

/* Columns of the grid: a multiple of the rows, and as few as can be. */
int kern_columns(int npes);

/* What a kernel is asked for. */
struct kern_job {
    int me, npes, columns;
    size_t n;
    uint64_t seed;
    double eps;
};

/* The figures that have to be the same with all libraries. */
enum { KERN_ANSWERS = 2 };

struct kernel {
    const char *name;
    const char *answers[KERN_ANSWERS];           /* their names; NULL: there are fewer */
    size_t (*usual)(const struct kern_job *job); /* size */
    void (*check_size)(const struct kern_job *job); /* says coll_wrong */
    void (*open)(const struct kern_job *job);
    void (*begin)(void);                  /* the same state for each run */
    void (*run)(void);                    /* this is timed, and begins with a barrier */
    void (*verify)(double *answers);      /* after each run: a wrong one is a kern_fail */
    void (*model)(const double *answers); /* what a serial model says of it */
    bool (*small)(const struct kern_job *job); /* for that model */
    void (*close)(void);
};

extern const struct kernel kern_summa, kern_poisson, kern_bpmf;

#endif
