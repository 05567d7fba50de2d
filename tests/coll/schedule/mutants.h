/* SPDX-License-Identifier: BSD-3-Clause */
/* mutants.h - see mutants.c. */
#ifndef TESTS_COLL_SCHEDULE_MUTANTS_H
#define TESTS_COLL_SCHEDULE_MUTANTS_H

#include "tests/coll/schedule/model.h"

struct mutant {
    enum schedule_name name;
    model_step step;
    const char *text, *why; /* part of the error message */
};

extern const struct mutant mutants[];
extern const size_t mutants_count;

#endif
