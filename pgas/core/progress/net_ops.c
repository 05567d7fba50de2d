/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net_ops.c - operations on remote PEs: posts them to the transport and waits for their
 * completion.
 *
 * A transport never blocks.  Every wait here is one block_until.  Context 0 is progressed
 * by block.c (net_poll) and, while the thread sleeps, by the progress thread, which wakes
 * it.  So are user contexts that several threads share.  Other contexts are progressed by
 * the condition of the wait; the thread sleeps on the context's file descriptor.
 * Uses: net_int, block, clock, log.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "pgas/core/base/timing.h"
#include "pgas/core/core_state.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/base/os.h"
#include "pgas/core/base/log.h"
#include "pgas/core/progress/net_int.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/ft/ft.h"

enum { POSTS_PER_PROGRESS = 8 };

/* ---- posting ---------------------------------------------------------------------- */

/* The functions of struct net_op.post; net_post_get is in net_int.h, those of fence and
 * quiet are in net_quiet.c. */

ALWAYS_INLINE int net_post_put(const struct net_op *o)
{
    return pgas_self.net->t->put(o->c->t, &o->symaddr, o->from, o->len, o->done);
}

ALWAYS_INLINE int net_post_amo(const struct net_op *o)
{
    return pgas_self.net->t->amo(o->c->t, &o->symaddr, o->amo, o->done);
}

ALWAYS_INLINE int net_post_signal(const struct net_op *o)
{
    return pgas_self.net->t->put_signal(o->c->t, &o->symaddr, o->from, o->len, o->signal,
                                        o->done);
}

/* Cuts the fragment to what the transport accepts at present.  0 or -EAGAIN. */
static int net_op_cut(const struct net_op *o)
{
    struct net_fragment *f = o->fragment;
    size_t max = pgas_self.net->t->blocks_max(o->c->t, o->symaddr.pe, f->remaining);

    if (max == 0)
        return -EAGAIN;
    f->blocks.pe = o->symaddr.pe;
    f->cut(f, max);
    return 0;
}

/* Packing a long fragment takes longer than a reply: progress follows each of them, or
 * the progress thread would wake for the reply and wait for the lock. */
static int net_post_put_blocks(const struct net_op *o)
{
    int rc = net_op_cut(o);

    if (rc != 0)
        return rc;
    if (o->fragment->blocks.bytes >= NET_LONG)
        o->c->turns = UINT32_MAX - 1;
    return pgas_self.net->t->put_blocks(o->c->t, &o->fragment->blocks);
}

static int net_post_get_blocks(const struct net_op *o)
{
    int rc = net_op_cut(o);

    return rc != 0 ? rc
                   : pgas_self.net->t->get_blocks(o->c->t, &o->fragment->blocks, o->done);
}

/* ---- one attempt ------------------------------------------------------------------ */

static uint32_t net_posts_per_progress(void)
{
    uint32_t posts = pgas_self.net->t->posts_per_progress;

    return posts > 0 ? posts : POSTS_PER_PROGRESS;
}

/* The transport may leave operations queued on context 0: the progress thread stays
 * awake, and sends them if the loop ends.  Dekker's pattern with net_progress_sleep_on:
 * either that sees `held`, or this sees PROGRESS_SLEEP. */
static int net_ctx_progress_posting(struct net_ctx *c)
{
    struct net *n = pgas_self.net;
    int events = net_ctx_progress_by(c, n->t->progress_posting);

    net_polled(c);
    store_relaxed_u32(&n->held, 1);
    net_kick(n);
    return events;
}

/* Progresses a full context, and any context after some posts: a posting loop then reaps
 * completions itself and does not contend with the progress thread for the lock. */
static bool net_op_progress(struct net_ctx *c, bool full, int *events)
{
    if (likely(!full && ++c->turns < net_posts_per_progress()))
        return false;
    c->turns = 0;
    if (!full && c->serves && pgas_self.net->t->progress_posting != NULL) {
        *events = net_ctx_progress_posting(c);
        return true;
    }
    *events = net_ctx_progress(c);
    net_polled(c);
    return true;
}

/* Counts an accepted operation on a PE.  True if it is the first one that quiet must wait
 * for. */
