/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hook_post.c - the hook transport: forwards, holds and drops operations.
 *
 * An operation is forwarded at once unless delay or reorder is set; then its context
 * holds it until progress forwards it when it is due.  Epochs keep the fences of held
 * operations: an operation is forwarded after all operations of earlier epochs to its PE,
 * and the inner fence is called before the first one of a new epoch.  An amo with
 * after_puts is forwarded after the puts before it; no later operation waits for that
 * amo.
 * Uses: hook_int, random, perform.
 */
#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pgas/core/base/pgas_assert.h"
#include "pgas/transport/test/hook_int.h"
#include "pgas/transport/perform.h"
#include "pgas/transport/perform_blocks.h"
#include "pgas/transport/test/random.h"

enum { PERCENT = 100, TRACE_MAX = 160 /* longest line */ };

/* -- trace and failures ----------------------------------------------------------- */

static const char *hook_op_text(const struct hook_op *op)
{
#define X(name, fetches, text) [TRANSPORT_AMO_##name] = text,
    static const char *const amo_text[] = {TRANSPORT_AMO_TABLE(X)};
#undef X

    if (op->kind == KIND_AMO)
        return amo_text[op->amo.op];
    if (op->kind == KIND_SIGNAL)
        return "put_signal";
    if (op->kind == KIND_PUT_BLOCKS)
        return "put_blocks";
    if (op->kind == KIND_GET_BLOCKS)
        return "get_blocks";
    return op->kind == KIND_PUT ? "put" : "get";
}

/* One write per line, so that lines of several PEs are not interleaved and a killed PE
 * leaves complete lines. */
static void hook_op_trace(const struct transport_ctx *c, const struct hook_op *op)
{
    static const char *const segment_text[SEGMENTS] = {
        [SEGMENT_HEAP] = "heap", [SEGMENT_DATA] = "data"};
    char line[TRACE_MAX];

    if (c->net->trace < 0)
        return;
    int len =
        snprintf(line, sizeof line, "%llu %d %u %s %d %s %llu %zu\n",
                 (unsigned long long)hook_self.now_ns(), c->net->world->me, c->number,
                 hook_op_text(op), op->at.pe, segment_text[op->at.segment],
                 (unsigned long long)op->at.offset, op->len);
    if (write(c->net->trace, line, (size_t)len) < 0)
        return; /* the line is lost; the job continues */
}

static void hook_rule_report(struct transport_net *net, struct hook_rule *rule)
{
    char text[TRANSPORT_TEXT_MAX];

    if (cas_acq_rel_u32(&rule->reported, 0, 1) != 0)
        return;
    snprintf(text, sizeof text,
             "PE %d cannot be reached: fault injected by fail=%d@%llu of SHMEM_FAULTS on "
             "PE %d",
             rule->pe, rule->pe, (unsigned long long)rule->at, net->world->me);
    net->world->failed(net->world, rule->pe, text);
}

static bool hook_is_lost(const struct transport_net *net, int pe)
{
    return load_relaxed_u32(&net->lost[pe]) != 0;
}

/* Complete a held operation that the inner transport has refused with an error other than
 * -EAGAIN. */
static void hook_op_drop_refused(struct transport_ctx *c, const struct hook_op *op,
                                 int error)
{
    const struct transport_world *world = c->net->world;
    char text[TRANSPORT_TEXT_MAX];

    free(op->copy);
    if (op->done != NULL || hook_is_lost(c->net, op->at.pe)) {
        perform_completion(op->done, error);
        return;
    }
    snprintf(text, sizeof text, "%s of %zu bytes at PE %d was refused: %s",
             hook_op_text(op), op->len, op->at.pe, strerror(-error));
    world->failed(world, op->at.pe, text);
}

/* -- forwarding ------------------------------------------------------------------- */

static int hook_op_forward(struct transport_ctx *c, const struct hook_op *op)
{
    const struct transport *inner = hook_self.inner;
    struct transport_completion *done = op->copy != NULL ? &op->copy->done : op->done;

    switch (op->kind) {
    case KIND_PUT:
        return inner->put(c->inner, &op->at, op->from, op->len, done);
    case KIND_GET:
        return inner->get(c->inner, op->to, &op->at, op->len, done);
    case KIND_AMO:
        return inner->amo(c->inner, &op->at, &op->amo, done);
    case KIND_SIGNAL:
        return inner->put_signal(c->inner, &op->at, op->from, op->len, &op->signal, done);
    case KIND_PUT_BLOCKS: /* the inner transport keeps nothing of the copy */
        return inner->put_blocks(c->inner, op->blocks);
    case KIND_GET_BLOCKS:
        return inner->get_blocks(c->inner, op->blocks, op->done);
    }
    return -EINVAL;
}

