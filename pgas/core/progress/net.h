/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net.h - remote PEs: the transport that reaches them, and blocking operations on them.
 *
 * A PE is remote if its memory cannot be mapped, because it is on another node.  A job
 * with remote PEs opens one transport (transport.h) at start-up.  In other jobs
 * pgas_self.net is NULL and this module is inactive.  One PMIx fence exchanges the
 * endpoint descriptors, as one value per node; connections are opened by the first
 * operation between two PEs.
 *
 * Progress.  Operations of other PEs on this one need a thread that calls the transport:
 * any thread that waits in the library (block.c calls net_poll between two polls), and
 * otherwise the progress thread, which sleeps until the network is ready (net_thread.c).
 *
 * All functions are thread-safe, subject to the options of the context.  fn is the public
 * routine, for error messages.
 *
 * Failures.  With SHMEM_FT=abort an operation that fails ends the job.  With
 * SHMEM_FT=continue (ft/ft.h) an operation on a failed PE is dropped: it completes, the
 * destination of a get is undefined, and the result of a fetching atomic is 0 if the
 * operation began after the failure was known.  If the transport loses a PE that is not
 * known to be dead, calls that depend on it wait for the failure detector, and end the
 * job if it considers the PE alive (net_lost.c). Uses: peer, boot, block, transport.h.
 * Used by: coll/life, ctx, rma, coll.
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
struct net_ctx; /* a transport context with its lock */

/* True if PE `pe` exists and is reached through the transport. */
ALWAYS_INLINE bool net_remote(int pe)
{
    const struct pgas *g = &pgas_self;

    return unlikely(g->net != NULL) && (uint32_t)pe < g->npes && g->peer[pe].node == NULL;
}

/* ---- initialisation -------------------------------------------------------------- */

/* Selects and opens a transport if the job needs one.  Call after the heap is mapped and
 * before the PEs of the node synchronise.  Ends the job with an error message if no
 * transport is usable. */
void net_open(const struct boot *b);
/* Publishes this PE's endpoint descriptor and starts the progress thread.  Collective
 * over the job; call after the PEs of the node have synchronised. */
void net_publish(const struct boot *b);
/* A barrier of all PEs of the job before resources are released; the progress thread
 * continues to serve other PEs. */
void net_leave(const char *fn);
/* Stops the progress thread and closes the transport, except if the process is `exiting`,
 * since other threads may still use it. */
void net_close(bool exiting);

/* Determines whether a remote PE runs the same executable (peer_program), once; that of a
 * dead PE may remain unknown. */
void net_connect(int pe);

/* The selected transport and its description in one line, or why the job needs none. */
const char *net_text(void);

/* ---- contexts -------------------------------------------------------------------- */

/* Context 0, which the library uses; NULL if the job has no transport. */
struct net_ctx *net_ctx_0(void);
/* The context behind the default one for the calling thread (net_pool.c). */
struct net_ctx *net_pool_ctx(void);
/* A transport context for a user context, or context 0 if the transport has no
 * more.  `private`: only the calling thread will use it; `serialized`: one thread at a
 * time will. */
struct net_ctx *net_ctx_open(bool private, bool serialized);
/* Call after net_quiet.  Does nothing for NULL and context 0. */
void net_ctx_close(struct net_ctx *c);

/* ---- operations on remote PEs ---------------------------------------------------- */

/* NOW: on return the source of a put is reusable and the data of a get have arrived.
 * LATER: both hold only after net_quiet. */
enum net_when { NET_NOW, NET_LATER };

void net_put(struct net_ctx *c, struct transport_symaddr to, const void *from, size_t len,
             enum net_when when, const char *fn);
void net_get(struct net_ctx *c, void *to, struct transport_symaddr from, size_t len,
             enum net_when when, const char *fn);
/* A part of a non-contiguous transfer.  cut fills blocks, except pe, so that its bytes
 * and vectors take at most `max` bytes; net.c may call it several times for one fragment,
 * and holds the lock of the context.  The fragment of a get and what its `blocks` refer
 * to must stay valid until `done`. */
struct net_fragment {
    struct transport_blocks blocks;
    size_t remaining; /* bytes of the transfer from the start of the fragment */
    void (*cut)(struct net_fragment *f, size_t max);
    struct transport_completion done; /* of a get */
};

