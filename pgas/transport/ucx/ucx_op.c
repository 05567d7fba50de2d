/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucx_op.c - records of operations; put, get and amo by UCX (see ucx.h).
 *
 * Every operation that UCX may complete later has a record.  Records are allocated in
 * blocks, which are freed with the context.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/threads/atomic.h"
#include "pgas/transport/perform.h"
#include "pgas/transport/ucx/ucx.h"

enum {
    BLOCK_OPS = 64,
    /* UCX queues unsent operations without limit; this bounds its memory. */
    MOST_OPS = 4096,
};

struct ucx_block {
    struct ucx_op op[BLOCK_OPS];
};

static bool ucx_op_add_block(struct transport_ctx *ctx)
{
    size_t size = (ctx->nblocks + 1) * sizeof ctx->blocks[0];
    struct ucx_block **blocks = realloc(ctx->blocks, size);

    if (blocks == NULL)
        return false;
    ctx->blocks = blocks;
    struct ucx_block *block = calloc(1, sizeof *block);
    if (block == NULL)
        return false;
    for (unsigned i = 0; i < BLOCK_OPS; i++) {
        block->op[i].index = ctx->nblocks * BLOCK_OPS + i;
        block->op[i].next = ctx->free_ops;
        ctx->free_ops = &block->op[i];
    }
    ctx->blocks[ctx->nblocks++] = block;
    return true;
}

void ucx_ops_free(struct transport_ctx *ctx)
{
    for (unsigned b = 0; b < ctx->nblocks; b++) {
        for (int i = 0; i < BLOCK_OPS; i++)
            free(ctx->blocks[b]->op[i].message); /* of abandoned operations */
        free(ctx->blocks[b]);
    }
    while (ctx->nspares > 0)
        free(ctx->spare[--ctx->nspares]);
    free(ctx->blocks);
    ctx->blocks = NULL;
    ctx->nblocks = 0;
    ctx->free_ops = NULL;
}

struct ucx_op *ucx_op_of_token(const struct transport_ctx *ctx, uint64_t token)
{
    uint32_t index = (uint32_t)token;

    return index < ctx->nblocks * BLOCK_OPS
               ? &ctx->blocks[index / BLOCK_OPS]->op[index % BLOCK_OPS]
               : NULL;
}

int ucx_op_alloc(struct transport_ctx *ctx, int pe, enum ucx_op_kind kind,
                 struct transport_completion *done, struct ucx_op **op)
{
    struct ucx_peer *peer;
    int err = ucx_peer_get(ctx, pe, &peer);

    if (unlikely(err != 0))
        return err;
    if (unlikely(ctx->in_use >= MOST_OPS))
        return -EAGAIN;
    if (unlikely(ctx->free_ops == NULL) && !ucx_op_add_block(ctx))
        return -ENOMEM;
    *op = ctx->free_ops;
    ctx->free_ops = (*op)->next;
    PGAS_ASSERT((*op)->peer == NULL && !(*op)->awaits_reply);
    ctx->in_use++;
    (*op)->kind = kind;
    (*op)->peer = peer;
    (*op)->done = done;
    (*op)->result = NULL;
    (*op)->parent = NULL;
    (*op)->events_pending = 0;
    (*op)->abandoned = false;
    return 0;
}

void *ucx_message_alloc(struct transport_ctx *ctx, size_t len)
{
    PGAS_ASSERT(len <= UCX_DATA_MAX);
    if (len <= UCX_SHORT)
        return malloc(len);
    return ctx->nspares > 0 ? ctx->spare[--ctx->nspares] : malloc(UCX_DATA_MAX);
}

void ucx_message_free(struct transport_ctx *ctx, void *message, size_t len)
{
    if (message != NULL && len > UCX_SHORT && ctx->nspares < UCX_SPARES)
        ctx->spare[ctx->nspares++] = message;
    else
        free(message);
}

void ucx_op_set_message(struct ucx_op *op, void *message, size_t len)
{
    struct transport_ctx *ctx = op->peer->ctx;

    PGAS_ASSERT(ctx->messages_len >= op->message_len);
    ctx->messages_len = ctx->messages_len - op->message_len + len;
    ucx_message_free(ctx, op->message, op->message_len);
    op->message = message;
    op->message_len = len;
}

