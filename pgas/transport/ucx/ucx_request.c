/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx_request.c - operations by requests: puts with signal and, if the job survives
 * failures, all others (see ucx.h).
 * Uses: ucx.h, perform.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/threads/atomic.h"
#include "pgas/transport/perform.h"
#include "pgas/transport/perform_blocks.h"
#include "pgas/transport/ucx/ucx.h"

enum { LONG_PARTS = 16 /* of a long put, in flight */ };

/* ---- the life of a request --------------------------------------------------------- */

/* Complete the caller's completion: the source may be changed. */
static void ucx_request_free_source(struct ucx_op *op)
{
    struct transport_completion *done = op->done;

    op->done = NULL;
    perform_completion(done, 0);
}

/* The operation is done or has failed. */
static void ucx_request_end(struct ucx_op *op, int error)
{
    struct ucx_op *parent = op->parent;

    ucx_peer_count(op->peer, op->kind, -1);
    ucx_op_complete(op, error);
    if (parent == NULL)
        return;
    PGAS_ASSERT(parent->parts > 0);
    parent->parts--;
    if (error == 0)
        return;
    parent->error = error;
    parent->len = 0;
}

/* Handle the send completion or the last reply. */
static void ucx_request_event(struct ucx_op *op, int error)
{
    PGAS_ASSERT(op->peer != NULL && op->events_pending > 0);
    if (error != 0)
        op->error = error;
    if (--op->events_pending > 0)
        return;
    if (!op->abandoned)
        ucx_request_end(op, op->error);
    ucx_op_free(op);
}

/* A long put ends in ucx_request_post_longs.  A reply that arrives later has a token of
 * another generation or no operation that awaits it, and is ignored. */
void ucx_request_abandon(struct ucx_op *op)
{
    PGAS_ASSERT(!op->abandoned);
    if (op->events_pending == 0) { /* a long put */
        op->error = op->peer->error;
        op->len = 0;
        return;
    }
    op->abandoned = true;
    ucx_request_end(op, op->peer->error);
    op->events_pending -= op->awaits_reply;
    op->awaits_reply = false;
    if (op->events_pending == 0)
        ucx_op_free(op);
}

static void ucx_request_sent(void *request, ucs_status_t status, void *arg)
{
    struct ucx_op *op = arg;

    ucx_lib.request_free(request);
    if (status != UCS_OK)
        ucx_peer_fail(op->peer, status);
    if (status != UCS_OK && !op->abandoned)
        ucx_request_abandon(op);
    if (op->head.type == UCX_REQUEST_SIGNAL || op->head.type == UCX_REQUEST_PUT)
        ucx_request_free_source(op);
    ucx_request_event(op, 0);
}

/* Send a request with len bytes.  0; or -errno, and its record is free. */
static int ucx_request_post(struct ucx_op *op, const void *from, size_t len, bool replies)
{
    struct ucx_peer *peer = op->peer;
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                        UCP_OP_ATTR_FIELD_FLAGS,
        .flags = UCP_AM_SEND_FLAG_EAGER | (replies ? UCP_AM_SEND_FLAG_REPLY : 0),
        .cb.send = ucx_request_sent,
        .user_data = op,
    };

    PGAS_ASSERT(len <= UCX_DATA_MAX);
    op->head.token = ucx_op_token(op);
    op->head.pe = peer->ctx->net->world->me;
    op->error = 0;
    op->events_pending = replies ? 2 : 1;
    op->awaits_reply = replies;
    ucs_status_ptr_t request = ucx_lib.am_send_nbx(peer->ep, UCX_REQUEST_ID, &op->head,
                                                   sizeof op->head, from, len, &param);
    if (unlikely(UCS_PTR_IS_ERR(request))) {
        peer->ctx->in_use--;
        ucx_op_free(op);
        return ucx_peer_refused(peer, UCS_PTR_STATUS(request));
    }
    ucx_peer_count(peer, op->kind, 1);
    if (request != NULL)
        return 0;
    if (op->head.type == UCX_REQUEST_SIGNAL || op->head.type == UCX_REQUEST_PUT)
        ucx_request_free_source(op);
    ucx_request_event(op, 0);
    return 0;
}

