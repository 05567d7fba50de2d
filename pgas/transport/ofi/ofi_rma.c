/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ofi_rma.c - puts and gets.
 *
 * A put or get is one operation of the provider.  If it is longer than fragment_max, or
 * its memory must be registered and is not, it is split into fragments, which progress
 * posts as resources permit.
 * Uses: ofi.h, perform.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include <rdma/fi_rma.h>

#include "pgas/transport/ofi/ofi.h"
#include "pgas/transport/perform.h"

/* True if the provider may access [p, p + len); *desc is then its descriptor. */
static bool ofi_mr_lookup(const struct transport_net *net, const void *p, size_t len,
                          void **desc)
{
    *desc = NULL;
    if (likely(!net->registers))
        return true;
    for (int s = 0; s < SEGMENTS; s++) {
        size_t at = (size_t)((uintptr_t)p - (uintptr_t)net->world->segment[s].base);
        if (at >= net->world->segment[s].len || len > net->world->segment[s].len - at)
            continue;
        *desc = fi_mr_desc(net->mr[s]);
        return true;
    }
    return false;
}

void ofi_rma_mark_dirty(struct transport_ctx *ctx, int pe)
{
    ctx->unflushed++;
    if (ofi_bit(ctx->dirty, pe))
        return;
    PGAS_ASSERT(ctx->net->ordered && ctx->ndirty < ctx->net->world->npes);
    ofi_bit_set(ctx->dirty, pe);
    ctx->dirty_list[ctx->ndirty++] = pe;
}

/* ---- one operation of the provider ----------------------------------------------- */

static ssize_t ofi_ep_writemsg(struct transport_ctx *ctx, const struct ofi_target *target,
                               const void *from, size_t len, void *desc, void *context,
                               uint64_t flags)
{
    struct iovec local = {.iov_base = (void *)(uintptr_t)from, .iov_len = len};
    struct fi_rma_iov remote = {.addr = target->at, .len = len, .key = target->key};
    struct fi_msg_rma msg = {.msg_iov = &local,
                             .desc = &desc,
                             .iov_count = 1,
                             .addr = target->addr,
                             .rma_iov = &remote,
                             .rma_iov_count = 1,
                             .context = context};

    return fi_writemsg(ctx->ep, &msg, flags);
}

/* delivery_complete: the completion implies visibility at the target. */
static int ofi_ep_post_write(struct transport_ctx *ctx, const struct ofi_target *target,
                             const void *from, size_t len, void *desc, struct ofi_op *op,
                             bool delivery_complete)
{
    int pe = op->pe;

    bool delivered = delivery_complete || !ctx->net->ordered;
    ssize_t n = delivered ? ofi_ep_writemsg(ctx, target, from, len, desc, &op->fi,
                                            FI_COMPLETION | FI_DELIVERY_COMPLETE)
                          : fi_write(ctx->ep, from, len, desc, target->addr, target->at,
                                     target->key, &op->fi);
    int rc = ofi_post_result(ctx, op, pe, n, "a put");
    if (rc != 0)
        return rc;
    ctx->has_put = true;
    if (!delivered)
        ofi_rma_mark_dirty(ctx, pe);
    return 0;
}

static int ofi_ep_post_read(struct transport_ctx *ctx, const struct ofi_target *target,
                            void *to, size_t len, void *desc, struct ofi_op *op)
{
    return ofi_post_result(
        ctx, op, op->pe,
        fi_read(ctx->ep, to, len, desc, target->addr, target->at, target->key, &op->fi),
        "a get");
}

/* Ordered mode: true if a put may be unsignaled, because the provider copies it or the
 * caller does not wait for it before quiet. Every OFI_SIGNAL_EVERY-th put is signaled, to
 * detect that the peer makes progress and to bound the provider's queue. */
static bool ofi_rma_may_be_unsignaled(const struct transport_ctx *ctx, size_t len,
                                      bool waits)
{
    if (ctx->unflushed % OFI_SIGNAL_EVERY == OFI_SIGNAL_EVERY - 1)
        return false;
    return len <= ctx->inject_max ||
           (ctx->unsignaled && !waits && len <= OFI_UNSIGNALED_MAX);
}

