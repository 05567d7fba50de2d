/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hook.c - the hook transport (see hook.h): table, open and close, contexts.
 * Uses: transport.h, hook_int, perform, random, core/clock.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "pgas/core/base/clock.h"
#include "pgas/transport/test/hook.h"
#include "pgas/transport/test/hook_int.h"
#include "pgas/transport/perform.h"
#include "pgas/transport/test/random.h"

enum {
    RETRY_NS = 1000000, /* longest sleep while the inner transport refuses a post */
    TRACE_MODE = 0644,
};

struct hook hook_self = {.now_ns = clock_ns};

void hook_wrap(const struct transport *inner)
{
    hook_self.inner = inner;
}

void hook_clock(uint64_t (*now_ns)(void))
{
    hook_self.now_ns = now_ns != NULL ? now_ns : clock_ns;
}

void hook_alarm(void (*alarm_ns)(uint64_t at))
{
    hook_self.alarm_ns = alarm_ns;
}

/* -- contexts --------------------------------------------------------------------- */

/* Create a descriptor that is readable when the inner one is or the timer has expired. */
static void hook_ctx_make_fd(struct transport_ctx *c)
{
    int fd = hook_self.inner->fd(c->inner);

    if (!c->net->holds || fd < 0)
        return;
    struct epoll_event event = {.events = EPOLLIN};
    c->epoll = epoll_create1(EPOLL_CLOEXEC);
    c->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (c->epoll >= 0 && c->timer >= 0 &&
        epoll_ctl(c->epoll, EPOLL_CTL_ADD, fd, &event) == 0 &&
        epoll_ctl(c->epoll, EPOLL_CTL_ADD, c->timer, &event) == 0)
        return;
    if (c->epoll >= 0)
        close(c->epoll);
    if (c->timer >= 0)
        close(c->timer);
    c->epoll = c->timer = -1;
}

/* Wrap an inner context. NULL: no memory. */
static struct transport_ctx *hook_ctx_wrap(struct transport_net *net,
                                           struct transport_ctx *inner_ctx)
{
    size_t npes = (size_t)net->world->npes;
    struct transport_ctx *c = calloc(1, sizeof *c + npes * sizeof c->peer[0]);

    if (c == NULL)
        return NULL;
    c->net = net;
    c->inner = inner_ctx;
    c->epoch = 1;
    c->epoll = c->timer = -1;
    hook_ctx_make_fd(c);
    pthread_mutex_lock(&net->lock);
    c->number = net->contexts++;
    if (net->ctx_0 != NULL) {
        c->next = net->ctx_0->next;
        net->ctx_0->next = c;
    }
    pthread_mutex_unlock(&net->lock);
    uint64_t seed = random_stream(net->faults.seed, (uint64_t)net->world->me);
    for (unsigned s = 0; s < STREAMS; s++)
        c->random[s] = random_stream(seed, (uint64_t)c->number * STREAMS + s);
    return c;
}

/* Free the copies that the inner transport no longer reads; all of them if `closed`. */
static void hook_ctx_free_copies(struct transport_ctx *c, bool closed)
{
    struct hook_copy **link = &c->copies;

    while (*link != NULL) {
        struct hook_copy *copy = *link;
        bool pending = load_acquire_u32(&copy->done.pending) != 0;
        if (pending && !closed) {
            link = &copy->next;
            continue;
        }
        *link = copy->next;
        free(copy);
    }
}

/* Called after the inner context was closed. */
static void hook_ctx_free(struct transport_ctx *c)
{
    hook_ctx_free_copies(c, true);
    for (unsigned i = 0; i < c->nheld; i++)
        free(c->held[i].copy);
    while (c->drops != NULL) {
        struct hook_drop *drop = c->drops;
        c->drops = drop->next;
        free(drop);
    }
    if (c->epoll >= 0) {
        close(c->epoll);
        close(c->timer);
    }
    free(c);
}

static struct transport_ctx *hook_ctx_0(struct transport_net *net)
{
    return net->ctx_0;
}

