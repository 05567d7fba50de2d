/* SPDX-License-Identifier: BSD-3-Clause */
/* stress.h - a thread of stress.c, what it knows of the memory of all PEs, and its
 * actions.
 */
#ifndef TESTS_THREADS_STRESS_H
#define TESTS_THREADS_STRESS_H

#include <shmem.h>

#include "tests/api/multi/check.h"

enum {
    STRESS_PES = 8,
    STRESS_THREADS = 16,
    STRESS_SLOTS = 64,
    STRESS_COUNTERS = 4,
    STRESS_CONTEXTS = 3, /* default, shareable, private */
    STRESS_KINDS_MAX = 16,
};

struct stress_worker {
    int t;
    shmem_team_t team; /* all PEs */
    shmem_ctx_t ctx[STRESS_CONTEXTS];
    uint64_t common; /* state of the random numbers that are equal on all PEs */
    uint64_t own;    /* and of those of this thread */
    bool dirty[STRESS_CONTEXTS]; /* puts may be outstanding */
    /* The thread's rows of `slot`; what it has added to and mixed into the counters */
    uint64_t shadow[STRESS_PES][STRESS_SLOTS];
    uint64_t added[STRESS_PES][STRESS_COUNTERS], mixed[STRESS_PES][STRESS_COUNTERS];
    uint64_t signals, waits; /* exchanges until now */
    uint64_t locked[STRESS_PES];
    unsigned long counts[STRESS_KINDS_MAX];
};

extern bool stress_loses_updates; /* a defect: add is a get and a put */
extern uint64_t stress_counter[STRESS_COUNTERS], stress_mixed[STRESS_COUNTERS];

static inline int stress_below(uint64_t *state, int n)
{
    return (int)((check_random(state) >> 33) % (uint64_t)n);
}

/* Completes the puts of the thread. */
void stress_complete(struct stress_worker *w);
/* A context for puts: all earlier puts of the thread are complete or in this context, and
 * ordered before the next ones. */
shmem_ctx_t stress_put_ctx(struct stress_worker *w);

void stress_put(struct stress_worker *w);
void stress_burst(struct stress_worker *w);
void stress_get(struct stress_worker *w);
void stress_add(struct stress_worker *w);
void stress_mix(struct stress_worker *w);
void stress_signal(struct stress_worker *w);
void stress_wait(struct stress_worker *w);
void stress_lock(struct stress_worker *w);
void stress_context(struct stress_worker *w);
void stress_collective(struct stress_worker *w);
void stress_team(struct stress_worker *w);
void stress_world(struct stress_worker *w);

/* ---- stress_strided.c ---- */

void stress_strided(struct stress_worker *w);
void stress_alltoalls(struct stress_worker *w);

#endif
