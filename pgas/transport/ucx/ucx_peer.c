/* SPDX-License-Identifier: BSD-3-Clause */
/* ucx_peer.c - peers: endpoint, operations in flight, failure (see ucx.h). */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "pgas/threads/atomic.h"
#include "pgas/transport/ucx/ucx.h"

/* ---- operations in flight ---------------------------------------------------------- */

static bool ucx_peer_is_busy(const struct ucx_peer *peer)
{
    uint64_t all = peer->unflushed + peer->in_flush;

    for (int kind = 0; kind < UCX_OP_KINDS; kind++)
        all += peer->posted[kind];
    return all > 0;
}

/* Append the peer to the busy list or remove it, according to its counters. */
static void ucx_peer_update_list(struct ucx_peer *peer)
{
    struct ucx_peer **head = &peer->ctx->busy;
    bool listed = peer->next != NULL;

    if (listed == ucx_peer_is_busy(peer))
        return;
    if (listed) {
        if (*head == peer)
            *head = peer->next == peer ? NULL : peer->next;
        peer->prev->next = peer->next;
        peer->next->prev = peer->prev;
        peer->next = peer->prev = NULL;
        return;
    }
    if (*head == NULL)
        *head = peer->next = peer->prev = peer;
    peer->next = *head;
    peer->prev = (*head)->prev;
    peer->prev->next = peer;
    (*head)->prev = peer;
}

void ucx_peer_count(struct ucx_peer *peer, enum ucx_op_kind kind, int by)
{
    PGAS_ASSERT(by > 0 || peer->posted[kind] > 0);
    peer->posted[kind] += (uint64_t)by;
    if (kind != UCX_PUT) /* ucx_peer_unflushed counts puts, until they are flushed */
        peer->ctx->pending += (uint64_t)by;
    ucx_peer_update_list(peer);
}

void ucx_peer_unflushed(struct ucx_peer *peer)
{
    if (unlikely(peer->error != 0)) /* the peer failed inside the post */
        return;
    peer->unflushed++;
    peer->ctx->pending++;
    ucx_peer_update_list(peer);
}

/* The current flush has completed or failed. */
static void ucx_peer_end_flush(struct ucx_peer *peer)
{
    PGAS_ASSERT(peer->ctx->pending >= peer->in_flush);
    peer->ctx->pending -= peer->in_flush;
    peer->in_flush = 0;
    ucx_peer_update_list(peer);
}

static void ucx_peer_flush_done(void *request, ucs_status_t status, void *arg)
{
    struct ucx_peer *peer = arg;

    ucx_lib.request_free(request);
    peer->flushing = false;
    if (status != UCS_OK)
        ucx_peer_fail(peer, status);
    ucx_peer_end_flush(peer);
}

static void ucx_peer_begin_flush(struct ucx_peer *peer)
{
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send = ucx_peer_flush_done,
        .user_data = peer,
    };
    ucs_status_ptr_t request;

    PGAS_ASSERT(!peer->flushing && peer->in_flush == 0);
    peer->flushing = true;
    peer->in_flush = peer->unflushed;
    peer->unflushed = 0;
    request = ucx_lib.ep_flush_nbx(peer->ep, &param);
    if (UCS_PTR_IS_PTR(request))
        return;
    peer->flushing = false;
    if (request != NULL)
        ucx_peer_fail(peer, UCS_PTR_STATUS(request));
    ucx_peer_end_flush(peer);
}

bool ucx_peer_puts_flushed(struct ucx_peer *peer)
{
    if (peer->ctx->net->by_requests)
        return peer->posted[UCX_AMO] == 0;
    if (peer->unflushed > 0 && !peer->flushing)
        ucx_peer_begin_flush(peer);
    return peer->unflushed + peer->in_flush == 0;
}

bool ucx_peer_flushed(struct ucx_peer *peer)
{
    return ucx_peer_puts_flushed(peer) && peer->posted[UCX_AMO] == 0;
}

/* ---- failure ----------------------------------------------------------------------- */

static void ucx_peer_report(struct ucx_peer *peer, const char *reason)
{
    const struct transport_world *world = peer->ctx->net->world;
    char text[TRANSPORT_TEXT_MAX];

    if (peer->reported)
        return;
    peer->reported = true;
    snprintf(text, sizeof text, "PE %d cannot be reached by UCX: %s", peer->pe, reason);
    world->failed(world, peer->pe, text);
}

/* Its puts are done, because it has failed. */
static void ucx_peer_drop_puts(struct ucx_peer *peer)
{
    peer->ctx->pending -= peer->unflushed;
    peer->unflushed = 0;
    ucx_peer_end_flush(peer);
}

void ucx_peer_fail(struct ucx_peer *peer, ucs_status_t status)
{
    bool busy = ucx_peer_is_busy(peer);

    if (peer->error == 0) {
        peer->error = ucx_errno(status);
        peer->ctx->failed_peers = true;
        ucx_peer_drop_puts(peer);
    }
    /* A peer without operations in flight may exit at any time. */
    if (busy)
        ucx_peer_report(peer, ucx_lib.status_string(status));
}

static void ucx_ep_failed(void *arg, ucp_ep_h ep, ucs_status_t status)
{
    (void)ep;
    ucx_peer_fail(arg, status);
}

