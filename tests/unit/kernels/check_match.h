/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check_match.h - runs random operations on matchers with different engines and on a
 * model, two flat lists, and compares what they return.
 */
#ifndef TESTS_UNIT_KERNELS_CHECK_MATCH_H
#define TESTS_UNIT_KERNELS_CHECK_MATCH_H

#include "compat/mpi/match/match.h"
#include "compat/mpi/match/match_tail.h"

enum { CHECK_MATCH_TEXT = 256, CHECK_MATCH_ENGINES = 32 };

struct check_match_result {
    uint64_t operations, matches, false_positives, compactions, merges, conversions;
    uint64_t failed_allocations;
    uint32_t longest;
    char text[CHECK_MATCH_TEXT]; /* empty: all engines agree with the model */
};

/* All engines and lanes with the kernels of all instruction sets that are here.  Returns
 * their number. */
unsigned check_match_engines(struct match_options *options);

/* With matchers for one thread, or with tail queues.  The figures are sums over all
 * engines. */
void check_match(const struct match_options *options, unsigned engines, bool tail,
                 uint64_t seed, uint64_t operations, struct check_match_result *result);

#endif
