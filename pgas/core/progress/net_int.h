/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net_int.h - private to net.c (initialisation), net_endpoint.c (endpoint descriptors),
 * net_ops.c (blocking operations) and net_thread.c (progress).
 */
#ifndef PGAS_CORE_NET_INT_H
#define PGAS_CORE_NET_INT_H

#include <pthread.h>

#include "pgas/core/boot/boot.h"
#include "pgas/core/progress/net.h"

/*
 * A context of the transport.  Only one thread at a time may call the transport with it:
 * `lock` serialises the callers.  A private context of the user has no lock: only its
 * owner uses it, and progresses it whenever it waits.  The others are progressed by
 * waiting threads and by the progress thread.
 */
struct net_ctx {
    struct transport_ctx *t;
    bool locked;
    uint32_t posts;  /* operations posted; under the lock */
    bool serves;     /* context 0, the target of other PEs' operations on this PE */
    pthread_t owner; /* if not locked */
    /* Nonzero if operations are outstanding that net_quiet must wait for.  Stored with
     * release where the transport is called: a thread that loads 0 with acquire may treat
     * the operations as complete. */
    uint32_t open;
    pthread_mutex_t lock;
    struct net_ctx *next; /* in net->contexts */
};

struct net {
    const struct transport *t;
    struct transport_net *open;
    struct transport_world world;
    struct net_ctx ctx_0;
    pthread_mutex_t ctx_lock;  /* acquired before a context's own lock */
    struct net_ctx *contexts;  /* all but ctx_0; under ctx_lock */
    pthread_mutex_t boot_lock; /* serialises requests to the launcher */
    const struct boot *boot;
    uint32_t leaving; /* finalizing: failures of peers are ignored */
    char text[TRANSPORT_TEXT_MAX * 2];

    /* The progress thread */
    pthread_t thread;
    bool has_thread;
    int stop_fd;             /* an eventfd that ends its sleeps */
    uint32_t asleep;         /* it sleeps in poll(2), or is about to */
    uint32_t wakeup_pending; /* wake-up pending: a poll has woken no waiter yet;
                                net_wake_local */
    uint32_t stop;           /* it must exit */
    uint32_t nap;            /* futex: 1 = it backs off while another thread polls */
    uint64_t polled_ns; /* time of the last poll by another thread, or of a hand-over; 0 =
                           no other thread polls */
    uint32_t handed;    /* polling was handed over to a waiter */
};

/* env.net_timeout in ns; 0 = never. */
uint64_t net_timeout_ns(void);
/* Resets the liveness probe for a new shmem_init. */
void net_watch_init(void);

/* Lock and unlock a context; net_try_lock is false if another thread holds it. */
void net_lock(struct net_ctx *c);
bool net_try_lock(struct net_ctx *c);
void net_unlock(struct net_ctx *c);

/* ---- net_endpoint.c: endpoint descriptors ----------------------------------------- */

/* Writes this PE's descriptor to its heap, before the PEs of the node synchronise. */
void net_endpoint_write(struct net *n);
/* The first PE of each node puts the node's descriptors to the launcher.  Collective. */
void net_endpoint_publish(struct net *n);
/* transport_world.address_of */
ssize_t net_endpoint_address(const struct transport_world *world, int pe, void *to,
                             size_t space);

/* ---- net_thread.c ---------------------------------------------------------------- */

/* A running thread has progressed the context or will do so: the progress thread need
 * not.
 */
void net_polled(struct net_ctx *c);

/* Context 0 was progressed: wakes the waiters of this PE to check their conditions. */
void net_wake_sleepers(void);

/* Context 0 may have been progressed: defers the wake-up to net_wake_local. */
void net_defer_wakeup(void);

/* An operation was posted on a user's context: wakes the progress thread if it sleeps. */
void net_kick(struct net *n);

/* Backs off after STALLS_MAX consecutive wake-ups without progress.  A transport may
 * report readiness repeatedly and make no progress, as UCX does while it connects; a
 * thread that polls it without a pause starves the PEs that it waits for.  `turns` counts
 * the consecutive wake-ups for which `stalled` was true. */
void net_back_off(unsigned *turns, bool stalled);

void net_thread_start(struct net *n);
void net_thread_stop(struct net *n);

#endif