/* Post one fragment to PE pe; its source is reusable on return.  A get completes when
 * net_await_source(&f->done) returns.  Waits only for resources of the transport.  False:
 * the PE has failed, and the fragment was dropped. */
bool net_put_blocks(struct net_ctx *c, struct net_fragment *f, int pe, const char *fn);
bool net_get_blocks(struct net_ctx *c, struct net_fragment *f, int pe, const char *fn);

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
 * (net_await_source waits for that) or, if done is NULL, once the caller knows by other
 * means that the data have arrived.
 */
void net_notify(struct net_ctx *c, struct transport_symaddr to, const void *from,
                size_t len, const struct transport_signal *signal,
                struct transport_completion *done, const char *fn);
void net_await_source(struct net_ctx *c, struct transport_completion *done, int pe,
                      const char *fn);

/* Nonblocking; false if the transport is out of resources.  A get is complete when
 * done->pending is 0, independently of the context's quiet; see struct
 * transport_completion for the rules.  A set of `size` bytes, 4 or 8, is unacknowledged,
 * as in net_notify. */
bool net_start_get(struct net_ctx *c, void *to, struct transport_symaddr from, size_t len,
                   struct transport_completion *done, const char *fn);
bool net_start_set(struct net_ctx *c, struct transport_symaddr at, uint64_t value,
                   uint32_t size, const char *fn);
/* After done->pending is 0: true if the operation is complete, or dropped because the PE
 * is dead; false if it has failed and it is not known whether the PE is dead: call again.
 * With SHMEM_FT=abort a failure ends the job. */
bool net_check_done(const struct transport_completion *done, int pe, const char *fn);

/* True if a non-fetching add has a lower latency than a put. */
bool net_quick_signal(void);

/* Operations posted on c to a PE before the fence are visible there before operations
 * posted after it.  Does nothing for NULL. */
void net_fence(struct net_ctx *c, const char *fn);
/* Completes all operations posted on c.  Does nothing for NULL. */
void net_quiet(struct net_ctx *c, const char *fn);
/* Fence and quiet of the default context: of all operations that any thread has posted
 * on it before. */
void net_pool_fence(const char *fn);
void net_pool_quiet(const char *fn);
/* As net_quiet, and completes notified puts, too; with SHMEM_FT=continue only.  A PE
 * whose collective has ended because of a failure has no other means to know that they
 * have arrived, and survivors reuse the memory that they would change. */
void net_quiet_all(struct net_ctx *c, const char *fn);

/* ---- progress -------------------------------------------------------------------- */

/* Progresses all contexts that no other thread is progressing. */
void net_poll(void);
/* Sends the operations that the transport has queued.  Called where the program waits for
 * other PEs, which may wait for these operations: if the condition of the wait is true
 * already, the program returns to computing without a call of progress. */
void net_send_queued(void);
ALWAYS_INLINE void net_send(void)
{
    if (unlikely(pgas_self.net != NULL))
        net_send_queued();
}
/* True if operations are outstanding on a private context of the calling thread.  No
 * other thread progresses it, so the caller must sleep only briefly and call net_poll
 * between two sleeps. */
bool net_alone(void);
/* True if the calling thread is in a call of the transport; for a signal handler that
 * exits. */
bool net_inside(void);
/* Wakes local waiters whose completions this thread may have consumed; called at the end
 * of a wait. */
void net_wake_local(void);
/* Announces that this thread stops polling: the progress thread takes over. */
void net_idle(void);
/* True if the progress thread handed polling over to the waiter that it woke, because
 * other PEs keep accessing this one. */
bool net_poll_handed_over(void);
/* True if the thread that polled has stopped without notice, as after its wait: the
 * progress thread has not noticed it yet. */
bool net_poll_abandoned(void);
/* Liveness probe of the other nodes.  Called periodically by a thread that has slept for
 * slept_ns in one wait; ends the job if a PE of another node has not answered for
 * env.net_timeout. */
void net_watch(const char *fn, uint64_t slept_ns);

/* The PE has failed (ft/ft.h): operations on it are complete from now on, and later ones
 * are dropped.  Idempotent; any thread. */
void net_pe_failed(int pe);

#endif