/* ---- replies ----------------------------------------------------------------------- */

static void ucx_request_report(const struct ucx_op *op, int error)
{
    static const char *const text[] = {[UCX_REQUEST_SIGNAL] = "a put with signal",
                                       [UCX_REQUEST_PUT] = "a put",
                                       [UCX_REQUEST_GET] = "a get",
                                       [UCX_REQUEST_AMO] = "an atomic operation",
                                       [UCX_REQUEST_PUT_BLOCKS] = "a put of blocks",
                                       [UCX_REQUEST_GET_BLOCKS] = "a get of blocks"};
    const struct transport_world *world = op->peer->ctx->net->world;
    char message[TRANSPORT_TEXT_MAX];

    snprintf(message, sizeof message, "PE %d rejected %s: %s", op->peer->pe,
             text[op->head.type], strerror(-error));
    world->failed(world, op->peer->pe, message);
}

/* Store the bytes of a reply to a get.  False: they are not what was requested. */
static bool ucx_request_store(struct ucx_op *op, uint64_t at, const void *data,
                              size_t len)
{
    if (len == 0 || len > op->left || at > op->head.len || len > op->head.len - at)
        return false;
    memcpy(op->to + at, data, len);
    op->left -= len;
    return true;
}

bool ucx_request_takes_data(const struct transport_ctx *ctx, uint64_t token)
{
    const struct ucx_op *op = ucx_op_of_token(ctx, token);

    return ctx->net->by_requests ||
           (op != NULL && op->awaits_reply && op->head.type == UCX_REQUEST_GET_BLOCKS);
}

/* A reply to a completed operation is ignored: its peer had failed before. */
bool ucx_request_handle_reply(struct transport_ctx *ctx,
                              const struct ucx_reply_header *reply, const void *data,
                              size_t len)
{
    struct ucx_op *op = ucx_op_of_token(ctx, reply->token);

    if (op == NULL || reply->error > 0 || reply->error < -UCX_ERRNO_MAX)
        return false;
    if (reply->token != ucx_op_token(op) || !op->awaits_reply)
        return true;
    PGAS_ASSERT(!op->abandoned);
    bool gets = op->head.type == UCX_REQUEST_GET && reply->error == 0;
    bool blocks = op->head.type == UCX_REQUEST_GET_BLOCKS && reply->error == 0;
    if (gets     ? !ucx_request_store(op, reply->value, data, len)
        : blocks ? len != op->blocks->bytes
                 : len > 0)
        return false;
    if (blocks)
        op->blocks->copy(op->blocks, (void *)(uintptr_t)data);
    if (gets && op->left > 0)
        return true;
    op->awaits_reply = false;
    op->reply = reply->value;
    if (reply->error != 0)
        ucx_request_report(op, (int)reply->error);
    ucx_request_event(op, (int)reply->error);
    return true;
}

/* ---- put with signal --------------------------------------------------------------- */

size_t ucx_signal_max(struct transport_net *net)
{
    (void)net;
    return UCX_DATA_MAX;
}

int ucx_put_signal(struct transport_ctx *ctx, const struct transport_symaddr *to,
                   const void *from, size_t len, const struct transport_signal *signal,
                   struct transport_completion *done)
{
    bool by_requests = ctx->net->by_requests;
    bool unacked = signal->unacked && (!by_requests || len <= UCX_ORDERED_MAX);
    struct ucx_peer *peer = ctx->peers[to->pe];
    struct ucx_op *op;

