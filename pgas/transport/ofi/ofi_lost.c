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
#include <limits.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "pgas/core/base/clock.h"
#include "pgas/core/base/number.h"
#include "pgas/core/base/timing.h"
#include "pgas/transport/ofi/ofi.h"

/* ---- connections ------------------------------------------------------------------- */

union ofi_sockaddr {
    struct sockaddr any;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    unsigned char bytes[OFI_NAME_MAX];
};

/* Which connections to cut: those of this process to the endpoint `to`; and, if `host`,
 * those from its IP address to the endpoint `own` of our context 0. */
struct cut {
    union ofi_sockaddr to, own;
    bool host;
};

static bool ofi_sockaddr_is_ip(const union ofi_sockaddr *a)
{
    return a->any.sa_family == AF_INET || a->any.sa_family == AF_INET6;
}

/* Two addresses of IP families; ports are at the same offset in both. */
static bool ofi_sockaddr_same_port(const union ofi_sockaddr *a,
                                   const union ofi_sockaddr *b)
{
    return a->in.sin_port == b->in.sin_port;
}

static bool ofi_sockaddr_same_host(const union ofi_sockaddr *a,
                                   const union ofi_sockaddr *b)
{
    if (a->any.sa_family != b->any.sa_family)
        return false;
    if (a->any.sa_family == AF_INET)
        return a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
    return memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr, sizeof a->in6.sin6_addr) == 0;
}

static bool ofi_socket_matches(int fd, const struct cut *cut)
{
    union ofi_sockaddr peer = {.bytes = {0}}, own = {.bytes = {0}};
    socklen_t len = sizeof peer;

    if (getpeername(fd, &peer.any, &len) != 0 || !ofi_sockaddr_same_host(&peer, &cut->to))
        return false;
    if (ofi_sockaddr_same_port(&peer, &cut->to))
        return true;
    len = sizeof own;
    return cut->host && getsockname(fd, &own.any, &len) == 0 &&
           ofi_sockaddr_same_port(&own, &cut->own);
}

/* The provider may close the descriptor concurrently and reuse its number, so check a
 * duplicate. */
static void ofi_socket_cut(int fd, const struct cut *cut)
{
    if (!ofi_socket_matches(fd, cut))
        return;
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return;
    if (ofi_socket_matches(own, cut))
        shutdown(own, SHUT_RDWR);
    close(own);
}

/* Shut down connections.  The provider sees their end and completes its operations. */
static void ofi_connections_cut(const struct cut *cut)
{
    DIR *dir = opendir("/proc/self/fd");
    const struct dirent *entry;
    uint32_t fd;

    if (dir == NULL)
        return;
    while ((entry = readdir(dir)) != NULL)
        if (number_parse_u32(entry->d_name, 0, INT_MAX, &fd))
            ofi_socket_cut((int)fd, cut);
    closedir(dir);
}

/* True if a known PE that is not lost, or this one, has the IP address of cut->to:
 * several nodes of the job share a host. */
static bool ofi_host_is_shared(struct transport_net *net, const struct cut *cut)
{
    union ofi_sockaddr name;

    for (int pe = 0; pe < net->world->npes; pe++)
        if (ofi_peer_name(net, pe, name.bytes, sizeof name.bytes) > 0 &&
            !ofi_peer_is_lost(net, pe) && ofi_sockaddr_same_host(&name, &cut->to))
            return true;
    return ofi_sockaddr_same_host(&cut->own, &cut->to);
}

void ofi_lost(struct transport_net *net, int pe, bool node)
{
    struct cut cut = {.host = false};
    size_t len = ofi_peer_name(net, pe, cut.to.bytes, sizeof cut.to.bytes);

    ofi_peer_lose(net, pe);
    fetch_add_acq_rel_u32(&net->losses, 1);
    if (len < sizeof cut.to.in || !ofi_sockaddr_is_ip(&cut.to))
        return;
    memcpy(cut.own.bytes, net->ctx_0->name, net->ctx_0->name_len);
    cut.host = node && !ofi_host_is_shared(net, &cut);
    ofi_connections_cut(&cut);
}

/* ---- contexts ---------------------------------------------------------------------- */

struct purge {
    bool expired; /* TIMING_LOST_DRAIN has passed */
    unsigned drains;
    int ended;
};

/* A record of a lost peer that libfabric may never complete: free its bounce buffer; the
 * peer that receives the bytes of a put is dead.  A buffer that a lost peer may still
 * write, if it continues after TIMING_LOST_DRAIN, is retired: not used again, so that the
 * write damages no other operation.  A buffer that libfabric fills (OFI_GET) stays with
 * its record: libfabric accesses it until the event of the record, if any, frees both. */
static void ofi_lost_end_record(struct transport_ctx *ctx, struct ofi_op *op,
                                struct purge *p)
{
    if (op->bounce != NULL && op->fills_bounce && !p->expired) {
        p->drains++;
        return;
    }
    if (op->fills_bounce && op->awaits_reply)
        op->bounce = NULL;
    if (!op->fills_bounce)
        ofi_bounce_free(ctx, op);
    ofi_op_release(ctx, op);
}

static bool ofi_lost_end_op(struct transport_ctx *ctx, struct ofi_op *op, void *arg)
{
    struct purge *p = arg;

    if (op->kind == OFI_RECV || op->kind == OFI_FRAGMENTED ||
        !ofi_peer_is_lost(ctx->net, op->pe))
        return true;
    if (op->kind == OFI_GET && op->bounce == NULL && !op->fills_record && !p->expired) {
        p->drains++;
        return true;
    }
    if (op->kind != OFI_REPLY && op->kind != OFI_ABANDONED) {
        ofi_op_abandon(ctx, op, -EHOSTDOWN);
        p->ended++;
    }
    if (op->kind != OFI_FREE)
        ofi_lost_end_record(ctx, op, p);
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
