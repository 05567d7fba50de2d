/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sim_int.h - internal interface of the sim transport.
 * Uses: sim.h.  Used by: sim, sim_ops.
 */
#ifndef PGAS_TRANSPORT_SIM_INT_H
#define PGAS_TRANSPORT_SIM_INT_H

#include <ucontext.h>

#include "pgas/transport/test/sim.h"

/* PARKED: yielded in progress(). ASLEEP: in sim_sleep_ns. RETURNED: fn has returned (or
 * was not called yet). DEAD: killed by sim_kill. */
enum sim_fiber_state {
    FIBER_READY,
    FIBER_PARKED,
    FIBER_ASLEEP,
    FIBER_RETURNED,
    FIBER_DEAD
};

struct sim_op;

struct fiber {
    ucontext_t context;
    enum sim_fiber_state state;
    bool silent;                       /* DEAD: operations to it never complete */
    bool opened;                       /* a net was opened */
    struct transport_net *net;         /* NULL = no net is open */
    struct sim_op *early, **early_end; /* operations that arrived before open */
    char *stack;                       /* lowest usable byte */
};

/* Time `at`: the next step of op; if op is NULL, fiber pe wakes from its sleep or
 * receives its alarm. */
struct event {
    uint64_t at, number; /* number: sequence number, orders events with equal times */
    struct sim_op *op;
    int pe;
    bool alarm;
};

struct sim {
    struct sim_config config;
    uint64_t now, random;
    void (*fn)(int pe, void *arg);
    void *arg;
    ucontext_t scheduler;
    struct fiber *fiber; /* by PE */
    int current;         /* PE that runs, -1 = none */
    int live;            /* number of fibers that have neither returned nor died */
    int *ready;          /* PEs */
    int nready;
    uint64_t idle;       /* last idle step of the clock */
    struct event *event; /* a binary heap; the earliest is event[0] */
    size_t nevents, space;
    uint64_t numbers;  /* number of the next event */
    size_t operations; /* operations in flight and alarms */
    char *stacks;
    size_t stacks_len;
};

/* The simulation that runs in this thread, or NULL. */
struct sim *sim_running(void);
/* Yield until another PE or an event wakes this PE. */
void sim_park(struct sim *sim);
void sim_wake(struct sim *sim, int pe);

/* Reserve space for the event of one more operation; false: no memory. An operation has
 * at most one event at a time. */
bool sim_reserve(struct sim *sim);
void sim_push(struct sim *sim, struct event event);

/* sim_ops.c: perform the next step of an operation; discard operations in flight. */
void sim_op_step(struct sim *sim, struct sim_op *op);
void sim_op_discard(struct sim_op *op);
void sim_op_discard_all(struct sim_op *early);

#endif
