/* SPDX-License-Identifier: BSD-3-Clause */
/* tcp.c - the tcp transport: its table, open and close (see tcp.h). */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/transport/avoid.h"
#include "pgas/transport/tcp/tcp.h"

/* Close a net, which may be opened only in part. */
static void tcp_net_close(struct transport_net *net)
{
    if (net->ctx_0 != NULL)
        tcp_listen_close(net);
    while (net->contexts != NULL)
        tcp_ctx_close(net->contexts);
    pthread_mutex_destroy(&net->lock);
    seal_memory_free(net->secret, SEAL_SECRET);
    free(net->lost);
    free(net->reported);
    free(net);
}

static struct transport_net *tcp_net_new(const struct transport_world *world)
{
    struct transport_net *net = calloc(1, sizeof *net);
    bool avoid[CAPABILITIES];
    size_t len; /* of an unknown word; net.c has reported it */

    if (net == NULL)
        return NULL;
    net->world = world;
    for (size_t i = 0; i < TCP_LISTENERS; i++)
        net->listener[i] = (struct tcp_stream){.kind = TCP_STREAM_LISTENER, .fd = -1};
    pthread_mutex_init(&net->lock, NULL);
    (void)capability_read(world->avoid, avoid, &len);
    net->disable_contexts = avoid[CAPABILITY_CONTEXTS];
    net->lost = calloc((size_t)world->npes, sizeof net->lost[0]);
    net->reported = calloc((size_t)world->npes, sizeof net->reported[0]);
    net->secret = seal_memory_alloc(SEAL_SECRET);
    if (net->lost != NULL && net->reported != NULL && net->secret != NULL)
        return net;
    tcp_net_close(net);
    return NULL;
}

static int tcp_net_open(const struct transport_world *world, struct transport_net **net,
                        char why[TRANSPORT_TEXT_MAX])
{
    struct transport_net *n = tcp_net_new(world);

    if (n == NULL) {
        snprintf(why, TRANSPORT_TEXT_MAX, "no memory for the table of PEs");
        return -ENOMEM;
    }
    int error = tcp_ctx_open(n, &n->ctx_0);
    if (error != 0)
        snprintf(why, TRANSPORT_TEXT_MAX, "cannot open a context: %s", strerror(-error));
    else
        error = tcp_endpoint_open(n, why);
    if (error != 0)
        tcp_net_close(n);
    else
        *net = n;
    return error;
}

static size_t tcp_net_address(struct transport_net *net, void *to)
{
    size_t len = tcp_endpoint_size(&net->endpoint);

    memcpy(to, &net->endpoint, len);
    memcpy((char *)to + offsetof(struct tcp_endpoint, secret), net->secret, SEAL_SECRET);
    return len;
}

static const char *tcp_net_text(struct transport_net *net)
{
    return net->text;
}

static void tcp_net_statistics(struct transport_net *net, char text[TRANSPORT_TEXT_MAX])
{
    struct tcp_totals t = net->totals;

    for (struct transport_ctx *ctx = net->contexts; ctx != NULL; ctx = ctx->next)
        tcp_ctx_count(ctx, &t);
    snprintf(text, TRANSPORT_TEXT_MAX,
             "%llu operations sent by %llu system calls (%.1f each), %llu bytes",
             (unsigned long long)t.posts, (unsigned long long)t.sends,
             t.sends > 0 ? (double)t.posts / (double)t.sends : 0.0,
             (unsigned long long)t.bytes);
}

static struct transport_ctx *tcp_net_ctx_0(struct transport_net *net)
{
    return net->ctx_0;
}

static int tcp_net_ctx_open(struct transport_net *net, struct transport_ctx **ctx)
{
    return net->disable_contexts ? -ENOTSUP : tcp_ctx_open(net, ctx);
}

const struct transport transport_tcp = {
    .name = "tcp",
    .text = "TCP sockets: any IP network, all operations by the target's CPU",
    .quick_signal = true,
    .posts_per_progress = 128, /* a call of epoll_wait takes as long as many posts */
    .open = tcp_net_open,
    .close = tcp_net_close,
    .address = tcp_net_address,
    .describe = tcp_net_text,
    .statistics = tcp_net_statistics,
    .ctx_0 = tcp_net_ctx_0,
    .ctx_open = tcp_net_ctx_open,
    .ctx_close = tcp_ctx_close,
    .put = tcp_put,
    .get = tcp_get,
    .amo = tcp_amo,
    .signal_max = tcp_signal_max,
    .put_signal = tcp_put_signal,
    .blocks_max = tcp_blocks_max,
    .put_blocks = tcp_put_blocks,
    .get_blocks = tcp_get_blocks,
    .fence = tcp_fence,
    .quiet = tcp_quiet,
    .quiet_all = tcp_quiet_all,
    .pending = tcp_pending,
    .lost = tcp_lost,
    .progress = tcp_progress,
    .progress_posting = tcp_progress_posting,
    .send = tcp_ctx_send_all,
    .fd = tcp_ctx_fd,
    .arm = tcp_ctx_arm,
};
