/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counters_start.h - where the counters of the library begin in a test build (core/base/
 * counter.h, PGAS_COUNTERS).
 */
#ifndef TESTS_COLL_COUNTERS_START_H
#define TESTS_COLL_COUNTERS_START_H

#include <stdbool.h>
#include <stdint.h>

/* In such a build counters begin so far below 2^31, or 2^32, */
enum { COUNTERS_BELOW = 5 };
/* and a large collective over nodes advances the epoch of its team by 2^28. */
#define COUNTERS_STEP (UINT64_C(1) << 28)

struct counters {
    uint64_t start, step;
    /* The words that PEs store are 0, as they are while a team uses another algorithm;
     * those to which PEs add have the value that belongs to the start. */
    bool unused;
};

/* Until set: from 0, in steps of 1; or what the environment variable COUNTERS says, which
 * has the values of `kind` and "unused" or "used": "31 unused". */
extern struct counters counters;

/* kind: 31 or 32. */
struct counters counters_near(int kind, bool unused);

#endif
