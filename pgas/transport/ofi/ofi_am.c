/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ofi_am.c - amos by messages, for providers without atomics that can be mixed with those
 * of the processor; and puts with signal.
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "pgas/core/clock.h"
#include "pgas/transport/ofi/ofi.h"
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

static bool may_inject(const struct transport_net *net, size_t len)
{
    return len <= net->info->tx_attr->inject_size && !net->avoid[AVOID_INJECT];
}

/* ---- receives -------------------------------------------------------------------- */

static int post_receive(struct transport_ctx *ctx, struct ofi_op *op)
{
    void *desc = ctx->inbox.memory != NULL ? ctx->inbox.desc : op->desc;
    ssize_t rc = fi_recv(ctx->ep, op->to, op->len, desc, FI_ADDR_UNSPEC, &op->fi);

    return rc == 0 ? 0 : rc == -FI_EAGAIN ? -EAGAIN : -ofi_errno((int)-rc);
}

/* To context 0 come messages of any kind; to others answers. */
static void set_room(struct transport_ctx *ctx, struct ofi_op *op, int i)
{
    bool large = ctx->inbox.memory != NULL;

    op->to = large ? (void *)(ctx->inbox.memory + (size_t)i * OFI_MESSAGE_MAX)
                   : &op->u.message;
    op->len = large ? OFI_MESSAGE_MAX : sizeof op->u.message;
}