static bool net_op_count(const struct net_op *o)
{
    struct net_ctx *c = o->c;
    bool first = o->tracking == NET_OPENS && load_relaxed_u32(&c->open) == 0;

    c->posts += o->symaddr.pe != NET_NO_PE;
    if (o->tracking == NET_OPENS)
        store_release_u32(&c->open, 1);
    return first;
}

/* Tries to post the operation; false: the transport has no resources.  Inline in each
 * operation, so that the call of `post`, a constant there, is direct. */
ALWAYS_INLINE bool net_op_try(struct net_op *o, int (*post)(const struct net_op *o))
{
    struct net_ctx *c = o->c;
    int events = 0;

    PGAS_ASSERT(pgas_self.net != NULL && c != NULL);
    net_lock(c);
    bool limited = unlikely(c->limited);
    o->rc = limited ? net_op_post_limited(o) : post(o);
    bool moved = net_op_progress(c, o->rc == -EAGAIN, &events);
    if (unlikely(o->rc == -EAGAIN))
        o->rc = net_op_post_again(o);
    bool first = o->rc == 0 && net_op_count(o), freed = limited && !c->limited;
    net_unlock(c);
    if (first && !c->serves)
        net_kick(pgas_self.net);
    if (moved || freed) /* may have satisfied the wait of another thread */
        net_wake_after(events > 0 || freed);
    return o->rc != -EAGAIN;
}

/* ---- waiting ---------------------------------------------------------------------- */

/* An operation that could not be posted at once, or that has not completed. */
struct net_wait {
    struct net_op *op;
    struct net_patience patience;
    unsigned wakes; /* consecutive wake-ups without progress */
    bool counted;   /* in waiters of the context */
};

static struct net_wait *net_wait_of(const void *arg)
{
    return *(struct net_wait *const *)arg;
}

/* A block_ready function: the transport has accepted the operation or failed it. */
static bool net_wait_accepted(const void *arg)
{
    struct net_op *o = net_wait_of(arg)->op;

    return net_op_try(o, o->post);
}

static bool net_op_completed(const struct net_op *o)
{
    PGAS_ASSERT(o->done != NULL && o->rc == 0); /* the transport has accepted it */
    if (load_acquire_u32(&o->done->pending) == 0)
        return true;
    if (o->c->serves || !net_try_lock(o->c))
        return false; /* progressed by net_poll or by another thread */
    int events = net_ctx_progress(o->c);
    net_unlock(o->c);
    net_wake_after(events > 0);
    return load_acquire_u32(&o->done->pending) == 0;
}

/* A block_ready function. */
static bool net_wait_completed(const void *arg)
{
    return net_op_completed(net_wait_of(arg)->op);
}

/* block_wait.on_stall */
static void net_wait_on_stall(const void *arg)
{
    struct net_wait *w = net_wait_of(arg);

    if (pgas_self.ft != NULL)
        ft_process(); /* the watch thread may be in the program's handler */
    net_check_stall(w->op, &w->patience);
}

/* Sleeps until the context is ready, for at most ms.  True if it is ready. */
static bool net_op_sleep_on_ctx(const struct net_op *o, int ms)
{
    const struct transport *t = pgas_self.net->t;

    net_lock(o->c);
    int armed = net_ctx_arm(o->c);
    struct pollfd fd = {.fd = t->fd(o->c->t), .events = POLLIN};
    net_unlock(o->c);
    net_wake_sleepers(); /* arming may progress the contexts */
    return armed != 0 || os_poll(&fd, 1, fd.fd < 0 || ms == 0 ? 1 : ms) > 0;
}

/* block_wait.sleep for exclusive contexts.  The answer to a request for an address does
 * not change the descriptor of the context. */
static void net_wait_nap(const void *arg, uint64_t ns)
{
    struct net_wait *w = net_wait_of(arg);
    uint64_t most = w->op->rc == -EAGAIN && net_lookup_any_pending() ? TIMING_SLEEP_UNSAFE
                                                                     : TIMING_CTX_NAP;
    int ms = (int)((ns < most ? ns : most) / NS_PER_MS);

    net_back_off(&w->wakes, net_op_sleep_on_ctx(w->op, ms));
}

/* The only thread that uses the context waits: no other one progresses the context from
 * now on, so that a completion after the check of the condition ends a sleep. */
static void net_ctx_attend(struct net_ctx *c)
{
    store_relaxed_u32(&c->attended, 1);
    net_lock(c);
    net_unlock(c);
}

