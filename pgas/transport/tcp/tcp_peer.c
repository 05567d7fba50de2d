/* SPDX-License-Identifier: BSD-3-Clause */
/* tcp_peer.c - the connections of an initiator: open, send, fail (see tcp.h). */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pgas/core/base/clock.h"
#include "pgas/core/base/counter.h"
#include "pgas/core/base/timing.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/transport/perform.h"
#include "pgas/transport/tcp/tcp.h"

enum {
    READS_MAX = 8, /* per call of progress, so that other streams get their turn */
    REFUSALS_MAX = 20,
};

/* ---- the list of busy peers -------------------------------------------------------- */

static bool tcp_peer_has_work(const struct tcp_peer *peer)
{
    return peer->stream.out.unsent > 0 || peer->nresults > 0 ||
           peer->posted != peer->acked;
}

void tcp_peer_update(struct tcp_peer *peer)
{
    struct transport_ctx *ctx = peer->ctx;
    bool busy = tcp_peer_has_work(peer);

    if (peer->stream.out.unsent == 0 && peer->unsent > 0) {
        ctx->pending -= peer->unsent;
        peer->unsent = 0;
    }
    if (busy == peer->busy)
        return;
    peer->busy = busy;
    if (busy) {
        peer->prev = NULL;
        peer->next = ctx->busy;
        if (ctx->busy != NULL)
            ctx->busy->prev = peer;
        ctx->busy = peer;
        return;
    }
    if (peer->next != NULL)
        peer->next->prev = peer->prev;
    if (peer->prev != NULL)
        peer->prev->next = peer->next;
    else
        ctx->busy = peer->next;
}

/* ---- failure ----------------------------------------------------------------------- */

static void tcp_peer_end_attempt(struct tcp_peer *peer)
{
    if (peer->attempt == NULL)
        return;
    seal_erase(peer->attempt, sizeof *peer->attempt);
    free(peer->attempt);
    peer->attempt = NULL;
    peer->ctx->nattempts--;
}

static void tcp_peer_close_socket(struct tcp_peer *peer)
{
    tcp_ctx_close_socket(peer->ctx, &peer->stream);
    peer->stream.in.left = 0;
    peer->stream.in.have = 0;
}

static void tcp_peer_close(struct tcp_peer *peer)
{
    tcp_peer_close_socket(peer);
    tcp_peer_end_attempt(peer);
}

static void tcp_peer_drop(struct tcp_peer *peer, int error)
{
    struct transport_ctx *ctx = peer->ctx;

    tcp_output_drop(&peer->stream, error);
    for (; peer->nresults > 0; peer->nresults--) {
        const struct tcp_result *r = tcp_peer_result(peer, 0);
        peer->first_result++;
        ctx->pending -= tcp_result_has_data(r);
        perform_completion(r->done, error);
    }
    ctx->pending -= peer->posted - peer->acked;
    peer->acked = peer->prompt = peer->posted;
    peer->blocks = 0;
    peer->unconfirmed = false;
    tcp_peer_update(peer);
    ctx->events++;
}

void tcp_peer_fail(struct tcp_peer *peer, int error, const char *text)
{
    struct transport_net *net = peer->ctx->net;

    peer->state = TCP_PEER_FAILED;
    peer->error = error;
    tcp_peer_close(peer);
    tcp_peer_drop(peer, error);
    if (text != NULL && !tcp_is_lost(net, peer->pe) &&
        __atomic_exchange_n(&net->reported[peer->pe], 1, __ATOMIC_RELAXED) == 0)
        net->world->failed(net->world, peer->pe, text);
}

static const char *tcp_peer_error_text(int error)
{
    if (error == -ESHUTDOWN || error == -EPIPE)
        return "the process there has closed it";
    if (error == -EBADMSG)
        return "a message of the handshake came twice: somebody has changed it";
    return error == -EPROTO ? "malformed reply" : strerror(-error);
}

/* The connection has ended.  Without outstanding operations the process there may have
 * ended, which others detect, and the next operation connects again.  Unacknowledged
 * operations may be lost with a connection that is reset, by a middlebox for example. */
