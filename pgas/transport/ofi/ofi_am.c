/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ofi_am.c - amos by messages, where the provider's atomics are not atomic with respect
 * to CPU atomics; and puts with signal.
 *
 * A request goes to the target's context 0.  The thread that makes progress there
 * performs it and sends the reply to the endpoint that sent the request.  Every message
 * is checked before it is performed: length, kind, sender, token, addresses.
 *
 * A receive is reposted as soon as its message has been read, whether or not the reply
 * can be sent (ofi_reply.c), so that two PEs without send buffers still receive each
 * other's messages.
 * Uses: ofi.h, perform.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "pgas/datatype/copy.h"
#include "pgas/transport/ofi/ofi_blocks.h"
#include "pgas/transport/perform.h"
#include "pgas/transport/perform_blocks.h"

bool ofi_am_may_inject(const struct transport_ctx *ctx, size_t len)
{
    const struct transport_net *net = ctx->net;

    return len <= net->info->tx_attr->inject_size && !net->avoid[CAPABILITY_INJECT] &&
           (ctx->unsignaled || !net->survives);
}

ssize_t ofi_am_inject(struct transport_ctx *ctx, const void *message, size_t len,
                      fi_addr_t to, void *context)
{
    struct iovec iov = {.iov_base = (void *)(uintptr_t)message, .iov_len = len};
    const struct fi_msg msg = {
        .msg_iov = &iov, .iov_count = 1, .addr = to, .context = context};

    return ctx->net->survives ? fi_sendmsg(ctx->ep, &msg, FI_INJECT)
                              : fi_inject(ctx->ep, message, len, to);
}

/* ---- receives -------------------------------------------------------------------- */

static int ofi_am_post_recv(struct transport_ctx *ctx, struct ofi_op *op)
{
    ssize_t rc = fi_recv(ctx->ep, op->to, op->len, ctx->recv_buffers.desc, FI_ADDR_UNSPEC,
                         &op->fi);

    return rc == 0 ? 0 : rc == -FI_EAGAIN ? -EAGAIN : -ofi_errno((int)-rc);
}

int ofi_am_post_recvs(struct transport_ctx *ctx)
{
    if (ofi_recv_buffers_make(ctx) != 0)
        return -ENOMEM;
    for (int i = 0; i < OFI_RECVS && !ctx->recvs_posted; i++) {
        struct ofi_op *op = ofi_op_alloc(ctx, OFI_RECV, ctx->net->world->me, NULL);
        if (op == NULL)
            return -ENOMEM;
        ctx->in_flight--; /* not an operation of this PE */
        op->to = ctx->recv_buffers.memory + (size_t)i * OFI_MESSAGE_MAX;
        op->len = OFI_MESSAGE_MAX;
        int rc = ofi_am_post_recv(ctx, op);
        if (rc != 0)
            ofi_op_free(ctx, op);
        if (rc != 0 && (i == 0 || rc != -EAGAIN))
            return rc;
        if (rc != 0)
            break; /* the provider's queue is full */
    }
    ctx->recvs_posted = true;
    return 0;
}

/* ---- requests -------------------------------------------------------------------- */

void ofi_am_fill_request(const struct transport_ctx *ctx, struct ofi_op *op,
                         enum ofi_message_type type, const struct transport_symaddr *at,
                         const struct transport_amo *amo)
{
    op->to = amo->result;
    op->len = amo->size;
    op->u.message = (struct ofi_message){.token = ofi_op_token(op),
                                         .offset = at->offset,
                                         .operand = amo->operand,
                                         .cond = amo->cond,
                                         .pe = ctx->net->world->me,
                                         .context = ctx->number,
                                         .type = (uint8_t)type,
                                         .op = (uint8_t)amo->op,
                                         .size = (uint8_t)amo->size,
                                         .segment = (uint8_t)at->segment};
    if (ctx == ctx->net->ctx_0)
        return;
    op->u.message.name_len = ctx->name_len;
    memcpy(op->u.message.name, ctx->name, ctx->name_len);
}

