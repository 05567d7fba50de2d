/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net.h - PEs that this one can't map: the transport that reaches them, and operations on
 * them that wait.
 *
 * A PE is far if its memory can't be mapped here: it is on another node.  A job with far
 * PEs opens one transport (transport.h) at start-up; pgas_self.net is NULL in all others,
 * and nothing here runs.  Addresses travel in one fence of the launcher, one message per
 * node; a connection is opened by the first operation between two PEs.
 *
 * Progress.  What others do to this PE needs somebody here who calls the transport.  That
 * is whoever waits in this library (block.c calls net_poll between two looks), and else
 * the progress thread, which sleeps until the network has something (net_thread.c).
 *
 * All functions may be called by several threads, each context as its options allow.  fn
 * is the public routine, for sentences; an operation that can't be done ends the job.
 * Uses: peer, boot, block, transport.h.  Used by: init, ctx, rma, coll.
 */
#ifndef PGAS_CORE_NET_H
#define PGAS_CORE_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "pgas/core/pgas.h"
#include "pgas/threads/atomic.h"
#include "pgas/transport/transport.h"

struct boot;
struct net_ctx; /* a context of the transport, with its lock */

/* Is there such a PE, and must it be reached through the transport? */
ALWAYS_INLINE bool net_far(int pe)
{
    const struct pgas *g = &pgas_self;

    return unlikely(g->net != NULL) && (uint32_t)pe < g->npes && g->peer[pe].node == NULL;
}

/* ---- life ------------------------------------------------------------------------ */

/* Choose and open a transport if the job needs one; after the heap, before the PEs of the
 * node meet.  Ends the job with a sentence if none can be used. */
void net_open(const struct boot *b);
/* Tell all PEs how to reach us; after the PEs of the node have met.  Waits for all. */
void net_publish(const struct boot *b);
/* Wait for all PEs of the job, serving them, before anything goes. */
void net_leave(const char *fn);
/* `exiting`: the process ends, and what others may use stays. */
void net_close(bool exiting);

/* Learn what program a far PE runs (peer_program), if that is not known yet. */
void net_meet(int pe);

/* What was chosen and why, a line; "" if nothing had to be. */
const char *net_text(void);

/* ---- contexts -------------------------------------------------------------------- */

/* The context of all PEs and threads; NULL without a net. */
struct net_ctx *net_ctx_default(void);
/* A context for one user's context; the default one if the transport has no more.
 * `private`: the calling thread alone will use it. */
struct net_ctx *net_ctx_open(bool private);
/* After net_quiet.  NULL or the default one: nothing. */
void net_ctx_close(struct net_ctx *c);

/* ---- operations on far PEs ------------------------------------------------------- */

/* NOW: when it returns, the source may be changed (put) or the data are here (get).
 * LATER: that is so after net_quiet. */
enum net_when { NET_NOW, NET_LATER };

void net_put(struct net_ctx *c, struct transport_place to, const void *from, size_t len,
             enum net_when when, const char *fn);
void net_get(struct net_ctx *c, void *to, struct transport_place from, size_t len,
             enum net_when when, const char *fn);
/* NOW with amo->result: it is there.  LATER, or without: it will be after net_quiet. */
void net_amo(struct net_ctx *c, struct transport_place at,
             const struct transport_amo *amo, enum net_when when, const char *fn);

/* A put, and then the update of a word of the same PE that says that these bytes are
 * there.  When as for a put: LATER and NOW, the update is done after net_quiet. */
void net_put_signal(struct net_ctx *c, struct transport_place to, const void *from,
                    size_t len, const struct transport_signal *signal, enum net_when when,
                    const char *fn);

/*
 * A note: the same, but fence and quiet need not wait for it, as somebody waits for the
 * update at the target.  signal NULL: bytes alone, for which a later note speaks that has
 * signal->after_puts.  The source may be changed when done->pending is 0 (net_left waits
 * for that), or with done NULL, when the caller knows in some other way that it has come.
 */
void net_note(struct net_ctx *c, struct transport_place to, const void *from, size_t len,
              const struct transport_signal *signal, struct transport_done *done,
              const char *fn);
void net_left(struct net_ctx *c, struct transport_done *done, int pe, const char *fn);

/* Without a wait: false if the transport has no room now.  A get is done when
 * done->pending is 0, and before the context's next quiet or not; see struct
 * transport_done for what done must be.  A set of 8 bytes is as a note. */
bool net_start_get(struct net_ctx *c, void *to, struct transport_place from, size_t len,
                   struct transport_done *done, const char *fn);
bool net_start_set(struct net_ctx *c, struct transport_place at, uint64_t value,
                   const char *fn);
/* End the job if it has failed. */
void net_check_done(const struct transport_done *done, int pe, const char *fn);

/* Does an add without result get to its target sooner than a put? */
bool net_quick_add(void);

/* What was posted on c to a PE before is seen there before what is posted after. */
void net_fence(struct net_ctx *c, const char *fn); /* NULL: nothing */
/* All that was posted on c is done. */
void net_quiet(struct net_ctx *c, const char *fn); /* NULL: nothing */

/* ---- progress -------------------------------------------------------------------- */

/* Serve others and move on the contexts, if no other thread does. */
void net_poll(void);
/* Is something under way on a private context of the calling thread?  Nobody else moves
 * it on: it must not sleep long, and net_poll between its sleeps. */
bool net_alone(void);
/* Is the calling thread in a call of the transport?  (For a signal handler that exits.)
 */
bool net_inside(void);
/* The calling thread ends a wait: what it has taken from the network for others, they
 * must know. */
void net_settle(void);
/* This thread is going to sleep: the progress thread is on its own. */
void net_idle(void);
/* Has the progress thread left it to who slept to poll for a while, as others use this
 * PE?
 */
bool net_is_mine(void);
/* Are the other nodes there?  Called now and then by who has slept for so long in a wait;
 * ends the job when a PE of another node has not answered for env.net_timeout. */
void net_watch(const char *fn, uint64_t slept_ns);

#endif
