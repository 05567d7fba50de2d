/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net_int.h - private to net.c (initialization), net_endpoint.c (endpoint descriptors),
 * net_lookup.c (requests to the launcher for them), net_ops.c (operations), net_quiet.c
 * (fence and quiet), net_limit.c (posts concurrent with a quiet), net_pool.c (the default
 * context), net_poll.c and net_thread.c (progress), net_lost.c (failed PEs) and
 * liveness.c (probes).
 */
#ifndef PGAS_CORE_NET_INT_H
#define PGAS_CORE_NET_INT_H

#include <pthread.h>

#include "pgas/core/boot/boot.h"
#include "pgas/core/boot/node.h"
#include "pgas/core/progress/net.h"
#include "pgas/core/progress/progress.h"
#include "pgas/threads/adaptive.h"

/* Units of posts that a context accepts while a quiet waits (net_limit.c).  An
 * operation costs one, and one more for each NET_LONG bytes. */
enum { NET_CREDIT = 256, NET_LONG = 8192 };

/*
 * A transport context.  Only one thread at a time may call the transport with it: `lock`
 * serialises the callers.  The context of a private user context is not locked, unless
 * the transport sends later (transport.h): only its owner uses it, and progresses it
 * whenever it waits.  The other contexts are progressed
 * by waiting threads and by the progress thread.
 */
struct net_ctx {
    /* Constant, once the context is open. */
    struct transport_ctx *t;
    struct net_ctx *next; /* in net->contexts; under ctx_lock */
    pthread_t owner;      /* if !locked */
    bool locked;
    bool exclusive; /* one thread at a time uses the context */
    bool serves;    /* context 0, the target of other PEs' operations on this PE */

    /* Threads that wait for it write to this line, not to that of the owner. */
    _Alignas(NODE_LINE) struct adaptive_lock lock;

    /* Stored under lock. */
    _Alignas(NODE_LINE) uint64_t posts; /* operations that the transport has accepted */
    uint32_t turns;  /* attempts to post since one of them progressed the context */
    bool limited;    /* a quiet waits, and posts use up `credit` (net_limit.c) */
    uint32_t credit; /* if limited */
    /* Nonzero if operations are outstanding that net_quiet must wait for.  Stored with
     * release after calls of the transport: a thread that loads 0 with acquire may treat
     * the operations as complete. */
    uint32_t open;
    /* Number of moments at which nothing was outstanding: a thread that sees a change
     * knows that the operations have completed which happened before its earlier load.
     * Model: tests/models/drained.pml. */
    uint64_t drained;
    /* Changes with progress that may let a thread proceed (block_wait.private). */
    uint32_t progressed;

    /* Of threads that wait; atomic. */
    _Alignas(NODE_LINE) uint32_t waiters; /* sleep until an operation ends, unless
                                             exclusive */
    /* 1: that thread waits for an operation of the context, and no other thread may
     * progress it (net_try_serve). */
    uint32_t attended;
    /* 1: the progress thread may sleep without the descriptor of the context, because it
     * was attended or locked. */
    uint32_t skipped;
};

/* The contexts behind the default one (net_pool.c): of[0] is context 0, the others are
 * NULL until they are opened. */
enum { NET_POOL_MAX = 16 };
struct net_pool {
    uint32_t size;
    uint32_t threads;                 /* that have been assigned a context; atomic */
    uint32_t shared;                  /* 1: one besides context 0 is open; atomic */
    uint32_t ordered;                 /* 1: a quiet of context 0 since then; atomic */
    pthread_mutex_t lock;             /* protects stores to of[] */
    struct net_ctx *of[NET_POOL_MAX]; /* atomic */
};

/* PEs that the transport has lost and that are not known to be dead.  If more are lost at
 * the same time, the others are not recorded. */
enum { NET_SUSPECTS = 16 };
struct net_suspects {
    pthread_mutex_t lock; /* a leaf */
    uint32_t n;           /* atomic; stored under lock */
    struct net_suspect {
        int pe;
        uint64_t since_ns;
        char reason[TRANSPORT_TEXT_MAX];
    } of[NET_SUSPECTS];
};

