/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net_int.h - the inside of net: net.c (life), net_card.c (who is where), net_ops.c
 * (operations that wait), net_thread.c (progress).  Nobody else includes it.
 */
#ifndef PGAS_CORE_NET_INT_H
#define PGAS_CORE_NET_INT_H

#include <pthread.h>

#include "pgas/core/boot.h"
#include "pgas/core/net.h"

/*
 * A context of the transport.  The transport wants one thread at a time: `lock` sees to
 * that.  A private context of the user has none: only the thread that made it works on
 * it, and moves it on whenever it waits; the others are moved on by who waits and by the
 * progress thread.
 */
struct net_ctx {
    struct transport_ctx *t;
    bool locked;
    uint32_t posts;  /* operations asked for; under the lock */
    bool serves;     /* it is context 0: where others do to this PE what they do */
    pthread_t owner; /* if not locked */
    /* Something has been posted that net_quiet must wait for.  Changed where the
     * transport is called; release, as who finds it 0 takes the operations for done. */
    uint32_t open;
    pthread_mutex_t lock;
    struct net_ctx *next; /* in net->contexts */
};

struct net {
    const struct transport *t;
    struct transport_net *open;
    struct transport_world world;
    struct net_ctx ctx_0;
    pthread_mutex_t ctx_lock;  /* before a context's own lock */
    struct net_ctx *contexts;  /* all but ctx_0; under ctx_lock */
    pthread_mutex_t boot_lock; /* the launcher is asked by one thread at a time */
    const struct boot *boot;
    uint32_t leaving; /* failures are of no interest any more */
    char text[TRANSPORT_TEXT_MAX * 2];

    /* The progress thread */
    pthread_t thread;
    bool has_thread;
    int stop_fd;        /* an eventfd that ends its sleeps */
    uint32_t asleep;    /* it sleeps on descriptors, or is about to */
    uint32_t owed;      /* a poll has woken nobody: see net_settle */
    uint32_t stop;      /* it shall end */
    uint32_t nap;       /* futex: 1 = it naps, as somebody else polls */
    uint64_t polled_ns; /* when another thread polled last, or was told to; 0 = it sleeps
                           now */
    uint32_t handed;    /* a sleeper has been told to poll */
};

/* env.net_timeout in ns; 0 = never. */
uint64_t net_timeout_ns(void);
/* net_open: forget what a generation before was looking at. */
void net_watch_init(void);

/* Lock and unlock a context; try: false if another thread has it. */
void net_lock(struct net_ctx *c);
bool net_try_lock(struct net_ctx *c);
void net_unlock(struct net_ctx *c);

/* ---- net_card.c: what a PE says of itself ---------------------------------------- */

/* Write our card to its place in our heap, before the PEs of the node meet. */
void net_card_write(struct net *n);
/* The first PE of each node hands the node's cards to the launcher; all PEs wait. */
void net_card_publish(struct net *n);
/* transport_world.address_of */
ssize_t net_card_address(const struct transport_world *world, int pe, void *to,
                         size_t room);

/* ---- net_thread.c ---------------------------------------------------------------- */

/* A thread that does not sleep has moved the context on, or will: the progress thread
 * need not. */
void net_polled(struct net_ctx *c);

/* Context 0 has been moved on: whoever sleeps for what came must look. */
void net_wake_sleepers(void);

/* Context 0 may have been moved on: they must look soon (net_settle). */
void net_owe(void);

/* A context of the user has got something to do: the progress thread must know, if it
 * sleeps. */
void net_kick(struct net *n);

/* A transport may say again and again that there is something to do, and do nothing, as
 * UCX does while it connects: who believes it takes the processor from those for whom it
 * waits.  After each turn: was it in vain?  `turns` counts those, one after the other. */
void net_rest(unsigned *turns, bool in_vain);

void net_thread_start(struct net *n);
void net_thread_stop(struct net *n);

#endif