static int ofi_ep_post_unsignaled(struct transport_ctx *ctx,
                                  const struct ofi_target *target, int pe,
                                  const void *from, size_t len, void *desc,
                                  struct transport_completion *done)
{
    ssize_t rc =
        len <= ctx->inject_max
            ? fi_inject_write(ctx->ep, from, len, target->addr, target->at, target->key)
            : ofi_ep_writemsg(ctx, target, from, len, desc, ofi_unsignaled_context(pe),
                              0);
    int error = ofi_post_result(ctx, NULL, pe, rc, "a put");

    if (unlikely(error != 0))
        return error;
    ctx->has_put = true;
    ofi_rma_mark_dirty(ctx, pe);
    perform_completion(done, 0);
    return 0;
}

int ofi_rma_flush(struct transport_ctx *ctx, int pe, enum ofi_kind kind)
{
    struct transport_symaddr symaddr = {.pe = pe};
    struct ofi_target target;
    int rc = ofi_target(ctx, &symaddr, &target);

    if (rc != 0)
        return rc;
    symaddr.segment = (enum transport_segment)target.peer->flush;
    rc = ofi_target(ctx, &symaddr, &target);
    if (rc != 0)
        return rc;
    struct ofi_op *op = ofi_op_alloc(ctx, kind, pe, NULL);
    if (op == NULL)
        return -EAGAIN;
    rc = ofi_ep_post_read(ctx, &target, &op->u.word.result, 1, op->desc, op);
    if (rc == 0 && kind == OFI_PROBE)
        ctx->in_flight--;
    return rc;
}

/* ---- long operations ------------------------------------------------------------- */

/* Memory of the library for a fragment: a bounce buffer.  A get waits for one that may be
 * filled; if all of these belong to failed peers, it uses its record.  0 or -errno. */
static int ofi_fragment_bounce(struct transport_ctx *ctx, struct ofi_op *op, bool get,
                               void **local, void **desc, size_t *len)
{
    op->fills_record = get && ctx->bounces.stale == OFI_BOUNCES_FILLED;
    size_t space = op->fills_record ? sizeof op->u.bytes : OFI_BOUNCE_SIZE;

    *len = *len < space ? *len : space;
    *local = op->u.bytes;
    *desc = op->desc;
    if (op->fills_record)
        return 0;
    op->bounce = ofi_bounce_new(ctx);
    if (op->bounce == NULL)
        return ofi_bounce_missing(ctx);
    *local = op->bounce;
    *desc = ctx->bounces.desc;
    return get && !ofi_bounce_fill(ctx, op) ? -EAGAIN : 0;
}

/* Allocate a record for the next fragment: *len bytes at *local. 0 or -errno. */
static int ofi_fragment_alloc(struct transport_ctx *ctx, struct ofi_op *parent,
                              struct ofi_op **fragment, void **local, void **desc,
                              size_t *len)
{
    struct ofi_fragmented *l = &parent->u.part;
    bool get = l->to != NULL;
    struct ofi_op *op = ofi_op_alloc(ctx, get ? OFI_GET : OFI_PUT, parent->pe, NULL);

    if (op == NULL)
        return -EAGAIN;
    *len = l->len < ctx->net->fragment_max ? l->len : ctx->net->fragment_max;
    *local = get ? l->to : (void *)(uintptr_t)l->from;
    if (!ofi_mr_lookup(ctx->net, *local, *len, desc)) {
        int rc = ofi_fragment_bounce(ctx, op, get, local, desc, len);
        if (rc != 0) {
            ofi_op_free(ctx, op);
            ctx->in_flight--;
            return rc;
        }
        if (!get)
            memcpy(op->bounce, l->from, *len);
    }
    op->parent = parent;
    op->to = l->to;
    op->len = *len;
    *fragment = op;
    return 0;
}

