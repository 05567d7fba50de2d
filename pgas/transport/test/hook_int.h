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

/* ---- hook_chaos.c: SHMEM_CHAOS, read ---- */

enum { CHAOS_RULES_MAX = 16, CHAOS_PATH_MAX = 512 };

enum chaos_fate { CHAOS_DROP, CHAOS_FAIL, CHAOS_KILL };

/* From the at-th operation of this PE on: those to PE pe are dropped or fail; or, for
 * CHAOS_KILL, PE pe is this one. */
struct chaos_rule {
    enum chaos_fate fate;
    int pe;
    uint64_t at;
    uint32_t begun, told; /* FAIL: one was accepted; world->failed was called (atomic) */
};

struct chaos {
    uint64_t seed, delay_ns;
    unsigned eagain; /* percent */
    bool reorder;
    int rules;
    struct chaos_rule rule[CHAOS_RULES_MAX];
    char trace[CHAOS_PATH_MAX]; /* "" = none; %p has been replaced */
    bool trace_alone;           /* the file is this PE's own */
};

/* Read text (NULL = "") for PE me of npes.  0; or -EINVAL and a sentence. */
int chaos_parse(const char *text, int me, int npes, struct chaos *chaos,
                char why[TRANSPORT_TEXT_MAX]);

/* ---- contexts and operations ---- */

/* Operations held back in a context; then posts get -EAGAIN. */
enum { HELD_MAX = 64 };

/* Random streams of a context: what happens to posts does not depend on the times at
 * which progress was called. */
enum stream { STREAM_POST, STREAM_ORDER, STREAMS };

enum kind { KIND_PUT, KIND_GET, KIND_AMO, KIND_SIGNAL };

/* The source of a blocking put that was held back; done is the inner transport's. */
struct copy {
    struct copy *next;
    struct transport_done done;
    char bytes[];
};

struct op {
    enum kind kind;
    struct transport_place at;
    size_t len;
    const void *from; /* put, signal */
    void *to;         /* get */
    struct transport_amo amo;
    struct transport_signal signal;
    struct transport_done *done;
    struct copy *copy;
    struct chaos_rule *rule; /* what shall happen to it; NULL = nothing */
    uint64_t epoch, due;
};

/* What the inner context has of this one's operations to a PE: the epoch of the last (0 =
 * none), and how many inner fences had been made then. */
struct contact {
    uint64_t epoch, fences;
};

struct transport_ctx {
    struct transport_net *net;
    struct transport_ctx *next; /* in the net's list, under its lock */
    struct transport_ctx *inner;
    unsigned number;
    uint64_t random[STREAMS];
    uint64_t epoch, fences;   /* fences: made by the inner context */
    uint64_t last_due, alarm; /* alarm: the time that was asked for last */
    struct op held[HELD_MAX]; /* in the order of their posts */
    unsigned nheld;
    bool refused; /* the inner one said -EAGAIN to what was due */
    /* We said -EAGAIN for no reason, so no event will come: for the next progress, arm.
     */
    bool denied_progress, denied_arm;
    uint64_t dropped;
    int dropped_pe;
    struct copy *copies;   /* which the inner one still reads */
    int epoll, timer;      /* inner descriptor and timer; -1 = there are none */
    struct contact peer[]; /* by PE */
};

struct transport_net {
    const struct transport_world *world;
    struct transport_net *inner;
    struct chaos chaos;
    bool holds; /* are operations held back at all? */
    int trace;  /* descriptor, -1 = none */
    uint64_t operations;
    pthread_mutex_t lock;
    unsigned contexts; /* numbers given, under lock */
    struct transport_ctx *ctx_0;
    char text[2 * TRANSPORT_TEXT_MAX];
};

/* What hook_wrap, hook_clock and hook_alarm were told. */
struct hook {
    const struct transport *inner;
    uint64_t (*now_ns)(void);
    void (*alarm_ns)(uint64_t at); /* NULL = nobody to ask */
};
extern struct hook hook_self;

/* Post, hold back, swallow or refuse an operation, as a slot of the table does. */
int hook_submit(struct transport_ctx *c, struct op *op);
/* Post what is due; how many. */
int hook_release(struct transport_ctx *c);
/* When the next of those that may go is due; UINT64_MAX = there is none. */
uint64_t hook_next_due(const struct transport_ctx *c);

#endif
