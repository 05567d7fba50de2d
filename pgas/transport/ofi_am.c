/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ofi_am.c - amos by messages, for providers without atomics that can be mixed with those
 * of the processor.
 *
 * The asker's record holds the question; it goes to the target's context 0.  Who makes
 * progress there performs it and answers to the endpoint that asked, so that the answer
 * comes where the asker looks.  A receive is posted again as soon as its message has been
 * read, whether or not the answer can be sent: so two PEs that both cannot send still
 * hear each other, and get rid of what they have.  Answers that cannot be sent wait in a
 * list, which has at most one for each record of each asker (OFI_OPS_MAX of a context),
 * and none of an asker that has been lost or silent for world->timeout_ns.
 * Uses: ofi.h, perform, core/clock.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "pgas/core/clock.h"
#include "pgas/transport/ofi.h"
#include "pgas/transport/perform.h"

/* An answer that waits. */
struct ofi_answer {
    struct ofi_answer *next;
    uint64_t since_ns;
    fi_addr_t addr;
    int pe;
    struct ofi_message message;
};

static size_t length(const struct ofi_message *message)
{
    return offsetof(struct ofi_message, name) + message->name_len;
}

static bool injects(const struct transport_net *net, const struct ofi_message *message)
{
    return length(message) <= net->info->tx_attr->inject_size &&
           !net->avoid[AVOID_INJECT];
}

/* ---- receives -------------------------------------------------------------------- */

static int post_receive(struct transport_ctx *ctx, struct ofi_op *op)
{
    ssize_t rc = fi_recv(ctx->ep, &op->u.message, sizeof op->u.message, op->desc,
                         FI_ADDR_UNSPEC, &op->fi);

    return rc == 0 ? 0 : rc == -FI_EAGAIN ? -EAGAIN : -ofi_errno((int)-rc);
}

int ofi_am_listen(struct transport_ctx *ctx)
{
    for (int i = 0; i < OFI_RECEIVES && !ctx->listens; i++) {
        struct ofi_op *op = ofi_op_new(ctx, OFI_RECEIVE, ctx->net->world->me, NULL);
        if (op == NULL)
            return -ENOMEM;
        ctx->under_way--; /* nothing of ours is */
        int rc = post_receive(ctx, op);
        if (rc != 0)
            ofi_op_free(ctx, op);
        if (rc != 0 && (i == 0 || rc != -EAGAIN))
            return rc;
        if (rc != 0)
            break; /* as many as the provider takes */
    }
    ctx->listens = true;
    return 0;
}

/* ---- asking ---------------------------------------------------------------------- */

static void fill(const struct transport_ctx *ctx, struct ofi_op *op,
                 const struct transport_place *at, const struct transport_amo *amo)
{
    op->to = amo->result;
    op->len = amo->size;
    op->u.message = (struct ofi_message){.token = (uint64_t)(uintptr_t)op,
                                         .offset = at->offset,
                                         .operand = amo->operand,
                                         .cond = amo->cond,
                                         .pe = ctx->net->world->me,
                                         .context = ctx->number,
                                         .type = OFI_MESSAGE_ASK,
                                         .op = (uint8_t)amo->op,
                                         .size = (uint8_t)amo->size,
                                         .segment = (uint8_t)at->segment};
    if (ctx == ctx->net->ctx_0)
        return;
    op->u.message.name_len = ctx->name_len;
    memcpy(op->u.message.name, ctx->name, ctx->name_len);
}

int ofi_am_ask(struct transport_ctx *ctx, const struct transport_place *at,
               const struct transport_amo *amo, struct transport_done *done)
{
    struct ofi_target target;
    ssize_t posted;
    int rc = ctx->listens ? 0 : ofi_am_listen(ctx);

    if (rc == 0)
        rc = ofi_target(ctx, at, &target);
    if (rc != 0)
        return rc;
    struct ofi_op *op = ofi_op_new(ctx, OFI_ASK, at->pe, done);
    if (op == NULL)
        return -EAGAIN;
    fill(ctx, op, at, amo);
    size_t len = length(&op->u.message);
    if (injects(ctx->net, &op->u.message)) {
        posted = fi_inject(ctx->ep, &op->u.message, len, target.addr);
    } else {
        op->waits++; /* for the message to have left the record */
        posted = fi_send(ctx->ep, &op->u.message, len, op->desc, target.addr, &op->fi);
    }
    rc = ofi_posted(ctx, op, at->pe, posted, "a message with an atomic operation");
    if (rc == 0)
        ctx->amos++;
    return rc;
}

/* ---- answering ------------------------------------------------------------------- */

