/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ofi_reply.c - replies to the requests of other PEs (see ofi.h).
 *
 * A reply that cannot be sent at once, perhaps because the address of the requester is
 * awaited, is queued: at most one for each record of each
 * requester (OFI_OPS_MAX per context), until the requester fails or world->timeout_ns has
 * passed.  The queue is first in, first out for each requester, and while it is not empty
 * new replies join it: otherwise a stream of requests could take every bounce buffer that
 * becomes free, and a queued reply would expire. Uses: ofi.h, core/clock.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "pgas/core/base/clock.h"
#include "pgas/transport/ofi/ofi_blocks.h"

/* A reply that could not be sent yet; if its type is OFI_MESSAGE_GET_BLOCKS, the request,
 * which is performed when the reply can be sent. */
struct ofi_reply {
    struct ofi_reply *next;
    uint64_t since_ns;
    fi_addr_t addr; /* FI_ADDR_UNSPEC: it is awaited */
    int pe;         /* the requester */
    struct ofi_message request, message;
    char data[]; /* message.len bytes */
};

/* Send a reply with message->len bytes of data to PE pe.  0 or -EAGAIN. Other errors are
 * ignored: the requester has failed. */
static int ofi_reply_post(struct transport_ctx *ctx, int pe, fi_addr_t addr,
                          const struct ofi_message *message, const void *data)
{
    size_t head = ofi_message_header_len(message);
    ssize_t rc;

    if (message->type == OFI_MESSAGE_GET_BLOCKS)
        return ofi_blocks_post_reply(ctx, pe, addr, message, data);
    if (message->len == 0 && ofi_am_may_inject(ctx, head)) {
        rc = ofi_am_inject(ctx, message, head, addr, NULL);
        return rc == -FI_EAGAIN ? -EAGAIN : 0;
    }
    struct ofi_op *op = ofi_op_alloc(ctx, OFI_REPLY, pe, NULL);
    if (op == NULL)
        return -EAGAIN;
    ctx->in_flight--; /* not an operation of this PE */
    op->u.message = *message;
    if (message->len == 0) {
        rc = fi_send(ctx->ep, &op->u.message, head, op->desc, addr, &op->fi);
    } else if ((op->bounce = ofi_bounce_new(ctx)) != NULL) {
        memcpy(op->bounce, message, head);
        memcpy(op->bounce + head, data, message->len);
        rc = fi_send(ctx->ep, op->bounce, head + message->len, ctx->bounces.desc, addr,
                     &op->fi);
    } else {
        (void)ofi_bounce_missing(ctx);
        rc = -FI_EAGAIN;
    }
    if (rc != 0)
        ofi_op_free(ctx, op);
    return rc == -FI_EAGAIN ? -EAGAIN : 0;
}

static void ofi_reply_queue(struct transport_ctx *ctx, const struct ofi_message *request,
                            fi_addr_t addr, const struct ofi_message *message,
                            const void *data)
{
    struct ofi_reply *reply = malloc(sizeof *reply + message->len);

    if (reply == NULL) {
        ctx->net->world->failed(ctx->net->world, -1, "no memory for a reply");
        return;
    }
    *reply = (struct ofi_reply){.addr = addr,
                                .pe = request->pe,
                                .since_ns = clock_ns(),
                                .request = *request,
                                .message = *message};
    if (message->len > 0)
        memcpy(reply->data, data, message->len);
    *ctx->last_reply = reply;
    ctx->last_reply = &reply->next;
}

void ofi_reply_send(struct transport_ctx *ctx, const struct ofi_message *request,
                    const struct ofi_message *message, const void *data)
{
    fi_addr_t addr = FI_ADDR_UNSPEC;
    int rc = ofi_peer_reply_addr(ctx->net, request, &addr);

    if (rc == 0 && ctx->replies == NULL)
        rc = ofi_reply_post(ctx, request->pe, addr, message, data);
    else if (rc == 0)
        rc = -EAGAIN;
    if (rc == -EAGAIN)
        ofi_reply_queue(ctx, request, addr, message, data);
    /* another error: there is no address, and the failure was reported */
}

void ofi_reply(struct transport_ctx *ctx, const struct ofi_message *request, int error,
               uint64_t before, const void *data, size_t len)
{
    const struct ofi_message message = {.token = request->token,
                                        .type = OFI_MESSAGE_REPLY,
                                        .operand = before,
                                        .len = (uint16_t)len,
                                        .pe = error};

    ofi_reply_send(ctx, request, &message, data);
}

/* True while the reply must be sent: the requester has not failed, and timeout_ns have
 * not passed. */
static bool ofi_reply_is_due(const struct transport_ctx *ctx,
                             const struct ofi_reply *reply)
{
    uint64_t limit = ctx->net->world->timeout_ns;

    return !ofi_peer_has_failed(ctx->net, reply->pe) &&
           (limit == 0 || clock_ns() - reply->since_ns < limit);
}

/* Send a queued reply.  0 or -EAGAIN. */
static int ofi_reply_post_queued(struct transport_ctx *ctx, struct ofi_reply *reply)
{
    if (reply->addr == FI_ADDR_UNSPEC) {
        int rc = ofi_peer_reply_addr(ctx->net, &reply->request, &reply->addr);
        if (rc != 0)
            return rc == -EAGAIN ? rc : 0;
    }
    return ofi_reply_post(ctx, reply->pe, reply->addr, &reply->message, reply->data);
}

void ofi_reply_retry(struct transport_ctx *ctx)
{
    struct ofi_reply **at = &ctx->replies, *reply;
    int refused = -1; /* PE of the last reply that was refused */

    while ((reply = *at) != NULL) {
        if (ofi_reply_is_due(ctx, reply) &&
            (reply->pe == refused || ofi_reply_post_queued(ctx, reply) != 0)) {
            refused = reply->pe;
            at = &reply->next;
            continue;
        }
        *at = reply->next;
        if (*at == NULL)
            ctx->last_reply = at;
        free(reply);
    }
}

void ofi_reply_free_all(struct transport_ctx *ctx)
{
    struct ofi_reply *reply = ctx->replies, *next;

    ctx->replies = NULL;
    ctx->last_reply = &ctx->replies;
    for (; reply != NULL; reply = next) {
        next = reply->next;
        free(reply);
    }
}