static void tcp_peer_broken(struct tcp_peer *peer, int error)
{
    char text[TRANSPORT_TEXT_MAX];
    bool reset = error != -ESHUTDOWN && error != -EPIPE;

    if (peer->state == TCP_PEER_OPEN && !tcp_peer_has_work(peer) &&
        (!reset || (error == -ECONNRESET && !peer->unconfirmed))) {
        tcp_peer_close(peer);
        peer->state = TCP_PEER_IDLE;
        /* The target counts per connection. */
        peer->posted = peer->acked = peer->prompt = (uint32_t)counter_start();
        peer->unconfirmed = false;
        tcp_peer_update(peer);
        return;
    }
    snprintf(text, sizeof text, "the connection to PE %d has failed: %s", peer->pe,
             tcp_peer_error_text(error));
    tcp_peer_fail(peer, reset && error != -ECONNRESET ? error : -EHOSTDOWN, text);
}

/* ---- connect ----------------------------------------------------------------------- */

static struct tcp_peer *tcp_peer_new(struct transport_ctx *ctx, int pe)
{
    struct tcp_peer *peer = calloc(1, sizeof *peer);

    if (peer == NULL)
        return NULL;
    peer->stream.kind = TCP_STREAM_PEER;
    peer->stream.fd = -1;
    peer->ctx = ctx;
    peer->pe = pe;
    peer->posted = peer->acked = peer->prompt = (uint32_t)counter_start();
    ctx->peer[pe] = peer;
    return peer;
}

void tcp_peer_free(struct tcp_peer *peer)
{
    tcp_peer_close(peer);
    tcp_stream_free(&peer->stream);
    free(peer->result);
    free(peer);
}

static void tcp_socket_limit(int fd, uint64_t ns)
{
    unsigned ms = ns / NS_PER_MS < INT_MAX ? (unsigned)(ns / NS_PER_MS) : INT_MAX;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
}

