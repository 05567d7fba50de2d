/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hook_int.h - internal interface of the hook transport.
 * Uses: hook.h.  Used by: the hook files, unit tests.
 */
#ifndef PGAS_TRANSPORT_HOOK_INT_H
#define PGAS_TRANSPORT_HOOK_INT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "pgas/transport/test/hook.h"

/* ---- hook_faults.c: parses SHMEM_FAULTS ---- */

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
    bool trace_alone;          /* the name contained %p: the file is not shared with other
                                  PEs */
};

/* Parse text (NULL = "") for PE me of npes. 0; or -EINVAL and a message. */
int hook_faults_parse(const char *text, int me, int npes, struct hook_faults *faults,
                      char why[TRANSPORT_TEXT_MAX]);

/* ---- contexts and operations ---- */

/* Most held operations of a context; further posts return -EAGAIN. */
enum { HOOK_HELD_MAX = 64 };

/* Random streams of a context. Posts have their own, so that they do not depend on the
 * times at which progress is called. */
enum stream { STREAM_POST, STREAM_ORDER, STREAMS };

enum kind { KIND_PUT, KIND_GET, KIND_AMO, KIND_SIGNAL, KIND_PUT_BLOCKS, KIND_GET_BLOCKS };

/* A copy of the source of a held put whose caller waits for it; done belongs to the inner
 * transport. */
struct hook_copy {
    struct hook_copy *next;
    struct transport_completion done;
    struct transport_blocks blocks; /* of a held put: its packed bytes follow vectors */
    char bytes[];
};

/* A dropped operation to a PE. */
struct hook_drop {
    struct hook_drop *next;
    int pe;
    struct transport_completion *done; /* or NULL */
};

struct hook_op {
    enum kind kind;
    struct transport_symaddr at;
    size_t len;
    const void *from; /* put, signal */
    void *to;         /* get */
    struct transport_amo amo;
    struct transport_signal signal;
    const struct transport_blocks *blocks;
    struct transport_completion *done;
    struct hook_copy *copy;
    struct hook_rule *rule; /* the rule that applies, or NULL */
    uint64_t epoch, due;
};

/* A peer of a context.  Of the last operation to it that was forwarded: its epoch (0 =
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
    uint64_t epoch, fences;             /* fences: of the inner context */
    uint64_t last_due, alarm;           /* alarm: the time requested last */
    struct hook_op held[HOOK_HELD_MAX]; /* in the order of posting */
    unsigned nheld;
    bool refused; /* the inner transport refused an operation that was due */
    /* A post was refused at random, so no event will follow: the next progress and the
     * next arm must return at once. */
    bool denied_progress, denied_arm;
    uint64_t dropped; /* length of drops */
    struct hook_drop *drops;
    uint32_t losses;          /* of the net, when hook_drop_lost was last called */
    struct hook_copy *copies; /* copies that the inner transport may still read */
    int epoll, timer;         /* epoll of inner descriptor and timer; -1 = none */
    struct hook_peer peer[];  /* by PE */
};

struct transport_net {
    const struct transport_world *world;
    struct transport_net *inner;
    struct hook_faults faults;
    bool holds; /* operations are held (delay or reorder) */
    int trace;  /* descriptor, -1 = none */
    uint64_t operations;
    uint32_t *lost;  /* by PE: hook_lost was called (atomic) */
    uint32_t losses; /* calls of hook_lost (atomic) */
    pthread_mutex_t lock;
    unsigned contexts; /* number of the next context, under lock */
    struct transport_ctx *ctx_0;
    char text[2 * TRANSPORT_TEXT_MAX];
};

/* The settings of hook_wrap, hook_clock and hook_alarm. */
struct hook {
    const struct transport *inner;
    uint64_t (*now_ns)(void);
    void (*alarm_ns)(uint64_t at); /* NULL = none */
};
extern struct hook hook_self;

/* Forward, hold, drop or refuse an operation; returns as a post of transport.h. */
int hook_submit(struct transport_ctx *c, struct hook_op *op);
/* Complete the held and dropped operations to lost PEs; returns their number. */
int hook_drop_lost(struct transport_ctx *c);
/* Forward the held operations that are due; returns their number. */
int hook_release(struct transport_ctx *c);
/* The time at which the next held operation is due; UINT64_MAX: none. */
uint64_t hook_next_due(const struct transport_ctx *c);

#endif
