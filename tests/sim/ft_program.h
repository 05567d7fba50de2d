/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_program.h - a random program of a simulated job whose PEs and nodes die: the
 * survivors shrink SHMEM_TEAM_WORLD after each error and go on.
 *
 * It checks that all survivors go on and end, that the results of agreements, shrinks,
 * collectives and allocations are right and equal on all survivors, that synchronizing
 * calls succeed on all live PEs or on none, that locks are exclusive, and that in the end
 * every survivor knows of exactly the PEs that have died.
 */
#ifndef TESTS_SIM_FT_PROGRAM_H
#define TESTS_SIM_FT_PROGRAM_H

#include "tests/sim/job.h"
#include "tests/sim/program.h"

enum { FT_DEATHS = 6, FT_ROUNDS = 64, FT_SET = 4, FT_BLOCKS = 512, FT_OUTCOMES = 1024 };

/* In round 0 delay_ns counts from the start, in round n from the n-th shrink of the
 * world, in round FT_LAST from the end of the program, before shmem_finalize. */
enum { FT_LAST = FT_ROUNDS };
struct ft_death {
    int round, pe;
    enum job_death kind;
    uint64_t delay_ns;
};

/* What the first PE that leaves a shrink has got. */
struct ft_round {
    bool known;
    uint64_t flags, failed[FT_SET], members[FT_SET];
    int agreed;
};

/* A synchronizing call: the PEs on which it has succeeded, and failed. */
struct ft_outcome {
    uint64_t key;               /* 0: unused */
    uint64_t result[2][FT_SET]; /* [0]: failed, [1]: succeeded */
};

struct ft_program {
    uint64_t seed;
    int calls;
    bool uniform; /* SHMEM_FT_UNIFORM */
    struct ft_death death[FT_DEATHS];
    int deaths;
    /* Results; one thread runs all PEs. */
    bool wrong;
    char why[PROGRAM_WHY];
    bool begun[FT_LAST + 1];
    uint64_t end_ns;  /* of the last PE, before shmem_finalize */
    uint64_t last_ns; /* of the deaths that are planned */
    struct ft_round round[FT_ROUNDS];
    int rounds;                /* in which a shrink has ended */
    int64_t offset[FT_BLOCKS]; /* 1 + that of the allocation of a call; 0: unknown */
    int holder;                /* 1 + the PE that holds the lock; 0: none */
    long held;                 /* times that it was held */
    struct ft_outcome outcome[FT_OUTCOMES];
    long outcomes, interrupted; /* results that were compared; failed ones among them */
};

/* Chooses the deaths of a job. */
void ft_program_choose(struct ft_program *p, const struct job_config *c,
                       uint64_t *random);
/* The body of a PE; arg is a struct ft_program. */
void ft_program_run(void *arg);

#endif
