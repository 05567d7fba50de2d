/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ofi_progress.c - completions, failures, fence and quiet.  Uses: ofi.h, perform,
 * core/clock.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "pgas/core/clock.h"
#include "pgas/transport/ofi/ofi.h"
#include "pgas/transport/perform.h"

enum {
    BATCH = 16,      /* completions that are read at once */
    BATCHES_MAX = 8, /* in one call of progress */
    /* After so long without an answer to an amo its peer is probed: a provider that sends
     * atomics as messages does not say by itself that nobody will answer any more. */
    PROBE_NS = 200 * 1000 * 1000,
};

/* After this time a connecting endpoint is polled at the timer's rate, not by spinning.
 */
static const uint64_t SLOW_NS = 20000000;
/* If no post was refused for so long, nobody tries to connect any more. */
static const uint64_t RETRY_IDLE_NS = 1000000000;

/* ---- ends of operations ---------------------------------------------------------- */

void ofi_finish(struct transport_ctx *ctx, struct ofi_op *op, int error)
{
    struct transport_done *done = op->done;

    ofi_op_free(ctx, op);
    ctx->under_way--;
    perform_done(done, error);
}

static void end_put(struct transport_ctx *ctx, struct ofi_op *op, int error)
{
    struct ofi_op *whole = op->whole;

    if (whole == NULL) {
        ofi_finish(ctx, op, error);
        return;
    }
    ofi_op_free(ctx, op);
    ofi_rma_piece(ctx, whole, error);
}

static void end_get(struct transport_ctx *ctx, struct ofi_op *op, int error)
{
    if (op->bounce != NULL && error == 0)
        memcpy(op->to, op->bounce, op->len);
    end_put(ctx, op, error);
}

static void end_probe(struct transport_ctx *ctx, struct ofi_op *op, int error)
{
    (void)error;
    ofi_op_free(ctx, op);
}

static void end_amo(struct transport_ctx *ctx, struct ofi_op *op, int error)
{
    if (error == 0 && op->to != NULL)
        memcpy(op->to, &op->u.word.result, op->len);
    ctx->amos--;
    ctx->heard_ns = 0;
    ofi_finish(ctx, op, error);
}

static void end_ask(struct transport_ctx *ctx, struct ofi_op *op, int error)
{
    ctx->amos--;
    ctx->heard_ns = 0;
    ofi_finish(ctx, op, error);
}

/* A long operation ends with its last piece, and has no completion. */
static void (*const end_of[OFI_KINDS])(struct transport_ctx *ctx, struct ofi_op *op,
                                       int error) = {
    [OFI_PUT] = end_put,     [OFI_GET] = end_get, [OFI_FLUSH] = end_put,
    [OFI_AMO] = end_amo,     [OFI_ASK] = end_ask, [OFI_PROBE] = end_probe,
    [OFI_NOTE] = ofi_finish,
};

void ofi_heard(struct transport_ctx *ctx, struct ofi_op *op, int error)
{
    if (error != 0)
        op->error = error;
    if (--op->waits > 0)
        return;
    if (end_of[op->kind] != NULL)
        end_of[op->kind](ctx, op, op->error);
    else if (op->kind == OFI_LOST || op->kind == OFI_ANSWER)
        ofi_op_free(ctx, op);
}

/* ---- failures -------------------------------------------------------------------- */

struct loss {
    int pe, error;
};

/* Whoever waits for it is told; the record stays until the provider gives it back, or for
 * ever, as an answer that comes nevertheless must not find another operation there. */
static bool lose(struct transport_ctx *ctx, struct ofi_op *op, void *arg)
{
    const struct loss *loss = arg;
    struct transport_done *done = op->done;

    if (op->pe != loss->pe)
        return true;
    if (op->kind == OFI_LONG)
        op->error = loss->error;
    if (end_of[op->kind] == NULL)
        return true;
    if (op->kind == OFI_AMO || op->kind == OFI_ASK)
        ctx->amos--;
    if (op->kind == OFI_PROBE) {
        op->kind = OFI_LOST;
        return true;
    }
    op->kind = OFI_LOST;
    op->done = NULL;
    if (op->whole != NULL) {
        ofi_rma_piece(ctx, op->whole, loss->error);
        return true;
    }
    ctx->under_way--;
    perform_done(done, loss->error);
    return true;
}

void ofi_abandon(struct transport_ctx *ctx, int pe, int error)
{
    struct loss loss = {.pe = pe, .error = error};

    ofi_ops_each(ctx, lose, &loss);
}

/* What may come back, and make room for others. */
struct business {
    int pe;
    bool with_pe, with_any;
};

static bool find_business(struct transport_ctx *ctx, struct ofi_op *op, void *arg)
{
    struct business *found = arg;

    (void)ctx;
    if (end_of[op->kind] == NULL)
        return true;
    /* Of a dead peer these may stay under way. */
    if (op->kind != OFI_AMO && op->kind != OFI_ASK && op->kind != OFI_PROBE)
        found->with_any = true;
    if (op->pe == found->pe)
        found->with_pe = true;
    return !found->with_pe || !found->with_any;
}

