/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ofi_progress.c - completions, failures, fence and quiet (see ofi.h).
 * Uses: ofi.h, perform, core/clock.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rdma/fi_errno.h>

#include "pgas/core/base/timing.h"
#include "pgas/core/base/clock.h"
#include "pgas/transport/ofi/ofi_blocks.h"
#include "pgas/transport/perform.h"

enum {
    BATCH = 16,      /* completions that are read at once */
    BATCHES_MAX = 8, /* in one call of progress */
};

/* ---- completions ----------------------------------------------------------------- */

void ofi_op_complete(struct transport_ctx *ctx, struct ofi_op *op, int error)
{
    struct transport_completion *done = op->done;

    PGAS_ASSERT(ctx->in_flight > 0 && op->parent == NULL);
    ofi_op_free(ctx, op);
    ctx->in_flight--;
    perform_completion(done, error);
}

static void ofi_op_end_put(struct transport_ctx *ctx, struct ofi_op *op, int error)
{
    struct ofi_op *parent = op->parent;

    if (parent == NULL) {
        ofi_op_complete(ctx, op, error);
        return;
    }
    ofi_op_free(ctx, op);
    ofi_rma_fragment_done(ctx, parent, error);
}

static void ofi_op_end_get(struct transport_ctx *ctx, struct ofi_op *op, int error)
{
    if (error == 0 && (op->bounce != NULL || op->fills_record))
        memcpy(op->to, op->bounce != NULL ? op->bounce : op->u.bytes, op->len);
    ofi_op_end_put(ctx, op, error);
}

static void ofi_op_end_probe(struct transport_ctx *ctx, struct ofi_op *op, int error)
{
    (void)error;
    ofi_op_free(ctx, op);
}

static void ofi_op_end_amo(struct transport_ctx *ctx, struct ofi_op *op, int error)
{
    PGAS_ASSERT(ctx->amos_in_flight > 0);
    if (error == 0 && op->to != NULL)
        memcpy(op->to, &op->u.word.result, op->len);
    ctx->amos_in_flight--;
    ctx->last_completion_ns = 0;
    ofi_op_complete(ctx, op, error);
}

static void ofi_op_end_request(struct transport_ctx *ctx, struct ofi_op *op, int error)
{
    ctx->amos_in_flight--;
    ctx->last_completion_ns = 0;
    ofi_op_complete(ctx, op, error);
}

/* NULL: not completed by an event (a fragmented operation completes with its last
 * fragment). */
static void (*const ofi_op_end[OFI_KINDS])(struct transport_ctx *ctx, struct ofi_op *op,
                                           int error) = {
    [OFI_PUT] = ofi_op_end_put,         [OFI_GET] = ofi_op_end_get,
    [OFI_FLUSH] = ofi_op_end_put,       [OFI_AMO] = ofi_op_end_amo,
    [OFI_REQUEST] = ofi_op_end_request, [OFI_PROBE] = ofi_op_end_probe,
    [OFI_UNACKED] = ofi_op_complete,
};

/* The record of an operation that has ended with an error stays allocated until libfabric
 * completes it, which may never happen; unless only a reply is outstanding that is not
 * written to its bounce buffer. */
void ofi_op_release(struct transport_ctx *ctx, struct ofi_op *op)
{
    if (op->kind != OFI_ABANDONED) {
        ctx->abandoned++;
        ctx->bounces.stale += op->bounce != NULL && op->fills_bounce;
    }
    op->kind = OFI_ABANDONED;
    op->done = NULL;
    op->parent = NULL;
    if (op->events_pending > (op->awaits_reply ? 1 : 0) ||
        (op->fills_bounce && op->bounce != NULL))
        return;
    ctx->abandoned--;
    ofi_op_free(ctx, op);
}

void ofi_op_event(struct transport_ctx *ctx, struct ofi_op *op, int error)
{
    if (error != 0)
        op->error = error;
    PGAS_ASSERT(op->kind != OFI_FREE && op->events_pending > 0);
    if (--op->events_pending > 0) {
        if (op->kind == OFI_ABANDONED)
            ofi_op_release(ctx, op);
        return;
    }
    if (ofi_op_end[op->kind] != NULL)
        ofi_op_end[op->kind](ctx, op, op->error);
    else if (op->kind == OFI_ABANDONED || op->kind == OFI_REPLY) {
        ctx->abandoned -= op->kind == OFI_ABANDONED;
        ofi_op_free(ctx, op);
    }
}

/* ---- failures -------------------------------------------------------------------- */

struct loss {
    int pe, error;
};

