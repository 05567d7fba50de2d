/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_blocks.c - puts and gets of blocks (see ofi_blocks.h). */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "pgas/transport/ofi/ofi_blocks.h"
#include "pgas/transport/perform.h"
#include "pgas/transport/perform_blocks.h"

enum {
    /* Of the bounce buffer of a get: before it is the request. */
    REPLY_OFFSET = OFI_EAGER_MAX,
    REPLY_MAX = OFI_BOUNCE_SIZE - REPLY_OFFSET,
    VECTORS_MAX = 128, /* in a slot */
};
_Static_assert(OFI_MESSAGE_MAX - REPLY_OFFSET <= UINT16_MAX, "ofi_message.len");

/* After the vectors of a get: where its reply is to be written. */
struct ofi_destination {
    uint64_t at, key;
};

/* The longest header of a request. */
static size_t ofi_blocks_header_max(const struct transport_ctx *ctx)
{
    return offsetof(struct ofi_message, name) + ctx->net->ctx_0->name_len;
}

size_t ofi_blocks_max(struct transport_ctx *ctx, int pe, size_t bytes)
{
    (void)pe;
    (void)bytes;
    return OFI_MESSAGE_MAX - REPLY_OFFSET - ofi_blocks_header_max(ctx);
}

static ssize_t ofi_ep_write_immediate(struct transport_ctx *ctx, fi_addr_t addr,
                                      uint64_t at, uint64_t key, size_t len,
                                      uint64_t immediate, struct ofi_op *op)
{
    struct iovec local = {.iov_base = op->bounce, .iov_len = len};
    struct fi_rma_iov remote = {.addr = at, .len = len, .key = key};
    struct fi_msg_rma msg = {.msg_iov = &local,
                             .desc = &ctx->bounces.desc,
                             .iov_count = 1,
                             .addr = addr,
                             .rma_iov = &remote,
                             .rma_iov_count = 1,
                             .context = &op->fi,
                             .data = immediate};

    return fi_writemsg(ctx->ep, &msg, FI_COMPLETION | FI_REMOTE_CQ_DATA);
}

/* ---- requests -------------------------------------------------------------------- */

static int ofi_blocks_target(struct transport_ctx *ctx, int pe, struct ofi_target *target)
{
    const struct transport_symaddr at = {.pe = pe};
    int rc = ctx->recvs_posted ? 0 : ofi_am_post_recvs(ctx);

    return rc != 0 ? rc : ofi_target(ctx, &at, target);
}

/* Allocate the record and bounce buffer of a request, and fill its header.  0 or
 * -errno. */
static int ofi_blocks_start(struct transport_ctx *ctx,
                            const struct transport_blocks *blocks,
                            enum ofi_message_type type, struct transport_completion *done,
                            struct ofi_op **request)
{
    const struct transport_amo none = {.operand = blocks->nvectors,
                                       .cond = blocks->bytes};
    const struct transport_symaddr at = {.pe = blocks->pe};
    struct ofi_op *op = ofi_op_alloc(ctx, OFI_REQUEST, blocks->pe, done);
    if (op == NULL)
        return -EAGAIN;
    op->bounce = ofi_bounce_new(ctx);
    if (op->bounce == NULL) {
        ofi_op_free(ctx, op);
        ctx->in_flight--;
        return ofi_bounce_missing(ctx);
    }
    ofi_am_fill_request(ctx, op, type, &at, &none);
    op->slot = -1;
    *request = op;
    return 0;
}

/* Write a put to a slot. */
static int ofi_blocks_write(struct transport_ctx *ctx, struct ofi_op *op, fi_addr_t addr,
                            const struct ofi_slot *slot, size_t len)
{
    int pe = op->pe;

    op->events_pending = 2; /* the completion and the reply */
    ssize_t posted =
        ofi_ep_write_immediate(ctx, addr, slot->at, slot->key, len, slot->immediate, op);
    int rc = ofi_post_result(ctx, op, pe, posted, "a put of blocks");
    if (rc != 0)
        return rc;
    op->awaits_reply = true;
    ctx->amos_in_flight++;
    op->slot = slot->index;
    ofi_window_use_slot(ctx, pe, slot->index);
    return 0;
}