/* A request keeps its record until the reply has arrived
 * and, unless the message is injected, the send has completed. An unacknowledged put with
 * signal is injected only in ordered mode, where a later flush implies it was sent. */
int ofi_am_send(struct transport_ctx *ctx, struct ofi_op *op,
                const struct ofi_target *target, const void *message, size_t len,
                const char *what)
{
    void *desc = op->bounce != NULL ? ctx->bounces.desc : op->desc;
    bool wants_reply = op->kind == OFI_REQUEST;
    bool copied = ofi_am_may_inject(ctx, len) && (wants_reply || ctx->net->ordered);
    int pe = op->pe;
    ssize_t posted;

    if (copied)
        posted =
            ofi_am_inject(ctx, message, len, target->addr, ofi_unsignaled_context(pe));
    else
        posted = fi_send(ctx->ep, message, len, desc, target->addr, &op->fi);
    op->events_pending = wants_reply && !copied ? 2 : 1;
    int rc = ofi_post_result(ctx, op, pe, posted, what);
    if (rc != 0)
        return rc;
    PGAS_ASSERT(!wants_reply || op->u.message.token == ofi_op_token(op));
    op->awaits_reply = wants_reply;
    ctx->amos_in_flight += wants_reply;
    if (copied && wants_reply && !op->fills_bounce)
        ofi_bounce_free(ctx, op);
    else if (copied && !wants_reply)
        ofi_op_complete(ctx, op, 0);
    return 0;
}

int ofi_am_send_request(struct transport_ctx *ctx, enum ofi_message_type type,
                        const struct transport_symaddr *at,
                        const struct transport_amo *amo,
                        struct transport_completion *done)
{
    struct ofi_target target;
    int rc = ctx->recvs_posted ? 0 : ofi_am_post_recvs(ctx);

    if (rc == 0)
        rc = ofi_target(ctx, at, &target);
    if (rc != 0)
        return rc;
    struct ofi_op *op = ofi_op_alloc(ctx, OFI_REQUEST, at->pe, done);
    if (op == NULL)
        return -EAGAIN;
    ofi_am_fill_request(ctx, op, type, at, amo);
    return ofi_am_send(ctx, op, &target, &op->u.message,
                       ofi_message_header_len(&op->u.message),
                       type == OFI_MESSAGE_WINDOW ? "a request for a window"
                                                  : "a message with an atomic operation");
}

/* ---- puts with signal ------------------------------------------------------------ */

/* The endpoint names of all contexts have the same length. */
size_t ofi_signal_max(struct transport_net *net)
{
    return OFI_EAGER_MAX - offsetof(struct ofi_message, name) - net->ctx_0->name_len;
}

/* Copy header and data into a bounce buffer, so that `from` may be changed at once. */
static int ofi_am_pack_signal(struct transport_ctx *ctx, struct ofi_op *op,
                              const struct transport_symaddr *to, const void *from,
                              size_t len, const struct transport_signal *signal)
{
    const struct transport_amo amo = {.op = signal->op,
                                      .size = signal->size,
                                      .operand = signal->operand,
                                      .cond = to->offset};
    struct ofi_message *m = &op->u.message;

    op->bounce = ofi_bounce_new(ctx);
    if (op->bounce == NULL)
        return ofi_bounce_missing(ctx);
    ofi_am_fill_request(
        ctx, op, op->kind == OFI_UNACKED ? OFI_MESSAGE_UNACKED : OFI_MESSAGE_SIGNAL,
        &signal->at, &amo);
    m->name_len = op->kind == OFI_UNACKED ? 0 : m->name_len;
    m->len = (uint16_t)len;
    m->data_segment = (uint8_t)to->segment;
    PGAS_ASSERT(ofi_message_header_len(m) + len <= OFI_EAGER_MAX);
    memcpy(op->bounce, m, ofi_message_header_len(m));
    if (len > 0)
        memcpy(op->bounce + ofi_message_header_len(m), from, len);
    return 0;
}