/* Other operations of the context are left to the progress thread. */
static void net_ctx_unattend(struct net_ctx *c)
{
    bool open = load_relaxed_u32(&c->open) != 0;

    if (open && pgas_self.net->t->send != NULL) {
        net_lock(c);
        net_ctx_send(c);
        net_unlock(c);
    }
    store_release_u32(&c->attended, 0);
    fence_full();
    if (!open || load_relaxed_u32(&c->skipped) == 0)
        return;
    store_relaxed_u32(&c->skipped, 0);
    net_kick(pgas_self.net);
}

/* block_wait.on_sleep for contexts that several threads use: the progress thread makes
 * progress meanwhile. */
static void net_wait_on_sleep(const void *arg)
{
    struct net_wait *w = net_wait_of(arg);

    w->counted = true;
    fetch_add_acq_rel_u32(&w->op->c->waiters, 1);
    net_kick(pgas_self.net);
}

/* The word of a wait.  A connection that is being opened changes none. */
static const uint32_t *net_wait_word(const struct net_op *o, block_ready ready)
{
    if (ready == net_wait_completed)
        return &o->done->pending;
    return o->tracking == NET_CLOSES ? &o->c->progressed : NULL;
}

static __attribute__((noinline)) void net_op_wait_until(struct net_op *o,
                                                        block_ready ready)
{
    struct net_ctx *c = o->c;
    struct net_wait wait = {.op = o}, *w = &wait;

    if (c->exclusive)
        net_ctx_attend(c);
    block_until(&(struct block_wait){
        .ready = ready,
        .arg = &w,
        .private = net_wait_word(o, ready),
        .remote = true,
        .what = o->fn,
        .on_stall = net_wait_on_stall,
        .on_sleep = c->exclusive || c->serves ? NULL : net_wait_on_sleep,
        .sleep = c->exclusive ? net_wait_nap : NULL});
    if (c->exclusive)
        net_ctx_unattend(c);
    if (wait.counted)
        fetch_add_acq_rel_u32(&c->waiters, UINT32_MAX);
}

/* The PE is dead and the operation has no effect.  A refused post has not changed its
 * completion. */
static void net_op_drop(struct net_op *o, int error)
{
    if (o->amo != NULL && o->amo->result != NULL)
        memset(o->amo->result, 0, o->amo->size);
    o->rc = 0;
    if (o->done == NULL || load_acquire_u32(&o->done->pending) == 0)
        return;
    o->done->error = error;
    store_release_u32(&o->done->pending, 0);
}

/* The transport has refused the operation.  Ends the job, or returns when the PE is known
 * to be dead. */
static __attribute__((noinline, cold)) void net_op_refused(struct net_op *o)
{
    if (!net_await_verdict(o->symaddr.pe, o->fn, -o->rc))
        log_lost("%s: PE %d is unreachable: %s", o->fn, o->symaddr.pe, strerror(-o->rc));
    net_op_drop(o, o->rc);
    ft_operations_completed();
}

static void net_op_check_accepted(struct net_op *o)
{
    if (unlikely(o->rc < 0))
        net_op_refused(o);
}

/* Posts the operation; waits only if the transport has no resources. */
ALWAYS_INLINE void net_op_post(struct net_op *o, int (*post)(const struct net_op *o))
{
    o->post = post;
    if (unlikely(!net_op_try(o, post)))
        net_op_wait_until(o, net_wait_accepted);
    net_op_check_accepted(o);
}

void net_op_post_any(struct net_op *o)
{
    net_op_post(o, o->post);
}

bool net_op_try_post(struct net_op *o)
{
    return net_op_try(o, o->post);
}

/* As net_op_check_accepted, but does not block; false: it is not known whether the PE is
 * dead. */
static bool net_op_try_drop(struct net_op *o)
{
    int pe = o->symaddr.pe;

    if (!ft_pe_failed(pe) && !net_suspect(pe, strerror(-o->rc)))
        log_lost("%s: PE %d is unreachable: %s", o->fn, pe, strerror(-o->rc));
    if (!ft_pe_failed(pe))
        return false;
    net_op_drop(o, o->rc);
    return true;
}

static bool net_op_try_start(struct net_op *o)
{
    if (!net_op_try_post(o))
        return false;
    return likely(o->rc >= 0) || net_op_try_drop(o);
}