int ofi_am_listen(struct transport_ctx *ctx)
{
    if (ctx == ctx->net->ctx_0 && ofi_inbox_make(ctx) != 0)
        return -ENOMEM;
    for (int i = 0; i < OFI_RECEIVES && !ctx->listens; i++) {
        struct ofi_op *op = ofi_op_new(ctx, OFI_RECEIVE, ctx->net->world->me, NULL);
        if (op == NULL)
            return -ENOMEM;
        ctx->under_way--; /* nothing of ours is */
        set_room(ctx, op, i);
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

/* Who asks, and what for. */
static void fill(const struct transport_ctx *ctx, struct ofi_op *op,
                 const struct transport_place *at, const struct transport_amo *amo)
{
    op->to = amo->result;
    op->len = amo->size;
    op->u.message = (struct ofi_message){.token = ofi_op_token(op),
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

/* Send `len` bytes at `message`.  Of a question the record waits for the answer, and
 * where the provider does not copy the message for that, too.  Of a note nothing would
 * say that a copy has left, unless a flush follows it on the way. */
static int send_message(struct transport_ctx *ctx, struct ofi_op *op,
                        const struct ofi_target *target, const void *message, size_t len,
                        const char *what)
{
    void *desc = op->bounce != NULL ? ctx->bounces.desc : op->desc;
    bool asks = op->kind == OFI_ASK;
    bool copied = may_inject(ctx->net, len) && (asks || ctx->net->ordered);
    int pe = op->pe;
    ssize_t posted;

    if (copied)
        posted = fi_inject(ctx->ep, message, len, target->addr);
    else
        posted = fi_send(ctx->ep, message, len, desc, target->addr, &op->fi);
    op->waits = asks && !copied ? 2 : 1;
    int rc = ofi_posted(ctx, op, pe, posted, what);
    if (rc != 0)
        return rc;
    op->awaits_answer = asks;
    ctx->amos += asks;
    if (copied && asks)
        ofi_bounce_free(ctx, op);
    else if (copied)
        ofi_finish(ctx, op, 0);
    return 0;
}

int ofi_am_ask(struct transport_ctx *ctx, const struct transport_place *at,
               const struct transport_amo *amo, struct transport_done *done)
{
    struct ofi_target target;
    int rc = ctx->listens ? 0 : ofi_am_listen(ctx);

    if (rc == 0)
        rc = ofi_target(ctx, at, &target);
    if (rc != 0)
        return rc;
    struct ofi_op *op = ofi_op_new(ctx, OFI_ASK, at->pe, done);
    if (op == NULL)
        return -EAGAIN;
    fill(ctx, op, at, amo);
    return send_message(ctx, op, &target, &op->u.message, length(&op->u.message),
                        "a message with an atomic operation");
}

/* ---- puts with signal ------------------------------------------------------------ */

/* With the name of any of our contexts. */
size_t ofi_signal_max(struct transport_net *net)
{
    return OFI_MESSAGE_MAX - offsetof(struct ofi_message, name) - net->ctx_0->name_len;
}

/* A bounce takes the message, so `from` may be changed at once. */
static int write_signal(struct transport_ctx *ctx, struct ofi_op *op,
                        const struct transport_place *to, const void *from, size_t len,
                        const struct transport_signal *signal)
{
    const struct transport_amo amo = {.op = signal->op,
                                      .size = signal->size,
                                      .operand = signal->operand,
                                      .cond = to->offset};
    struct ofi_message *m = &op->u.message;

    op->bounce = ofi_bounce_new(ctx);
    if (op->bounce == NULL)
        return -EAGAIN;
    fill(ctx, op, &signal->at, &amo);
    m->type = signal->note ? OFI_MESSAGE_NOTE : OFI_MESSAGE_SIGNAL;
    m->name_len = signal->note ? 0 : m->name_len;
    m->len = (uint16_t)len;
    m->data_segment = (uint8_t)to->segment;
    memcpy(op->bounce, m, length(m));
    if (len > 0)
        memcpy(op->bounce + length(m), from, len);
    return 0;
}

int ofi_put_signal(struct transport_ctx *ctx, const struct transport_place *to,
                   const void *from, size_t len, const struct transport_signal *signal,
                   struct transport_done *done)
{
    struct ofi_target target;
    bool note = signal->note;
    int rc = ctx->listens || note ? 0 : ofi_am_listen(ctx);

    if (rc == 0)
        rc = ofi_target(ctx, to, &target);
    if (rc != 0)
        return rc;
    if (signal->after_puts && !ofi_rma_behind_puts(ctx, to->pe))
        return -EAGAIN;
    if (ctx->unflushed >= OFI_UNFLUSHED_MAX && ofi_quiet(ctx) != 0)
        return -EAGAIN;
    struct ofi_op *op = ofi_op_new(ctx, note ? OFI_NOTE : OFI_ASK, to->pe, NULL);
    if (op == NULL)
        return -EAGAIN;
    if (write_signal(ctx, op, to, from, len, signal) != 0) {
        ofi_op_free(ctx, op);
        ctx->under_way--;
        return -EAGAIN;
    }
    size_t all = length(&op->u.message) + len;
    rc = send_message(ctx, op, &target, op->bounce, all, "a put with signal");
    if (rc != 0)
        return rc;
    if (note && ctx->net->ordered)
        ofi_rma_soil(ctx, to->pe); /* what waits in the provider is bounded so */
    perform_done(done, 0);
    return 0;
}

/* ---- answering ------------------------------------------------------------------- */

/* Where len bytes of ours are; NULL: nowhere. */
static char *place_of(const struct transport_net *net, unsigned segment, uint64_t offset,
                      size_t len)
{
    if (segment >= SEGMENTS || len > net->world->segment[segment].len ||
        offset > net->world->segment[segment].len - len)
        return NULL;
    return (char *)net->world->segment[segment].base + offset;
}

/* Perform what a request asks for: first the bytes of a put, m->len of them at data, then
 * the word, because every amo that writes is a release.  0 or -errno; nothing has been
 * written then. */
static int perform(const struct transport_net *net, const struct ofi_message *m,
                   const void *data, uint64_t *before)
{
    const struct transport_amo amo = {.op = (enum transport_amo_op)m->op,
                                      .size = m->size,
                                      .operand = m->operand,
                                      .cond = m->cond};

    if (m->op >= TRANSPORT_AMO_OPS ||
        (m->size != sizeof(uint32_t) && m->size != sizeof(uint64_t)))
        return -EINVAL;
    char *word = place_of(net, m->segment, m->offset, m->size);
    char *to = m->type == OFI_MESSAGE_ASK
                   ? word
                   : place_of(net, m->data_segment, m->cond, m->len);
    if (word == NULL || to == NULL || m->offset % m->size != 0)
        return -EFAULT;
    if (m->len > 0)
        memcpy(to, data, m->len);
    *before = perform_amo(word, &amo);
    return 0;
}

/* 0; or -EAGAIN.  Nobody needs to know if the asker is gone. */
static int send_answer(struct transport_ctx *ctx, fi_addr_t addr,
                       const struct ofi_message *message)
{
    ssize_t rc;

    if (may_inject(ctx->net, length(message))) {
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

static void answer(struct transport_ctx *ctx, const struct ofi_message *ask, int error,
                   uint64_t before)
{
    const struct ofi_message message = {
        .token = ask->token, .type = OFI_MESSAGE_ANSWER, .operand = before, .pe = error};
    fi_addr_t addr = ofi_peer_asker(ctx->net, ask);

    if (addr == FI_ADDR_UNSPEC)
        return; /* who cannot be answered has been told of, or is a stranger */
    if (send_answer(ctx, addr, &message) != 0)
        answer_later(ctx, ask->pe, addr, &message);
}

/* Nobody else hears of it. */
static void tell_note(const struct transport_net *net, const struct ofi_message *note)
{
    char sentence[TRANSPORT_TEXT_MAX];

    snprintf(sentence, sizeof sentence,
             "a put with signal from PE %d goes to a place that PE %d does not have",
             note->pe, net->world->me);
    net->world->failed(net->world, -1, sentence);
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

/* ---- received messages ----------------------------------------------------------- */

/* What is wrong with a message of len bytes; NULL: nothing.  Only lengths, kinds and PE
 * numbers are looked at here: tokens by answered, addresses by perform. */
static const char *malformation(const struct transport_ctx *ctx,
                                const struct ofi_message *m, size_t len)
{
    if (len < offsetof(struct ofi_message, name))
        return "it is shorter than a message's head";
    if (m->type > OFI_MESSAGE_ANSWER)
        return "its kind is unknown";
    if (m->name_len > OFI_NAME_MAX || len != length(m) + m->len)
        return "its length is not the one that its head gives";
    if (m->type == OFI_MESSAGE_ANSWER)
        return m->name_len + m->len > 0              ? "an answer carries no data"
               : m->pe > 0 || m->pe < -OFI_ERRNO_MAX ? "its error is not an errno value"
                                                     : NULL;
    if (m->type == OFI_MESSAGE_ASK && m->len > 0)
        return "an atomic operation carries no data";
    if (ctx != ctx->net->ctx_0)
        return "it is a request to a context that serves none";
    if (m->pe < 0 || m->pe >= ctx->net->world->npes)
        return "its sender is not a PE of this job";
    return NULL;
}

/* A message that no PE of this library sends: memory of its sender is damaged, or it is
 * from somebody else.  Nothing of it has been performed. */
static void refuse_message(const struct transport_net *net, size_t len, const char *why)
{
    char sentence[TRANSPORT_TEXT_MAX];

    snprintf(sentence, sizeof sentence,
             "PE %d refused a malformed message of %zu bytes on its libfabric endpoint: "
             "%s; is the memory of a PE damaged, or does another program send to this "
             "port?",
             net->world->me, len, why);
    net->world->failed(net->world, -1, sentence);
}

/* An answer to an operation that has ended is ignored: its peer had failed before. */
static void answered(struct transport_ctx *ctx, const struct ofi_message *message,
                     size_t len)
{
    struct ofi_op *op = ofi_op_of_token(ctx, message->token);

    if (op == NULL) {
        refuse_message(ctx->net, len, "its token names no operation");
        return;
    }
    if (message->token != ofi_op_token(op) || !op->awaits_answer)
        return;
    op->awaits_answer = false;
    if (op->kind == OFI_ASK && message->pe == 0) {
        const struct transport_amo amo = {.size = (uint32_t)op->len, .result = op->to};
        perform_result(&amo, message->operand);
    }
    if (op->kind == OFI_ASK && message->pe != 0 &&
        op->u.message.type == OFI_MESSAGE_SIGNAL)
        ofi_peer_failed(ctx, op->pe, "a put with signal", -message->pe, NULL);
    else
        ofi_heard(ctx, op, message->pe);
}

/* The message is read and performed before its memory is posted for the next one. */
void ofi_am_recv(struct transport_ctx *ctx, struct ofi_op *op, size_t len)
{
    struct ofi_message message = {0};
    uint64_t before = 0;
    int error = 0;

    memcpy(&message, op->to, len < sizeof message ? len : sizeof message);
    const char *why = malformation(ctx, &message, len);
    if (why == NULL && message.type != OFI_MESSAGE_ANSWER)
        error = perform(ctx->net, &message, (char *)op->to + length(&message), &before);
    bool queued = ctx->deaf.first != NULL;
    if (queued || post_receive(ctx, op) == -EAGAIN)
        ofi_queue_add(&ctx->deaf, op);
    if (why != NULL)
        refuse_message(ctx->net, len, why);
    else if (message.type == OFI_MESSAGE_ANSWER)
        answered(ctx, &message, len);
    else if (message.type < OFI_MESSAGE_NOTE)
        answer(ctx, &message, error, before);
    else if (error != 0)
        tell_note(ctx->net, &message);
}

void ofi_am_recv_failed(struct transport_ctx *ctx, struct ofi_op *op, int error)
{
    if (error == FI_ECANCELED)
        return;
    ofi_queue_add(&ctx->deaf, op);
    if (error == FI_ETRUNC)
        refuse_message(ctx->net, op->len, "it is longer than that");
}
