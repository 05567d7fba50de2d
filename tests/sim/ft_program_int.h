/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_program_int.h - shared by ft_program.c (the program) and ft_calls.c (its calls). */
#ifndef TESTS_SIM_FT_PROGRAM_INT_H
#define TESTS_SIM_FT_PROGRAM_INT_H

#include <stdlib.h>

#include "include/shmem.h"
#include "tests/sim/ft_program.h"

enum {
    TEAMS = 3,
    SPACE = 16384, /* elements of source and dest */
    LATE_NS = 8000,
    BLOCKS = 8,
    BLOCK_MOST = 2000, /* bytes */
};

/* The state of a PE. */
struct pe {
    struct ft_program *program;
    uint64_t own; /* random state */
    int step;     /* the call that it has begun last */
    int round;    /* shrinks of the world */
    int number;   /* synchronizing calls in the call, or after the shrink */
    bool mends;   /* after a shrink, before the next call */
    shmem_team_t team[TEAMS];
    shmem_team_t even; /* of ft_split */
    long *source, *dest, *word, *lock;
    void *block[BLOCKS];
};

enum word {
    WORD_COUNT,
    WORD_NEXT,
    WORD_PASSED,
    WORD_SUM,
    WORD_IN,
    WORD_OUT,
    WORD_TOKEN,
    WORD_CONTEXT,
    WORDS = 12
};

/* A call of the PEs of a team. */
struct call {
    struct pe *pe;
    shmem_team_t team;
    int me, npes, root;
    size_t n;      /* elements of a PE */
    long number;   /* different in all calls */
    uint64_t pick; /* random, equal on all PEs */
};

/* A random call: run returns 0, or an error code. */
struct trial {
    int (*run)(const struct call *c);
    bool all;     /* by all PEs */
    bool follows; /* uses words, or dest: begins and ends with a barrier of the team */
};
extern const struct trial ft_trials[];
extern const int ft_trials_n;

/* Records the first wrong result. */
void ft_fail(struct ft_program *p, const char *format, ...);
/* Records the result of a synchronizing call; fails if another live PE has a different
 * one.  Returns rc. */
int ft_same(struct pe *pe, int rc);
/* ft_same for a collective that moves data. */
int ft_same_data(struct pe *pe, int rc);
/* shmem_team_sync, recorded. */
int ft_sync(struct pe *pe, shmem_team_t team);
/* Why a routine without a result has ended early; 0: it has not. */
int ft_status(void);
/* Allocation k has the same offset on all PEs.  0, or an error code. */
int ft_check_block(struct pe *pe, size_t k, const void *block);

#endif