/* Post the next fragment. 0, -EAGAIN or -errno. */
static int ofi_fragment_post(struct transport_ctx *ctx, struct ofi_op *parent)
{
    struct ofi_fragmented *l = &parent->u.part;
    struct ofi_target target;
    void *desc, *local;
    size_t len;
    int rc = ofi_target(ctx, &l->symaddr, &target);

    if (rc != 0)
        return rc;
    struct ofi_op *op = NULL;
    rc = ofi_fragment_alloc(ctx, parent, &op, &local, &desc, &len);
    if (rc != 0)
        return rc;
    rc = l->to != NULL ? ofi_ep_post_read(ctx, &target, local, len, desc, op)
                       : ofi_ep_post_write(ctx, &target, local, len, desc, op, false);
    if (rc != 0)
        return rc;
    PGAS_ASSERT(ctx->in_flight > 1 && len > 0 && len <= l->len);
    ctx->in_flight--; /* only the parent is counted */
    l->fragments++;
    l->len -= len;
    l->symaddr.offset += len;
    if (l->to != NULL)
        l->to += len;
    else
        l->from += len;
    return 0;
}

static void ofi_rma_try_complete(struct transport_ctx *ctx, struct ofi_op *parent)
{
    if (parent->u.part.fragments == 0 && !parent->u.part.queued)
        ofi_op_complete(ctx, parent, parent->error);
}

void ofi_rma_fragment_done(struct transport_ctx *ctx, struct ofi_op *parent, int error)
{
    PGAS_ASSERT(parent->kind == OFI_FRAGMENTED && parent->u.part.fragments > 0);
    parent->u.part.fragments--;
    if (error != 0)
        parent->error = error;
    ofi_rma_try_complete(ctx, parent);
}

/* Fragments are posted in order; after an error the remaining ones are not posted. */
void ofi_rma_post_backlog(struct transport_ctx *ctx)
{
    while (ctx->backlog.first != NULL) {
        struct ofi_op *parent = ctx->backlog.first;
        int rc = parent->error;
        while (rc == 0 && parent->u.part.len > 0)
            rc = ofi_fragment_post(ctx, parent);
        if (rc == -EAGAIN)
            return;
        parent->error = rc;
        ofi_queue_pop(&ctx->backlog);
        parent->u.part.queued = false;
        ofi_rma_try_complete(ctx, parent);
    }
}

void ofi_rma_drop_backlog(struct transport_ctx *ctx)
{
    struct ofi_op *op = ctx->backlog.first, *next;

    ctx->backlog.first = NULL;
    ctx->backlog.last = &ctx->backlog.first;
    for (; op != NULL; op = next) {
        next = op->next;
        if (!ofi_peer_is_lost(ctx->net, op->pe)) {
            ofi_queue_push(&ctx->backlog, op);
            continue;
        }
        op->error = -EHOSTDOWN;
        op->u.part.queued = false;
        ofi_rma_try_complete(ctx, op);
    }
}

static int ofi_rma_start_fragmented(struct transport_ctx *ctx,
                                    const struct transport_symaddr *symaddr,
                                    const void *from, void *to, size_t len,
                                    struct transport_completion *done)
{
    struct ofi_op *op = ofi_op_alloc(ctx, OFI_FRAGMENTED, symaddr->pe, done);

    if (op == NULL)
        return -EAGAIN;
    op->u.part = (struct ofi_fragmented){
        .symaddr = *symaddr, .from = from, .to = to, .len = len, .queued = true};
    ofi_queue_push(&ctx->backlog, op);
    ofi_rma_post_backlog(ctx);
    return 0;
}

/* ---- puts before an amo ---------------------------------------------------------- */

/* *arg: the PE; set to -1 if a put to it is found. */
static bool ofi_rma_find_put(struct transport_ctx *ctx, struct ofi_op *op, void *arg)
{
    int *pe = arg;

    (void)ctx;
    if (op->pe != *pe ||
        (op->kind != OFI_PUT && (op->kind != OFI_FRAGMENTED || op->u.part.to != NULL)))
        return true;
    *pe = -1;
    return false;
}

/* Ordered mode: posted puts precede on the connection, but a fragmented put may still
 * have fragments to post. */
