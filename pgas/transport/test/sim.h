/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sim.h - the sim transport: N PEs in one process on a virtual clock, for tests of
 * protocols at thousands of PEs.
 *
 * Each PE is a fiber with its own stack; all run in the calling thread, one at a time.  A
 * fiber yields in progress() of its contexts if no operation has completed, and in
 * sim_sleep_ns; it continues when one of its operations has completed or its memory was
 * accessed.  Time advances only when all fibers have yielded.
 *
 * An operation takes effect at its target after latency + [0, jitter] + bytes / rate of
 * virtual time (a get or a fetching amo reads there after latency + [0, jitter]); its
 * completion takes latency + [0, jitter] more, for a get plus bytes / rate.  The source
 * of a put without `done` is read when it arrives.  Equal seeds give equal runs: the
 * order of ready fibers, and the jitter.
 *
 * When nothing is in flight, time advances in steps that double, and all fibers run (for
 * deadlines).  A PE that still waits after SIM_IDLE_NS is stuck.
 * Uses: transport.h.  Used by: tests.
 */
#ifndef PGAS_TRANSPORT_SIM_H
#define PGAS_TRANSPORT_SIM_H

#include "pgas/transport/transport.h"

#define SIM_IDLE_NS UINT64_C(60000000000)

struct sim;

struct sim_config {
    int npes;
    uint64_t seed;
    uint64_t latency_ns, jitter_ns; /* of each way: latency + [0, jitter] */
    double bytes_per_ns;            /* 0 = bytes take no time */
    size_t stack;                   /* bytes per fiber, 0 = 64 KiB */
};

struct sim *sim_new(const struct sim_config *config); /* NULL: no memory */
/* Also closes nets that PEs left open. */
void sim_free(struct sim *sim);

/* Run fn(pe, arg) in each PE until all have returned. 0; or -EDEADLK if every PE waits
 * and nothing is in flight: sim_stuck returns the number of waiting PEs and stores the
 * first `space` of them in pes. Then only sim_stuck and sim_free may be called. */
int sim_run(struct sim *sim, void (*fn)(int pe, void *arg), void *arg);
int sim_stuck(const struct sim *sim, int *pes, int space);

/* Inside fn: the virtual time, and a sleep. */
uint64_t sim_now_ns(void);
void sim_sleep_ns(uint64_t ns);
/* Wake this PE at time `at` if it then waits in progress(). */
void sim_alarm_ns(uint64_t at);

/* Kill PE pe (does not return if it is the caller): operations to it fail with
 * -EHOSTDOWN, or never complete if `silent`. */
void sim_kill(struct sim *sim, int pe, bool silent);

/* The transport table; open() finds the simulation of the running fiber. */
extern const struct transport transport_sim;

#endif