bool net_check_done(const struct transport_completion *done, int pe, const char *fn)
{
    if (likely(done->error == 0) || ft_pe_failed(pe))
        return true;
    if (!net_suspect(pe, strerror(-done->error)))
        log_lost("%s: lost PE %d: %s", fn, pe, strerror(-done->error));
    return ft_pe_failed(pe);
}

/* As net_op_refused, for an operation that was accepted. */
static __attribute__((noinline, cold)) void net_op_failed(struct net_op *o)
{
    int error = -o->done->error;

    if (!net_await_verdict(o->symaddr.pe, o->fn, error))
        log_lost("%s: lost PE %d: %s", o->fn, o->symaddr.pe, strerror(error));
    net_op_drop(o, -error);
}

static void net_op_await_done(struct net_op *o)
{
    if (!net_op_completed(o))
        net_op_wait_until(o, net_wait_completed);
    if (unlikely(o->done->error != 0))
        net_op_failed(o);
}

/* ---- posts in a loop ----------------------------------------------------------------
 *
 * The common case: others of the context are outstanding, no quiet limits the posts, it
 * is not time for progress, and the transport accepts the operation.  It needs no net_op.
 */

static void net_check_target(const struct transport_symaddr *at)
{
    (void)at;
    PGAS_ASSERT(net_remote(at->pe));
    PGAS_ASSERT(at->segment == SEGMENT_HEAP || at->segment == SEGMENT_DATA);
    PGAS_ASSERT(at->segment == SEGMENT_DATA || at->offset < pgas_self.heap_len);
}

/* Locks the context in the common case; false: the general one. */
ALWAYS_INLINE bool net_fast_begin(struct net_ctx *c, const struct transport_symaddr *at)
{
    net_check_target(at);
    if (load_relaxed_u32(&c->open) == 0)
        return false;
    net_lock(c);
    if (likely(!c->limited && load_relaxed_u32(&c->open) != 0 &&
               c->turns + 1 < net_posts_per_progress()))
        return true;
    net_unlock(c);
    return false;
}

/* `rc`: of the transport.  False: it has refused the operation. */
ALWAYS_INLINE bool net_fast_end(struct net_ctx *c, int rc)
{
    c->turns += rc == 0;
    c->posts += rc == 0;
    net_unlock(c);
    return likely(rc == 0);
}

/* ---- operations ------------------------------------------------------------------- */

/* Posts an operation on a remote PE and, if `when` is NET_NOW, waits for its completion.
 */
ALWAYS_INLINE void net_op_run(struct net_op *o, int (*post)(const struct net_op *o),
                              enum net_when when)
{
    struct transport_completion done = {.pending = 1};

    net_check_target(&o->symaddr);
    if (when == NET_NOW)
        o->done = &done;
    net_op_post(o, post);
    if (when != NET_NOW)
        return;
    net_op_await_done(o); /* no operation refers to our stack afterwards */
    ft_operations_completed();
}

static bool net_put_fast(struct net_ctx *c, const struct transport_symaddr *to,
                         const void *from, size_t len, enum net_when when, const char *fn)
{
    struct transport_completion done = {.pending = 1},
                                *d = when == NET_NOW ? &done : NULL;

    if (!net_fast_begin(c, to) ||
        !net_fast_end(c, pgas_self.net->t->put(c->t, to, from, len, d)))
        return false;
    if (when != NET_NOW)
        return true;
    if (load_acquire_u32(&done.pending) != 0 || done.error != 0)
        net_op_await_done(
            &(struct net_op){.c = c, .fn = fn, .symaddr = *to, .done = &done});
    ft_operations_completed();
    return true;
}

void net_put(struct net_ctx *c, struct transport_symaddr to, const void *from, size_t len,
             enum net_when when, const char *fn)
{
    if (net_put_fast(c, &to, from, len, when, fn))
        return;
    struct net_op o = {
        .c = c, .fn = fn, .symaddr = to, .from = from, .len = len, .tracking = NET_OPENS};

    net_op_run(&o, net_post_put, when);
}

/* A blocking get or fetch is complete on return; a put is outstanding until quiet. */
static enum net_tracking net_op_tracking_of(enum net_when when)
{
    return when == NET_LATER ? NET_OPENS : NET_UNTRACKED;
}