bool ofi_rma_is_after_puts(struct transport_ctx *ctx, int pe)
{
    if (!ctx->net->ordered) {
        if (ctx->in_flight > ctx->amos_in_flight)
            ofi_ops_each(ctx, ofi_rma_find_put, &pe);
        return pe >= 0;
    }
    for (struct ofi_op *op = ctx->backlog.first; op != NULL && pe >= 0; op = op->next)
        ofi_rma_find_put(ctx, op, &pe);
    return pe >= 0;
}

/* ---- put and get ----------------------------------------------------------------- */

/* Post a put as one operation. A short one is copied to a bounce buffer if the caller
 * waits for it or its source is not registered (direct is false). */
static int ofi_rma_put_whole(struct transport_ctx *ctx, const struct ofi_target *target,
                             int pe, const void *from, size_t len,
                             struct transport_completion *done, bool direct, void *desc,
                             bool delivery_complete)
{
    struct ofi_op *op = ofi_op_alloc(ctx, OFI_PUT, pe, done);

    if (op == NULL)
        return -EAGAIN;
    if (len <= (direct ? OFI_COPIED_MAX : OFI_BOUNCE_SIZE) && (done != NULL || !direct))
        op->bounce = ofi_bounce_new(ctx);
    if (op->bounce == NULL && direct)
        return ofi_ep_post_write(ctx, target, from, len, desc, op, delivery_complete);
    if (op->bounce == NULL) {
        ofi_op_free(ctx, op);
        ctx->in_flight--;
        return ofi_bounce_missing(ctx);
    }
    memcpy(op->bounce, from, len);
    op->done = NULL;
    int rc = ofi_ep_post_write(ctx, target, op->bounce, len, ctx->bounces.desc, op,
                               delivery_complete);
    if (rc == 0)
        perform_completion(done, 0);
    return rc;
}

/* True if this is the first put since quiet, nothing is in flight, and the caller waits
 * for it. A quiet probably follows; if the put completes at delivery, that quiet needs no
 * flush. In a stream of puts, each would cost a round trip. */
static bool ofi_rma_is_lone_put(const struct transport_ctx *ctx,
                                const struct transport_completion *done)
{
    return done != NULL && !ctx->has_put && ctx->in_flight == 0;
}

int ofi_put(struct transport_ctx *ctx, const struct transport_symaddr *to,
            const void *from, size_t len, struct transport_completion *done)
{
    struct ofi_target target;
    void *desc;
    int rc = ofi_target(ctx, to, &target);

    if (unlikely(rc != 0))
        return rc;
    if (unlikely(ctx->unflushed >= OFI_UNFLUSHED_MAX) && ofi_quiet(ctx) != 0)
        return -EAGAIN;
    bool direct = ofi_mr_lookup(ctx->net, from, len, &desc),
         delivery_complete = ofi_rma_is_lone_put(ctx, done);
    if (!delivery_complete && (direct || len <= ctx->inject_max) &&
        ofi_rma_may_be_unsignaled(ctx, len, done != NULL))
        return ofi_ep_post_unsignaled(ctx, &target, to->pe, from, len, desc, done);
    if (len > ctx->net->fragment_max || (!direct && len > OFI_BOUNCE_SIZE))
        return ofi_rma_start_fragmented(ctx, to, from, NULL, len, done);
    return ofi_rma_put_whole(ctx, &target, to->pe, from, len, done, direct, desc,
                             delivery_complete);
}

int ofi_get(struct transport_ctx *ctx, void *to, const struct transport_symaddr *from,
            size_t len, struct transport_completion *done)
{
    struct ofi_target target;
    void *desc;
    int rc = ofi_target(ctx, from, &target);

    if (unlikely(rc != 0))
        return rc;
    if (len > ctx->net->fragment_max || !ofi_mr_lookup(ctx->net, to, len, &desc))
        return ofi_rma_start_fragmented(ctx, from, NULL, to, len, done);
    struct ofi_op *op = ofi_op_alloc(ctx, OFI_GET, from->pe, done);
    if (op == NULL)
        return -EAGAIN;
    op->to = to;
    op->len = len;
    return ofi_ep_post_read(ctx, &target, to, len, desc, op);
}
