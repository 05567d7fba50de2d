/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sim_int.h - what the files of the sim transport share.
 * Uses: sim.h.  Used by: sim, sim_ops.
 */
#ifndef PGAS_TRANSPORT_SIM_INT_H
#define PGAS_TRANSPORT_SIM_INT_H

#include <ucontext.h>

#include "pgas/transport/test/sim.h"

/* READY: can run. PARKED: in progress(). RETURNED: from fn. DEAD: by sim_kill. */
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
    bool silent;                       /* DEAD: operations to it are never done */
    bool opened;                       /* has had a net */
    struct transport_net *net;         /* NULL = none is open */
    struct sim_op *early, **early_end; /* operations that arrived before it was open */
    char *stack;                       /* lowest byte that may be used */
};

/* At time `at` op takes its next step, or, if op is NULL, fiber pe wakes from its
 * sleep or alarm. */
struct event {
    uint64_t at, number; /* number: order of events with equal times */
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
    int live;            /* neither returned nor dead */
    int *ready;          /* PEs */
    int nready;
    uint64_t idle;       /* last idle step of the clock */
    struct event *event; /* a heap, the next first */
    size_t nevents, space;
    uint64_t numbers;  /* of events */
    size_t operations; /* in flight; and alarms */
    char *stacks;
    size_t stacks_len;
};

/* The simulation that runs in this thread, or NULL. */
struct sim *sim_running(void);
/* Yield until another PE or an event wakes this PE. */
void sim_park(struct sim *sim);
void sim_wake(struct sim *sim, int pe);

/* Reserve space for one more operation; false: no memory. Each has one event at a
 * time. */
bool sim_reserve(struct sim *sim);
void sim_push(struct sim *sim, struct event event);

/* sim_ops.c: the next step of an operation; the end of its simulation. */
void sim_op_step(struct sim *sim, struct sim_op *op);
void sim_op_forget(struct sim_op *op);
void sim_op_forget_all(struct sim_op *early);

#endif
