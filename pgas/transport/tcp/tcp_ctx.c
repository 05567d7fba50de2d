/* SPDX-License-Identifier: BSD-3-Clause */
/* tcp_ctx.c - contexts: open and close, completion, progress (see tcp.h). */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pgas/core/base/pgas_assert.h"
#include "pgas/transport/tcp/tcp.h"

enum {
    EVENTS = 64,
    IDLE_POLLS = 64, /* calls of progress without events, then delayed replies are sent */
    HOLD_POSTS = 4096, /* posts for which queues are held at most */
};

/* ---- open and close ---------------------------------------------------------------- */

static void tcp_ctx_enlist(struct transport_ctx *ctx)
{
    pthread_mutex_lock(&ctx->net->lock);
    ctx->next = ctx->net->contexts;
    ctx->net->contexts = ctx;
    pthread_mutex_unlock(&ctx->net->lock);
}

static void tcp_ctx_unlist(struct transport_ctx *ctx)
{
    struct transport_ctx **at = &ctx->net->contexts;

    pthread_mutex_lock(&ctx->net->lock);
    tcp_ctx_count(ctx, &ctx->net->totals);
    while (*at != ctx)
        at = &(*at)->next;
    *at = ctx->next;
    pthread_mutex_unlock(&ctx->net->lock);
}

static void tcp_ctx_free(struct transport_ctx *ctx)
{
    if (ctx->epoll >= 0)
        close(ctx->epoll);
    free(ctx->peer);
    free(ctx->scratch);
    free(ctx);
}

int tcp_ctx_open(struct transport_net *net, struct transport_ctx **ctx)
{
    struct transport_ctx *c = calloc(1, sizeof *c);
    int error = -ENOMEM;

    if (c == NULL)
        return -ENOMEM;
    c->net = net;
    c->frame =
        net->world->coalesce < TCP_QUEUE_MAX ? net->world->coalesce : TCP_QUEUE_MAX;
    c->peer = calloc((size_t)net->world->npes, sizeof *c->peer);
    c->scratch = malloc(TCP_SCRATCH);
    c->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (c->epoll < 0)
        error = -errno;
    if (c->peer == NULL || c->scratch == NULL || c->epoll < 0) {
        tcp_ctx_free(c);
        return error;
    }
    tcp_ctx_enlist(c);
    *ctx = c;
    return 0;
}

static void tcp_ctx_free_clients(struct transport_ctx *ctx)
{
    while (ctx->closed != NULL) {
        struct tcp_client *client = ctx->closed;
        ctx->closed = client->next;
        tcp_stream_free(&client->stream);
        free(client);
    }
}

void tcp_ctx_count(const struct transport_ctx *ctx, struct tcp_totals *totals)
{
    totals->posts += ctx->posts;
    for (int pe = 0; pe < ctx->net->world->npes; pe++)
        if (ctx->peer[pe] != NULL) {
            totals->sends += ctx->peer[pe]->stream.out.sends;
            totals->bytes += ctx->peer[pe]->stream.out.sent;
        }
}

void tcp_ctx_close(struct transport_ctx *ctx)
{
    tcp_ctx_unlist(ctx);
    for (int pe = 0; pe < ctx->net->world->npes; pe++)
        if (ctx->peer[pe] != NULL)
            tcp_peer_free(ctx->peer[pe]);
    while (ctx->clients != NULL)
        tcp_client_close(ctx->clients);
    tcp_ctx_free_clients(ctx);
    tcp_ctx_free(ctx);
}

int tcp_ctx_watch(struct transport_ctx *ctx, struct tcp_stream *s, bool output)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = s};

    /* A target that cannot reply does not read: EPOLLIN would be reported all the time.
     */
    if (output)
        event.events = s->kind == TCP_STREAM_CLIENT ? EPOLLOUT : EPOLLIN | EPOLLOUT;
    if (epoll_ctl(ctx->epoll, EPOLL_CTL_MOD, s->fd, &event) != 0 &&
        (errno != ENOENT || epoll_ctl(ctx->epoll, EPOLL_CTL_ADD, s->fd, &event) != 0))
        return -errno;
    s->watches_output = output;
    return 0;
}

/* Removed from epoll first: a child process may have a duplicate of the socket. */
void tcp_ctx_close_socket(struct transport_ctx *ctx, struct tcp_stream *s)
{
    if (s->fd < 0)
        return;
    (void)epoll_ctl(ctx->epoll, EPOLL_CTL_DEL, s->fd, NULL);
    (void)shutdown(s->fd, SHUT_RDWR);
    close(s->fd);
    s->fd = -1;
    s->watches_output = false;
}

void tcp_ctx_raise_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

int tcp_ctx_socket(int family)
{
    const int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    int fd = socket(family, type, 0);

    if (fd < 0 && errno == EMFILE) {
        tcp_ctx_raise_limit();
        fd = socket(family, type, 0);
    }
    return fd < 0 ? -errno : fd;
}

/* ---- completion -------------------------------------------------------------------- */