/* Forward, after a fence if the last operation to the PE was of another epoch. */
static int hook_op_forward_in_order(struct transport_ctx *c, const struct hook_op *op)
{
    struct hook_peer *peer = &c->peer[op->at.pe];

    if (peer->epoch != 0 && peer->epoch != op->epoch && peer->fences == c->fences) {
        int error = hook_self.inner->fence(c->inner);
        if (error != 0)
            return error;
        c->fences++;
    }
    int error = hook_op_forward(c, op);
    if (error == 0) {
        peer->epoch = op->epoch;
        peer->fences = c->fences;
    }
    return error;
}

/* -- held operations -------------------------------------------------------------- */

static bool hook_op_has_source(const struct hook_op *op)
{
    return op->kind == KIND_PUT || op->kind == KIND_SIGNAL;
}

static int hook_op_copy_source(struct hook_op *op)
{
    struct hook_copy *copy = malloc(sizeof *copy + op->len);

    if (copy == NULL)
        return -ENOMEM;
    copy->done = (struct transport_completion){.pending = 1};
    if (op->len > 0)
        memcpy(copy->bytes, op->from, op->len);
    op->copy = copy;
    op->from = copy->bytes;
    perform_completion(op->done, 0);
    op->done = NULL;
    return 0;
}

static void hook_copy_blocks(const struct transport_blocks *blocks, void *packed)
{
    const struct hook_copy *copy = blocks->arg;

    memcpy(packed, copy->bytes + perform_vectors_size(blocks->nvectors), blocks->bytes);
}

/* A held put of blocks is packed when it is posted. */
static int hook_op_pack(struct hook_op *op)
{
    size_t vectors = perform_vectors_size(op->blocks->nvectors);
    struct hook_copy *copy = malloc(sizeof *copy + vectors + op->len);

    if (copy == NULL)
        return -ENOMEM;
    copy->done = (struct transport_completion){.pending = 0};
    memcpy(copy->bytes, op->blocks->vector, vectors);
    op->blocks->copy(op->blocks, copy->bytes + vectors);
    copy->blocks = *op->blocks;
    copy->blocks.vector = (const struct transport_vector *)(const void *)copy->bytes;
    copy->blocks.copy = hook_copy_blocks;
    copy->blocks.arg = copy;
    op->blocks = &copy->blocks;
    op->copy = copy;
    return 0;
}

static int hook_op_hold(struct transport_ctx *c, struct hook_op *op)
{
    const struct hook_faults *faults = &c->net->faults;

    if (op->kind == KIND_PUT_BLOCKS && op->rule == NULL) {
        int error = hook_op_pack(op);
        if (error != 0)
            return error;
    }
    if (hook_op_has_source(op) && op->done != NULL && op->rule == NULL) {
        int error = hook_op_copy_source(op);
        if (error != 0)
            return error;
    }
    if (faults->delay_ns > 0 && op->rule == NULL)
        op->due = hook_self.now_ns() +
                  random_below(&c->random[STREAM_POST], faults->delay_ns + 1);
    if (!faults->reorder && op->due < c->last_due)
        op->due = c->last_due;
    c->last_due = op->due;
    c->held[c->nheld++] = *op;
    return 0;
}

static bool hook_op_is_after_puts(const struct hook_op *op)
{
    return (op->kind == KIND_AMO && op->amo.after_puts) ||
           (op->kind == KIND_SIGNAL && op->signal.after_puts);
}

/* True if op, which was posted after `before`, must be forwarded after it. */
static bool hook_op_must_follow(const struct hook_op *op, const struct hook_op *before)
{
    return before->at.pe == op->at.pe &&
           (before->epoch < op->epoch ||
            (hook_op_is_after_puts(op) && hook_op_has_source(before)));
}

/* True if all operations that must precede held operation i have been forwarded. */
static bool hook_op_may_be_forwarded(const struct transport_ctx *c, unsigned i)
{
    for (unsigned k = 0; k < i; k++)
        if (hook_op_must_follow(&c->held[i], &c->held[k]))
            return false;
    return true;
}

/* A held operation that is due and may be forwarded, or HOOK_HELD_MAX. */
static unsigned hook_ctx_choose_held(struct transport_ctx *c, uint64_t now)
{
    unsigned start = 0;

    if (c->net->faults.reorder && c->nheld > 0)
        start = (unsigned)random_below(&c->random[STREAM_ORDER], c->nheld);
    for (unsigned k = 0; k < c->nheld; k++) {
        unsigned i = (start + k) % c->nheld;
        if (c->held[i].due <= now && hook_op_may_be_forwarded(c, i))
            return i;
    }
    return HOOK_HELD_MAX;
}

static void hook_ctx_remove_held(struct transport_ctx *c, unsigned i)
{
    PGAS_ASSERT(i < c->nheld && c->nheld <= HOOK_HELD_MAX);
    memmove(&c->held[i], &c->held[i + 1], (c->nheld - i - 1) * sizeof c->held[0]);
    c->nheld--;
}

static int hook_ctx_drop_held(struct transport_ctx *c)
{
    int n = 0;

    for (unsigned i = 0; i < c->nheld;) {
        const struct hook_op *op = &c->held[i];
        if (!hook_is_lost(c->net, op->at.pe)) {
            i++;
            continue;
        }
        perform_completion(op->done, -EHOSTDOWN);
        free(op->copy);
        hook_ctx_remove_held(c, i);
        n++;
    }
    return n;
}