/* A socket; or -errno. */
static int tcp_peer_socket(const struct transport_net *net, const struct address *to)
{
    int on = 1, fd = tcp_ctx_socket(to->as.any.sa_family);

    if (fd < 0)
        return fd;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    /* Middleboxes forget connections that are idle; without a limit nothing may fail. */
    if (net->world->timeout_ns > 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    return fd;
}

/* Begin to connect to the next address.  The time limit of an address is short if there
 * are others, and holds only for the connection set-up: the peer may be stopped
 * later.  0; or -errno of the last attempt. */
static int tcp_peer_connect(struct tcp_peer *peer, int last)
{
    const struct transport_net *net = peer->ctx->net;
    struct address to, second;
    struct tcp_attempt *a = peer->attempt;
    bool several = tcp_endpoint_target(net, &a->endpoint, 1, &second);

    while (tcp_endpoint_target(net, &a->endpoint, a->next_address++, &to)) {
        int fd = tcp_peer_socket(net, &to);
        last = fd < 0 ? fd : 0;
        if (fd < 0)
            continue;
        peer->stream.fd = fd;
        tcp_socket_limit(fd, several ? TIMING_TCP_CONNECT : net->world->timeout_ns);
        if (connect(fd, &to.as.any, to.len) != 0 && errno != EINPROGRESS)
            last = -errno;
        if (last == 0)
            last = tcp_ctx_watch(peer->ctx, &peer->stream, true);
        if (last == 0) {
            peer->state = TCP_PEER_CONNECTING;
            return 0;
        }
        tcp_ctx_close_socket(peer->ctx, &peer->stream);
    }
    return last;
}

/* The target may have closed a connection for lack of descriptors, and an address that
 * has not answered may do so later. */
static bool tcp_attempt_may_restart(struct tcp_attempt *a, int error)
{
    if (error == -ETIMEDOUT)
        return clock_ns() < a->deadline_ns;
    return (error == -ECONNRESET || error == -ESHUTDOWN || error == -EPIPE) &&
           ++a->refusals < REFUSALS_MAX;
}

static const char *tcp_attempt_error_text(int error)
{
    if (error == -EPROTO)
        return "what listens at its addresses does not know its secret";
    return error == -ESHUTDOWN ? "each connection is closed during the handshake"
                               : strerror(-error);
}

/* The attempt has failed: try the next address, or after the last one all again. */
static void tcp_peer_retry(struct tcp_peer *peer, int error)
{
    struct tcp_attempt *a = peer->attempt;
    char text[TRANSPORT_TEXT_MAX];

    tcp_peer_close_socket(peer);
    a->restart |= tcp_attempt_may_restart(a, error);
    int last = tcp_peer_connect(peer, error);
    if (last != 0 && a->restart) {
        a->restart = false;
        a->next_address = 0;
        last = tcp_peer_connect(peer, error);
    }
    if (last == 0)
        return;
    snprintf(text, sizeof text, "cannot connect to PE %d: %s", peer->pe,
             tcp_attempt_error_text(last));
    tcp_peer_fail(peer, last, text);
}

/* 0; -EAGAIN: no memory, or its address is awaited; or -errno: the peer has failed. */
static int tcp_peer_start(struct tcp_peer *peer)
{
    const struct transport_world *world = peer->ctx->net->world;
    struct tcp_attempt *a = calloc(1, sizeof *a);
    ssize_t len = -EAGAIN;

    if (a != NULL)
        len = world->address_of(world, peer->pe, &a->endpoint, sizeof a->endpoint);
    if (len == -EAGAIN) {
        free(a);
        return -EAGAIN;
    }
    peer->attempt = a;
    peer->ctx->nattempts++;
    a->deadline_ns = world->timeout_ns > 0 ? clock_ns() + world->timeout_ns : UINT64_MAX;
    if (len < 0 || !tcp_endpoint_valid(&a->endpoint, (size_t)len)) {
        tcp_peer_fail(peer, -EHOSTUNREACH, "it has no endpoint descriptor of tcp");
        return -EHOSTUNREACH;
    }
    int error = tcp_peer_connect(peer, -EHOSTUNREACH);
    if (error != 0)
        tcp_peer_retry(peer, error);
    return peer->state == TCP_PEER_FAILED ? peer->error : 0;
}

int tcp_peer_get(struct transport_ctx *ctx, int pe, struct tcp_peer **peer)
{
    struct tcp_peer *p = ctx->peer[pe];

    if (p == NULL)
        p = tcp_peer_new(ctx, pe);
    if (p == NULL)
        return -EAGAIN;
    *peer = p;
    if (tcp_is_lost(ctx->net, pe))
        return -EHOSTDOWN;
    if (p->state == TCP_PEER_FAILED)
        return p->error;
    return p->state == TCP_PEER_IDLE ? tcp_peer_start(p) : 0;
}

/* Sent at once: a new socket has space. */
static int tcp_peer_say_hello(struct tcp_peer *peer)
{
    struct tcp_hello hello;
    int error = tcp_auth_hello(peer, &hello);

    if (error != 0)
        return error;
    ssize_t n = send(peer->stream.fd, &hello, sizeof hello, MSG_NOSIGNAL);
    if (n != sizeof hello)
        return n < 0 ? -errno : -EIO;
    peer->state = TCP_PEER_HELLO;
    return tcp_ctx_watch(peer->ctx, &peer->stream, false);
}

/* The socket is connected, or the attempt has failed. */
static void tcp_peer_connected(struct tcp_peer *peer)
{
    int error = 0;
    socklen_t len = sizeof error;

    if (getsockopt(peer->stream.fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
        error = errno;
    error = error != 0 ? -error : tcp_peer_say_hello(peer);
    if (error != 0)
        tcp_peer_retry(peer, error);
}

/* The connection is set up: the target may be stopped for any time from now on. */
void tcp_peer_challenged(struct tcp_peer *peer)
{
    tcp_socket_limit(peer->stream.fd, 0);
    peer->state = TCP_PEER_CHALLENGED;
}

/* Send the proof alone: a request that is sent before the welcome might be performed and
 * then be sent again on another connection. */
static void tcp_peer_prove(struct tcp_peer *peer)
{
    struct tcp_proof proof;

    tcp_auth_proof(peer, &proof);
    ssize_t n = send(peer->stream.fd, &proof, sizeof proof, MSG_NOSIGNAL);
    if (n != sizeof proof)
        tcp_peer_retry(peer, n < 0 ? -errno : -EIO);
    else
        peer->state = TCP_PEER_PROVED;
}

void tcp_peer_welcomed(struct tcp_peer *peer)
{
    tcp_peer_end_attempt(peer);
    peer->state = TCP_PEER_OPEN;
    peer->ctx->events++;
}

/* ---- events ------------------------------------------------------------------------ */

void tcp_peer_send(struct tcp_peer *peer)
{
    uint64_t unsent = peer->stream.out.unsent;

    if (peer->state != TCP_PEER_OPEN)
        return;
    int error = tcp_output_send(&peer->stream);
    peer->ctx->events += peer->stream.out.unsent != unsent;
    bool full = error == -EAGAIN;
    if (full)
        error = 0;
    if (unlikely(full != peer->stream.watches_output) && error == 0)
        error = tcp_ctx_watch(peer->ctx, &peer->stream, full);
    if (error == 0) {
        tcp_peer_update(peer);
        return;
    }
    tcp_peer_broken(peer, error);
}

/* The queue is not sent although a reply has arrived (tcp.h). */
static bool tcp_peer_holds(struct tcp_peer *peer, uint32_t events)
{
    struct transport_ctx *ctx = peer->ctx;

    if (!ctx->posting || (events & EPOLLOUT) != 0)
        return false;
    if (!ctx->holds)
        ctx->held_at = ctx->posts;
    ctx->holds = true;
    return true;
}

/* True if the target has not answered the handshake in time.  Time in which this process
 * was stopped does not count.  The limit is above that of operations, whose message is
 * better. */
static bool tcp_attempt_is_late(struct tcp_attempt *a, uint64_t now, uint64_t limit_ns)
{
    uint64_t passed = a->checked_ns != 0 ? now - a->checked_ns : 0;

    a->waited_ns += passed < TIMING_CHECK_MAX ? passed : TIMING_CHECK_MAX;
    a->checked_ns = now;
    return limit_ns > 0 && a->waited_ns > limit_ns + limit_ns / 4;
}

void tcp_peers_check_attempts(struct transport_ctx *ctx)
{
    uint64_t now = clock_ns();
    struct tcp_peer *next;
    char text[TRANSPORT_TEXT_MAX];

    for (struct tcp_peer *peer = ctx->busy; peer != NULL; peer = next) {
        next = peer->next;
        if (peer->attempt == NULL || peer->state == TCP_PEER_CONNECTING ||
            !tcp_attempt_is_late(peer->attempt, now, ctx->net->world->timeout_ns))
            continue;
        snprintf(text, sizeof text,
                 "cannot connect to PE %d: it does not answer the handshake "
                 "(SHMEM_NET_TIMEOUT sets the limit)",
                 peer->pe);
        tcp_peer_fail(peer, -ETIMEDOUT, text);
    }
}

void tcp_peer_ready(struct tcp_peer *peer, uint32_t events)
{
    struct transport_ctx *ctx = peer->ctx;
    bool open = peer->state == TCP_PEER_OPEN;
    int more = 1;

    if (peer->state == TCP_PEER_CONNECTING) {
        tcp_peer_connected(peer);
        return;
    }
    if (events & (EPOLLIN | EPOLLERR | EPOLLHUP))
        for (int i = 0; i < READS_MAX && more == 1; i++)
            more = tcp_input_read(&peer->stream, &tcp_reply_reader, ctx->scratch,
                                  TCP_SCRATCH);
    if (more < 0 && peer->attempt != NULL) /* no request was sent */
        tcp_peer_retry(peer, more);
    else if (more < 0)
        tcp_peer_broken(peer, more);
    else if (peer->state == TCP_PEER_CHALLENGED)
        tcp_peer_prove(peer);
    else if (open && tcp_peer_holds(peer, events))
        tcp_peer_update(peer);
    else
        tcp_peer_send(peer);
}