void ucx_op_free(struct ucx_op *op)
{
    struct transport_ctx *ctx = op->peer->ctx;

    PGAS_ASSERT(op->index < ctx->nblocks * BLOCK_OPS);
    if (op->message != NULL)
        ucx_op_set_message(op, NULL, 0);
    op->peer = NULL;
    op->generation++;
    op->awaits_reply = false;
    op->next = ctx->free_ops;
    ctx->free_ops = op;
}

void ucx_op_complete(struct ucx_op *op, int error)
{
    struct transport_completion *done = op->done;

    PGAS_ASSERT(op->peer != NULL && op->peer->ctx->in_use > 0);
    op->peer->ctx->in_use--;
    if (op->result != NULL && error == 0)
        memcpy(op->result, &op->reply, op->size);
    op->done = NULL;
    perform_completion(done, error);
}

/* UCX has completed a request. */
static void ucx_op_request_done(void *request, ucs_status_t status, void *arg)
{
    struct ucx_op *op = arg;
    struct ucx_peer *peer = op->peer;

    ucx_lib.request_free(request);
    if (status != UCS_OK)
        ucx_peer_fail(peer, status);
    if (!op->abandoned) {
        ucx_peer_count(peer, op->kind, -1);
        ucx_op_complete(op, status == UCS_OK ? 0 : peer->error);
    }
    ucx_op_free(op);
}

/* UCX 1.13 never completes fetching amos to a dead PE, so complete them here. Their
 * records stay allocated until UCX completes them. */
void ucx_ops_abandon(struct ucx_peer *peer, bool gets)
{
    for (unsigned b = 0; b < peer->ctx->nblocks; b++)
        for (int i = 0; i < BLOCK_OPS; i++) {
            struct ucx_op *op = &peer->ctx->blocks[b]->op[i];
            if (op->peer != peer || op->abandoned)
                continue;
            if (peer->ctx->net->by_requests || op->events_pending > 0) {
                ucx_request_abandon(op);
                continue;
            }
            if (op->kind == UCX_GET && !gets)
                continue;
            op->abandoned = true;
            ucx_peer_count(peer, op->kind, -1);
            ucx_op_complete(op, peer->error);
        }
}

static ucp_request_param_t ucx_op_param(struct ucx_op *op)
{
    return (ucp_request_param_t){
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
        .cb.send = ucx_op_request_done,
        .user_data = op,
    };
}

/* Handle the return value of a post. */
static int ucx_op_post_result(struct ucx_op *op, ucs_status_ptr_t request)
{
    struct ucx_peer *peer = op->peer;
    enum ucx_op_kind kind = op->kind;

    if (unlikely(UCS_PTR_IS_ERR(request))) {
        peer->ctx->in_use--;
        ucx_op_free(op);
        return ucx_peer_refused(peer, UCS_PTR_STATUS(request));
    }
    if (kind == UCX_PUT)
        ucx_peer_unflushed(peer);
    if (request == NULL) {
        ucx_op_complete(op, 0);
        ucx_op_free(op);
    } else {
        ucx_peer_count(peer, kind, 1);
    }
    return 0;
}

/* ---- put, get and amo -------------------------------------------------------------- */

static uint64_t ucx_op_remote_address(const struct ucx_op *op,
                                      const struct transport_symaddr *symaddr)
{
    return op->peer->segment[symaddr->segment].base + symaddr->offset;
}

static ucp_rkey_h ucx_op_rkey(const struct ucx_op *op,
                              const struct transport_symaddr *symaddr)
{
    return op->peer->segment[symaddr->segment].key;
}

int ucx_put(struct transport_ctx *ctx, const struct transport_symaddr *to,
            const void *from, size_t len, struct transport_completion *done)
{
    ucp_request_param_t param;
    struct ucx_op *op;
    int err;

    if (ctx->net->by_requests)
        return ucx_request_put(ctx, to, from, len, done);
    err = ucx_op_alloc(ctx, to->pe, UCX_PUT, done, &op);
    if (err != 0)
        return err;
    param = ucx_op_param(op);
    return ucx_op_post_result(op, ucx_lib.put_nbx(op->peer->ep, from, len,
                                                  ucx_op_remote_address(op, to),
                                                  ucx_op_rkey(op, to), &param));
}

