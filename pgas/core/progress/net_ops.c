/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net_ops.c - operations on remote PEs: posts them to the transport and waits for their
 * completion.
 *
 * A transport never blocks.  Every wait here is one block_until.  Context 0 is progressed
 * by block.c (net_poll) and, while the thread sleeps, by the progress thread, which wakes
 * it.  Other contexts are progressed by the condition of the wait; the thread sleeps on
 * the context's file descriptor.
 * Uses: net_int, block, clock, log.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "pgas/core/core_state.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/base/clock.h"
#include "pgas/core/base/log.h"
#include "pgas/core/progress/net_int.h"
#include "pgas/core/base/pgas_assert.h"

#define STATE core_self.net.watch

enum {
    POSTS_PER_PROGRESS = 8,
    CHECK_MAX_MS = 500,    /* the time between two checks counts for at most this much */
    LIMIT_BUSY = 4,        /* limit of one operation's total time, in timeouts */
    NAP_MAX_MS = 10,       /* longest sleep on a context's file descriptor */
    WATCH_AFTER_MS = 2000, /* time in one wait before the first liveness probe */
    WATCH_EVERY_MS = 1000, /* interval of liveness probes */
};
#define NS_PER_MS ((uint64_t)1000 * 1000)

/* Tries once to post the operation to the transport.  The context is locked. */
static int net_op_start(const struct net_op *o)
{
    const struct transport *t = pgas_self.net->t;
    struct transport_ctx *ctx = o->c->t;

    switch (o->kind) {
    case OP_PUT:
        return t->put(ctx, &o->symaddr, o->from, o->len, o->done);
    case OP_GET:
        return t->get(ctx, o->to, &o->symaddr, o->len, o->done);
    case OP_AMO:
        return t->amo(ctx, &o->symaddr, o->amo, o->done);
    case OP_SIGNAL:
        return t->put_signal(ctx, &o->symaddr, o->from, o->len, o->signal, o->done);
    case OP_FENCE:
        return t->fence(ctx);
    case OP_QUIET:
        return t->quiet(ctx);
    }
    return -EINVAL;
}

/* True every POSTS_PER_PROGRESS posts: a posting loop then reaps completions itself and
 * does not contend with the progress thread for the lock. */
static bool net_op_progress_due(struct net_ctx *c)
{
    return ++c->posts % POSTS_PER_PROGRESS == 0;
}

/* A block_ready function: the transport has accepted the operation or failed it. */
static bool net_op_accepted(const void *arg)
{
    struct net_op *o = *(struct net_op *const *)arg;

    PGAS_ASSERT(pgas_self.net != NULL && o->c != NULL);
    net_lock(o->c);
    o->rc = net_op_start(o);
    bool full = o->rc == -EAGAIN, moved = full || net_op_progress_due(o->c);
    int n = moved ? pgas_self.net->t->progress(o->c->t) : 0;
    if (moved)
        net_polled(o->c);
    if (full)
        o->rc = net_op_start(o);
    bool first = o->rc == 0 && o->open && load_relaxed_u32(&o->c->open) == 0;
    if (o->rc == 0 && (o->open || o->kind == OP_QUIET))
        store_release_u32(&o->c->open, o->open);
    net_unlock(o->c);
    if (first && !o->c->serves)
        net_kick(pgas_self.net);
    if (n > 0)
        net_wake_sleepers(); /* may have satisfied the wait of another thread */
    else if (moved)
        net_defer_wakeup();
    return o->rc != -EAGAIN;
}

/* A block_ready function: the posted operation is complete. */
static bool net_op_completed(const void *arg)
{
    const struct net_op *o = *(struct net_op *const *)arg;

    PGAS_ASSERT(o->done != NULL && o->rc == 0); /* the transport has accepted it */
    if (load_acquire_u32(&o->done->pending) == 0)
        return true;
    if (o->c->serves || !net_try_lock(o->c))
        return false; /* progressed by net_poll or by another thread */
    pgas_self.net->t->progress(o->c->t);
    net_unlock(o->c);
    return load_acquire_u32(&o->done->pending) == 0;
}

static _Noreturn void net_op_timed_out(const struct net_op *o, int pe)
{
    unsigned seconds = (unsigned)pgas_self.env.net_timeout;

    if (pe < 0)
        log_die("%s: no network progress for %u s; is a node or a link down? "
                "SHMEM_NET_TIMEOUT sets the limit",
                o->fn, seconds);
    log_die("%s: PE %d has not answered for %u s; is it stopped, or is its node or the "
            "link down? SHMEM_NET_TIMEOUT sets the limit",
            o->fn, pe, seconds);
}