    if (signal->after_puts && peer != NULL && !ucx_peer_puts_flushed(peer))
        return -EAGAIN;
    int err =
        ucx_op_alloc(ctx, to->pe, unacked && !by_requests ? UCX_PUT : UCX_AMO, done, &op);
    if (err != 0)
        return err;
    peer = op->peer;
    op->head = (struct ucx_request_header){.type = UCX_REQUEST_SIGNAL,
                                           .operand = signal->operand,
                                           .word_offset = signal->at.offset,
                                           .offset = to->offset,
                                           .op = (uint8_t)signal->op,
                                           .size = (uint8_t)signal->size,
                                           .word_segment = (uint8_t)signal->at.segment,
                                           .segment = (uint8_t)to->segment};
    err = ucx_request_post(op, from, len, !unacked);
    if (err != 0)
        return err;
    if (unacked && by_requests)
        peer->unconfirmed = true;
    else if (unacked)
        ucx_peer_unflushed(peer);
    return 0;
}

/* ---- put --------------------------------------------------------------------------- */

static int ucx_request_put_part(struct transport_ctx *ctx,
                                const struct transport_symaddr *to, const void *from,
                                size_t len, struct transport_completion *done,
                                struct ucx_op *parent)
{
    struct ucx_op *op;
    int err = ucx_op_alloc(ctx, to->pe, UCX_AMO, done, &op);

    if (err != 0)
        return err;
    op->parent = parent;
    op->head = (struct ucx_request_header){
        .type = UCX_REQUEST_PUT, .offset = to->offset, .segment = (uint8_t)to->segment};
    return ucx_request_post(op, from, len, true);
}

static bool ucx_request_is_retried(int err)
{
    return err == -EAGAIN || err == -ENOMEM;
}

/* Post parts of a long put, as resources permit. */
static void ucx_long_post(struct transport_ctx *ctx, struct ucx_op *op)
{
    while (op->len > 0 && op->parts < LONG_PARTS) {
        size_t len = op->len < UCX_DATA_MAX ? op->len : UCX_DATA_MAX;
        int err = ucx_request_put_part(ctx, &op->at, op->from, len, NULL, op);
        if (ucx_request_is_retried(err))
            return;
        if (err != 0) {
            op->error = err;
            op->len = 0;
            return;
        }
        op->parts++;
        op->at.offset += len;
        op->from += len;
        op->len -= len;
    }
}

void ucx_request_post_longs(struct transport_ctx *ctx)
{
    for (struct ucx_op **link = &ctx->longs, *op; (op = *link) != NULL;) {
        ucx_long_post(ctx, op);
        if (op->len > 0 || op->parts > 0) {
            link = &op->next;
            continue;
        }
        *link = op->next;
        ucx_request_end(op, op->error);
        ucx_op_free(op);
    }
}

static int ucx_long_start(struct transport_ctx *ctx, const struct transport_symaddr *to,
                          const void *from, size_t len, struct transport_completion *done)
{
    struct ucx_op *op;
    int err = ucx_op_alloc(ctx, to->pe, UCX_AMO, done, &op);

    if (err != 0)
        return err;
    op->at = *to;
    op->from = from;
    op->len = len;
    op->parts = 0;
    op->error = 0;
    ucx_peer_count(op->peer, op->kind, 1);
    op->next = ctx->longs;
    ctx->longs = op;
    ucx_long_post(ctx, op);
    return 0;
}

int ucx_request_put(struct transport_ctx *ctx, const struct transport_symaddr *to,
                    const void *from, size_t len, struct transport_completion *done)
{
    return len > UCX_DATA_MAX ? ucx_long_start(ctx, to, from, len, done)
                              : ucx_request_put_part(ctx, to, from, len, done, NULL);
}

/* ---- get and amo ------------------------------------------------------------------- */

int ucx_request_get(struct transport_ctx *ctx, void *to,
                    const struct transport_symaddr *from, size_t len,
                    struct transport_completion *done)
{
    struct ucx_op *op;
    int err = ucx_op_alloc(ctx, from->pe, UCX_GET, done, &op);

    if (err != 0)
        return err;
    op->to = to;
    op->left = len;
    op->head = (struct ucx_request_header){.type = UCX_REQUEST_GET,
                                           .offset = from->offset,
                                           .len = len,
                                           .segment = (uint8_t)from->segment};
    return ucx_request_post(op, NULL, 0, true);
}

