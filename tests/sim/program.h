/* SPDX-License-Identifier: BSD-3-Clause */
/* program.h - a random program of a simulated job: every PE makes the calls that the seed
 * determines, on several teams, and checks the results. */
#ifndef TESTS_SIM_PROGRAM_H
#define TESTS_SIM_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

enum { PROGRAM_WHY = 160, PROGRAM_PES = 64 };

struct program {
    uint64_t seed;
    int calls;
    bool wrong; /* a result was wrong: */
    char why[PROGRAM_WHY];
    long entered[PROGRAM_PES]; /* by PE of the world: the last barrier that it entered */
};

/* The body of a PE (struct job_config); arg is a struct program. */
void program_run(void *arg);

#endif
