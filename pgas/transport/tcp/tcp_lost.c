/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tcp_lost.c - PEs that are known to be dead (transport.h, lost).  The next progress of
 * each context closes its connections: afterwards nothing can be stored by the PE, or by
 * operations on it.
 */
#include "config.h"

#include <errno.h>

#include "pgas/transport/tcp/tcp.h"

void tcp_lost(struct transport_net *net, int pe, bool node)
{
    (void)node; /* connections are by PE */
    store_relaxed_u32(&net->lost[pe], 1);
    fetch_add_acq_rel_u32(&net->losses, 1);
}

bool tcp_is_lost(const struct transport_net *net, int pe)
{
    return load_relaxed_u32(&net->lost[pe]) != 0;
}

void tcp_lost_purge(struct transport_ctx *ctx)
{
    struct transport_net *net = ctx->net;
    struct tcp_client *next;

    ctx->losses = load_acquire_u32(&net->losses);
    for (int pe = 0; pe < net->world->npes; pe++)
        if (tcp_is_lost(net, pe) && ctx->peer[pe] != NULL &&
            ctx->peer[pe]->state != TCP_PEER_FAILED)
            tcp_peer_fail(ctx->peer[pe], -EHOSTDOWN, NULL);
    for (struct tcp_client *client = ctx->clients; client != NULL; client = next) {
        next = client->next;
        if (client->pe >= 0 && tcp_is_lost(net, client->pe))
            tcp_client_close(client);
    }
    ctx->events++;
}
