/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counter.h - the value at which counters begin, for tests.
 *
 * Counters that PEs compare have 64 bits and do not wrap in practice; those of 32 bits
 * are listed in tests/lint/counters.txt with their greatest distance.  In a test build
 * (PGAS_COUNTERS, tests/coll/counters_start.c) they begin a few steps below 2^31 or 2^32,
 * so that a short program passes the values at which one of 32 bits would wrap.
 *
 * Invariant: the PEs of a job have equal starts and steps.
 * A leaf.  Used by: coll, ft, core/progress, transport/tcp.
 */
#ifndef PGAS_CORE_COUNTER_H
#define PGAS_CORE_COUNTER_H

#include <stdint.h>

struct shmem_team;

#ifdef PGAS_COUNTERS

uint64_t counter_start(void);
/* By how much a collective without a barrier over nodes advances the team's epoch. */
uint64_t counter_step(void);
/* Starts the counters of a team: this PE's copies, and its own words, which are zero or
 * have been advanced by other PEs since they were. */
void counter_start_team(struct shmem_team *team);

#else

static inline uint64_t counter_start(void)
{
    return 0;
}
static inline uint64_t counter_step(void)
{
    return 1;
}
static inline void counter_start_team(struct shmem_team *team)
{
    (void)team;
}

#endif
#endif