/* Perform what is asked for, if it is sound.  0 or -errno. */
static int perform(const struct transport_net *net, const struct ofi_message *m,
                   uint64_t *before)
{
    const struct transport_amo amo = {.op = (enum transport_amo_op)m->op,
                                      .size = m->size,
                                      .operand = m->operand,
                                      .cond = m->cond};

    if (m->op >= TRANSPORT_AMO_OPS || m->segment >= SEGMENTS ||
        (m->size != sizeof(uint32_t) && m->size != sizeof(uint64_t)))
        return -EINVAL;
    if (m->offset % m->size != 0 || m->offset >= net->world->segment[m->segment].len ||
        m->size > net->world->segment[m->segment].len - m->offset)
        return -EFAULT;
    *before = perform_amo((char *)net->world->segment[m->segment].base + m->offset, &amo);
    return 0;
}

/* 0; or -EAGAIN.  Nobody needs to know if the asker is gone. */
static int send_answer(struct transport_ctx *ctx, fi_addr_t addr,
                       const struct ofi_message *message)
{
    ssize_t rc;

    if (injects(ctx->net, message)) {
        rc = fi_inject(ctx->ep, message, length(message), addr);
        return rc == -FI_EAGAIN ? -EAGAIN : 0;
    }
    struct ofi_op *op = ofi_op_new(ctx, OFI_ANSWER, ctx->net->world->me, NULL);
    if (op == NULL)
        return -EAGAIN;
    ctx->under_way--; /* nothing of ours is */
    op->u.message = *message;
    rc = fi_send(ctx->ep, &op->u.message, length(message), op->desc, addr, &op->fi);
    if (rc != 0)
        ofi_op_free(ctx, op);
    return rc == -FI_EAGAIN ? -EAGAIN : 0;
}

static void answer_later(struct transport_ctx *ctx, int pe, fi_addr_t addr,
                         const struct ofi_message *message)
{
    struct ofi_answer *answer = malloc(sizeof *answer);

    if (answer == NULL) {
        ctx->net->world->failed(ctx->net->world, -1,
                                "no memory for the answer to an atomic operation");
        return;
    }
    *answer = (struct ofi_answer){
        .addr = addr, .pe = pe, .since_ns = clock_ns(), .message = *message};
    answer->next = ctx->answers;
    ctx->answers = answer;
}

static void serve(struct transport_ctx *ctx, const struct ofi_message *ask)
{
    struct ofi_message message = {.token = ask->token, .type = OFI_MESSAGE_ANSWER};
    fi_addr_t addr = ofi_peer_asker(ctx->net, ask);

    message.pe = perform(ctx->net, ask, &message.operand);
    if (addr == FI_ADDR_UNSPEC)
        return; /* who cannot be answered has been told of, or is a stranger */
    if (send_answer(ctx, addr, &message) != 0)
        answer_later(ctx, ask->pe, addr, &message);
}

/* An asker that is stopped is waited for as others wait for it. */
static bool in_time(const struct transport_ctx *ctx, const struct ofi_answer *answer)
{
    uint64_t limit = ctx->net->world->timeout_ns;

    return !ofi_peer_is_lost(ctx->net, answer->pe) &&
           (limit == 0 || clock_ns() - answer->since_ns < limit);
}

void ofi_am_advance(struct transport_ctx *ctx)
{
    while (ctx->deaf.first != NULL && post_receive(ctx, ctx->deaf.first) != -EAGAIN)
        ofi_queue_take(&ctx->deaf);
    for (struct ofi_answer **at = &ctx->answers; *at != NULL;) {
        struct ofi_answer *answer = *at;
        if (send_answer(ctx, answer->addr, &answer->message) != 0 &&
            in_time(ctx, answer)) {
            at = &answer->next;
            continue;
        }
        *at = answer->next;
        free(answer);
    }
}

void ofi_am_free(struct transport_ctx *ctx)
{
    while (ctx->answers != NULL) {
        struct ofi_answer *answer = ctx->answers;
        ctx->answers = answer->next;
        free(answer);
    }
}

/* ---- what comes ------------------------------------------------------------------ */

static void answered(struct transport_ctx *ctx, const struct ofi_message *message)
{
    struct ofi_op *op = (struct ofi_op *)(uintptr_t)message->token;

    if (op->kind == OFI_ASK && message->pe == 0) {
        const struct transport_amo amo = {.size = (uint32_t)op->len, .result = op->to};
        perform_result(&amo, message->operand);
    }
    ofi_heard(ctx, op, message->pe);
}

void ofi_am_take(struct transport_ctx *ctx, struct ofi_op *op)
{
    struct ofi_message message = op->u.message;
    bool queued = ctx->deaf.first != NULL;

    if (queued || post_receive(ctx, op) == -EAGAIN)
        ofi_queue_add(&ctx->deaf, op);
    if (message.type == OFI_MESSAGE_ASK)
        serve(ctx, &message);
    else
        answered(ctx, &message);
}