/* The provider says "again".  If nothing is in flight that could have exhausted it, it is
 * connecting: for the first time, for which the peer must make progress, or again after
 * a connection was lost.  It tries for ever, also if the peer is gone; we give up after
 * world->timeout_ns, as with any other silence.  0: post again; or -ETIMEDOUT. */
static int refused_again(struct transport_ctx *ctx, int pe)
{
    struct business found = {.pe = pe};
    uint64_t now = clock_ns();

    ofi_ops_each(ctx, find_business, &found);
    ctx->connecting = !found.with_pe && !ofi_bit(ctx->dirty, pe);
    if (ctx->refused != pe || found.with_any) {
        ctx->refused = pe;
        ctx->refused_ns = now;
    }
    ctx->again_ns = now;
    ctx->slow = ctx->connecting && now - ctx->refused_ns > SLOW_NS;
    uint64_t limit = ctx->net->world->timeout_ns;
    return limit == 0 || now - ctx->refused_ns < limit ? 0 : -ETIMEDOUT;
}

int ofi_refused(struct transport_ctx *ctx, struct ofi_op *op, int pe, ssize_t rc,
                const char *what)
{
    const char *reason = NULL;

    if (op != NULL) {
        ofi_op_free(ctx, op);
        ctx->under_way--;
    }
    if (rc == -FI_EAGAIN) {
        if (refused_again(ctx, pe) == 0)
            return -EAGAIN;
        rc = -ETIMEDOUT;
        reason = ctx->connecting && ofi_bit(ctx->reached, pe)
                     ? "the connection was lost, and connecting again did not succeed "
                       "within SHMEM_NET_TIMEOUT"
                 : ctx->connecting
                     ? "connecting did not succeed within SHMEM_NET_TIMEOUT"
                     : "the provider took no operation for SHMEM_NET_TIMEOUT";
        ctx->slow = false;
    }
    if (what != NULL)
        ofi_peer_failed(ctx, pe, what, (int)-rc, reason);
    return -ofi_errno((int)-rc);
}

static const char *const what_failed[OFI_KINDS] = {
    [OFI_PUT] = "a put",
    [OFI_GET] = "a get",
    [OFI_FLUSH] = "the end of puts",
    [OFI_PROBE] = "an atomic operation",
    [OFI_AMO] = "an atomic operation",
    [OFI_ASK] = "a message with an atomic operation",
    [OFI_NOTE] = "a put with signal",
};

/* An injected put has no context either; that it has failed shows in the flush after it,
 * if the peer has gone. */
static void read_error(struct transport_ctx *ctx)
{
    struct fi_cq_err_entry err = {0};
    char room[TRANSPORT_TEXT_MAX];

    if (fi_cq_readerr(ctx->cq, &err, 0) <= 0 || err.op_context == NULL)
        return;
    if (ofi_is_silent(err.op_context)) {
        ofi_peer_failed(
            ctx, ofi_silent_pe(err.op_context), what_failed[OFI_PUT], err.err,
            fi_cq_strerror(ctx->cq, err.prov_errno, err.err_data, room, sizeof room));
        return;
    }
    struct ofi_op *op = err.op_context;
    if (op->kind == OFI_RECEIVE) {
        ofi_am_recv_failed(ctx, op, err.err);
        return;
    }
    if (what_failed[op->kind] != NULL)
        ofi_peer_failed(
            ctx, op->pe, what_failed[op->kind], err.err,
            fi_cq_strerror(ctx->cq, err.prov_errno, err.err_data, room, sizeof room));
    ofi_heard(ctx, op, -ofi_errno(err.err));
}

/* ---- silence --------------------------------------------------------------------- */

struct search {
    int after, next, first;
};

/* arg: the PE; -1 once a probe of it has been found. */
static bool find_probe(struct transport_ctx *ctx, struct ofi_op *op, void *arg)
{
    int *pe = arg;

    (void)ctx;
    if (op->kind == OFI_PROBE && op->pe == *pe)
        *pe = -1;
    return *pe >= 0;
}

/* The lowest PE above `after` that owes an answer, and the lowest of all. */
static bool find_debtor(struct transport_ctx *ctx, struct ofi_op *op, void *arg)
{
    struct search *s = arg;

    (void)ctx;
    if (op->kind != OFI_AMO && op->kind != OFI_ASK)
        return true;
    if (op->pe > s->after && (s->next < 0 || op->pe < s->next))
        s->next = op->pe;
    if (s->first < 0 || op->pe < s->first)
        s->first = op->pe;
    return true;
}

/* One peer at a time, and each once until it answers: a get to a dead one fails, and all
 * that it owes with it. */
static void probe(struct transport_ctx *ctx)
{
    struct search s = {.after = ctx->probed, .next = -1, .first = -1};
    uint64_t now = clock_ns();

    if (ctx->heard_ns == 0)
        ctx->heard_ns = now;
    if (now - ctx->heard_ns < PROBE_NS)
        return;
    ctx->heard_ns = now;
    ofi_ops_each(ctx, find_debtor, &s);
    int pe = ctx->probed = s.next >= 0 ? s.next : s.first;
    if (pe >= 0)
        ofi_ops_each(ctx, find_probe, &pe);
    if (pe < 0)
        return;
    int rc = ofi_rma_flush(ctx, pe, OFI_PROBE);
    if (rc != 0 && rc != -EAGAIN) /* another context may have found out before */
        ofi_abandon(ctx, pe, rc);
}