/* Requests to the launcher and their answers (net_lookup.c). */
struct net_lookups {
    pthread_mutex_t lock;
    struct net_lookup *first; /* the one that was used last */
    uint32_t pending;         /* requests without an answer; stored under lock */
};

struct net {
    const struct transport *t;
    struct transport_net *open;
    struct transport_world world;
    struct net_ctx ctx_0;
    pthread_mutex_t ctx_lock; /* acquired before a context's own lock */
    /* Serialises the opening and closing of contexts, which may take long: waiting
     * threads need ctx_lock meanwhile.  Acquired before the locks of transports. */
    pthread_mutex_t open_lock;
    struct net_pool pool;
    struct net_ctx *contexts;  /* list of all except ctx_0; under ctx_lock */
    pthread_mutex_t boot_lock; /* serialises requests to the launcher */
    const struct boot *boot;
    uint32_t leaving; /* finalizing: failures of peers are ignored */
    struct net_suspects suspects;
    char text[TRANSPORT_TEXT_MAX * 2];

    /* The progress thread; its states are described in progress.h. */
    pthread_t thread;
    uint32_t state;  /* enum progress_state */
    int wake_fd;     /* an eventfd that ends PROGRESS_SLEEP */
    uint32_t held;   /* 1: operations may be queued on context 0 since it was armed */
    uint32_t losses; /* net_pe_failed calls: one after the last arm forbids the sleep */

    /* Time of another thread's last poll or of a hand-over; 0: no other thread polls. */
    uint64_t polled_ns;
    uint32_t handed; /* 1: polling was handed over to a waiter */

    uint32_t wakeup_pending; /* 1: net_wake_local must wake the sleepers */
    uint64_t wake_ns; /* time of the next wake-up of sleepers on any store; relaxed */
};

/* Nothing is outstanding.  The lock is held; the caller wakes the waiters after that. */
static inline void net_ctx_drained(struct net_ctx *c)
{
    c->limited = false;
    store_relaxed_u64(&c->drained, c->drained + 1);
    store_relaxed_u32(&c->progressed, c->progressed + 1);
}

/* Whether quiet must wait for an operation; a completed quiet itself closes. */
enum net_tracking { NET_UNTRACKED, NET_OPENS, NET_CLOSES };

enum { NET_NO_PE = -1 }; /* symaddr.pe of an operation of the whole context */

/* One operation.  `post` calls the function of the transport with the other members; the
 * context is locked meanwhile. */
struct net_op {
    int (*post)(const struct net_op *o);
    struct net_ctx *c;
    const char *fn;
    struct transport_symaddr symaddr;
    void *to;
    const void *from;
    size_t len;
    const struct transport_amo *amo;
    const struct transport_signal *signal;
    struct net_fragment *fragment;
    struct transport_completion *done;
    enum net_tracking tracking;
    uint64_t drained; /* of a fence or quiet: that of the context when it was called */
    uint64_t posts;   /* of the context, when it was refused for the first time */
    bool refused;
    int rc;
};

/* net_op.post of a get. */
ALWAYS_INLINE int net_post_get(const struct net_op *o)
{
    return pgas_self.net->t->get(o->c->t, o->to, &o->symaddr, o->len, o->done);
}

/* Stall detection (patience.c). */
struct net_patience {
    uint64_t checked_ns; /* time of the last check; 0: none */
    uint64_t silent_ns;  /* time without progress of the context */
    uint64_t waited_ns;  /* total time of the operation */
    uint64_t done;       /* completed operations at the last check */
    int pe; /* a PE with an outstanding operation at the first check without progress */
};

/* Limit of one operation's total time, in timeouts. */
enum { NET_LIMIT_BUSY = 4 };

/*
 * Called at intervals while an operation is outstanding, with the time and the number of
 * operations of the context that have completed; the number may be inexact by a constant
 * for each outstanding operation.  True if the wait must end: no operation has completed
 * for limit_ns or, if the wait is for `one` operation, it has lasted for NET_LIMIT_BUSY
 * times as long.  The operation may be queued behind others and needs that second limit,
 * because they may be other threads' operations on other PEs.  Time during which this
 * process was stopped does not count.  limit_ns 0: no limit.
 */
bool net_patience_ends(struct net_patience *p, uint64_t now_ns, uint64_t done, bool one,
                       uint64_t limit_ns);

