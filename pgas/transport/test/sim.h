/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sim.h - N PEs in one process, on a virtual clock: the sim transport, for tests of
 * protocols at thousands of PEs.
 *
 * Each PE is a fiber with its own stack; all run in the calling thread, one at a time.  A
 * fiber gives up the processor in progress() of its contexts, when nothing is due there,
 * and in sim_sleep_ns; it goes on when an operation of its own has ended or its memory
 * was written.  Time passes only when all fibers have given up.
 *
 * An operation is seen by its target after latency + [0, jitter] + bytes / rate of
 * virtual time (a get, or a fetching amo: read there after latency + [0, jitter]); the PE
 * that posted it knows after as much again, with the bytes on the way back for a get. The
 * source of a put without `done` is read when it arrives.  The same seed gives the same
 * run: who goes on first among those that can, and the jitter.
 *
 * When nothing is under way, time goes on in steps that double, and all may look again
 * (for deadlines): a PE that still waits after SIM_IDLE_NS waits for ever.
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

struct sim *sim_new(const struct sim_config *config); /* NULL without memory */
/* Also closes what PEs left open. */
void sim_free(struct sim *sim);

/* Run fn(pe, arg) in each PE until all have returned.  0; or -EDEADLK if every PE waits
 * and nothing is under way: sim_stuck says who (how many; the first `room` to pes).  Then
 * only sim_stuck and sim_free may follow. */
int sim_run(struct sim *sim, void (*fn)(int pe, void *arg), void *arg);
int sim_stuck(const struct sim *sim, int *pes, int room);

/* Inside fn: virtual time, and to let some of it pass. */
uint64_t sim_now_ns(void);
void sim_sleep_ns(uint64_t ns);
/* This PE, if it waits in progress() at the time `at`, then goes on. */
void sim_alarm_ns(uint64_t at);

/* From now on PE pe is dead and does not go on (does not return, if it is the caller):
 * operations to it fail with -EHOSTDOWN (loud), or are never done (silent). */
void sim_kill(struct sim *sim, int pe, bool silent);

/* The table; open() finds the fiber's simulation by itself. */
extern const struct transport transport_sim;

#endif
