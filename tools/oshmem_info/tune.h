/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tune.h - internal interfaces of oshmem_info --tune.
 *
 * The tuner (tune.c) runs one job for each step of a plan (tune_plan.c): a number of PEs
 * on one node, or on several.  Its PEs are oshmem_info too (tune_pe.c): they measure the
 * algorithms in turn and PE 0 prints a line for each, which tune_run.c reads.
 * tune_best.c selects the best algorithms, tune_table.c writes them to the file.
 * Uses: coll/select.  Used by: the files of the tuner, main.
 */
#ifndef OSHMEM_INFO_TUNE_H
#define OSHMEM_INFO_TUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "pgas/coll/select/select.h"
#include "pgas/coll/select/select_table.h"

/* How the PEs measure; TUNE_PROBE: not at all, they only describe the job. */
#define TUNE_PE       "--tune-pe"
#define TUNE_QUICK    "quick"
#define TUNE_THOROUGH "thorough"
#define TUNE_PROBE    "probe"

/* A line of PE 0: the algorithm's number, bytes, median of the rounds in ns, in how
 * many rounds it was better than the built-in choice by TUNE_BETTER, the rounds, and
 * whether it is the built-in choice. */
#define TUNE_LINE_PRINT "tuned %d %zu %.1f %d %d %d\n"
#define TUNE_LINE_SCAN  "tuned %d %zu %lf %d %d %d"

/* The lines before them: the processors of its node and the number of nodes; the machine
 * type of the nodes; the transport between them. */
#define TUNE_LINE_JOB_PRINT "job %u %u\n"
#define TUNE_LINE_JOB_SCAN  "job %d %d"
#define TUNE_LINE_MACHINE   "machine "
#define TUNE_LINE_NETWORK   "network "

/* Minimum speed-up over the built-in choice for which it is replaced. */
#define TUNE_BETTER 1.05

enum {
    TUNE_SIZES_MAX = 16,
    TUNE_NUMBERS_MAX = 16, /* of PEs, or of nodes */
    TUNE_STEPS_MAX = TUNE_NUMBERS_MAX * (1 + TUNE_NUMBERS_MAX),
    TUNE_RANGES_MAX = TUNE_SIZES_MAX * SELECT_ALL, /* of a job */
    TUNE_NETWORK_MAX = 160,
};

/* ---- options --------------------------------------------------------------------- */

/* Different numbers in ascending order. */
struct tune_numbers {
    int n;
    int number[TUNE_NUMBERS_MAX];
};

struct tune_options {
    struct tune_numbers pes;   /* none: the plan has defaults */
    struct tune_numbers nodes; /* of the jobs over nodes; none: no such jobs */
    const char *hosts;         /* in the syntax of oshrun; NULL: this machine */
    const char *vnodes;        /* the option's value; NULL: no virtual nodes */
    const char *out;           /* NULL: the user's default file */
    const char *how;           /* TUNE_QUICK or TUNE_THOROUGH */
    bool one_node;             /* measure on one node */
};

/* Reads the arguments behind --tune.  Returns 0, or 2 after an error message. */
int tune_read_options(int argc, char **argv, struct tune_options *o);

/* Prints an error message with the prefix of the tuner.  Returns 2. */
int tune_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- the plan -------------------------------------------------------------------- */

/* A job, and the teams to which its results apply. */
struct tune_step {
    int nodes, pes; /* each node has pes / nodes of them */
    int nodes_from, nodes_to;
    int pes_from, pes_to;
    bool last; /* no job on as many nodes has more PEs */
};

/* Computes the jobs for machines with this number of processors.  Returns their number,
 * or -1 with *nodes set if no number of PEs is a multiple of this number of nodes. */
int tune_plan(const struct tune_options *o, int processors,
              struct tune_step step[TUNE_STEPS_MAX], int *nodes);

/* ---- results --------------------------------------------------------------------- */

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
    struct tune_step step;
    int processors; /* of a node */
    int nodes;      /* as the PEs see them */
    char machine[SELECT_MACHINE_MAX];
    char network[TUNE_NETWORK_MAX];
    struct tune_series series[SELECT_ALL];
};

/* Range of bytes with one algorithm, for teams of pes_from to pes_to PEs on nodes_from to
 * nodes_to nodes. */
struct tune_range {
    enum select_collective what;
    enum select_algorithm builtin, best; /* may be equal */
    size_t from, to;
    size_t pes_from, pes_to; /* 0 to SELECT_ANY_BYTES: any */
    int nodes_from, nodes_to;
    int pes, nodes;                   /* of the job */
    char machine[SELECT_MACHINE_MAX]; /* of its nodes */
    double factor, ns; /* means: times as fast as the built-in choice; its time */
    int points;
};

/* True for the inter-node phases, which only jobs over several nodes measure. */
bool tune_is_internode(enum select_collective what);

/* The collective that is called to measure `what`: for an inter-node phase the collective
 * that has it, SELECT_ALL if there is none. */
enum select_collective tune_call_of(enum select_collective what);

/* True if calls of the collective have a size, so that a plan has ranges of bytes. */
bool tune_by_bytes(enum select_collective what);

/* True if the algorithm supports this size and number of PEs and nodes; false for one
 * between nodes whose results depend on the arrival order, which the measured reductions
 * of floating-point numbers do not use unless SHMEM_REPRODUCIBLE=0. */
bool tune_usable(enum select_algorithm a, size_t bytes, int pes, int nodes);

/* Computes the ranges of a job.  Returns their number. */
int tune_ranges(const struct tune_job *job, struct tune_range range[TUNE_RANGES_MAX]);

/* "*", "N", "N-" or "N-M", as in the file; 0 to SELECT_ANY_BYTES is any. */
enum { TUNE_TEXT_MAX = 48 };
const char *tune_range_text(size_t from, size_t to, char text[TUNE_TEXT_MAX]);

/* ---- the file -------------------------------------------------------------------- */

/* Determines the path of the table; false, with an error message, if it cannot be
 * written there. */
bool tune_table_choose_path(const char *out, char *path, size_t size);

/* Replaces the file.  False after an error message, or when stopped. */
bool tune_table_save(const char *path, const struct tune_range *range, int n);

/* ---------------------------------------------------------------------------------- */

/* Processors that this process may use. */
int tune_processors(void);

/* The program of the PEs / of the user, with the arguments behind --tune.  Both return
 * the exit status. */
int tune_pe_main(const char *how);
int tune_main(int argc, char **argv);

#endif