uint64_t net_timeout_ns(void)
{
    uint64_t seconds = pgas_self.env.net_timeout;

    return seconds < UINT64_MAX / NS_PER_S / LIMIT_BUSY ? seconds * NS_PER_S : 0;
}

/*
 * block_wait.on_stall: ends the job if the context has made no progress for the timeout.
 * While other operations on the context complete, an operation may be queued behind them
 * and has LIMIT_BUSY timeouts in total; it needs a limit, because they may be other
 * threads' operations on other PEs.
 */
static void net_op_check_stall(const void *arg)
{
    struct net_op *o = *(struct net_op *const *)arg;
    struct net_patience *p = &o->patience;
    uint64_t now = clock_ns(), limit = net_timeout_ns();
    uint64_t passed = p->checked_ns != 0 ? now - p->checked_ns : 0;
    bool one = o->kind < OP_FENCE;
    int pe = one ? o->symaddr.pe : -1;

    net_lock(o->c);
    uint64_t pending = pgas_self.net->t->pending(o->c->t, one ? NULL : &pe);
    net_unlock(o->c);
    PGAS_ASSERT(now >= p->checked_ns);
    if (passed > CHECK_MAX_MS * NS_PER_MS) /* this process was stopped */
        passed = CHECK_MAX_MS * NS_PER_MS;
    p->silent_ns = pending == p->pending ? p->silent_ns + passed : 0;
    p->waited_ns += passed;
    p->checked_ns = now;
    p->pending = pending;
    if (limit > 0 && (p->silent_ns > limit || (one && p->waited_ns > LIMIT_BUSY * limit)))
        net_op_timed_out(o, pe);
}

/* Sleeps until the context is ready, for at most ms.  True if it is ready. */
static bool net_op_sleep_on_ctx(const struct net_op *o, int ms)
{
    const struct transport *t = pgas_self.net->t;

    net_lock(o->c);
    int armed = t->arm(o->c->t);
    struct pollfd fd = {.fd = t->fd(o->c->t), .events = POLLIN};
    net_unlock(o->c);
    return armed != 0 || poll(&fd, 1, fd.fd < 0 || ms == 0 ? 1 : ms) > 0;
}

/* block_wait.sleep for contexts other than 0. */
static void net_op_nap(const void *arg, uint64_t ns)
{
    struct net_op *o = *(struct net_op *const *)arg;
    int ms = ns / NS_PER_MS < NAP_MAX_MS ? (int)(ns / NS_PER_MS) : NAP_MAX_MS;

    net_back_off(&o->wakes, net_op_sleep_on_ctx(o, ms));
}

static void net_op_wait_until(struct net_op *o, block_ready ready)
{
    block_until(&(struct block_wait){.ready = ready,
                                     .arg = &o,
                                     .remote = true,
                                     .what = o->fn,
                                     .on_stall = net_op_check_stall,
                                     .sleep = o->c->serves ? NULL : net_op_nap});
}

static void net_op_check_accepted(const struct net_op *o)
{
    if (unlikely(o->rc < 0))
        log_lost("%s: PE %d is unreachable: %s", o->fn, o->symaddr.pe, strerror(-o->rc));
}

/* Posts the operation; waits only if the transport has no resources. */
static void net_op_post(struct net_op *o)
{
    const struct net_op *const self = o;

    if (!net_op_accepted(&self))
        net_op_wait_until(o, net_op_accepted);
    net_op_check_accepted(o);
}

static bool net_op_try_start(struct net_op *o)
{
    const struct net_op *const self = o;

    if (!net_op_accepted(&self))
        return false;
    net_op_check_accepted(o);
    return true;
}

void net_check_done(const struct transport_completion *done, int pe, const char *fn)
{
    if (unlikely(done->error != 0))
        log_lost("%s: lost PE %d: %s", fn, pe, strerror(-done->error));
}

static void net_op_await_done(struct net_op *o)
{
    const struct net_op *const self = o;

    if (!net_op_completed(&self))
        net_op_wait_until(o, net_op_completed);
    net_check_done(o->done, o->symaddr.pe, o->fn);
}

static void net_op_post_and_wait(struct net_op *o)
{
    struct transport_completion done = {.pending = 1};

    PGAS_ASSERT(o->done == NULL);
    o->done = &done;
    net_op_post(o);
    net_op_await_done(o);
    PGAS_ASSERT(done.pending == 0); /* no operation refers to our stack */
}