int ofi_put_blocks(struct transport_ctx *ctx, const struct transport_blocks *blocks)
{
    size_t vectors = perform_vectors_size(blocks->nvectors);
    size_t len = vectors + blocks->bytes;
    struct ofi_slot slot = {.index = -1};
    struct ofi_target target;
    struct ofi_op *op = NULL;
    int found = -ENOENT;
    int rc = ofi_blocks_target(ctx, blocks->pe, &target);

    if (rc != 0)
        return rc; /* also of a lost PE, whose slots no reply frees */
    if (ctx->net->immediate && ofi_blocks_header_max(ctx) + len > OFI_EAGER_MAX &&
        blocks->nvectors <= VECTORS_MAX)
        found = ofi_window_find_slot(ctx, blocks->pe, &slot);
    if (found == -EAGAIN)
        return -EAGAIN;
    rc = ofi_blocks_start(ctx, blocks, OFI_MESSAGE_PUT_BLOCKS, NULL, &op);
    if (rc != 0)
        return rc;
    op->u.message.len = (uint16_t)len;
    size_t head = ofi_message_header_len(&op->u.message);
    PGAS_ASSERT(head + len <= OFI_MESSAGE_MAX);
    memcpy(op->bounce, &op->u.message, head);
    memcpy(op->bounce + head, blocks->vector, vectors);
    blocks->copy(blocks, op->bounce + head + vectors);
    return found == 0
               ? ofi_blocks_write(ctx, op, target.addr, &slot, head + len)
               : ofi_am_send(ctx, op, &target, op->bounce, head + len, "a put of blocks");
}

int ofi_get_blocks(struct transport_ctx *ctx, const struct transport_blocks *blocks,
                   struct transport_completion *done)
{
    size_t vectors = perform_vectors_size(blocks->nvectors), len = vectors;
    struct ofi_destination destination;
    struct ofi_target target;
    struct ofi_op *op = NULL;
    int rc = ofi_blocks_target(ctx, blocks->pe, &target);

    if (rc == 0 && ctx->bounces.memory != NULL && ctx->bounces.nfree <= OFI_BOUNCES_KEPT)
        rc = -EAGAIN;
    if (rc == 0)
        rc = ofi_blocks_start(ctx, blocks, OFI_MESSAGE_GET_BLOCKS, done, &op);
    if (rc != 0)
        return rc;
    struct ofi_message *m = &op->u.message;
    size_t head = ofi_message_header_len(m);
    op->to = (void *)(uintptr_t)blocks;
    if (ctx->net->immediate && head + blocks->bytes > OFI_EAGER_MAX &&
        head + vectors + sizeof destination <= REPLY_OFFSET && ofi_bounce_fill(ctx, op)) {
        size_t at = (size_t)(op->bounce - ctx->bounces.memory) + REPLY_OFFSET;
        destination.at = ofi_window_address(ctx->net, ctx->bounces.memory) + at;
        destination.key = fi_mr_key(ctx->bounces.mr);
        memcpy(op->bounce + head + vectors, &destination, sizeof destination);
        len += sizeof destination;
        m->size = sizeof destination;
    }
    m->len = (uint16_t)len;
    memcpy(op->bounce, m, head);
    memcpy(op->bounce + head, blocks->vector, vectors);
    return ofi_am_send(ctx, op, &target, op->bounce, head + len, "a get of blocks");
}

/* ---- replies to gets ------------------------------------------------------------- */

int ofi_blocks_post_reply(struct transport_ctx *ctx, int pe, fi_addr_t addr,
                          const struct ofi_message *m, const void *data)
{
    size_t vectors = m->len - sizeof(struct ofi_destination);
    struct ofi_destination destination;
    int error = -EINVAL;

    memcpy(&destination, (const char *)data + vectors, sizeof destination);
    struct ofi_op *op = ofi_op_alloc(ctx, OFI_REPLY, pe, NULL);
    if (op == NULL)
        return -EAGAIN;
    ctx->in_flight--; /* not an operation of this PE */
    op->bounce = ofi_bounce_new(ctx);
    if (op->bounce == NULL) {
        ofi_op_free(ctx, op);
        (void)ofi_bounce_missing(ctx);
        return -EAGAIN;
    }
    if (m->cond <= REPLY_MAX)
        error = perform_get_message(ctx->net->world, m->operand, data, vectors,
                                    op->bounce, (size_t)m->cond);
    if (error != 0) {
        ofi_op_free(ctx, op);
        ofi_reply(ctx, m, error, 0, NULL, 0);
        return 0;
    }
    ssize_t rc =
        ofi_ep_write_immediate(ctx, addr, destination.at, destination.key,
                               (size_t)m->cond, OFI_IMMEDIATE_REPLY | m->token, op);
    if (rc != 0)
        ofi_op_free(ctx, op);
    if (rc != 0 && rc != -FI_EAGAIN)
        ofi_reply(ctx, m, (int)rc, 0, NULL, 0);
    return rc == -FI_EAGAIN ? -EAGAIN : 0;
}