void ofi_op_abandon(struct transport_ctx *ctx, struct ofi_op *op, int error)
{
    struct transport_completion *done = op->done;
    struct ofi_op *parent = op->parent;
    bool probe = op->kind == OFI_PROBE;

    if (op->kind == OFI_FRAGMENTED)
        op->error = error;
    if (ofi_op_end[op->kind] == NULL)
        return;
    if (op->kind == OFI_AMO || op->kind == OFI_REQUEST)
        ctx->amos_in_flight--;
    ofi_op_release(ctx, op);
    if (probe)
        return;
    if (parent != NULL) {
        ofi_rma_fragment_done(ctx, parent, error);
        return;
    }
    PGAS_ASSERT(ctx->in_flight > 0);
    ctx->in_flight--;
    perform_completion(done, error);
}

static bool ofi_op_abandon_of_peer(struct transport_ctx *ctx, struct ofi_op *op,
                                   void *arg)
{
    const struct loss *loss = arg;

    if (op->pe == loss->pe)
        ofi_op_abandon(ctx, op, loss->error);
    return true;
}

void ofi_peer_abandon_ops(struct transport_ctx *ctx, int pe, int error)
{
    struct loss loss = {.pe = pe, .error = error};

    ofi_ops_each(ctx, ofi_op_abandon_of_peer, &loss);
}

/* Result of a scan for operations in flight that may still free transmit resources. */
struct inflight_scan {
    int pe;
    bool with_pe, with_any;
};

static bool ofi_inflight_scan_op(struct transport_ctx *ctx, struct ofi_op *op, void *arg)
{
    struct inflight_scan *found = arg;

    (void)ctx;
    if (ofi_op_end[op->kind] == NULL)
        return true;
    /* the others may never complete if the peer is dead */
    if (op->kind != OFI_AMO && op->kind != OFI_REQUEST && op->kind != OFI_PROBE)
        found->with_any = true;
    if (op->pe == found->pe)
        found->with_pe = true;
    return !found->with_pe || !found->with_any;
}

/* The provider returned -FI_EAGAIN.  If no operation in flight to the PE can have
 * exhausted its resources, it is connecting: for the first time, for which the peer must
 * make progress, or again after the connection was lost.  It never gives up, even if the
 * peer has failed; we do after world->timeout_ns, as for any operation without progress.
 * 0: post again; or -ETIMEDOUT. */
static int ofi_peer_connect_refused(struct transport_ctx *ctx, int pe)
{
    struct inflight_scan found = {.pe = pe};
    uint64_t now = clock_ns();

    ofi_ops_each(ctx, ofi_inflight_scan_op, &found);
    ctx->connecting = !found.with_pe && !ofi_bit(ctx->dirty, pe);
    if (ctx->refused_pe != pe || found.with_any) {
        ctx->refused_pe = pe;
        ctx->first_refused_ns = now;
    }
    ctx->last_refused_ns = now;
    ctx->connect_slow = ctx->connecting && now - ctx->first_refused_ns > TIMING_OFI_SLOW;
    uint64_t limit = ctx->net->world->timeout_ns;
    return limit == 0 || now - ctx->first_refused_ns < limit ? 0 : -ETIMEDOUT;
}

int ofi_post_refused(struct transport_ctx *ctx, struct ofi_op *op, int pe, ssize_t rc,
                     const char *what)
{
    const char *reason = NULL;

    if (op != NULL) {
        ofi_op_free(ctx, op);
        ctx->in_flight--;
    }
    PGAS_ASSERT(rc < 0);
    if (rc == -FI_EAGAIN) {
        if (ofi_peer_connect_refused(ctx, pe) == 0)
            return -EAGAIN;
        rc = -ETIMEDOUT;
        reason = ctx->connecting && ofi_bit(ctx->reached, pe)
                     ? "the connection was lost and could not be restored within "
                       "SHMEM_NET_TIMEOUT"
                 : ctx->connecting
                     ? "no connection was established within SHMEM_NET_TIMEOUT"
                     : "the provider accepted no operation within SHMEM_NET_TIMEOUT";
        ctx->connect_slow = false;
    }
    if (what != NULL)
        ofi_peer_failed(ctx, pe, what, (int)-rc, reason);
    return -ofi_errno((int)-rc);
}

static const char *const ofi_op_text[OFI_KINDS] = {
    [OFI_PUT] = "a put",
    [OFI_GET] = "a get",
    [OFI_FLUSH] = "a flush of puts",
    [OFI_PROBE] = "an atomic operation",
    [OFI_AMO] = "an atomic operation",
    [OFI_REQUEST] = "a message with an atomic operation",
    [OFI_UNACKED] = "a put with signal",
};