/* ---- progress -------------------------------------------------------------------- */

static void handle_completions(struct transport_ctx *ctx,
                               const struct fi_cq_msg_entry *entry, ssize_t n)
{
    for (ssize_t i = 0; i < n; i++) {
        struct ofi_op *op = entry[i].op_context;
        if (unlikely(ofi_is_silent(op)))
            continue; /* a provider that completes all */
        if (op->kind == OFI_RECEIVE) {
            ofi_am_recv(ctx, op, entry[i].len);
            continue;
        }
        if (op->kind == OFI_ASK)
            ofi_bounce_free(ctx, op); /* the answer may take a while */
        ofi_heard(ctx, op, 0);
    }
}

static int read_completions(struct transport_ctx *ctx)
{
    struct fi_cq_msg_entry entry[BATCH];
    int sum = 0;

    for (int i = 0; i < BATCHES_MAX; i++) {
        ssize_t n = fi_cq_read(ctx->cq, entry, BATCH);
        if (n == -FI_EAVAIL) {
            read_error(ctx);
            sum++;
            continue;
        }
        if (n > 0) {
            handle_completions(ctx, entry, n);
            sum += (int)n;
        }
        if (n < BATCH)
            break;
    }
    return sum;
}

/* ofi_fd may be called at the same time. */
static void set_blind(struct transport_ctx *ctx)
{
    if (unlikely(ctx->slow) && clock_ns() - ctx->again_ns > RETRY_IDLE_NS)
        ctx->slow = false; /* nobody tries any more */
    uint32_t blind = ctx->slow || ctx->answers != NULL;

    if (unlikely(blind != ctx->blind))
        store_relaxed_u32(&ctx->blind, blind);
}

int ofi_progress(struct transport_ctx *ctx)
{
    int n = read_completions(ctx);

    if (unlikely(ctx->stalled.first != NULL))
        ofi_rma_advance(ctx);
    if (unlikely(ctx->answers != NULL || ctx->deaf.first != NULL))
        ofi_am_advance(ctx);
    set_blind(ctx);
    if (n == 0 && ctx->amos > 0)
        probe(ctx);
    return n;
}

int ofi_fd(struct transport_ctx *ctx)
{
    return load_relaxed_u32(&ctx->blind) != 0 ? -1 : ctx->fd;
}

int ofi_arm(struct transport_ctx *ctx)
{
    struct fid *fid = &ctx->cq->fid;

    if (ctx->fd < 0)
        return 0;
    /* That a connection has been made does not show in the descriptor (seen with rxm). */
    if (ctx->connecting && !ctx->slow) {
        ctx->connecting = false;
        return -EAGAIN;
    }
    return fi_trywait(ctx->net->fabric, &fid, 1) == 0 ? 0 : -EAGAIN;
}

/* ---- order and completion -------------------------------------------------------- */

/* Ordered: what follows cannot overtake a put, but an amo (ofi_select_in_order). */
int ofi_fence(struct transport_ctx *ctx)
{
    if (!ctx->net->ordered)
        return ctx->under_way == 0 ? 0 : -EAGAIN;
    return ctx->amos == 0 && ctx->stalled.first == NULL ? 0 : -EAGAIN;
}

/* Ask each dirty peer for a byte; a failed one is clean. */
static int flush(struct transport_ctx *ctx)
{
    while (ctx->ndirty > 0) {
        int pe = ctx->dirty_list[ctx->ndirty - 1];
        if (ofi_rma_flush(ctx, pe, OFI_FLUSH) == -EAGAIN)
            return -EAGAIN;
        ofi_bit_clear(ctx->dirty, pe);
        ctx->ndirty--;
    }
    return 0;
}

int ofi_quiet(struct transport_ctx *ctx)
{
    if (ctx->stalled.first != NULL || (ctx->ndirty > 0 && flush(ctx) != 0) ||
        ctx->under_way > 0)
        return -EAGAIN;
    ctx->unflushed = 0;
    ctx->has_put = false;
    return 0;
}

static bool find_any(struct transport_ctx *ctx, struct ofi_op *op, void *arg)
{
    int *pe = arg;

    (void)ctx;
    if ((end_of[op->kind] == NULL && op->kind != OFI_LONG) || op->kind == OFI_PROBE)
        return true;
    *pe = op->pe;
    return false;
}

uint64_t ofi_pending(struct transport_ctx *ctx, int *pe)
{
    uint64_t n = ctx->under_way + (uint64_t)ctx->ndirty;

    if (pe == NULL || n == 0)
        return n;
    *pe = -1;
    if (ctx->under_way > 0)
        ofi_ops_each(ctx, find_any, pe);
    else
        *pe = ctx->dirty_list[0];
    return n;
}