static void net_op_run(struct net_op *o, enum net_when when)
{
    bool puts = o->kind == OP_PUT || o->kind == OP_SIGNAL;

    PGAS_ASSERT(o->kind < OP_FENCE && net_remote(o->symaddr.pe));
    PGAS_ASSERT(o->symaddr.segment == SEGMENT_HEAP || o->symaddr.segment == SEGMENT_DATA);
    PGAS_ASSERT(o->symaddr.segment == SEGMENT_DATA ||
                o->symaddr.offset < pgas_self.heap_len);

    /* A blocking get or fetch is complete on return; a put is outstanding until quiet. */
    o->open = when == NET_LATER || puts;
    if (when == NET_NOW)
        net_op_post_and_wait(o);
    else
        net_op_post(o);
}

void net_put(struct net_ctx *c, struct transport_symaddr to, const void *from, size_t len,
             enum net_when when, const char *fn)
{
    net_op_run(
        &(struct net_op){
            .c = c, .fn = fn, .kind = OP_PUT, .symaddr = to, .from = from, .len = len},
        when);
}

void net_get(struct net_ctx *c, void *to, struct transport_symaddr from, size_t len,
             enum net_when when, const char *fn)
{
    net_op_run(
        &(struct net_op){
            .c = c, .fn = fn, .kind = OP_GET, .symaddr = from, .to = to, .len = len},
        when);
}

void net_amo(struct net_ctx *c, struct transport_symaddr at,
             const struct transport_amo *amo, enum net_when when, const char *fn)
{
    net_op_run(
        &(struct net_op){.c = c, .fn = fn, .kind = OP_AMO, .symaddr = at, .amo = amo},
        amo->result == NULL && when == NET_NOW ? NET_LATER : when);
}

/* Maximum number of bytes of a put with signal that the transport accepts as one
 * operation. */
static size_t net_op_signal_max(void)
{
    return pgas_self.net->t->signal_max(pgas_self.net->open);
}

/* Updates the signal without transferring data. */
static void net_op_signal_only(struct net_ctx *c, const struct transport_signal *signal,
                               bool after_puts, enum net_when when, const char *fn)
{
    const struct transport_amo amo = {.op = signal->op,
                                      .size = signal->size,
                                      .operand = signal->operand,
                                      .after_puts = after_puts};

    net_amo(c, signal->at, &amo, when, fn);
}

void net_put_signal(struct net_ctx *c, struct transport_symaddr to, const void *from,
                    size_t len, const struct transport_signal *signal, enum net_when when,
                    const char *fn)
{
    if (len == 0) {
        net_op_signal_only(c, signal, false, when, fn);
    } else if (len > net_op_signal_max()) {
        net_put(c, to, from, len, when, fn);
        net_op_signal_only(c, signal, true, when, fn);
    } else {
        net_op_run(&(struct net_op){.c = c,
                                    .fn = fn,
                                    .kind = OP_SIGNAL,
                                    .symaddr = to,
                                    .from = from,
                                    .len = len,
                                    .signal = signal},
                   when);
    }
}

static void net_op_notify_data(struct net_ctx *c, struct transport_symaddr to,
                               const void *from, size_t len,
                               struct transport_completion *done, const char *fn)
{
    net_op_post(&(struct net_op){.c = c,
                                 .fn = fn,
                                 .kind = OP_PUT,
                                 .symaddr = to,
                                 .from = from,
                                 .len = len,
                                 .done = done});
}

void net_notify(struct net_ctx *c, struct transport_symaddr to, const void *from,
                size_t len, const struct transport_signal *signal,
                struct transport_completion *done, const char *fn)
{
    struct transport_signal s;

    if (done != NULL)
        *done = (struct transport_completion){.pending = 1};
    if (signal == NULL) {
        net_op_notify_data(c, to, from, len, done, fn);
        return;
    }
    s = *signal;
    s.unacked = true;
    if (len > net_op_signal_max()) {
        net_op_notify_data(c, to, from, len, done, fn);
        s.after_puts = true;
        to = s.at;
        len = 0;
        done = NULL;
    }
    net_op_post(&(struct net_op){.c = c,
                                 .fn = fn,
                                 .kind = OP_SIGNAL,
                                 .symaddr = to,
                                 .from = from,
                                 .len = len,
                                 .signal = &s,
                                 .done = done});
}

void net_await_source(struct net_ctx *c, struct transport_completion *done, int pe,
                      const char *fn)
{
    net_op_await_done(&(struct net_op){
        .c = c, .fn = fn, .kind = OP_PUT, .symaddr.pe = pe, .done = done});
}