static int hook_ctx_open(struct transport_net *net, struct transport_ctx **ctx)
{
    struct transport_ctx *inner_ctx;
    int error = hook_self.inner->ctx_open(net->inner, &inner_ctx);

    if (error != 0)
        return error;
    *ctx = hook_ctx_wrap(net, inner_ctx);
    if (*ctx != NULL)
        return 0;
    hook_self.inner->ctx_close(inner_ctx);
    return -ENOMEM;
}

static void hook_ctx_close(struct transport_ctx *ctx)
{
    struct transport_net *net = ctx->net;

    hook_self.inner->ctx_close(ctx->inner);
    pthread_mutex_lock(&net->lock);
    struct transport_ctx *at = net->ctx_0;
    while (at->next != ctx)
        at = at->next;
    at->next = ctx->next;
    pthread_mutex_unlock(&net->lock);
    hook_ctx_free(ctx);
}

/* -- open and close --------------------------------------------------------------- */

static int hook_net_open_trace(struct transport_net *net, char *why)
{
    const struct hook_faults *faults = &net->faults;
    int flags =
        O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (faults->trace_alone ? O_TRUNC : 0);

    net->trace = -1;
    if (faults->trace[0] == '\0')
        return 0;
    net->trace = open(faults->trace, flags, TRACE_MODE);
    if (net->trace >= 0)
        return 0;
    int error = errno;
    snprintf(why, TRANSPORT_TEXT_MAX, "SHMEM_FAULTS: cannot open the trace '%.100s': %s",
             faults->trace, strerror(error));
    return -error;
}

/* Open the inner transport and its context 0. */
static int hook_net_open_inner(struct transport_net *net, char *why)
{
    int error = hook_self.inner->open(net->world, &net->inner, why);

    if (error != 0)
        return error;
    net->ctx_0 = hook_ctx_wrap(net, hook_self.inner->ctx_0(net->inner));
    if (net->ctx_0 != NULL)
        return 0;
    hook_self.inner->close(net->inner);
    snprintf(why, TRANSPORT_TEXT_MAX, "hook: no memory for a context");
    return -ENOMEM;
}

static int hook_open(const struct transport_world *world, struct transport_net **net,
                     char why[TRANSPORT_TEXT_MAX])
{
    struct transport_net *n = hook_self.inner != NULL ? calloc(1, sizeof *n) : NULL;

    if (n == NULL) {
        snprintf(why, TRANSPORT_TEXT_MAX, "hook: %s",
                 hook_self.inner != NULL ? "no memory" : "no transport to wrap");
        return hook_self.inner != NULL ? -ENOMEM : -EINVAL;
    }
    n->world = world;
    int error = hook_faults_parse(world->faults, world->me, world->npes, &n->faults, why);
    if (error != 0)
        goto free_net;
    n->lost = calloc((size_t)world->npes, sizeof n->lost[0]);
    if (n->lost == NULL) {
        snprintf(why, TRANSPORT_TEXT_MAX, "hook: no memory");
        error = -ENOMEM;
        goto free_net;
    }
    n->holds = n->faults.delay_ns > 0 || n->faults.reorder;
    error = hook_net_open_trace(n, why);
    if (error != 0)
        goto free_net;
    pthread_mutex_init(&n->lock, NULL);
    error = hook_net_open_inner(n, why);
    if (error != 0)
        goto close_trace;
    snprintf(n->text, sizeof n->text, "hook (%.200s) over %.200s",
             world->faults != NULL ? world->faults : "",
             hook_self.inner->describe(n->inner));
    *net = n;
    return 0;

close_trace:
    pthread_mutex_destroy(&n->lock);
    if (n->trace >= 0)
        close(n->trace);
free_net:
    free(n->lost);
    free(n);
    return error;
}