int ofi_put_signal(struct transport_ctx *ctx, const struct transport_symaddr *to,
                   const void *from, size_t len, const struct transport_signal *signal,
                   struct transport_completion *done)
{
    struct ofi_target target;
    bool unacked = signal->unacked && (ctx->net->ordered || !ctx->net->survives);
    int rc = ctx->recvs_posted || unacked ? 0 : ofi_am_post_recvs(ctx);

    if (rc == 0)
        rc = ofi_target(ctx, to, &target);
    if (rc != 0)
        return rc;
    if (signal->after_puts && !ofi_rma_is_after_puts(ctx, to->pe))
        return -EAGAIN;
    if (ctx->unflushed >= OFI_UNFLUSHED_MAX && ofi_quiet(ctx) != 0)
        return -EAGAIN;
    struct ofi_op *op =
        ofi_op_alloc(ctx, unacked ? OFI_UNACKED : OFI_REQUEST, to->pe, NULL);
    if (op == NULL)
        return -EAGAIN;
    rc = ofi_am_pack_signal(ctx, op, to, from, len, signal);
    if (rc != 0) {
        ofi_op_free(ctx, op);
        ctx->in_flight--;
        return rc;
    }
    size_t all = ofi_message_header_len(&op->u.message) + len;
    rc = ofi_am_send(ctx, op, &target, op->bounce, all, "a put with signal");
    if (rc != 0)
        return rc;
    if (unacked && ctx->net->ordered)
        ofi_rma_mark_dirty(ctx, to->pe); /* bounds the provider's queue */
    if (unacked && ctx->net->survives)
        ofi_bit_set(ctx->unconfirmed, to->pe);
    perform_completion(done, 0);
    return 0;
}

/* ---- confirmation of unacknowledged puts with signal ------------------------------- */

/* Send a request without effect.  0; -EAGAIN; or -errno: the PE has failed. */
static int ofi_am_confirm_pe(struct transport_ctx *ctx, int pe)
{
    const struct transport_amo fetch = {.op = TRANSPORT_AMO_FETCH,
                                        .size = sizeof(uint32_t)};
    struct transport_symaddr at = {.pe = pe};
    struct ofi_target target;
    int rc = ofi_target(ctx, &at, &target);

    if (rc != 0)
        return rc;
    at.segment = (enum transport_segment)target.peer->flush;
    return ofi_am_send_request(ctx, OFI_MESSAGE_AMO, &at, &fetch, NULL);
}

int ofi_am_confirm(struct transport_ctx *ctx)
{
    PGAS_ASSERT(ctx->net->survives);
    for (int pe = 0; pe < ctx->net->world->npes; pe++) {
        if (ofi_bit(ctx->unconfirmed, pe) && ofi_am_confirm_pe(ctx, pe) == -EAGAIN)
            return -EAGAIN;
        ofi_bit_clear(ctx->unconfirmed, pe);
    }
    return 0;
}

/* ---- performing requests --------------------------------------------------------- */

/* The local address of [offset, offset + len) in a segment; NULL: out of bounds. */
static char *ofi_am_local_address(const struct transport_net *net, unsigned segment,
                                  uint64_t offset, size_t len)
{
    if (segment >= SEGMENTS || len > net->world->segment[segment].len ||
        offset > net->world->segment[segment].len - len)
        return NULL;
    return (char *)net->world->segment[segment].base + offset;
}

/* Perform a request: copy the m->len bytes of a put at data, then update the word; every
 * amo that writes is a release. 0; or -errno, and nothing was written. */
