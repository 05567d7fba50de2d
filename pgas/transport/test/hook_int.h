/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hook_int.h - what the files of the hook transport share.
 * Uses: hook.h.  Used by: the hook files, unit tests.
 */
#ifndef PGAS_TRANSPORT_HOOK_INT_H
#define PGAS_TRANSPORT_HOOK_INT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "pgas/transport/test/hook.h"

/* ---- hook_faults.c: SHMEM_FAULTS, read ---- */

enum { HOOK_RULES_MAX = 16, HOOK_PATH_MAX = 512 };

enum hook_fault { FAULT_DROP, FAULT_FAIL, FAULT_KILL };

/* From this PE's at-th operation on: operations to PE pe are dropped or fail; for
 * FAULT_KILL, pe is this PE. */
struct hook_rule {
    enum hook_fault fault;
    int pe;
    uint64_t at;
    uint32_t begun, reported; /* FAULT_FAIL: one operation was accepted; world->failed was
                                 called (atomic) */
};

struct hook_faults {
    uint64_t seed, delay_ns;
    unsigned eagain; /* percent */
    bool reorder;
    int rules;
    struct hook_rule rule[HOOK_RULES_MAX];
    char trace[HOOK_PATH_MAX]; /* "" = none; %p has been replaced */
    bool trace_alone;          /* the file is not shared with other PEs */
};

/* Parse text (NULL = "") for PE me of npes. 0; or -EINVAL and a sentence. */
int hook_faults_parse(const char *text, int me, int npes, struct hook_faults *faults,
                      char why[TRANSPORT_TEXT_MAX]);

/* ---- contexts and operations ---- */

/* Most operations held back in a context; further posts get -EAGAIN. */
enum { HOOK_HELD_MAX = 64 };

/* Random streams of a context. Posts have their own, so they do not depend on the
 * times at which progress was called. */
enum stream { STREAM_POST, STREAM_ORDER, STREAMS };

enum kind { KIND_PUT, KIND_GET, KIND_AMO, KIND_SIGNAL };

/* A copy of the source of a blocking put that was held back; done belongs to the inner
 * transport. */
struct hook_copy {
    struct hook_copy *next;
    struct transport_completion done;
    char bytes[];
};

struct hook_op {
    enum kind kind;
    struct transport_symaddr at;
    size_t len;
    const void *from; /* put, signal */
    void *to;         /* get */
    struct transport_amo amo;
    struct transport_signal signal;
    struct transport_completion *done;
    struct hook_copy *copy;
    struct hook_rule *rule; /* the rule that applies, or NULL */
    uint64_t epoch, due;
};

/* The operations to a PE that the inner context has: the epoch of the last one (0 =
 * none), and the number of inner fences at that time. */
struct hook_peer {
    uint64_t epoch, fences;
};

struct transport_ctx {
    struct transport_net *net;
    struct transport_ctx *next; /* in the net's list, under its lock */
    struct transport_ctx *inner;
    unsigned number;
    uint64_t random[STREAMS];
    uint64_t epoch, fences;             /* fences: made by the inner context */
    uint64_t last_due, alarm;           /* alarm: the time that was requested last */
    struct hook_op held[HOOK_HELD_MAX]; /* in the order of posting */
    unsigned nheld;
    bool refused; /* the inner transport refused an operation that was due */
    /* A post was refused at random, so no event will come: return from the next
     * progress and arm at once. */
    bool denied_progress, denied_arm;
    uint64_t dropped;
    int dropped_pe;
    struct hook_copy *copies; /* that the inner transport may still read */
    int epoll, timer;         /* inner descriptor and timer; -1 = there are none */
    struct hook_peer peer[];  /* by PE */
};

struct transport_net {
    const struct transport_world *world;
    struct transport_net *inner;
    struct hook_faults faults;
    bool holds; /* are operations held back at all? */
    int trace;  /* descriptor, -1 = none */
    uint64_t operations;
    pthread_mutex_t lock;
    unsigned contexts; /* numbers given, under lock */
    struct transport_ctx *ctx_0;
    char text[2 * TRANSPORT_TEXT_MAX];
};

/* What hook_wrap, hook_clock and hook_alarm have set. */
struct hook {
    const struct transport *inner;
    uint64_t (*now_ns)(void);
    void (*alarm_ns)(uint64_t at); /* NULL = none */
};
extern struct hook hook_self;

/* Forward, hold back, drop or refuse an operation, as a slot of the table. */
int hook_submit(struct transport_ctx *c, struct hook_op *op);
/* Forward what is due; returns how many. */
int hook_release(struct transport_ctx *c);
/* When the next operation that may be forwarded is due; UINT64_MAX: none. */
uint64_t hook_next_due(const struct transport_ctx *c);

#endif