void ofi_blocks_reply(struct transport_ctx *ctx, const struct ofi_message *m,
                      const void *data)
{
    size_t max = OFI_MESSAGE_MAX - offsetof(struct ofi_message, name);
    int error = -EINVAL;

    if (m->size == sizeof(struct ofi_destination) &&
        m->len >= sizeof(struct ofi_destination)) {
        ofi_reply_send(ctx, m, m, data);
        return;
    }
    char *packed = malloc(max);
    if (packed == NULL)
        error = -ENOMEM;
    else if (m->cond <= max)
        error = perform_get_message(ctx->net->world, m->operand, data, m->len, packed,
                                    (size_t)m->cond);
    ofi_reply(ctx, m, error, 0, packed, error == 0 ? (size_t)m->cond : 0);
    free(packed);
}

/* ---- writes with immediate data -------------------------------------------------- */

/* The reply to a get has arrived in the bounce buffer of the request. */
static void ofi_blocks_recv_reply(struct transport_ctx *ctx, uint64_t immediate)
{
    struct ofi_op *op = ofi_op_of_token(ctx, immediate);

    if (op == NULL) {
        ofi_am_report_malformed(ctx->net, 0, "its token matches no operation");
        return;
    }
    if ((ofi_op_token(op) | OFI_IMMEDIATE_REPLY) != immediate || !op->awaits_reply ||
        !op->fills_bounce)
        return;
    op->awaits_reply = false;
    if (op->kind == OFI_REQUEST) {
        const struct transport_blocks *blocks = op->to;
        blocks->copy(blocks, op->bounce + REPLY_OFFSET);
    }
    ofi_op_event(ctx, op, 0);
}

/* Why a slot that was granted to `owner` is malformed; NULL: it is valid. */
static const char *ofi_slot_fault(const struct ofi_message *m, int owner)
{
    size_t max = OFI_BOUNCE_SIZE - offsetof(struct ofi_message, name);

    if (m->type != OFI_MESSAGE_PUT_BLOCKS || m->name_len > OFI_NAME_MAX)
        return "a slot has no put of blocks";
    if (m->pe != owner)
        return "a slot was written by a PE that does not own it";
    if (m->operand > VECTORS_MAX || m->len + (size_t)m->name_len > max ||
        perform_vectors_size((unsigned)m->operand) > m->len)
        return "a slot has a wrong length";
    return NULL;
}

/* Perform the put in a slot, and reply. */
static void ofi_blocks_recv_slot(struct transport_ctx *ctx, uint64_t number)
{
    struct transport_vector vector[VECTORS_MAX];
    struct perform_segment segment[SEGMENTS];
    struct ofi_message m;
    int owner = -1;
    const unsigned char *slot =
        ctx == ctx->net->ctx_0 ? ofi_window_slot(ctx->net, number, &owner) : NULL;

    if (slot == NULL) {
        ofi_am_report_malformed(ctx->net, 0, "its slot was not granted");
        return;
    }
    memcpy(&m, slot, sizeof m);
    const char *why = ofi_slot_fault(&m, owner);
    if (why != NULL) {
        ofi_am_report_malformed(ctx->net, 0, why);
        return;
    }
    size_t vectors = perform_vectors_size((unsigned)m.operand);
    const unsigned char *data = slot + ofi_message_header_len(&m);
    memcpy(vector, data, vectors);
    perform_own_segments(ctx->net->world, segment);
    int error = perform_put_blocks(segment, vector, (unsigned)m.operand, data + vectors,
                                   m.len - vectors);
    ofi_reply(ctx, &m, error, 0, NULL, 0);
}

void ofi_blocks_recv(struct transport_ctx *ctx, uint64_t immediate)
{
    if ((immediate & OFI_IMMEDIATE_REPLY) != 0)
        ofi_blocks_recv_reply(ctx, immediate);
    else
        ofi_blocks_recv_slot(ctx, immediate);
}