static int ofi_am_perform(const struct transport_net *net, const struct ofi_message *m,
                          const void *data, uint64_t *before)
{
    const struct transport_amo amo = {.op = (enum transport_amo_op)m->op,
                                      .size = m->size,
                                      .operand = m->operand,
                                      .cond = m->cond};

    if (m->type == OFI_MESSAGE_PUT_BLOCKS)
        return perform_put_message(net->world, m->operand, data, m->len);
    if (m->op >= TRANSPORT_AMO_OPS ||
        (m->size != sizeof(uint32_t) && m->size != sizeof(uint64_t)))
        return -EINVAL;
    char *word = ofi_am_local_address(net, m->segment, m->offset, m->size);
    char *to = m->type == OFI_MESSAGE_AMO
                   ? word
                   : ofi_am_local_address(net, m->data_segment, m->cond, m->len);
    if (word == NULL || to == NULL || m->offset % m->size != 0)
        return -EFAULT;
    if (m->len > 0)
        copy_bytes(to, data, m->len); /* stores a word whole */
    *before = perform_amo(word, &amo);
    return 0;
}

/* Report a bad target address at the target: no reply reports it to the sender. */
static void ofi_am_report_bad_target(const struct transport_net *net,
                                     const struct ofi_message *message)
{
    char text[TRANSPORT_TEXT_MAX];

    snprintf(text, sizeof text,
             "put with signal from PE %d: the target address is outside the symmetric "
             "memory of PE %d",
             message->pe, net->world->me);
    net->world->failed(net->world, -1, text);
}

void ofi_am_repost_recvs(struct transport_ctx *ctx)
{
    while (ctx->unposted_recvs.first != NULL &&
           ofi_am_post_recv(ctx, ctx->unposted_recvs.first) != -EAGAIN)
        ofi_queue_pop(&ctx->unposted_recvs);
}

/* ---- received messages ----------------------------------------------------------- */

/* Why a message of len bytes is malformed; NULL: it is valid. Checks lengths, kinds and
 * PE numbers; ofi_am_handle_reply checks tokens, ofi_am_perform addresses. */
static const char *ofi_message_fault(const struct transport_ctx *ctx,
                                     const struct ofi_message *m, size_t len)
{
    if (len < offsetof(struct ofi_message, name))
        return "it is shorter than a header";
    if (m->type > OFI_MESSAGE_REPLY)
        return "its kind is unknown";
    if (m->name_len > OFI_NAME_MAX || len != ofi_message_header_len(m) + m->len)
        return "its length differs from that in its header";
    if (m->type == OFI_MESSAGE_REPLY)
        return m->name_len > 0                       ? "it is a reply with a name"
               : m->pe > 0 || m->pe < -OFI_ERRNO_MAX ? "its error is not an errno value"
                                                     : NULL;
    if ((m->type == OFI_MESSAGE_AMO || m->type == OFI_MESSAGE_WINDOW) && m->len > 0)
        return "it has data, but a request of its type has none";
    if (ctx != ctx->net->ctx_0)
        return "it is a request to a context that receives only replies";
    if (m->pe < 0 || m->pe >= ctx->net->world->npes)
        return "its sender is not a PE of this job";
    return NULL;
}

void ofi_am_report_malformed(const struct transport_net *net, size_t len, const char *why)
{
    char text[TRANSPORT_TEXT_MAX], what[64];

    if (len > 0)
        snprintf(what, sizeof what, "message of %zu bytes", len);
    else
        snprintf(what, sizeof what, "write with immediate data");
    snprintf(text, sizeof text,
             "PE %d rejected a malformed %s on its libfabric endpoint: "
             "%s. A PE's memory is corrupted, or another program sends to this port.",
             net->world->me, what, why);
    net->world->failed(net->world, -1, text);
}

/* Of requests that fail only if they are malformed. */
static const char *const ofi_am_text[] = {
    [OFI_MESSAGE_SIGNAL] = "a put with signal",
    [OFI_MESSAGE_PUT_BLOCKS] = "a put of blocks",
    [OFI_MESSAGE_GET_BLOCKS] = "a get of blocks",
    [OFI_MESSAGE_WINDOW] = "a request for a window",
};

