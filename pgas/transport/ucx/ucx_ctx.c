/* SPDX-License-Identifier: BSD-3-Clause */
/* ucx_ctx.c - contexts: open and close, completion, progress (see ucx.h). */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "pgas/threads/atomic.h"
#include "pgas/transport/ucx/ucx.h"

/* ---- open and close ---------------------------------------------------------------- */

static ucs_status_t ucx_worker_create(struct transport_ctx *ctx)
{
    const ucp_worker_params_t params = {
        .field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE | UCP_WORKER_PARAM_FIELD_FLAGS,
        /* Several threads may use a context, one at a time. */
        .thread_mode = UCS_THREAD_MODE_SERIALIZED,
        .flags = UCP_WORKER_FLAG_IGNORE_REQUEST_LEAK, /* of peers that died */
    };

    ucs_status_t status = ucx_lib.worker_create(ctx->net->context, &params, &ctx->worker);
    if (status != UCS_OK)
        return status;
    status = ucx_am_set_handlers(ctx);
    if (status != UCS_OK)
        ucx_lib.worker_destroy(ctx->worker);
    return status;
}

static void ucx_ctx_enlist(struct transport_ctx *ctx)
{
    pthread_mutex_lock(&ctx->net->lock);
    ctx->next = ctx->net->contexts;
    ctx->net->contexts = ctx;
    pthread_mutex_unlock(&ctx->net->lock);
}

static void ucx_ctx_unlist(struct transport_ctx *ctx)
{
    struct transport_ctx **at = &ctx->net->contexts;

    pthread_mutex_lock(&ctx->net->lock);
    while (*at != ctx)
        at = &(*at)->next;
    *at = ctx->next;
    pthread_mutex_unlock(&ctx->net->lock);
}

int ucx_ctx_open(struct transport_net *net, struct transport_ctx **ctx)
{
    struct transport_ctx *c = calloc(1, sizeof *c);
    ucs_status_t status = UCS_ERR_NO_MEMORY;

    if (c == NULL)
        return -ENOMEM;
    c->net = net;
    c->peers = calloc((size_t)net->world->npes, sizeof *c->peers);
    if (c->peers != NULL)
        status = ucx_worker_create(c);
    if (status != UCS_OK) {
        free(c->peers);
        free(c);
        return ucx_errno(status);
    }
    ucx_ctx_enlist(c);
    *ctx = c;
    return 0;
}

/* Close endpoints by force: all operations are complete, and a peer may have exited.
 * Errors are ignored. */
static void ucx_ctx_close_peers(struct transport_ctx *ctx)
{
    for (int pe = 0; pe < ctx->net->world->npes; pe++) {
        struct ucx_peer *peer = ctx->peers[pe];
        if (peer == NULL)
            continue;
        peer->reported = true;
        ucx_peer_close(peer);
    }
}

void ucx_ctx_close(struct transport_ctx *ctx)
{
    ucx_ctx_unlist(ctx);
    ucx_ctx_close_peers(ctx);
    ucx_lib.worker_destroy(ctx->worker);
    for (int pe = 0; pe < ctx->net->world->npes; pe++)
        free(ctx->peers[pe]);
    free(ctx->peers);
    ucx_am_free(ctx);
    ucx_ops_free(ctx);
    free(ctx);
}

/* ---- completion -------------------------------------------------------------------- */

/* Call visit for every busy peer; returns true if all calls did. A visit may remove only
 * its own peer from the list. */
static bool ucx_ctx_visit_busy(struct transport_ctx *ctx,
                               bool (*visit)(struct ucx_peer *))
{
    struct ucx_peer *last = ctx->busy != NULL ? ctx->busy->prev : NULL;
    struct ucx_peer *peer = ctx->busy, *next;
    bool all = true;

    for (bool more = peer != NULL; more; peer = next) {
        more = peer != last;
        next = peer->next;
        all &= visit(peer);
    }
    return all;
}

int ucx_fence(struct transport_ctx *ctx)
{
    return ucx_ctx_visit_busy(ctx, ucx_peer_flushed) ? 0 : -EAGAIN;
}

int ucx_quiet(struct transport_ctx *ctx)
{
    ucx_ctx_visit_busy(ctx, ucx_peer_flushed);
    PGAS_ASSERT(ctx->busy != NULL || ctx->pending == 0);
    return ctx->busy == NULL ? 0 : -EAGAIN;
}

int ucx_quiet_all(struct transport_ctx *ctx)
{
    return ucx_request_confirm(ctx) == 0 ? ucx_quiet(ctx) : -EAGAIN;
}

/* True if the peer has operations in flight; unflushed puts are not counted. */
static bool ucx_peer_has_in_flight(const struct ucx_peer *peer)
{
    return peer->in_flush + peer->posted[UCX_PUT] + peer->posted[UCX_GET] +
               peer->posted[UCX_AMO] >
           0;
}

uint64_t ucx_pending(struct transport_ctx *ctx, int *pe)
{
    struct ucx_peer *peer = ctx->busy;

    if (pe == NULL || ctx->pending == 0)
        return ctx->pending;
    while (!ucx_peer_has_in_flight(peer) && peer->next != ctx->busy)
        peer = peer->next;
    *pe = peer->pe;
    return ctx->pending;
}

/* ---- progress ---------------------------------------------------------------------- */

static bool ucx_peer_close_failed(struct ucx_peer *peer)
{
    if (peer->error != 0) {
        ucx_peer_close(peer);
        ucx_ops_abandon(peer, true);
    }
    return true;
}

/* Handle PEs that have been lost since the last call. */
static int ucx_ctx_purge(struct transport_ctx *ctx)
{
    const struct transport_net *net = ctx->net;

    ctx->losses = load_acquire_u32(&net->losses);
    for (int pe = 0; pe < net->world->npes; pe++)
        if (load_relaxed_u32(&net->lost[pe]) != 0 && ctx->peers[pe] != NULL)
            ucx_peer_lose(ctx->peers[pe]);
    return 1;
}

int ucx_progress(struct transport_ctx *ctx)
{
    unsigned n = ucx_lib.worker_progress(ctx->worker);

    if (unlikely(ctx->failed_peers)) {
        /* Endpoints must not be closed inside UCX's callback. */
        ctx->failed_peers = false;
        ucx_ctx_visit_busy(ctx, ucx_peer_close_failed);
        n++;
    }
    if (unlikely(load_relaxed_u32(&ctx->net->losses) != ctx->losses))
        n += (unsigned)ucx_ctx_purge(ctx);
    if (unlikely(ctx->longs != NULL))
        ucx_request_post_longs(ctx);
    return (int)n;
}

int ucx_fd(struct transport_ctx *ctx)
{
    int fd;

    return ucx_lib.worker_get_efd(ctx->worker, &fd) == UCS_OK ? fd : -1;
}

/* Arm UCX only after a progress without events: the first message on a new connection is
 * detected by a callback of progress, which ucp_worker_arm does not check. */
int ucx_arm(struct transport_ctx *ctx)
{
    if (ucx_progress(ctx) > 0)
        return -EAGAIN;
    return ucx_lib.worker_arm(ctx->worker) == UCS_OK ? 0 : -EAGAIN;
}
