/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ofi_rma.c - puts and gets.
 *
 * What fits is one operation of the provider.  What is longer than that, or lies in
 * memory that is not registered but must be, is a long operation: pieces, posted from
 * progress as there is room.
 * Uses: ofi.h, perform.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include <rdma/fi_rma.h>

#include "pgas/transport/ofi/ofi.h"
#include "pgas/transport/perform.h"

/* Is [p, p + len) memory that the provider may read and write; what describes it? */
static bool registered(const struct transport_net *net, const void *p, size_t len,
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

void ofi_rma_soil(struct transport_ctx *ctx, int pe)
{
    ctx->unflushed++;
    if (ofi_bit(ctx->dirty, pe))
        return;
    ofi_bit_set(ctx->dirty, pe);
    ctx->dirty_list[ctx->ndirty++] = pe;
}

/* ---- one operation of the provider ----------------------------------------------- */

static ssize_t write_flags(struct transport_ctx *ctx, const struct ofi_target *target,
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

/* told: its completion says that it is there. */
static int write_one(struct transport_ctx *ctx, const struct ofi_target *target,
                     const void *from, size_t len, void *desc, struct ofi_op *op,
                     bool told)
{
    int pe = op->pe;

    bool delivered = told || !ctx->net->ordered;
    ssize_t n = delivered ? write_flags(ctx, target, from, len, desc, &op->fi,
                                        FI_COMPLETION | FI_DELIVERY_COMPLETE)
                          : fi_write(ctx->ep, from, len, desc, target->addr, target->at,
                                     target->key, &op->fi);
    int rc = ofi_posted(ctx, op, pe, n, "a put");
    if (rc != 0)
        return rc;
    ctx->has_put = true;
    if (!delivered)
        ofi_rma_soil(ctx, pe);
    return 0;
}

static int read_one(struct transport_ctx *ctx, const struct ofi_target *target, void *to,
                    size_t len, void *desc, struct ofi_op *op)
{
    return ofi_posted(
        ctx, op, op->pe,
        fi_read(ctx->ep, to, len, desc, target->addr, target->at, target->key, &op->fi),
        "a get");
}

/*
 * Ordered mode: can a put do without a record, and so without a completion?  That is so
 * where the provider has copied it, or where nobody waits for it before quiet.  Not for
 * each: completions show that the peer goes on, and bound what waits in the provider.
 */
static bool silent(const struct transport_ctx *ctx, size_t len, bool waits)
{
    if (ctx->unflushed % OFI_TOLD_EVERY == OFI_TOLD_EVERY - 1)
        return false;
    return len <= ctx->inject_max || (ctx->silent && !waits && len <= OFI_SILENT_MAX);
}

static int write_silently(struct transport_ctx *ctx, const struct ofi_target *target,
                          int pe, const void *from, size_t len, void *desc,
                          struct transport_done *done)
{
    ssize_t rc =
        len <= ctx->inject_max
            ? fi_inject_write(ctx->ep, from, len, target->addr, target->at, target->key)
            : write_flags(ctx, target, from, len, desc, ofi_silent_context(pe), 0);
    int error = ofi_posted(ctx, NULL, pe, rc, "a put");

    if (unlikely(error != 0))
        return error;
    ctx->has_put = true;
    ofi_rma_soil(ctx, pe);
    perform_done(done, 0);
    return 0;
}

int ofi_rma_flush(struct transport_ctx *ctx, int pe, enum ofi_kind kind)
{
    struct transport_place place = {.pe = pe};
    struct ofi_target target;
    int rc = ofi_target(ctx, &place, &target);

    if (rc != 0)
        return rc;
    place.segment = (enum transport_segment)target.peer->flush;
    rc = ofi_target(ctx, &place, &target);
    if (rc != 0)
        return rc;
    struct ofi_op *op = ofi_op_new(ctx, kind, pe, NULL);
    if (op == NULL)
        return -EAGAIN;
    rc = read_one(ctx, &target, &op->u.word.result, 1, op->desc, op);
    if (rc == 0 && kind == OFI_PROBE)
        ctx->under_way--;
    return rc;
}

/* ---- long operations ------------------------------------------------------------- */

/* A record for the next piece, of *len bytes at *local.  NULL: not now. */
static struct ofi_op *new_piece(struct transport_ctx *ctx, struct ofi_op *whole,
                                void **local, void **desc, size_t *len)
{
    struct ofi_long *l = &whole->u.part;
    bool get = l->to != NULL;
    struct ofi_op *op = ofi_op_new(ctx, get ? OFI_GET : OFI_PUT, whole->pe, NULL);

    if (op == NULL)
        return NULL;
    *len = l->len < ctx->net->piece_max ? l->len : ctx->net->piece_max;
    *local = get ? l->to : (void *)(uintptr_t)l->from;
    if (!registered(ctx->net, *local, *len, desc)) {
        op->bounce = ofi_bounce_new(ctx);
        if (op->bounce == NULL) {
            ofi_op_free(ctx, op);
            ctx->under_way--;
            return NULL;
        }
        *len = *len < OFI_BOUNCE_SIZE ? *len : OFI_BOUNCE_SIZE;
        if (!get)
            memcpy(op->bounce, l->from, *len);
        *local = op->bounce;
        *desc = ctx->bounces.desc;
    }
    op->whole = whole;
    op->to = l->to;
    op->len = *len;
    return op;
}

/* Post the next piece.  0; -EAGAIN; or -errno. */
static int post_piece(struct transport_ctx *ctx, struct ofi_op *whole)
{
    struct ofi_long *l = &whole->u.part;
    struct ofi_target target;
    void *desc, *local;
    size_t len;
    int rc = ofi_target(ctx, &l->place, &target);

    if (rc != 0)
        return rc;
    struct ofi_op *op = new_piece(ctx, whole, &local, &desc, &len);
    if (op == NULL)
        return -EAGAIN;
    rc = l->to != NULL ? read_one(ctx, &target, local, len, desc, op)
                       : write_one(ctx, &target, local, len, desc, op, false);
    if (rc != 0)
        return rc;
    ctx->under_way--; /* the whole counts */
    l->pieces++;
    l->len -= len;
    l->place.offset += len;
    if (l->to != NULL)
        l->to += len;
    else
        l->from += len;
    return 0;
}

static void try_end(struct transport_ctx *ctx, struct ofi_op *whole)
{
    if (whole->u.part.pieces == 0 && !whole->u.part.queued)
        ofi_finish(ctx, whole, whole->error);
}

void ofi_rma_piece(struct transport_ctx *ctx, struct ofi_op *whole, int error)
{
    whole->u.part.pieces--;
    if (error != 0)
        whole->error = error;
    try_end(ctx, whole);
}

/* In the order in which they were begun.  After an error the rest is not posted. */
void ofi_rma_advance(struct transport_ctx *ctx)
{
    while (ctx->stalled.first != NULL) {
        struct ofi_op *whole = ctx->stalled.first;
        int rc = whole->error;
        while (rc == 0 && whole->u.part.len > 0)
            rc = post_piece(ctx, whole);
        if (rc == -EAGAIN)
            return;
        whole->error = rc;
        ofi_queue_take(&ctx->stalled);
        whole->u.part.queued = false;
        try_end(ctx, whole);
    }
}

static int begin_long(struct transport_ctx *ctx, const struct transport_place *place,
                      const void *from, void *to, size_t len, struct transport_done *done)
{
    struct ofi_op *op = ofi_op_new(ctx, OFI_LONG, place->pe, done);

    if (op == NULL)
        return -EAGAIN;
    op->u.part = (struct ofi_long){
        .place = *place, .from = from, .to = to, .len = len, .queued = true};
    ofi_queue_add(&ctx->stalled, op);
    ofi_rma_advance(ctx);
    return 0;
}

/* ---- puts before an amo ---------------------------------------------------------- */

/* arg: the PE; -1 once a put to it has been found. */
static bool find_put(struct transport_ctx *ctx, struct ofi_op *op, void *arg)
{
    int *pe = arg;

    (void)ctx;
    if (op->pe != *pe ||
        (op->kind != OFI_PUT && (op->kind != OFI_LONG || op->u.part.to != NULL)))
        return true;
    *pe = -1;
    return false;
}

/* Ordered: what has been posted is ahead on the one connection, whatever its completion
 * will say.  A long put may still be waiting to be posted. */
bool ofi_rma_behind_puts(struct transport_ctx *ctx, int pe)
{
    if (!ctx->net->ordered) {
        if (ctx->under_way > ctx->amos)
            ofi_ops_each(ctx, find_put, &pe);
        return pe >= 0;
    }
    for (struct ofi_op *op = ctx->stalled.first; op != NULL && pe >= 0; op = op->next)
        find_put(ctx, op, &pe);
    return pe >= 0;
}

/* ---- the two slots --------------------------------------------------------------- */

/* One operation; from a copy of the bytes if who waits for his memory can go on then, or
 * if the provider cannot read it where it is. */
static int put_one(struct transport_ctx *ctx, const struct ofi_target *target, int pe,
                   const void *from, size_t len, struct transport_done *done, bool direct,
                   void *desc, bool told)
{
    struct ofi_op *op = ofi_op_new(ctx, OFI_PUT, pe, done);

    if (op == NULL)
        return -EAGAIN;
    if (len <= OFI_BOUNCE_SIZE && (done != NULL || !direct))
        op->bounce = ofi_bounce_new(ctx);
    if (op->bounce == NULL && direct)
        return write_one(ctx, target, from, len, desc, op, told);
    if (op->bounce == NULL) {
        ofi_op_free(ctx, op);
        ctx->under_way--;
        return -EAGAIN;
    }
    memcpy(op->bounce, from, len);
    op->done = NULL;
    int rc = write_one(ctx, target, op->bounce, len, ctx->bounces.desc, op, told);
    if (rc == 0)
        perform_done(done, 0);
    return rc;
}

/* Is this the first put since quiet, nothing else is under way, and somebody waits for
 * it? It is probably followed by quiet again, and told of its delivery at once it needs
 * no flush; in a stream of puts that would cost an answer each. */
static bool alone(const struct transport_ctx *ctx, const struct transport_done *done)
{
    return done != NULL && !ctx->has_put && ctx->under_way == 0;
}

int ofi_put(struct transport_ctx *ctx, const struct transport_place *to, const void *from,
            size_t len, struct transport_done *done)
{
    struct ofi_target target;
    void *desc;
    int rc = ofi_target(ctx, to, &target);

    if (unlikely(rc != 0))
        return rc;
    if (unlikely(ctx->unflushed >= OFI_UNFLUSHED_MAX) && ofi_quiet(ctx) != 0)
        return -EAGAIN;
    bool direct = registered(ctx->net, from, len, &desc), told = alone(ctx, done);
    if (!told && (direct || len <= ctx->inject_max) && silent(ctx, len, done != NULL))
        return write_silently(ctx, &target, to->pe, from, len, desc, done);
    if (len > ctx->net->piece_max || (!direct && len > OFI_BOUNCE_SIZE))
        return begin_long(ctx, to, from, NULL, len, done);
    return put_one(ctx, &target, to->pe, from, len, done, direct, desc, told);
}

int ofi_get(struct transport_ctx *ctx, void *to, const struct transport_place *from,
            size_t len, struct transport_done *done)
{
    struct ofi_target target;
    void *desc;
    int rc = ofi_target(ctx, from, &target);

    if (unlikely(rc != 0))
        return rc;
    if (len > ctx->net->piece_max || !registered(ctx->net, to, len, &desc))
        return begin_long(ctx, from, NULL, to, len, done);
    struct ofi_op *op = ofi_op_new(ctx, OFI_GET, from->pe, done);
    if (op == NULL)
        return -EAGAIN;
    op->to = to;
    op->len = len;
    return read_one(ctx, &target, to, len, desc, op);
}
