/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ofi_lost.c - peers that are known to be dead (transport.h, lost).
 *
 * ofi_lost marks the peer; the next progress of each context ends its operations.  The
 * library's buffers and records stay allocated while libfabric may access them.  A
 * destination of a get is memory of the caller, who may reuse it after quiet: the get
 * ends only when libfabric has completed it, which it does when the connection has ended.
 * The kernel of a dead process ends it at once.  A stopped process or a cut link does
 * not, and data that arrive later would be written; so ofi_lost shuts down the TCP
 * connections that this process has opened to the peer's endpoint.  What remains are
 * connections that the peer has opened, which cannot be told from those of other PEs of
 * its host: without an end of the connection the get ends after TIMING_LOST_DRAIN, and if
 * such a peer continues later, its reply may still be written to the destination. Uses:
 * ofi.h, core/clock.
 */
#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pgas/core/base/clock.h"
#include "pgas/core/base/timing.h"
#include "pgas/transport/ofi/ofi.h"

/* ---- connections ------------------------------------------------------------------- */

union ofi_sockaddr {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    unsigned char bytes[OFI_NAME_MAX];
};

/* True if the socket is connected to this address. */
static bool ofi_socket_is_to(int fd, const union ofi_sockaddr *to)
{
    union ofi_sockaddr peer = {.bytes = {0}};
    socklen_t len = sizeof peer;

    if (getpeername(fd, &peer.any, &len) != 0 || peer.any.sa_family != to->any.sa_family)
        return false;
    if (to->any.sa_family == AF_INET)
        return peer.in.sin_port == to->in.sin_port &&
               peer.in.sin_addr.s_addr == to->in.sin_addr.s_addr;
    return to->any.sa_family == AF_INET6 && peer.in6.sin6_port == to->in6.sin6_port &&
           memcmp(&peer.in6.sin6_addr, &to->in6.sin6_addr, sizeof peer.in6.sin6_addr) ==
               0;
}

/* The provider may close the descriptor concurrently and reuse its number, so check a
 * duplicate. */
static void ofi_socket_cut(int fd, const union ofi_sockaddr *to)
{
    if (!ofi_socket_is_to(fd, to))
        return;
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return;
    if (ofi_socket_is_to(own, to))
        shutdown(own, SHUT_RDWR);
    close(own);
}

/* Shut down the connections of this process to an endpoint.  The provider sees the end of
 * the connection and completes its operations. */
static void ofi_connections_cut(const union ofi_sockaddr *to)
{
    DIR *dir = opendir("/proc/self/fd");
    const struct dirent *entry;

    if (dir == NULL)
        return;
    while ((entry = readdir(dir)) != NULL)
        if (entry->d_name[0] != '.')
            ofi_socket_cut(atoi(entry->d_name), to);
    closedir(dir);
}

void ofi_lost(struct transport_net *net, int pe)
{
    union ofi_sockaddr name = {.bytes = {0}};
    size_t len = ofi_peer_lose(net, pe, name.bytes, sizeof name.bytes);

    if (len >= sizeof name.in)
        ofi_connections_cut(&name);
    fetch_add_acq_rel_u32(&net->losses, 1);
}

/* ---- contexts ---------------------------------------------------------------------- */

struct purge {
    bool expired; /* TIMING_LOST_DRAIN has passed */
    unsigned drains;
    int ended;
};

static bool ofi_lost_end_op(struct transport_ctx *ctx, struct ofi_op *op, void *arg)
{
    struct purge *p = arg;

    if (op->kind == OFI_RECV || op->kind == OFI_REPLY || op->kind == OFI_ABANDONED ||
        op->kind == OFI_FRAGMENTED || !ofi_peer_is_lost(ctx->net, op->pe))
        return true;
    if (op->kind == OFI_GET && op->bounce == NULL && !p->expired) {
        p->drains++;
        return true;
    }
    if (op->kind != OFI_GET) /* the peer that receives the bytes of another put is dead */
        ofi_bounce_free(ctx, op);
    ofi_op_abandon(ctx, op, -EHOSTDOWN);
    p->ended++;
    return true;
}

static void ofi_lost_clean(struct transport_ctx *ctx)
{
    for (int i = 0; i < ctx->ndirty;) {
        int pe = ctx->dirty_list[i];
        if (!ofi_peer_is_lost(ctx->net, pe)) {
            i++;
            continue;
        }
        ofi_bit_clear(ctx->dirty, pe);
        ctx->dirty_list[i] = ctx->dirty_list[--ctx->ndirty];
    }
}

int ofi_lost_purge(struct transport_ctx *ctx)
{
    uint32_t losses = load_acquire_u32(&ctx->net->losses);
    uint64_t now = clock_ns();
    struct purge p = {.ended = 0};

    if (losses != ctx->losses) {
        ctx->losses = losses;
        ctx->drain_ns = now + TIMING_LOST_DRAIN;
        ofi_lost_clean(ctx);
        ofi_rma_drop_backlog(ctx);
        if (ctx->refused_pe >= 0 && ofi_peer_is_lost(ctx->net, ctx->refused_pe)) {
            ctx->refused_pe = -1;
            ctx->connecting = ctx->connect_slow = false;
        }
        p.ended++;
    }
    p.expired = now >= ctx->drain_ns;
    ofi_ops_each(ctx, ofi_lost_end_op, &p);
    ctx->drains = p.drains;
    return p.ended;
}