/* An injected put has no context: if its peer has failed, the flush after it fails. */
static void ofi_cq_read_error(struct transport_ctx *ctx)
{
    struct fi_cq_err_entry err = {0};
    char space[TRANSPORT_TEXT_MAX];

    if (fi_cq_readerr(ctx->cq, &err, 0) <= 0 || err.op_context == NULL)
        return;
    if (ofi_is_unsignaled(err.op_context)) {
        ofi_peer_failed(
            ctx, ofi_unsignaled_pe(err.op_context), ofi_op_text[OFI_PUT], err.err,
            fi_cq_strerror(ctx->cq, err.prov_errno, err.err_data, space, sizeof space));
        return;
    }
    struct ofi_op *op = err.op_context;
    if (op->kind == OFI_RECV) {
        ofi_am_recv_failed(ctx, op, err.err);
        return;
    }
    if (ofi_op_text[op->kind] != NULL)
        ofi_peer_failed(
            ctx, op->pe, ofi_op_text[op->kind], err.err,
            fi_cq_strerror(ctx->cq, err.prov_errno, err.err_data, space, sizeof space));
    ofi_op_event(ctx, op, -ofi_errno(err.err));
}

/* ---- probes of peers that do not reply ------------------------------------------- */

/* PEs with an outstanding reply: the lowest above `after`, and the lowest; -1 = none. */
struct search {
    int after, next, first;
};

/* *arg: the PE; set to -1 if a probe of it is in flight. */
static bool ofi_probe_find(struct transport_ctx *ctx, struct ofi_op *op, void *arg)
{
    int *pe = arg;

    (void)ctx;
    if (op->kind == OFI_PROBE && op->pe == *pe)
        *pe = -1;
    return *pe >= 0;
}

static bool ofi_probe_find_next_peer(struct transport_ctx *ctx, struct ofi_op *op,
                                     void *arg)
{
    struct search *s = arg;

    (void)ctx;
    if (op->kind != OFI_AMO && op->kind != OFI_REQUEST)
        return true;
    if (op->pe > s->after && (s->next < 0 || op->pe < s->next))
        s->next = op->pe;
    if (s->first < 0 || op->pe < s->first)
        s->first = op->pe;
    return true;
}

/* Probe the peers with outstanding replies round-robin, each with at most one probe in
 * flight: a get from a dead peer fails, which fails all operations to it. */
static void ofi_probe_next_peer(struct transport_ctx *ctx)
{
    struct search s = {.after = ctx->probed_pe, .next = -1, .first = -1};
    uint64_t now = clock_ns();

    if (ctx->last_completion_ns == 0)
        ctx->last_completion_ns = now;
    if (now - ctx->last_completion_ns < TIMING_OFI_PROBE)
        return;
    ctx->last_completion_ns = now;
    ofi_ops_each(ctx, ofi_probe_find_next_peer, &s);
    int pe = ctx->probed_pe = s.next >= 0 ? s.next : s.first;
    if (pe >= 0)
        ofi_ops_each(ctx, ofi_probe_find, &pe);
    if (pe < 0)
        return;
    int rc = ofi_rma_flush(ctx, pe, OFI_PROBE);
    if (rc != 0 && rc != -EAGAIN) /* another context may have detected the failure */
        ofi_peer_abandon_ops(ctx, pe, rc);
}

/* ---- progress -------------------------------------------------------------------- */

static void ofi_cq_handle(struct transport_ctx *ctx, const struct fi_cq_data_entry *entry,
                          ssize_t n)
{
    for (ssize_t i = 0; i < n; i++) {
        struct ofi_op *op = entry[i].op_context;
        if (unlikely((entry[i].flags & FI_REMOTE_CQ_DATA) != 0)) {
            ofi_blocks_recv(ctx, entry[i].data);
            continue;
        }
        if (unlikely(ofi_is_unsignaled(op)))
            continue; /* the provider may complete unsignaled puts, too */
        if (op->kind == OFI_RECV) {
            ofi_am_recv(ctx, op, entry[i].len);
            continue;
        }
        if (op->kind == OFI_REQUEST && !op->fills_bounce)
            ofi_bounce_free(ctx, op); /* sent; only the reply is outstanding */
        ofi_op_event(ctx, op, 0);
    }
}

static int ofi_cq_read(struct transport_ctx *ctx)
{
    struct fi_cq_data_entry entry[BATCH];
    int sum = 0;

    for (int i = 0; i < BATCHES_MAX; i++) {
        ssize_t n = fi_cq_read(ctx->cq, entry, BATCH);
        if (n == -FI_EAVAIL) {
            ofi_cq_read_error(ctx);
            sum++;
            continue;
        }
        if (n > 0) {
            ofi_cq_handle(ctx, entry, n);
            sum += (int)n;
        }
        if (n < BATCH)
            break;
    }
    return sum;
}