int ucx_peer_refused(struct ucx_peer *peer, ucs_status_t status)
{
    if (status == UCS_ERR_NO_RESOURCE || status == UCS_ERR_NO_MEMORY)
        return ucx_errno(status);
    ucx_peer_fail(peer, status);
    ucx_peer_report(peer, ucx_lib.status_string(status));
    return peer->error;
}

/* UCX has cancelled the operations on the endpoint and refers to no buffer of them. */
static void ucx_peer_closed(void *request, ucs_status_t status, void *arg)
{
    struct ucx_peer *peer = arg;

    (void)status;
    ucx_lib.request_free(request);
    peer->closing = false;
    ucx_ops_abandon(peer, true);
}

void ucx_peer_close(struct ucx_peer *peer)
{
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK |
                        UCP_OP_ATTR_FIELD_USER_DATA,
        .flags = UCP_EP_CLOSE_FLAG_FORCE,
        .cb.send = ucx_peer_closed,
        .user_data = peer,
    };
    ucs_status_ptr_t request;

    if (peer->ep == NULL)
        return;
    for (int i = 0; i < SEGMENTS; i++)
        if (peer->segment[i].key != NULL)
            ucx_lib.rkey_destroy(peer->segment[i].key);
    request = ucx_lib.ep_close_nbx(peer->ep, &param);
    peer->closing = UCS_PTR_IS_PTR(request);
    peer->ep = NULL;
}

void ucx_lost(struct transport_net *net, int pe, bool node)
{
    (void)node;
    store_relaxed_u32(&net->lost[pe], 1);
    fetch_add_acq_rel_u32(&net->losses, 1);
}

void ucx_peer_lose(struct ucx_peer *peer)
{
    if (peer->lost)
        return;
    peer->lost = peer->reported = true;
    if (peer->error == 0)
        ucx_peer_drop_puts(peer);
    peer->error = -EHOSTDOWN;
    ucx_peer_close(peer);
    ucx_ops_abandon(peer, !peer->closing);
}

/* ---- connecting -------------------------------------------------------------------- */

static ucs_status_t ucx_ep_create(struct ucx_peer *peer, const ucp_address_t *address)
{
    const ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS |
                      UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = address,
        .err_mode = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {.cb = ucx_ep_failed, .arg = peer},
    };

    return ucx_lib.ep_create(peer->ctx->worker, &params, &peer->ep);
}

static ucs_status_t ucx_ep_connect(struct ucx_peer *peer,
                                   const struct ucx_address *address)
{
    ucs_status_t status = ucx_ep_create(peer, address->worker);

    for (int i = 0; i < SEGMENTS && status == UCS_OK; i++) {
        peer->segment[i].base = address->segment[i].base;
        if (address->segment[i].key != NULL)
            status = ucx_lib.ep_rkey_unpack(peer->ep, address->segment[i].key,
                                            &peer->segment[i].key);
    }
    return status;
}

/* Connect at the first operation to a PE. */
static void ucx_peer_connect(struct ucx_peer *peer, const void *bytes, ssize_t len)
{
    struct ucx_address address;
    ucs_status_t status;

    if (len < 0 || !ucx_address_parse(bytes, (size_t)len, &address)) {
        peer->error = -EHOSTUNREACH;
        ucx_peer_report(peer, "it has no valid endpoint descriptor");
        return;
    }
    status = ucx_ep_connect(peer, &address);
    if (status != UCS_OK) {
        ucx_peer_fail(peer, status);
        ucx_peer_report(peer, ucx_lib.status_string(status));
    }
}

/* 0; -EAGAIN: its address is awaited, and there is no record of it yet; or -ENOMEM. */
static int ucx_peer_new(struct transport_ctx *ctx, int pe)
{
    const struct transport_world *world = ctx->net->world;
    unsigned char bytes[TRANSPORT_ADDRESS_MAX];
    ssize_t len = -1;

    if (load_relaxed_u32(&ctx->net->lost[pe]) == 0)
        len = world->address_of(world, pe, bytes, sizeof bytes);
    if (len == -EAGAIN)
        return -EAGAIN;
    struct ucx_peer *peer = calloc(1, sizeof *peer);
    if (peer == NULL)
        return -ENOMEM;
    peer->ctx = ctx;
    peer->pe = pe;
    ctx->peers[pe] = peer;
    peer->lost = peer->reported = load_relaxed_u32(&ctx->net->lost[pe]) != 0;
    if (peer->lost)
        peer->error = -EHOSTDOWN;
    else
        ucx_peer_connect(peer, bytes, len);
    return 0;
}

int ucx_peer_get(struct transport_ctx *ctx, int pe, struct ucx_peer **peer)
{
    int rc = likely(ctx->peers[pe] != NULL) ? 0 : ucx_peer_new(ctx, pe);

    if (unlikely(rc != 0))
        return rc;
    *peer = ctx->peers[pe];
    if (likely((*peer)->error == 0))
        return 0;
    /* UCX may have reported an error before ucx_lost; the next progress purges. */
    if (load_relaxed_u32(&ctx->net->lost[pe]) != 0)
        return -EHOSTDOWN;
    ucx_peer_report(*peer, "the connection was lost while no operation was in flight");
    return (*peer)->error;
}