/* Operations of a context on a PE take effect in their order. */
int tcp_fence(struct transport_ctx *ctx)
{
    ctx->fenced = true;
    ctx->fences++;
    return 0;
}

void tcp_ctx_send_all(struct transport_ctx *ctx)
{
    struct tcp_peer *next;

    ctx->holds = false;
    for (struct tcp_peer *peer = ctx->busy; peer != NULL; peer = next) {
        next = peer->next;
        if (peer->stream.out.unsent > 0 && !peer->stream.watches_output)
            tcp_peer_send(peer);
    }
}

/* False: no memory. */
static bool tcp_ctx_confirm_delayed(struct transport_ctx *ctx)
{
    struct tcp_peer *next;
    bool flushed = true;

    for (struct tcp_peer *peer = ctx->busy; peer != NULL; peer = next) {
        next = peer->next;
        flushed &= tcp_post_confirm_delayed(peer);
    }
    return flushed;
}

int tcp_quiet(struct transport_ctx *ctx)
{
    ctx->quiets++;
    if (!tcp_ctx_confirm_delayed(ctx))
        return -EAGAIN;
    tcp_ctx_send_all(ctx);
    PGAS_ASSERT(ctx->busy != NULL || ctx->pending == 0);
    return ctx->pending == 0 ? 0 : -EAGAIN;
}

int tcp_quiet_all(struct transport_ctx *ctx)
{
    for (int pe = 0; pe < ctx->net->world->npes; pe++)
        if (ctx->peer[pe] != NULL && !tcp_post_confirm(ctx->peer[pe]))
            return -EAGAIN;
    return tcp_quiet(ctx);
}

uint64_t tcp_pending(struct transport_ctx *ctx, int *pe)
{
    const struct tcp_peer *peer = ctx->busy;

    if (pe == NULL || ctx->pending == 0)
        return ctx->pending;
    while (peer->nresults == 0 && peer->posted == peer->acked && peer->unsent == 0)
        peer = peer->next;
    *pe = peer->pe;
    return ctx->pending;
}

/* ---- progress ---------------------------------------------------------------------- */

static void tcp_ctx_dispatch(struct transport_ctx *ctx, const struct epoll_event *event)
{
    struct tcp_stream *s = event->data.ptr;

    switch (s->kind) {
    case TCP_STREAM_LISTENER:
        if (s->fd >= 0)
            tcp_listener_ready(ctx->net, s);
        break;
    case TCP_STREAM_PEER:
        if (s->fd >= 0)
            tcp_peer_ready((struct tcp_peer *)s, event->events);
        break;
    case TCP_STREAM_CLIENT:
        tcp_client_ready((struct tcp_client *)s, event->events);
        break;
    }
}

/* Queues are held, and not any longer. */
static bool tcp_ctx_must_release(const struct transport_ctx *ctx)
{
    return ctx->holds && (!ctx->posting || ctx->posts - ctx->held_at >= HOLD_POSTS);
}

int tcp_progress(struct transport_ctx *ctx)
{
    struct epoll_event event[EVENTS];
    int events;

    if (unlikely(load_relaxed_u32(&ctx->net->losses) != ctx->losses))
        tcp_lost_purge(ctx);
    int n = epoll_wait(ctx->epoll, event, EVENTS, 0);
    for (int i = 0; i < n; i++)
        tcp_ctx_dispatch(ctx, &event[i]);
    ctx->idle_polls = n > 0 ? 0 : ctx->idle_polls + 1;
    if (ctx->delayed != NULL && ctx->idle_polls >= IDLE_POLLS)
        tcp_clients_acknowledge(ctx);
    if (unlikely(ctx->closed != NULL))
        tcp_ctx_free_clients(ctx);
    if (unlikely(ctx->nattempts > 0))
        tcp_peers_check_attempts(ctx);
    if (unlikely(ctx->large))
        tcp_clients_trim(ctx);
    if ((ctx->posts == ctx->posts_seen && ctx->posts != ctx->posts_sent) ||
        tcp_ctx_must_release(ctx)) {
        tcp_ctx_send_all(ctx);
        ctx->posts_sent = ctx->posts;
    }
    ctx->posts_seen = ctx->posts;
    events = ctx->events;
    ctx->events = 0;
    return events;
}

int tcp_progress_posting(struct transport_ctx *ctx)
{
    ctx->posting = true;
    int events = tcp_progress(ctx);
    ctx->posting = false;
    return events;
}

int tcp_ctx_fd(struct transport_ctx *ctx)
{
    return ctx->epoll;
}

/* The descriptor is level-triggered; queued bytes have no event of their own. */
int tcp_ctx_arm(struct transport_ctx *ctx)
{
    if (load_acquire_u32(&ctx->net->losses) != ctx->losses)
        return -EAGAIN;
    if (ctx->busy != NULL)
        tcp_ctx_send_all(ctx);
    if (ctx->delayed != NULL)
        tcp_clients_acknowledge(ctx);
    return ctx->events != 0 ? -EAGAIN : 0;
}
