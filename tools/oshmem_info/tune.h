/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tune.h - internal interfaces of oshmem_info --tune.
 *
 * The tuner (tune.c) runs one job for each number of PEs.  Its PEs are oshmem_info too
 * (tune_pe.c): they measure the algorithms in turn and PE 0 prints a line for each, which
 * tune.c reads.  tune_best.c selects the best algorithms.
 * Uses: coll/select.  Used by: the files of the tuner, main.
 */
#ifndef OSHMEM_INFO_TUNE_H
#define OSHMEM_INFO_TUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "pgas/coll/select/select.h"

#define TUNE_PE       "--tune-pe"
#define TUNE_QUICK    "quick"
#define TUNE_THOROUGH "thorough"

/* A line of PE 0: the algorithm's number, bytes, median of the rounds in ns, in how
 * many rounds it was better than the built-in choice by TUNE_BETTER, the rounds, and
 * whether it is the built-in choice. */
#define TUNE_LINE_PRINT "tuned %d %zu %.1f %d %d %d\n"
#define TUNE_LINE_SCAN  "tuned %d %zu %lf %d %d %d"

/* The line before them: the processors of its node. */
#define TUNE_LINE_CPUS_PRINT "processors %u\n"
#define TUNE_LINE_CPUS_SCAN  "processors %d"

/* Minimum speed-up over the built-in choice for which it is replaced. */
#define TUNE_BETTER 1.05

enum { TUNE_SIZES_MAX = 16, TUNE_PES_MAX = 16, TUNE_RANGES_MAX = 512 };

/* Results of a collective for one size and number of PEs. */
struct tune_point {
    size_t bytes;
    double ns[SELECT_ALGORITHMS_ALL]; /* 0: not measured */
    bool sure[SELECT_ALGORITHMS_ALL]; /* better in most of the rounds */
    enum select_algorithm builtin;
};
struct tune_series {
    int points;
    struct tune_point point[TUNE_SIZES_MAX]; /* ascending */
};
struct tune_job {
    int pes, processors;
    struct tune_series series[SELECT_ALL];
};

/* Range of bytes with one algorithm, for teams of pes_from to pes_to PEs. */
struct tune_range {
    enum select_collective what;
    enum select_algorithm builtin, best; /* may be equal */
    size_t from, to;
    int pes, pes_from, pes_to;
    double factor, ns; /* means: times as fast as the built-in choice; its time */
    int points;
};

/* True if calls of the collective have a size, so that a plan has ranges of bytes. */
bool tune_by_bytes(enum select_collective what);

/* True if the algorithm supports this size and number of PEs. */
bool tune_usable(enum select_algorithm a, size_t bytes, int pes);

/* Computes the ranges of a job, whose results apply to pes_from to pes_to PEs.  Returns
 * their number. */
int tune_ranges(const struct tune_job *job, int pes_from, int pes_to,
                struct tune_range range[TUNE_RANGES_MAX]);

/* Processors that this process may use. */
int tune_processors(void);

/* The program of the PEs / of the user, with the arguments behind --tune.  Both return
 * the exit status. */
int tune_pe_main(const char *how);
int tune_main(int argc, char **argv);

#endif
