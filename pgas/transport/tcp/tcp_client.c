/* SPDX-License-Identifier: BSD-3-Clause */
/* tcp_client.c - the connections of a target: accept, reply, close (see tcp.h). */
#include "config.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "pgas/core/base/clock.h"
#include "pgas/core/base/counter.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/base/timing.h"
#include "pgas/transport/tcp/tcp.h"

enum {
    READS_MAX = 8, /* per call of progress */
    ACCEPTS_MAX = 64,
    UNKNOWN_MAX = 512, /* connections that are not authenticated */
    REPLIES_MAX = 256 << 10,
    DELAYED_MAX = 32, /* requests with TCP_DELAYED that are acknowledged together */
};

/* ---- open and close ---------------------------------------------------------------- */

static void tcp_client_link(struct tcp_client *client, struct tcp_client **list)
{
    client->prev = NULL;
    client->next = *list;
    if (*list != NULL)
        (*list)->prev = client;
    *list = client;
}

static void tcp_client_unlink(struct tcp_client *client, struct tcp_client **list)
{
    if (client->next != NULL)
        client->next->prev = client->prev;
    if (client->prev != NULL)
        client->prev->next = client->next;
    else
        *list = client->next;
}

static void tcp_client_end_delay(struct tcp_client *client)
{
    if (client->at_delayed == NULL)
        return;
    *client->at_delayed = client->next_delayed;
    if (client->next_delayed != NULL)
        client->next_delayed->at_delayed = client->at_delayed;
    client->at_delayed = NULL;
}

/* Events of this client may still be in the list that progress evaluates, so its memory
 * is freed later. */
void tcp_client_close(struct tcp_client *client)
{
    struct transport_ctx *ctx = client->ctx;

    PGAS_ASSERT(client->stream.fd >= 0);
    tcp_ctx_close_socket(ctx, &client->stream);
    ctx->nunknown -= client->pe < 0;
    free(client->transcript);
    client->transcript = NULL;
    tcp_client_end_delay(client);
    tcp_client_unlink(client, &ctx->clients);
    tcp_client_link(client, &ctx->closed);
}

/* The oldest connection that is not authenticated gives way, if it had time enough for
 * its handshake.  False: there is none. */
static bool tcp_client_evict(struct transport_ctx *ctx)
{
    struct tcp_client *oldest = NULL;

    for (struct tcp_client *c = ctx->clients; c != NULL; c = c->next)
        if (c->pe < 0)
            oldest = c;
    if (oldest == NULL || clock_ns() - oldest->since_ns < TIMING_TCP_UNKNOWN)
        return false;
    tcp_client_close(oldest);
    return true;
}

static void tcp_client_open(struct transport_ctx *ctx, int fd)
{
    struct tcp_client *client = calloc(1, sizeof *client);
    int on = 1;

    if (client == NULL) {
        close(fd);
        return;
    }
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    client->stream.kind = TCP_STREAM_CLIENT;
    client->stream.fd = fd;
    client->ctx = ctx;
    client->pe = -1;
    client->since_ns = clock_ns();
    client->performed = client->reported = (uint32_t)counter_start();
    ctx->nunknown++;
    tcp_client_link(client, &ctx->clients);
    if (tcp_ctx_watch(ctx, &client->stream, false) != 0)
        tcp_client_close(client);
    else
        tcp_client_ready(client, EPOLLIN); /* its hello may be here */
}

static int tcp_listener_accept(const struct tcp_stream *listener)
{
    const int flags = SOCK_NONBLOCK | SOCK_CLOEXEC;
    int fd = accept4(listener->fd, NULL, NULL, flags);

    if (fd >= 0 || errno != EMFILE)
        return fd;
    tcp_ctx_raise_limit();
    return accept4(listener->fd, NULL, NULL, flags);
}

/* Without descriptors no PE can connect any more.  True: one was made free. */
static bool tcp_listener_refused(struct transport_net *net, int error)
{
    char text[TRANSPORT_TEXT_MAX];

    if (error != EMFILE && error != ENFILE)
        return false; /* there is no connection, or the peer has given up */
    if (net->ctx_0->nunknown > 0)
        return tcp_client_evict(net->ctx_0);
    snprintf(text, sizeof text, "cannot accept a connection: %s; raise the limit (%s)",
             strerror(error), "ulimit -n");
    tcp_listen_close(net);
    net->world->failed(net->world, -1, text);
    return false;
}

void tcp_listener_ready(struct transport_net *net, const struct tcp_stream *listener)
{
    /* What is not accepted now waits in the kernel, and epoll reports it again. */
    for (int i = 0; i < ACCEPTS_MAX; i++) {
        if (net->ctx_0->nunknown >= UNKNOWN_MAX && !tcp_client_evict(net->ctx_0))
            return;
        int fd = tcp_listener_accept(listener);
        if (fd < 0 && !tcp_listener_refused(net, errno))
            return;
        if (fd < 0)
            continue;
        tcp_client_open(net->ctx_0, fd);
        net->ctx_0->events++;
    }
}