/* ofi_fd may read fd_unreliable concurrently. */
static void ofi_ctx_update_fd_unreliable(struct transport_ctx *ctx)
{
    if (unlikely(ctx->connect_slow) &&
        clock_ns() - ctx->last_refused_ns > TIMING_OFI_RETRY_IDLE)
        ctx->connect_slow = false; /* no operation waits for a connection */
    uint32_t fd_unreliable = ctx->connect_slow || ctx->replies != NULL || ctx->drains > 0;

    if (unlikely(fd_unreliable != ctx->fd_unreliable))
        store_relaxed_u32(&ctx->fd_unreliable, fd_unreliable);
}

int ofi_progress(struct transport_ctx *ctx)
{
    int n = ofi_cq_read(ctx);

    if (unlikely(ofi_lost_is_due(ctx)))
        n += ofi_lost_purge(ctx);
    if (unlikely(ctx->backlog.first != NULL))
        ofi_rma_post_backlog(ctx);
    if (unlikely(ctx->unposted_recvs.first != NULL))
        ofi_am_repost_recvs(ctx);
    if (unlikely(ctx->replies != NULL))
        ofi_reply_retry(ctx);
    ofi_ctx_update_fd_unreliable(ctx);
    if (n == 0 && ctx->amos_in_flight > 0)
        ofi_probe_next_peer(ctx);
    return n;
}

int ofi_fd(struct transport_ctx *ctx)
{
    return load_relaxed_u32(&ctx->fd_unreliable) != 0 ? -1 : ctx->fd;
}

int ofi_arm(struct transport_ctx *ctx)
{
    struct fid *fid = &ctx->cq->fid;

    if (ctx->fd < 0)
        return 0;
    /* A new connection does not make the descriptor readable (observed with rxm). */
    if (ctx->connecting && !ctx->connect_slow) {
        ctx->connecting = false;
        return -EAGAIN;
    }
    return fi_trywait(ctx->net->fabric, &fid, 1) == 0 ? 0 : -EAGAIN;
}

/* ---- order and completion -------------------------------------------------------- */

/* Ordered mode: a later operation cannot overtake a put, but it can overtake an amo. */
int ofi_fence(struct transport_ctx *ctx)
{
    if (!ctx->net->ordered)
        return ctx->in_flight == 0 ? 0 : -EAGAIN;
    return ctx->amos_in_flight == 0 && ctx->backlog.first == NULL ? 0 : -EAGAIN;
}

/* Read one byte from each dirty peer; mark failed peers clean. */
static int ofi_ctx_flush(struct transport_ctx *ctx)
{
    while (ctx->ndirty > 0) {
        int pe = ctx->dirty_list[ctx->ndirty - 1];
        PGAS_ASSERT(ofi_bit(ctx->dirty, pe));
        if (ofi_rma_flush(ctx, pe, OFI_FLUSH) == -EAGAIN)
            return -EAGAIN;
        ofi_bit_clear(ctx->dirty, pe);
        ctx->ndirty--;
    }
    return 0;
}

int ofi_quiet(struct transport_ctx *ctx)
{
    if (ctx->backlog.first != NULL || (ctx->ndirty > 0 && ofi_ctx_flush(ctx) != 0) ||
        ctx->in_flight > 0)
        return -EAGAIN;
    PGAS_ASSERT(ctx->amos_in_flight == 0 && ctx->ndirty == 0);
    ctx->unflushed = 0;
    ctx->has_put = false;
    return 0;
}

int ofi_quiet_all(struct transport_ctx *ctx)
{
    return ofi_am_confirm(ctx) == 0 ? ofi_quiet(ctx) : -EAGAIN;
}

static bool ofi_op_find_any(struct transport_ctx *ctx, struct ofi_op *op, void *arg)
{
    int *pe = arg;

    (void)ctx;
    if ((ofi_op_end[op->kind] == NULL && op->kind != OFI_FRAGMENTED) ||
        op->kind == OFI_PROBE)
        return true;
    *pe = op->pe;
    return false;
}

uint64_t ofi_pending(struct transport_ctx *ctx, int *pe)
{
    uint64_t n = ctx->in_flight + (uint64_t)ctx->ndirty;

    if (pe == NULL || n == 0)
        return n;
    *pe = -1;
    if (ctx->in_flight > 0)
        ofi_ops_each(ctx, ofi_op_find_any, pe);
    else
        *pe = ctx->dirty_list[0];
    return n;
}
