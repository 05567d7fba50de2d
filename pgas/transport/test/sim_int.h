/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sim_int.h - internal interface of the sim transport.
 * Uses: sim.h.  Used by: sim, sim_ops.
 */
#ifndef PGAS_TRANSPORT_SIM_INT_H
#define PGAS_TRANSPORT_SIM_INT_H

#include <setjmp.h>
#include <ucontext.h>

#include "pgas/core/base/pgas.h"
#include "pgas/transport/test/sim.h"

/* PARKED: yielded in progress(), sim_futex_wait or sim_wait_ns. ASLEEP: in sim_sleep_ns.
 * RETURNED: fn has returned (or was not called yet). DEAD: killed by sim_kill. */
enum sim_fiber_state {
    FIBER_READY,
    FIBER_PARKED,
    FIBER_ASLEEP,
    FIBER_RETURNED,
    FIBER_DEAD
};

struct sim_op;

enum { SIM_BUCKETS_LOG = 10, SIM_BUCKETS = 1 << SIM_BUCKETS_LOG };

struct fiber {
    ucontext_t context; /* for its start */
    bool started;
    jmp_buf yielded;
    enum sim_fiber_state state;
    bool silent;                       /* DEAD: operations to it never complete */
    bool opened;                       /* a net was opened */
    struct transport_net *net;         /* NULL = no net is open */
    struct sim_op *early, **early_end; /* operations that arrived before open */
    char *stack;                       /* lowest usable byte */
    struct pgas_thread thread;         /* the thread state of the PE while it yields */
    _Atomic uint32_t *word;            /* PARKED in sim_futex_wait: the word */
    int next_waiter;                   /* in the same bucket of sim->waiter; -1 = none */
    uint64_t timeout;                  /* number of the event that ends the wait */
    struct sim_traffic traffic;
    uint64_t epoch; /* of traffic, see struct contact */
};

/* ALARM: of sim_alarm_ns. TIMEOUT: of sim_futex_wait and sim_wait_ns. WAKE: the end of
 * sim_sleep_ns. KILL, EXIT: of sim_kill_at and sim_exit_at, `arg` is their last one.
 * CALL: of sim_call_at. */
enum sim_event_kind {
    EVENT_OP,
    EVENT_WAKE,
    EVENT_ALARM,
    EVENT_TIMEOUT,
    EVENT_KILL,
    EVENT_EXIT,
    EVENT_CALL
};

/* Time `at`: the next step of op, or fiber pe wakes. */
struct event {
    uint64_t at, number; /* number: sequence number, orders events with equal times */
    enum sim_event_kind kind;
    struct sim_op *op;
    int pe, arg;
    void (*call)(void *data);
    void *data;
};

struct sim {
    struct sim_config config;
    uint64_t now, random;
    void (*fn)(int pe, void *arg);
    void *arg;
    jmp_buf scheduler;
    struct pgas_thread outer; /* the thread state of the scheduler while a fiber runs */
    struct fiber *fiber;      /* by PE */
    int current;              /* PE that runs, -1 = none */
    int live;                 /* number of fibers that have neither returned nor died */
    int *ready;               /* PEs */
    int nready;
    uint64_t idle;       /* last idle step of the clock */
    struct event *event; /* a binary heap; the earliest is event[0] */
    size_t nevents, space;
    uint64_t numbers;        /* number of the next event */
    size_t operations;       /* operations in flight, alarms and timeouts */
    int waiter[SIM_BUCKETS]; /* PEs in sim_futex_wait, by word; -1 = none */
    uint64_t digest;
    bool exited; /* sim_exit: */
    int status, exited_pe;
    char *stacks;
    size_t stacks_npes;
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