static void hook_close(struct transport_net *net)
{
    hook_self.inner->close(net->inner);
    while (net->ctx_0 != NULL) {
        struct transport_ctx *c = net->ctx_0;
        net->ctx_0 = c->next;
        hook_ctx_free(c);
    }
    if (net->trace >= 0)
        close(net->trace);
    pthread_mutex_destroy(&net->lock);
    free(net->lost);
    free(net);
}

static size_t hook_address(struct transport_net *net, void *to)
{
    return hook_self.inner->address(net->inner, to);
}

static const char *hook_describe(struct transport_net *net)
{
    return net->text;
}

/* -- operations ------------------------------------------------------------------- */

static int hook_put(struct transport_ctx *ctx, const struct transport_symaddr *to,
                    const void *from, size_t len, struct transport_completion *done)
{
    struct hook_op op = {
        .kind = KIND_PUT, .at = *to, .from = from, .len = len, .done = done};

    return hook_submit(ctx, &op);
}

static int hook_get(struct transport_ctx *ctx, void *to,
                    const struct transport_symaddr *from, size_t len,
                    struct transport_completion *done)
{
    struct hook_op op = {
        .kind = KIND_GET, .at = *from, .to = to, .len = len, .done = done};

    return hook_submit(ctx, &op);
}

static int hook_amo(struct transport_ctx *ctx, const struct transport_symaddr *at,
                    const struct transport_amo *amo, struct transport_completion *done)
{
    struct hook_op op = {
        .kind = KIND_AMO, .at = *at, .amo = *amo, .len = amo->size, .done = done};

    return hook_submit(ctx, &op);
}

static size_t hook_signal_max(struct transport_net *net)
{
    return hook_self.inner->signal_max(net->inner);
}

static int hook_put_signal(struct transport_ctx *ctx, const struct transport_symaddr *to,
                           const void *from, size_t len,
                           const struct transport_signal *signal,
                           struct transport_completion *done)
{
    struct hook_op op = {.kind = KIND_SIGNAL,
                         .at = *to,
                         .from = from,
                         .len = len,
                         .signal = *signal,
                         .done = done};

    return hook_submit(ctx, &op);
}

static size_t hook_blocks_max(struct transport_ctx *ctx, int pe, size_t bytes)
{
    return hook_self.inner->blocks_max(ctx->inner, pe, bytes);
}

static int hook_put_blocks(struct transport_ctx *ctx,
                           const struct transport_blocks *blocks)
{
    struct hook_op op = {.kind = KIND_PUT_BLOCKS,
                         .at.pe = blocks->pe,
                         .len = blocks->bytes,
                         .blocks = blocks};

    return hook_submit(ctx, &op);
}

static int hook_get_blocks(struct transport_ctx *ctx,
                           const struct transport_blocks *blocks,
                           struct transport_completion *done)
{
    struct hook_op op = {.kind = KIND_GET_BLOCKS,
                         .at.pe = blocks->pe,
                         .len = blocks->bytes,
                         .blocks = blocks,
                         .done = done};

    return hook_submit(ctx, &op);
}

/* -- order, completion, progress -------------------------------------------------- */

/* If operations are held, hook_op_forward_in_order calls the inner fence later. */
static int hook_fence(struct transport_ctx *ctx)
{
    if (ctx->nheld == 0) {
        int error = hook_self.inner->fence(ctx->inner);
        if (error != 0)
            return error;
        ctx->fences++;
    }
    ctx->epoch++;
    return 0;
}

static int hook_quiet(struct transport_ctx *ctx)
{
    if (ctx->nheld > 0 || ctx->dropped > 0)
        return -EAGAIN;
    return hook_self.inner->quiet(ctx->inner);
}

static int hook_quiet_all(struct transport_ctx *ctx)
{
    if (ctx->nheld > 0 || ctx->dropped > 0)
        return -EAGAIN;
    return hook_self.inner->quiet_all(ctx->inner);
}