void net_get(struct net_ctx *c, void *to, struct transport_symaddr from, size_t len,
             enum net_when when, const char *fn)
{
    if (when == NET_LATER && net_fast_begin(c, &from) &&
        net_fast_end(c, pgas_self.net->t->get(c->t, to, &from, len, NULL)))
        return;
    struct net_op o = {.c = c,
                       .fn = fn,
                       .symaddr = from,
                       .to = to,
                       .len = len,
                       .tracking = net_op_tracking_of(when)};

    net_op_run(&o, net_post_get, when);
}

void net_amo(struct net_ctx *c, struct transport_symaddr at,
             const struct transport_amo *amo, enum net_when when, const char *fn)
{
    if (amo->result == NULL)
        when = NET_LATER;
    if (when == NET_LATER && net_fast_begin(c, &at) &&
        net_fast_end(c, pgas_self.net->t->amo(c->t, &at, amo, NULL)))
        return;
    struct net_op o = {.c = c,
                       .fn = fn,
                       .symaddr = at,
                       .amo = amo,
                       .tracking = net_op_tracking_of(when)};

    net_op_run(&o, net_post_amo, when);
}

bool net_put_blocks(struct net_ctx *c, struct net_fragment *f, int pe, const char *fn)
{
    struct net_op o = {
        .c = c, .fn = fn, .symaddr.pe = pe, .fragment = f, .tracking = NET_OPENS};

    f->blocks.bytes = 0;
    net_op_post(&o, net_post_put_blocks);
    return !ft_pe_failed(pe) && f->blocks.bytes > 0;
}

bool net_get_blocks(struct net_ctx *c, struct net_fragment *f, int pe, const char *fn)
{
    struct net_op o = {
        .c = c, .fn = fn, .symaddr.pe = pe, .fragment = f, .done = &f->done};

    f->blocks.bytes = 0;
    f->done = (struct transport_completion){.pending = 1};
    net_op_post(&o, net_post_get_blocks);
    return !ft_pe_failed(pe) && f->blocks.bytes > 0;
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
    struct net_op o = {.c = c,
                       .fn = fn,
                       .symaddr = to,
                       .from = from,
                       .len = len,
                       .signal = signal,
                       .tracking = NET_OPENS};

    if (len == 0) {
        net_op_signal_only(c, signal, false, when, fn);
    } else if (len > net_op_signal_max()) {
        net_put(c, to, from, len, when, fn);
        net_op_signal_only(c, signal, true, when, fn);
    } else {
        net_op_run(&o, net_post_signal, when);
    }
}

void net_notify(struct net_ctx *c, struct transport_symaddr to, const void *from,
                size_t len, const struct transport_signal *signal,
                struct transport_completion *done, const char *fn)
{
    struct net_op o = {
        .c = c, .fn = fn, .symaddr = to, .from = from, .len = len, .done = done};
    struct transport_signal s;
    bool data_only = signal == NULL || len > net_op_signal_max();

    if (done != NULL)
        *done = (struct transport_completion){.pending = 1};
    if (data_only)
        net_op_post(&o, net_post_put);
    if (signal == NULL)
        return;
    if (data_only)
        o = (struct net_op){.c = c, .fn = fn, .symaddr = signal->at};
    s = *signal;
    s.unacked = true;
    s.after_puts |= data_only;
    o.signal = &s;
    net_op_post(&o, net_post_signal);
}

void net_await_source(struct net_ctx *c, struct transport_completion *done, int pe,
                      const char *fn)
{
    net_op_await_done(&(struct net_op){.c = c, .fn = fn, .symaddr.pe = pe, .done = done});
}

bool net_start_get(struct net_ctx *c, void *to, struct transport_symaddr from, size_t len,
                   struct transport_completion *done, const char *fn)
{
    *done = (struct transport_completion){.pending = 1};
    return net_op_try_start(&(struct net_op){.post = net_post_get,
                                             .c = c,
                                             .fn = fn,
                                             .symaddr = from,
                                             .to = to,
                                             .len = len,
                                             .done = done});
}

bool net_start_set(struct net_ctx *c, struct transport_symaddr at, uint64_t value,
                   uint32_t size, const char *fn)
{
    const struct transport_amo set = {
        .op = TRANSPORT_AMO_SET, .operand = value, .size = size};

    return net_op_try_start(&(struct net_op){
        .post = net_post_amo, .c = c, .fn = fn, .symaddr = at, .amo = &set});
}

bool net_quick_signal(void)
{
    return pgas_self.net->t->quick_signal;
}