/* ---- replies ----------------------------------------------------------------------- */

static void tcp_client_begin_delay(struct tcp_client *client)
{
    struct transport_ctx *ctx = client->ctx;

    if (client->at_delayed != NULL)
        return;
    client->next_delayed = ctx->delayed;
    if (ctx->delayed != NULL)
        ctx->delayed->at_delayed = &client->next_delayed;
    client->at_delayed = &ctx->delayed;
    ctx->delayed = client;
}

int tcp_client_reply(struct tcp_client *client, enum tcp_reply_kind kind, uint64_t len)
{
    const struct tcp_reply reply = {.kind = kind, .acked = client->performed, .len = len};

    client->reported = client->performed;
    client->ack_now = false;
    tcp_client_end_delay(client);
    return tcp_output_add(&client->stream, &reply, sizeof reply) ? 0 : -ENOMEM;
}

/* Acknowledge what was performed since the last reply, unless that may be `delayed`, and
 * send.  0 or an error. */
static int tcp_client_send(struct tcp_client *client, bool delayed)
{
    struct tcp_stream *s = &client->stream;
    uint32_t n = client->performed - client->reported;
    int error = 0;

    if (client->ack_now || n >= DELAYED_MAX || (n > 0 && !delayed))
        error = tcp_client_reply(client, TCP_ACK, 0);
    else if (n > 0)
        tcp_client_begin_delay(client);
    if (error == 0)
        error = tcp_output_send(s);
    client->ctx->large |= s->out.size > TCP_OUTPUT_KEEP;
    if (error != 0 && error != -EAGAIN)
        return error;
    if ((error == -EAGAIN) != s->watches_output)
        return tcp_ctx_watch(client->ctx, s, error == -EAGAIN);
    return 0;
}

/* A malformed request of another PE is a defect of its library or of its memory.  No PE
 * says twice who it is. */
static void tcp_client_failed(struct tcp_client *client, int error)
{
    const struct transport_world *world = client->ctx->net->world;
    char text[TRANSPORT_TEXT_MAX];

    if (client->pe >= 0 && error == -EBADMSG) {
        snprintf(text, sizeof text,
                 "PE %d has sent a message of the handshake twice: somebody has changed "
                 "the connection",
                 client->pe);
        world->failed(world, client->pe, text);
    } else if (client->pe >= 0 &&
               (error == -EPROTO || error == -EFAULT || error == -EINVAL)) {
        snprintf(text, sizeof text, "PE %d has sent a malformed request: %s", client->pe,
                 error == -EFAULT ? "its memory is not inside the symmetric segments"
                                  : "unknown kind, length or alignment");
        world->failed(world, client->pe, text); /* for each such connection */
    }
    tcp_client_close(client);
}

/* With unsent replies no more requests are read. */
void tcp_client_ready(struct tcp_client *client, uint32_t events)
{
    struct tcp_stream *s = &client->stream;
    int more = 1, error = 0;

    if (s->fd < 0)
        return;
    if (events & EPOLLOUT)
        error = tcp_client_send(client, true);
    for (int i = 0; error == 0 && more == 1 && i < READS_MAX &&
                    s->out.unsent < REPLIES_MAX && !s->watches_output;
         i++) {
        more = tcp_input_read(s, &tcp_request_reader, client->ctx->scratch, TCP_SCRATCH);
        error = more < 0 ? more : 0;
        client->events += more >= 0;
    }
    if (error == 0)
        error = tcp_client_send(client, true);
    client->ctx->events += (int)client->events;
    client->events = 0;
    if (error != 0)
        tcp_client_failed(client, error);
}

/* A PE that has pipelined gets leaves a buffer of up to TCP_LONG_RESULTS_MAX replies. One
 * that is used again within TIMING_TCP_TRIM is kept: a steady stream does not grow it
 * again and again. */
void tcp_clients_trim(struct transport_ctx *ctx)
{
    uint64_t now = clock_ns();

    if (now - ctx->trimmed_ns < TIMING_TCP_TRIM)
        return;
    ctx->trimmed_ns = now;
    ctx->large = false;
    for (struct tcp_client *client = ctx->clients; client != NULL; client = client->next)
        ctx->large |= tcp_output_trim(&client->stream);
}

void tcp_clients_acknowledge(struct transport_ctx *ctx)
{
    while (ctx->delayed != NULL) {
        struct tcp_client *client = ctx->delayed;
        int error = tcp_client_send(client, false); /* removes it from the list */
        if (error != 0)
            tcp_client_failed(client, error);
    }
}