int ucx_request_amo(struct transport_ctx *ctx, const struct transport_symaddr *at,
                    const struct transport_amo *amo, struct transport_completion *done)
{
    struct ucx_peer *peer = ctx->peers[at->pe];
    struct ucx_op *op;

    if (amo->after_puts && peer != NULL && !ucx_peer_puts_flushed(peer))
        return -EAGAIN;
    int err = ucx_op_alloc(ctx, at->pe, UCX_AMO, done, &op);
    if (err != 0)
        return err;
    op->size = amo->size;
    op->result = amo->result;
    op->head = (struct ucx_request_header){.type = UCX_REQUEST_AMO,
                                           .operand = amo->operand,
                                           .cond = amo->cond,
                                           .word_offset = at->offset,
                                           .op = (uint8_t)amo->op,
                                           .size = (uint8_t)amo->size,
                                           .word_segment = (uint8_t)at->segment};
    return ucx_request_post(op, NULL, 0, true);
}

/* ---- blocks ------------------------------------------------------------------------ */

size_t ucx_blocks_max(struct transport_ctx *ctx, int pe, size_t bytes)
{
    (void)ctx;
    (void)pe;
    (void)bytes;
    return UCX_DATA_MAX;
}

/* No memory for an operation: it is retried if others are in flight, which will free
 * some, otherwise reported. */
static int ucx_request_no_memory(const struct transport_ctx *ctx)
{
    const struct transport_world *world = ctx->net->world;

    if (ctx->in_use > 0)
        return -EAGAIN;
    world->failed(world, -1, "no memory for a put or get of blocks");
    return -ENOMEM;
}

/* The message is the vectors and, of a put, the packed bytes. */
static int ucx_request_blocks(struct transport_ctx *ctx,
                              const struct transport_blocks *blocks, bool put,
                              struct transport_completion *done)
{
    size_t vectors = perform_vectors_size(blocks->nvectors);
    size_t len = vectors + (put ? blocks->bytes : 0);
    struct ucx_op *op;

    if (ctx->messages_len + len > UCX_BLOCKS_MAX)
        return -EAGAIN;
    char *message = ucx_message_alloc(ctx, len);
    int err =
        message == NULL ? -ENOMEM : ucx_op_alloc(ctx, blocks->pe, UCX_AMO, done, &op);
    if (err != 0) {
        ucx_message_free(ctx, message, len);
        return err == -ENOMEM ? ucx_request_no_memory(ctx) : err;
    }
    memcpy(message, blocks->vector, vectors);
    if (put)
        blocks->copy(blocks, message + vectors);
    ucx_op_set_message(op, message, len);
    op->blocks = blocks;
    op->head = (struct ucx_request_header){.type = put ? UCX_REQUEST_PUT_BLOCKS
                                                       : UCX_REQUEST_GET_BLOCKS,
                                           .operand = blocks->nvectors,
                                           .len = blocks->bytes};
    err = ucx_request_post(op, message, len, true);
    return err == -ENOMEM ? ucx_request_no_memory(ctx) : err;
}

int ucx_put_blocks(struct transport_ctx *ctx, const struct transport_blocks *blocks)
{
    return ucx_request_blocks(ctx, blocks, true, NULL);
}

int ucx_get_blocks(struct transport_ctx *ctx, const struct transport_blocks *blocks,
                   struct transport_completion *done)
{
    return ucx_request_blocks(ctx, blocks, false, done);
}

/* ---- confirmation of unacknowledged puts with signal ------------------------------- */

int ucx_request_confirm(struct transport_ctx *ctx)
{
    for (int pe = 0; pe < ctx->net->world->npes; pe++) {
        const struct transport_symaddr heap = {.pe = pe, .segment = SEGMENT_HEAP};
        struct ucx_peer *peer = ctx->peers[pe];
        if (peer == NULL || !peer->unconfirmed)
            continue;
        if (ucx_request_is_retried(ucx_request_put_part(ctx, &heap, NULL, 0, NULL, NULL)))
            return -EAGAIN;
        peer->unconfirmed = false;
    }
    return 0;
}