/* Ends the job if net_patience_ends. */
void net_check_stall(const struct net_op *o, struct net_patience *p);

/* net_limit.c, with the context locked: o->post while a quiet limits the posts; o->post
 * again, after progress, if it was refused; the operation was refused, and limits the
 * posts if it is a quiet. */
int net_op_post_limited(const struct net_op *o);
int net_op_post_again(struct net_op *o);
void net_op_limit_others(struct net_op *o);

/* Posts the operation with o->post; waits only if the transport has no resources. */
void net_op_post_any(struct net_op *o);
/* Tries to post the operation with o->post; false: the transport has no resources.  An
 * error is in o->rc. */
bool net_op_try_post(struct net_op *o);

/* The liveness probe (liveness.c). */
struct net_watch {
    pthread_mutex_t lock;
    struct transport_completion done;
    bool probing;      /* a probe is in progress */
    bool posted;       /* and the transport has accepted its read */
    uint32_t distance; /* from our node to the last one probed, in node numbers */
    uint64_t word;
    uint64_t next_ns;
    struct net_op op;
    struct net_patience patience;
};

/* env.net_timeout in ns; 0: no timeout. */
uint64_t net_timeout_ns(void);
/* Resets the liveness probe for a new shmem_init. */
void net_watch_init(void);

/* Lock and unlock a context; net_try_lock is false if another thread holds it. */
void net_lock(struct net_ctx *c);
bool net_try_lock(struct net_ctx *c);
/* True if a user context has operations that need progress. */
static inline bool net_is_active(const struct net_ctx *c)
{
    return load_relaxed_u32(&c->open) != 0 || load_relaxed_u32(&c->waiters) != 0;
}
/* True if it needs to be progressed by a thread that does not wait for it. */
static inline bool net_needs_progress(const struct net_ctx *c)
{
    return net_is_active(c) && load_relaxed_u32(&c->attended) == 0;
}
/* Locks a user context if it needs to be progressed by a thread that does not wait for
 * it; false if it does not, or another thread has the lock. */
bool net_try_serve(struct net_ctx *c);
void net_unlock(struct net_ctx *c);

/* progress, arm and send of the transport, for a context whose lock the caller holds.
 * progress returns the number of events, or 1 if operations have ended without one; send
 * returns whether operations have ended. */
int net_ctx_progress(struct net_ctx *c);
/* net_ctx_progress by this function of the transport. */
int net_ctx_progress_by(struct net_ctx *c, int (*progress)(struct transport_ctx *ctx));
int net_ctx_arm(struct net_ctx *c);
bool net_ctx_send(struct net_ctx *c);
/* Outstanding operations; the lock is held. */
static inline uint64_t net_ctx_pending(const struct net_ctx *c)
{
    return pgas_self.net->t->pending(c->t, NULL);
}
/* After a call of the transport before which `pending` operations were outstanding and
 * that returned this number of events: true if some have ended, perhaps without an event,
 * by a failure for instance.  The caller then wakes the sleepers. */
bool net_ctx_changed(struct net_ctx *c, uint64_t pending, int events);
/* Progresses the user contexts that need it. */
void net_poll_contexts(struct net *n);

/* ---- net_endpoint.c: endpoint descriptors ----------------------------------------- */

/* Writes this PE's descriptor to its heap, before the PEs of the node synchronise. */
void net_endpoint_write(struct net *n);
/* The first PE of each node publishes the node's descriptors; then all PEs execute a
 * barrier of the launcher.  Collective. */
void net_endpoint_publish(struct net *n);
/* transport_world.address_of */
ssize_t net_endpoint_address(const struct transport_world *world, int pe, void *to,
                             size_t space);
/* True if the launcher has not answered a request for the descriptor of the PE. */
bool net_endpoint_awaited(int pe);
/* Ends the job: that answer is awaited for longer than SHMEM_NET_TIMEOUT. */
_Noreturn void net_endpoint_timed_out(const char *fn, int pe);

/* The key of the descriptors of a node, which its first PE publishes. */
#define NET_ENDPOINT_KEY "pgas.net"

/* ---- net_lookup.c ------------------------------------------------------------------ */

/* The value of a node; or, if the launcher has none, its reason. */
struct net_lookup_value {
    const char *bytes;
    size_t len;
    const char *error;
};