bool net_start_get(struct net_ctx *c, void *to, struct transport_symaddr from, size_t len,
                   struct transport_completion *done, const char *fn)
{
    *done = (struct transport_completion){.pending = 1};
    return net_op_try_start(&(struct net_op){.c = c,
                                             .fn = fn,
                                             .kind = OP_GET,
                                             .symaddr = from,
                                             .to = to,
                                             .len = len,
                                             .done = done});
}

bool net_start_set(struct net_ctx *c, struct transport_symaddr at, uint64_t value,
                   const char *fn)
{
    const struct transport_amo set = {
        .op = TRANSPORT_AMO_SET, .operand = value, .size = sizeof value};

    return net_op_try_start(
        &(struct net_op){.c = c, .fn = fn, .kind = OP_AMO, .symaddr = at, .amo = &set});
}

bool net_quick_add(void)
{
    return pgas_self.net->t->quick_add;
}

static void net_op_run_ctx(struct net_ctx *c, enum net_op_kind kind, const char *fn)
{
    struct net_op o = {.c = c, .fn = fn, .kind = kind, .symaddr.pe = -1};

    net_op_post(&o);
}

void net_fence(struct net_ctx *c, const char *fn)
{
    if (c != NULL)
        net_op_run_ctx(c, OP_FENCE, fn);
}

void net_quiet(struct net_ctx *c, const char *fn)
{
    if (c != NULL && load_acquire_u32(&c->open) != 0)
        net_op_run_ctx(c, OP_QUIET, fn);
}

/* ---- liveness probes of other nodes ---------------------------------------------- */

/*
 * A PE that waits for a store of another PE has no outstanding operation that could fail.
 * Therefore a thread that has slept for WATCH_AFTER_MS reads a word of a PE on another
 * node, cycling through the nodes: a node that does not respond for net_timeout ends the
 * job.  At most one such read per process is outstanding.
 */

void net_watch_init(void)
{
    STATE.asked = STATE.taken = false;
    STATE.next_ns = 0;
}

/* Cycles through the nodes at distance 1, 2, 4 ..: each node is probed by several others,
 * which rarely all compute at the same time, and each PE connects to few nodes. */
static uint32_t net_op_next_node(void)
{
    STATE.distance = STATE.distance * 2 < pgas_self.nnodes ? STATE.distance * 2 : 1;
    return (pgas_self.node_of[pgas_self.me] + STATE.distance) % pgas_self.nnodes;
}

/* The PE of the node with index local_rank % PEs, so that the PEs of this node probe
 * different PEs. */
static int net_op_pe_of_node(uint32_t node)
{
    const struct pgas *g = &pgas_self;
    int n = 0;

    for (uint32_t pe = 0; pe < g->npes; pe++)
        n += g->node_of[pe] == node;
    int nth = g->local_rank % n, pe = -1;
    for (int seen = -1; seen < nth; seen += g->node_of[pe] == node)
        pe++;
    return pe;
}

static void net_op_probe_start(const char *fn)
{
    STATE.done = (struct transport_completion){.pending = 1};
    STATE.op = (struct net_op){
        .c = &pgas_self.net->ctx_0,
        .fn = fn,
        .kind = OP_GET,
        .symaddr = {.pe = net_op_pe_of_node(net_op_next_node()), .segment = SEGMENT_HEAP},
        .to = &STATE.word,
        .len = sizeof STATE.word,
        .done = &STATE.done,
    };
    STATE.asked = true;
    STATE.taken = false;
}

/* A read that the transport does not accept also counts as no progress. */
static void net_op_probe_progress(void)
{
    const struct net_op *const self = &STATE.op;

    if (!STATE.taken)
        STATE.taken = net_op_accepted(&self);
    if (STATE.taken && (STATE.op.rc != 0 || load_acquire_u32(&STATE.done.pending) == 0))
        STATE.asked = false; /* complete, or failed and reported by the transport */
    else
        net_op_check_stall(&self);
}

void net_watch(const char *fn, uint64_t slept_ns)
{
    struct net *n = pgas_self.net;

    /* Not during shmem_init: the lookup of a PE's descriptor could wait for that node,
     * which waits for this one. */
    if (n == NULL || load_acquire_u32(&n->leaving) != 0 || pgas_self.life != LIFE_UP ||
        pgas_self.node_of == NULL || slept_ns < WATCH_AFTER_MS * NS_PER_MS ||
        pthread_mutex_trylock(&STATE.lock) != 0)
        return;
    uint64_t now = clock_ns();
    if (!STATE.asked && now >= STATE.next_ns) {
        STATE.next_ns = now + WATCH_EVERY_MS * NS_PER_MS;
        net_op_probe_start(fn);
    }
    if (STATE.asked)
        net_op_probe_progress();
    pthread_mutex_unlock(&STATE.lock);
}
