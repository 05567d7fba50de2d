/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net.h - remote PEs: the transport that reaches them, and blocking operations on them.
 *
 * A PE is remote if its memory cannot be mapped, because it is on another node.  A job
 * with remote PEs opens one transport (transport.h) at start-up.  In other jobs
 * pgas_self.net is NULL and no code of this module runs.  Endpoint addresses are
 * exchanged in one fence of the launcher with one value per node; connections are opened
 * by the first operation between two PEs.
 *
 * Progress.  Operations of other PEs on this one need a thread that calls the transport:
 * any thread that waits in the library (block.c calls net_poll between two polls), and
 * otherwise the progress thread, which sleeps until the network is ready (net_thread.c).
 *
 * All functions may be called by several threads, each context as its options allow.  fn
 * is the public routine, for error messages; an operation that fails ends the job.
 * Uses: peer, boot, block, transport.h.  Used by: coll/life, ctx, rma, coll.
 */
#ifndef PGAS_CORE_NET_H
#define PGAS_CORE_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pgas/core/base/pgas.h"
#include "pgas/threads/atomic.h"
#include "pgas/transport/transport.h"

struct boot;
struct net_ctx; /* a context of the transport, with its lock */

/* True if PE `pe` exists and is reached through the transport. */
ALWAYS_INLINE bool net_remote(int pe)
{
    const struct pgas *g = &pgas_self;

    return unlikely(g->net != NULL) && (uint32_t)pe < g->npes && g->peer[pe].node == NULL;
}

/* ---- initialisation -------------------------------------------------------------- */

/* Selects and opens a transport if the job needs one; after the heap is mapped, before
 * the PEs of the node synchronise.  Ends the job with an error message if none is usable.
 */
void net_open(const struct boot *b);
/* Publishes this PE's endpoint address; after the PEs of the node have synchronised.
 * Collective over the job. */
void net_publish(const struct boot *b);
/* Waits for all PEs of the job, with progress, before resources are released. */
void net_leave(const char *fn);
/* `exiting`: the process ends; resources that other threads may use stay. */
void net_close(bool exiting);

/* Determines whether a remote PE runs the same executable (peer_program), once. */
void net_connect(int pe);

/* The chosen transport and the reason, one line; "" if the job needs none. */
const char *net_text(void);

/* ---- contexts -------------------------------------------------------------------- */

/* The default context, shared by all threads; NULL if the job has no transport. */
struct net_ctx *net_ctx_default(void);
/* A context of the transport for a user's context, or the default one if the transport
 * has no more.  `private`: only the calling thread will use it. */
struct net_ctx *net_ctx_open(bool private);
/* Call after net_quiet.  No operation for NULL and the default context. */
void net_ctx_close(struct net_ctx *c);

/* ---- operations on remote PEs ---------------------------------------------------- */

/* NOW: on return the source of a put is reusable and the data of a get have arrived.
 * LATER: the same holds after net_quiet. */
enum net_when { NET_NOW, NET_LATER };

void net_put(struct net_ctx *c, struct transport_symaddr to, const void *from, size_t len,
             enum net_when when, const char *fn);
void net_get(struct net_ctx *c, void *to, struct transport_symaddr from, size_t len,
             enum net_when when, const char *fn);
/* NOW with amo->result: the result is available on return.  LATER, or without a result:
 * the operation is complete after net_quiet. */
void net_amo(struct net_ctx *c, struct transport_symaddr at,
             const struct transport_amo *amo, enum net_when when, const char *fn);

/* A put followed by an update of a signal word of the same PE: a PE that observes the
 * update also observes the data.  NOW and LATER concern the source only; the update is
 * complete after net_quiet. */
void net_put_signal(struct net_ctx *c, struct transport_symaddr to, const void *from,
                    size_t len, const struct transport_signal *signal, enum net_when when,
                    const char *fn);

/*
 * An unacknowledged notified put: a put with signal that fence and quiet do not track,
 * because the target waits for the signal.  signal NULL: data only, announced by a later
 * notified put with signal->after_puts.  The source is reusable when done->pending is 0
 * (net_await_source waits for that), or, with done NULL, once the caller knows of its
 * arrival by other means.
 */
void net_notify(struct net_ctx *c, struct transport_symaddr to, const void *from,
                size_t len, const struct transport_signal *signal,
                struct transport_completion *done, const char *fn);
void net_await_source(struct net_ctx *c, struct transport_completion *done, int pe,
                      const char *fn);

/* Nonblocking: false if the transport has no resources now.  A get is complete when
 * done->pending is 0, independently of the context's quiet; struct transport_completion
 * has the rules for done.  A set of 8 bytes is unacknowledged as net_notify. */
bool net_start_get(struct net_ctx *c, void *to, struct transport_symaddr from, size_t len,
                   struct transport_completion *done, const char *fn);
bool net_start_set(struct net_ctx *c, struct transport_symaddr at, uint64_t value,
                   const char *fn);
/* Ends the job if the operation has failed. */
void net_check_done(const struct transport_completion *done, int pe, const char *fn);

/* True if a non-fetching add has a lower latency than a put. */
bool net_quick_add(void);

/* Operations posted on c to a PE before the fence are visible there before operations
 * posted after it.  No operation for NULL. */
void net_fence(struct net_ctx *c, const char *fn);
/* Completes all operations posted on c.  No operation for NULL. */
void net_quiet(struct net_ctx *c, const char *fn);

/* ---- progress -------------------------------------------------------------------- */

/* Progresses all contexts that no other thread is progressing. */
void net_poll(void);
/* True if operations are outstanding on a private context of the calling thread.  No
 * other thread progresses it: the caller must sleep briefly only, and call net_poll
 * between two sleeps. */
bool net_alone(void);
/* True if the calling thread is in a call of the transport; for a signal handler that
 * exits. */
bool net_inside(void);
/* Wakes local waiters whose completions this thread may have consumed; called at the end
 * of a wait. */
void net_wake_local(void);
/* This thread stops polling and is going to sleep: the progress thread takes over. */
void net_idle(void);
/* True if the progress thread handed polling over to the waiter that it woke, because
 * other PEs keep accessing this one. */
bool net_poll_handed_over(void);
/* Liveness probe of the other nodes.  Called periodically by a thread that has slept for
 * slept_ns in one wait; ends the job if a PE of another node has not answered for
 * env.net_timeout. */
void net_watch(const char *fn, uint64_t slept_ns);

#endif