int hook_drop_lost(struct transport_ctx *c)
{
    uint32_t losses = load_acquire_u32(&c->net->losses);

    if (likely(losses == c->losses))
        return 0;
    c->losses = losses;
    int n = hook_ctx_drop_held(c);
    for (struct hook_drop **link = &c->drops; *link != NULL;) {
        struct hook_drop *drop = *link;
        if (!hook_is_lost(c->net, drop->pe)) {
            link = &drop->next;
            continue;
        }
        *link = drop->next;
        perform_completion(drop->done, -EHOSTDOWN);
        free(drop);
        c->dropped--;
        n++;
    }
    return n;
}

/* Forward or fail held operation i. -EAGAIN: refused. 0: it is no longer held. */
static int hook_ctx_release_one(struct transport_ctx *c, unsigned i)
{
    struct hook_op *op = &c->held[i];

    if (op->rule != NULL) {
        hook_rule_report(c->net, op->rule);
        perform_completion(op->done, -EHOSTDOWN);
    } else {
        int error = hook_op_forward_in_order(c, op);
        if (error == -EAGAIN)
            return error;
        if (error != 0) {
            hook_op_drop_refused(c, op, error);
        } else if (op->copy != NULL) {
            op->copy->next = c->copies;
            c->copies = op->copy;
        }
    }
    hook_ctx_remove_held(c, i);
    return 0;
}

int hook_release(struct transport_ctx *c)
{
    int n = 0;

    c->refused = false;
    if (c->nheld == 0)
        return 0;
    uint64_t now = hook_self.now_ns();
    for (unsigned i = hook_ctx_choose_held(c, now); i < HOOK_HELD_MAX;
         i = hook_ctx_choose_held(c, now)) {
        if (hook_ctx_release_one(c, i) != 0) {
            c->refused = true;
            break;
        }
        n++;
    }
    return n;
}

uint64_t hook_next_due(const struct transport_ctx *c)
{
    uint64_t due = UINT64_MAX;

    for (unsigned i = 0; i < c->nheld; i++)
        if (c->held[i].due < due && hook_op_may_be_forwarded(c, i))
            due = c->held[i].due;
    return due;
}

/* -- rules ------------------------------------------------------------------------ */

/* The rule for this PE's number-th operation, to PE pe; NULL: none. */
static struct hook_rule *hook_rule_find(struct transport_net *net, uint64_t number,
                                        int pe)
{
    struct hook_faults *faults = &net->faults;

    for (int i = 0; i < faults->rules; i++) {
        struct hook_rule *rule = &faults->rule[i];
        int target = rule->fault == FAULT_KILL ? net->world->me : pe;
        if (number >= rule->at && rule->pe == target)
            return rule;
    }
    return NULL;
}

static int hook_op_drop(struct transport_ctx *c, const struct hook_op *op)
{
    struct hook_drop *drop = malloc(sizeof *drop);

    if (drop == NULL)
        return -ENOMEM;
    *drop = (struct hook_drop){.next = c->drops, .pe = op->at.pe, .done = op->done};
    c->drops = drop;
    c->dropped++;
    return 0;
}

/* Apply the rule of an operation. 0 or -errno. */
static int hook_rule_apply(struct transport_ctx *c, struct hook_op *op)
{
    switch (op->rule->fault) {
    case FAULT_DROP:
        return hook_op_drop(c, op);
    case FAULT_FAIL:
        if (cas_acq_rel_u32(&op->rule->begun, 0, 1) == 0)
            return hook_op_hold(c, op);
        hook_rule_report(c->net, op->rule);
        return -EHOSTDOWN;
    case FAULT_KILL:
        hook_op_trace(c, op);
        kill(getpid(), SIGKILL);
        break;
    }
    return -EHOSTDOWN;
}

int hook_submit(struct transport_ctx *c, struct hook_op *op)
{
    struct transport_net *net = c->net;
    unsigned percent = net->faults.eagain;
    int error;

    if (hook_is_lost(net, op->at.pe))
        return -EHOSTDOWN;
    if (percent > 0 && random_below(&c->random[STREAM_POST], PERCENT) < percent) {
        c->denied_progress = c->denied_arm = true;
        return -EAGAIN;
    }
    if (c->nheld == HOOK_HELD_MAX)
        return -EAGAIN;
    PGAS_ASSERT(op->at.pe >= 0 && op->at.pe < net->world->npes);
    op->epoch = c->epoch;
    op->rule = hook_rule_find(net, load_relaxed_u64(&net->operations) + 1, op->at.pe);
    if (op->rule != NULL)
        error = hook_rule_apply(c, op);
    else
        error = net->holds ? hook_op_hold(c, op) : hook_op_forward_in_order(c, op);
    if (error == 0) {
        fetch_add_acq_rel_u64(&net->operations, 1);
        hook_op_trace(c, op);
    }
    return error;
}