/* A reply with an old generation is ignored: the operation ended when its peer failed. */
static void ofi_am_handle_reply(struct transport_ctx *ctx,
                                const struct ofi_message *message, void *data, size_t len)
{
    struct ofi_op *op = ofi_op_of_token(ctx, message->token);

    if (op == NULL) {
        ofi_am_report_malformed(ctx->net, len, "its token matches no operation");
        return;
    }
    if (message->token != ofi_op_token(op) || !op->awaits_reply)
        return;
    PGAS_ASSERT(op->kind == OFI_REQUEST || op->kind == OFI_ABANDONED);
    const struct transport_blocks *blocks =
        op->kind == OFI_REQUEST && op->u.message.type == OFI_MESSAGE_GET_BLOCKS &&
                message->pe == 0
            ? op->to
            : NULL;
    if (op->kind == OFI_REQUEST && message->len != (blocks != NULL ? blocks->bytes : 0)) {
        ofi_am_report_malformed(ctx->net, len, "it is a reply with a wrong length");
        return;
    }
    if (op->u.message.type == OFI_MESSAGE_WINDOW && !ofi_window_grant_is_valid(message)) {
        ofi_am_report_malformed(ctx->net, len, "it grants a window that cannot exist");
        return;
    }
    op->awaits_reply = false;
    if (op->kind == OFI_REQUEST && op->u.message.type == OFI_MESSAGE_WINDOW)
        ofi_window_granted(ctx, op->pe, message);
    if (op->kind == OFI_REQUEST && op->u.message.type == OFI_MESSAGE_PUT_BLOCKS &&
        op->slot >= 0)
        ofi_window_free_slot(ctx, op->pe, op->slot);
    if (blocks != NULL)
        blocks->copy(blocks, data);
    if (op->kind == OFI_REQUEST && message->pe == 0 &&
        op->u.message.type == OFI_MESSAGE_AMO) {
        const struct transport_amo amo = {.size = (uint32_t)op->len, .result = op->to};
        perform_result(&amo, message->operand);
    }
    if (op->kind == OFI_REQUEST && message->pe != 0 &&
        op->u.message.type != OFI_MESSAGE_AMO)
        ofi_peer_failed(ctx, op->pe, ofi_am_text[op->u.message.type], -message->pe, NULL);
    else
        ofi_op_event(ctx, op, message->pe);
}

/* Read and perform the message before its receive buffer is reposted. */
void ofi_am_recv(struct transport_ctx *ctx, struct ofi_op *op, size_t len)
{
    struct ofi_message message = {0};
    uint64_t before = 0;
    int error = 0;

    PGAS_ASSERT(op->kind == OFI_RECV && len <= op->len);
    memcpy(&message, op->to, len < sizeof message ? len : sizeof message);
    const char *why = ofi_message_fault(ctx, &message, len);
    char *data = (char *)op->to + (why == NULL ? ofi_message_header_len(&message) : 0);
    if (why == NULL && message.type == OFI_MESSAGE_REPLY)
        ofi_am_handle_reply(ctx, &message, data, len);
    else if (why == NULL && message.type == OFI_MESSAGE_GET_BLOCKS)
        ofi_blocks_reply(ctx, &message, data);
    else if (why == NULL && message.type == OFI_MESSAGE_WINDOW)
        ofi_window_grant(ctx, &message);
    else if (why == NULL)
        error = ofi_am_perform(ctx->net, &message, data, &before);
    bool queued = ctx->unposted_recvs.first != NULL;
    if (queued || ofi_am_post_recv(ctx, op) == -EAGAIN)
        ofi_queue_push(&ctx->unposted_recvs, op);
    if (why != NULL)
        ofi_am_report_malformed(ctx->net, len, why);
    else if (message.type < OFI_MESSAGE_GET_BLOCKS)
        ofi_reply(ctx, &message, error, before, NULL, 0);
    else if (error != 0)
        ofi_am_report_bad_target(ctx->net, &message);
}

void ofi_am_recv_failed(struct transport_ctx *ctx, struct ofi_op *op, int error)
{
    if (error == FI_ECANCELED)
        return;
    ofi_queue_push(&ctx->unposted_recvs, op);
    if (error == FI_ETRUNC)
        ofi_am_report_malformed(ctx->net, op->len, "it was truncated to that length");
}