static uint64_t hook_pending(struct transport_ctx *ctx, int *pe)
{
    uint64_t n = hook_self.inner->pending(ctx->inner, pe);

    if (pe != NULL && ctx->dropped > 0)
        *pe = ctx->drops->pe;
    else if (pe != NULL && n == 0 && ctx->nheld > 0)
        *pe = ctx->held[0].at.pe;
    return n + ctx->nheld + ctx->dropped;
}

static void hook_lost(struct transport_net *net, int pe, bool node)
{
    store_relaxed_u32(&net->lost[pe], 1);
    fetch_add_acq_rel_u32(&net->losses, 1);
    hook_self.inner->lost(net->inner, pe, node);
}

/* Set an alarm for the next held operation; otherwise virtual time may not advance. */
static void hook_ctx_set_alarm(struct transport_ctx *c)
{
    uint64_t due = c->nheld > 0 ? hook_next_due(c) : c->alarm;

    if (due == c->alarm)
        return;
    c->alarm = due;
    hook_self.alarm_ns(due);
}

/* Forward held operations first, so that the inner progress includes them. After a
 * refused post return at once: the caller must try again instead of waiting for an event,
 * because none will follow. */
static int hook_progress(struct transport_ctx *ctx)
{
    int n = hook_drop_lost(ctx);

    n += hook_release(ctx);
    if (ctx->denied_progress) {
        ctx->denied_progress = false;
        return n + 1;
    }
    if (hook_self.alarm_ns != NULL)
        hook_ctx_set_alarm(ctx);
    n += hook_self.inner->progress(ctx->inner);
    hook_ctx_free_copies(ctx, false);
    return n;
}

static int hook_fd(struct transport_ctx *ctx)
{
    return ctx->epoll >= 0 ? ctx->epoll : hook_self.inner->fd(ctx->inner);
}

/* due: UINT64_MAX = off. Setting the timer also clears an expiration. */
static void hook_ctx_set_timer(int timer, uint64_t due)
{
    struct itimerspec at = {{0, 0}, {0, 0}};

    if (due != UINT64_MAX) {
        at.it_value.tv_sec = (time_t)(due / NS_PER_S);
        at.it_value.tv_nsec = (long)(due % NS_PER_S);
    }
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
}

static void hook_send(struct transport_ctx *ctx)
{
    if (hook_self.inner->send != NULL)
        hook_self.inner->send(ctx->inner);
}

static int hook_arm(struct transport_ctx *ctx)
{
    uint64_t due = hook_next_due(ctx);

    if (ctx->denied_arm) {
        ctx->denied_arm = false;
        return -EAGAIN;
    }
    if (due != UINT64_MAX) {
        uint64_t now = hook_self.now_ns();
        if (due <= now && !ctx->refused)
            return -EAGAIN;
        if (due <= now)
            due = now + RETRY_NS;
    }
    if (ctx->timer >= 0 && hook_self.inner->fd(ctx->inner) < 0)
        due = hook_self.now_ns() +
              RETRY_NS; /* the inner transport has no descriptor at present */
    if (ctx->timer >= 0)
        hook_ctx_set_timer(ctx->timer, due);
    return hook_self.inner->arm(ctx->inner);
}

const struct transport transport_hook = {
    .name = "hook",
    .text = "another transport with injected faults (SHMEM_FAULTS)",
    .open = hook_open,
    .close = hook_close,
    .address = hook_address,
    .describe = hook_describe,
    .ctx_0 = hook_ctx_0,
    .ctx_open = hook_ctx_open,
    .ctx_close = hook_ctx_close,
    .put = hook_put,
    .get = hook_get,
    .amo = hook_amo,
    .signal_max = hook_signal_max,
    .put_signal = hook_put_signal,
    .blocks_max = hook_blocks_max,
    .put_blocks = hook_put_blocks,
    .get_blocks = hook_get_blocks,
    .fence = hook_fence,
    .quiet = hook_quiet,
    .quiet_all = hook_quiet_all,
    .pending = hook_pending,
    .lost = hook_lost,
    .progress = hook_progress,
    .send = hook_send,
    .fd = hook_fd,
    .arm = hook_arm,
};