int ucx_get(struct transport_ctx *ctx, void *to, const struct transport_symaddr *from,
            size_t len, struct transport_completion *done)
{
    ucp_request_param_t param;
    struct ucx_op *op;
    int err;

    if (ctx->net->by_requests)
        return ucx_request_get(ctx, to, from, len, done);
    err = ucx_op_alloc(ctx, from->pe, UCX_GET, done, &op);
    if (err != 0)
        return err;
    param = ucx_op_param(op);
    return ucx_op_post_result(op, ucx_lib.get_nbx(op->peer->ep, to, len,
                                                  ucx_op_remote_address(op, from),
                                                  ucx_op_rkey(op, from), &param));
}

/* UCX has no atomic fetch and set, so FETCH adds 0 and SET swaps. */
struct ucx_amo {
    ucp_atomic_op_t op;
    bool replies;    /* UCX requires a reply buffer */
    bool no_operand; /* the operand is 0 */
};

static const struct ucx_amo amo_table[TRANSPORT_AMO_OPS] = {
    [TRANSPORT_AMO_SET] = {UCP_ATOMIC_OP_SWAP, true, false},
    [TRANSPORT_AMO_FETCH] = {UCP_ATOMIC_OP_ADD, true, true},
    [TRANSPORT_AMO_SWAP] = {UCP_ATOMIC_OP_SWAP, true, false},
    [TRANSPORT_AMO_COMPARE_SWAP] = {UCP_ATOMIC_OP_CSWAP, true, false},
    [TRANSPORT_AMO_ADD] = {UCP_ATOMIC_OP_ADD, false, false},
    [TRANSPORT_AMO_AND] = {UCP_ATOMIC_OP_AND, false, false},
    [TRANSPORT_AMO_OR] = {UCP_ATOMIC_OP_OR, false, false},
    [TRANSPORT_AMO_XOR] = {UCP_ATOMIC_OP_XOR, false, false},
};

/* For a compare and swap UCX takes the condition as operand and the new value in the
 * reply buffer. */
static void ucx_op_set_operands(struct ucx_op *op, const struct transport_amo *amo)
{
    bool compares = amo->op == TRANSPORT_AMO_COMPARE_SWAP;

    op->size = amo->size;
    op->result = amo->result;
    op->operand = compares ? amo->cond : amo->operand;
    if (amo_table[amo->op].no_operand)
        op->operand = 0;
    op->reply = compares ? amo->operand : 0;
}

int ucx_amo(struct transport_ctx *ctx, const struct transport_symaddr *at,
            const struct transport_amo *amo, struct transport_completion *done)
{
    /* Without a reply buffer UCX only reports that it has accepted the operation. */
    bool replies = amo_table[amo->op].replies || amo->result != NULL || done != NULL;
    ucp_request_param_t param;
    struct ucx_peer *peer = ctx->peers[at->pe];
    struct ucx_op *op;
    int err;

    if (ctx->net->by_requests)
        return ucx_request_amo(ctx, at, amo, done);
    if (amo->after_puts && peer != NULL && !ucx_peer_puts_flushed(peer))
        return -EAGAIN;
    err = ucx_op_alloc(ctx, at->pe, replies ? UCX_AMO : UCX_PUT, done, &op);
    if (err != 0)
        return err;
    ucx_op_set_operands(op, amo);
    param = ucx_op_param(op);
    param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
    param.datatype = ucp_dt_make_contig(amo->size);
    if (replies) {
        param.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
        param.reply_buffer = &op->reply;
    }
    return ucx_op_post_result(
        op, ucx_lib.atomic_op_nbx(op->peer->ep, amo_table[amo->op].op, &op->operand, 1,
                                  ucx_op_remote_address(op, at), ucx_op_rkey(op, at),
                                  &param));
}
