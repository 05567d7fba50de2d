/* SPDX-License-Identifier: BSD-3-Clause */
/* program.h - a random program of a simulated job: every PE makes the calls that the seed
 * determines, on several teams, and checks the results. */
#ifndef TESTS_SIM_PROGRAM_H
#define TESTS_SIM_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

enum { PROGRAM_WHY = 160 };

struct program {
    uint64_t seed;
    int calls;
    bool wrong; /* a result was wrong: */
    char why[PROGRAM_WHY];
};

/* The body of a PE (struct job_config); arg is a struct program. */
void program_run(void *arg);

#endif