enum net_lookup_state {
    NET_LOOKUP_PENDING,
    NET_LOOKUP_KNOWN,
    NET_LOOKUP_FAILED, /* the launcher has no value */
    NET_LOOKUP_NO_MEMORY,
};

/* The descriptors of a node; begins a request if there is none.  Does not block.  KNOWN:
 * v->bytes is valid until net_lookup_close, which the caller must call soon.  PENDING:
 * call it again; block_until's sleepers are woken when there is an answer.  FAILED:
 * v->error is set; then, and without memory, another call asks again. */
enum net_lookup_state net_lookup_open(const struct boot *b, uint32_t node,
                                      struct net_lookup_value *v);
void net_lookup_close(void);
/* True if a request, or one for this node, is outstanding. */
bool net_lookup_any_pending(void);
bool net_lookup_is_pending(uint32_t node);
/* Frees all answers; those that arrive later are ignored. */
void net_lookups_drop(void);

/* ---- net_ops.c: operations ----------------------------------------------------------
 */

/* net_quiet for the operations that happen before the load of `drained`: an attempt that
 * does not wait, not even for the lock, and begins what the transport must do and limits
 * the posts, true if it is complete; and the wait. */
bool net_quiet_begin(struct net_ctx *c, uint64_t drained, const char *fn);
void net_quiet_since(struct net_ctx *c, uint64_t drained, const char *fn);
/* The end of a quiet: waits until it is known which PEs have failed. */
void net_quiet_end(const char *fn);

/* ---- net_pool.c: the default context ------------------------------------------------
 */

void net_pool_init(struct net_pool *p, struct net_ctx *ctx_0);
/* Closes all contexts except context 0. */
void net_pool_close(struct net_pool *p);

/* ---- net_lost.c: failed PEs -------------------------------------------------------- */

/* The transport has lost the PE.  False if that must end the job: SHMEM_FT=abort.  Any
 * thread, with any lock; does not block. */
bool net_suspect(int pe, const char *reason);
/* The transport has lost the PE: returns when it is known to be dead; ends the job if it
 * is not after the limit.  False, at once, if SHMEM_FT=abort or `pe` is not a PE. */
bool net_await_verdict(int pe, const char *fn, int error);
/* Returns when all suspects are known to be dead. */
void net_await_verdicts(const char *fn);
/* Ends the job if a suspect is not known to be dead after the limit.  Called periodically
 * by waiting threads and by the progress thread. */
void net_check_suspects(struct net *n);
/* Waits for the surviving PEs at the end of the job. */
void net_leave_survivors(const char *fn);
/* The node's name according to the launcher; its number if another thread holds boot_lock
 * (net.c). */
void net_node_name(struct net *n, int pe, char *name, size_t size);

/* ---- net_poll.c ------------------------------------------------------------------- */

/* Another thread has progressed the context, or is going to: if it is context 0, the
 * progress thread backs off. */
void net_polled(struct net_ctx *c);

/* Call after progress with events: wakes the sleeping threads of this PE whose private
 * words have changed, and the other ones if a word of theirs has changed, or if one waits
 * for any store.  True if others were woken. */
bool net_wake_sleepers(void);

/* Call after progress without events, which may nevertheless have changed memory: as
 * net_wake_sleepers, but threads that wait for any store are woken every
 * TIMING_WAKE_EVERY only. */
void net_wake_changed(void);

/* Call after the progress of one context, which may have progressed all of them: the
 * former if operations have ended, else the latter. */
void net_wake_after(bool progressed);

/* Sleeps briefly after more than STALLS_MAX consecutive wake-ups without progress.  A
 * transport may report readiness repeatedly and make no progress, as UCX does while it
 * connects; a thread that polls it continuously would starve the PEs that it waits for.
 * *turns is the number of consecutive calls with `stalled`. */
void net_back_off(unsigned *turns, bool stalled);

/* ---- net_thread.c ---------------------------------------------------------------- */

/* Wakes the progress thread if it sleeps.  Call after the first outstanding operation on
 * a user context, and after `held` was set. */
void net_kick(struct net *n);

void net_thread_start(struct net *n);
void net_thread_stop(struct net *n);

#endif
