/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * match_heater.h - hot caching: a thread that reads the nodes of queues periodically, so
 * that they are in a cache that its core shares with the core of the caller when the
 * computation between two searches has evicted them from the caller's own.  It costs a
 * core and bandwidth; nothing starts one by default.
 *
 *     match_heater_init(&heater);
 *     match_heater_start(&heater, &options);
 *     match_options.regions = &heater.regions;   for all queues that it shall heat
 *
 * The thread sleeps between two passes and while it is paused.  Queues may be used, made
 * and freed from match_heater_init on, whether the thread runs or not; the struct must
 * outlive them.  Nodes that a queue allocates before the first successful start are not
 * heated; those allocated later are heated again by a later start.  A forked child has no
 * heater, and does not free a node that was being read at the fork. Uses: match_regions,
 * futex, hwloc.  Used by: tests, bench.
 */
#ifndef COMPAT_MPI_MATCH_HEATER_H
#define COMPAT_MPI_MATCH_HEATER_H

#include <pthread.h>
#include <sched.h>

#include "compat/mpi/match/match_regions.h"

enum { MATCH_HEATER_CHOOSE = -1 };

struct match_heater_options {
    uint32_t period_us; /* of sleep between two passes, at least 1 */
    uint32_t regions; /* 1 to MATCH_REGIONS_MAX; nodes allocated beyond are not heated */
    int cpu;          /* of the thread; MATCH_HEATER_CHOOSE: see match_heater_start */
};

struct match_heater {
    struct match_regions regions;
    uint32_t control; /* enum heater_control; the thread sleeps on it */
    uint32_t period_us;
    uint64_t passes;
    int cpu;
    pthread_t thread;
};

/* An empty table of regions, and no thread.  Once, before any other call. */
void match_heater_init(struct match_heater *h);

/* 100 us, 64 regions (16384 entries), a CPU that is chosen */
struct match_heater_options match_heater_options_default(void);

/* A CPU of `allowed` that belongs to another core than `cpu` and shares a cache beyond
 * the first level with it, the smallest one possible; -1 if there is none. */
int match_heater_place(int cpu, const cpu_set_t *allowed);

/* Chooses, if asked to, among the CPUs on which the calling thread may run: a thread that
 * has bound itself to its core calls match_heater_place before that.  Returns 0; ENODEV
 * if no other core shares a cache; EINVAL; or the error of pthread_create.  Not called
 * while the thread runs. */
int match_heater_start(struct match_heater *h,
                       const struct match_heater_options *options);

/* A pass that has begun ends after the region that it reads. */
void match_heater_pause(struct match_heater *h);
void match_heater_resume(struct match_heater *h);

/* Ends the thread. */
void match_heater_stop(struct match_heater *h);

uint64_t match_heater_passes(const struct match_heater *h);

#endif
