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
 *
 * A simulated job (`job`, tests/sim) runs the library itself in each PE.  There
 * progress() returns without yielding; a PE waits in sim_futex_wait, sim_wait_ns and
 * sim_sleep_ns.
 * Uses: transport.h.  Used by: tests.
 */
#ifndef PGAS_TRANSPORT_SIM_H
#define PGAS_TRANSPORT_SIM_H

#include <stdatomic.h>

#include "pgas/transport/transport.h"

#define SIM_IDLE_NS UINT64_C(60000000000)

enum { SIM_SLOW = 32 };

struct sim;

struct sim_config {
    int npes;
    uint64_t seed;
    uint64_t latency_ns, jitter_ns; /* of each way: latency + [0, jitter] */
    uint64_t slow_ns;               /* one way in SIM_SLOW takes up to so much longer */
    double bytes_per_ns;            /* 0 = bytes take no time */
    size_t stack;                   /* bytes per fiber, 0 = 64 KiB */
    bool job;
    uint64_t limit_ns; /* of the virtual time of a run; 0 = none */
};

/* What a PE has posted since sim_traffic_reset. */
struct sim_traffic {
    uint64_t operations, bytes; /* bytes: to the target */
    int peers;                  /* number of different targets */
};

struct sim *sim_new(const struct sim_config *config); /* NULL: no memory */
/* Also closes nets that PEs left open. */
void sim_free(struct sim *sim);

/* Run fn(pe, arg) in each PE until all have returned. 0; -EDEADLK if every PE waits and
 * nothing is in flight; -ETIMEDOUT after limit_ns; -ECANCELED after sim_exit.  After an
 * error sim_stuck returns the number of waiting PEs and stores the first `space` of them
 * in pes, and only sim_stuck, sim_status, sim_digest and sim_free may be called. */
int sim_run(struct sim *sim, void (*fn)(int pe, void *arg), void *arg);
int sim_stuck(const struct sim *sim, int *pes, int space);

/* The virtual time. */
uint64_t sim_time_ns(const struct sim *sim);

/* Inside fn: the PE, the virtual time, and a sleep. */
int sim_me(void);
uint64_t sim_now_ns(void);
void sim_sleep_ns(uint64_t ns);
/* Wake this PE at time `at` if it then waits in progress(). */
void sim_alarm_ns(uint64_t at);

/* Inside fn of a job: wait for at most ns until sim_futex_wake of the word, or until one
 * of this PE's operations has completed or its memory was accessed; not if the word
 * differs from `seen`.  sim_wait_ns: without a word. */
void sim_futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t ns);
void sim_futex_wake(_Atomic uint32_t *word);
void sim_wait_ns(uint64_t ns);
/* Inside fn of a job: end the job.  sim_status returns the status and the PE. */
_Noreturn void sim_exit(int status);
int sim_status(const struct sim *sim, int *pe);

/* A hash of all events up to now: equal for equal runs. */
uint64_t sim_digest(const struct sim *sim);

struct sim_traffic sim_traffic(const struct sim *sim, int pe);
void sim_traffic_reset(struct sim *sim);

/* Kill PE pe (does not return if it is the caller): operations to it fail with
 * -EHOSTDOWN, or never complete if `silent`.  In a job, its own operations that are in
 * flight have no effect. */
void sim_kill(struct sim *sim, int pe, bool silent);
/* Kill PE pe at time `at`; end the job at time `at` as if by sim_exit. */
void sim_kill_at(struct sim *sim, int pe, bool silent, uint64_t at);
void sim_exit_at(struct sim *sim, int pe, int status, uint64_t at);

/* Call call(data) at time `at`, outside of all PEs, if sim_run has not ended by then. */
void sim_call_at(struct sim *sim, uint64_t at, void (*call)(void *data), void *data);
/* True if the PE was killed. */
bool sim_is_dead(const struct sim *sim, int pe);

/* The transport table; open() finds the simulation of the running fiber. */
extern const struct transport transport_sim;

#endif
