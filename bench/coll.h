/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll.h - library interface of the benchmarks of collectives.  The programs
 * (coll_bench.c, train.c, kern_bench.c) are the same for all; coll_shmem.c (OpenSHMEM
 * with teams), coll_active.c (OpenSHMEM 1.4 and before, with active sets) and coll_mpi.c
 * (MPI) define `coll_lib`.  coll_common.c contains the clock, the delays and the parser
 * of options.
 */
#ifndef BENCH_COLL_H
#define BENCH_COLL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COLL_SIZES_MAX = 64, COLL_PES_MAX = 1024 };

/* `dest` and `src` are symmetric and do not overlap. */
struct coll_lib {
    const char *name;
    void (*init)(int *argc, char ***argv);
    void (*fini)(void);
    void (*stop)(int status); /* ends all PEs */
    int (*me)(void);
    int (*npes)(void);
    void *(*alloc)(size_t bytes); /* all PEs; at the beginning of a page; or NULL */
    void (*free)(void *p);        /* all PEs */
    void (*barrier)(void);

    /* All PEs receive the n figures of each PE p in all[p * n..].  Calls no measured
     * collective other than a barrier.  `all` is symmetric. */
    void (*gather)(double *all, const double *mine, size_t n);

    /* n round trips of a message between PE 0 and PE 1; other PEs return at once. */
    void (*pingpong)(void *dest, const void *src, size_t bytes, long n);

    void (*allreduce)(double *dest, const double *src, size_t n); /* sum */
    /* Sums of PEs 0 .. me and 0 .. me - 1 (on PE 0: undefined); NULL: not available. */
    void (*inscan)(double *dest, const double *src, size_t n);
    void (*exscan)(double *dest, const double *src, size_t n);
    /* From PE 0, whose `dest` need not be written. */
    void (*broadcast)(void *dest, const void *src, size_t bytes);
    void (*fcollect)(void *dest, const void *src, size_t bytes); /* bytes of each PE */
    void (*alltoall)(void *dest, const void *src, size_t bytes); /* from each to each */
};

extern const struct coll_lib coll_lib;

/* Seconds of a clock that all processes of a host share. */
double coll_now(void);

/* The k-th number of a PE's random sequence, in [0, 1): a function of the arguments. */
double coll_uniform(uint64_t seed, int pe, uint64_t k);

/* The greatest value of all PEs, and their sum.  `all` is symmetric, a figure per PE. */
double coll_most(double *all, double mine);
double coll_total(double *all, double mine);

/* The median of x[0..n), which it sorts. */
double coll_median(double *x, int n);

/* Spins until `seconds` have elapsed on the clock, or sleeps. */
void coll_delay(double seconds, bool sleeping);

/* Records an error in the options; coll_problem returns the first one, or NULL. */
void coll_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *coll_problem(void);

/* The value of an option, in [least, most]; sizes like 8,64K,1M, multiples of 8. */
double coll_number(const char *option, const char *text, double least, double most);
int coll_sizes(const char *text, size_t *sizes);
bool coll_sleeping(const char *text); /* busy or sleep */

/* The options that all programs accept. */
struct coll_options {
    double seconds; /* -t */
    uint64_t seed;  /* -r */
    bool sleeping;  /* -d */
    bool help;      /* -h */
    int sizes;      /* -s: number of sizes */
    size_t size[COLL_SIZES_MAX];
};

/* Reads the options `letters`, as for getopt, and passes those that are not common to
 * `set_option`, which calls coll_no_option for unknown ones.  Returns the index of the
 * first operand in argv. */
int coll_parse(struct coll_options *o, int argc, char **argv, const char *letters,
               void (*set_option)(int option, const char *text));
void coll_no_option(void);

/* Prints an error message and ends all PEs. */
void coll_fail(const char *program, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));

/* Zeroed memory, from alloc, or private; coll_fail if there is not enough. */
void *coll_need(const char *program, size_t bytes);
void *coll_memory(const char *program, size_t bytes);

/* If there is a problem or -h was given, prints it or the usage, and ends all PEs. */
void coll_begin(const char *program, const char *usage, bool help);

#endif
