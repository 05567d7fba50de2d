/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ofi_amo.c - amos by the provider's atomics, where they are atomic with respect to CPU
 * atomics; otherwise by messages (see ofi.h).
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include <rdma/fi_atomic.h>
#include <rdma/fi_errno.h>

#include "pgas/transport/ofi/ofi.h"

/* The provider's operations. */
static const enum fi_op op_of[TRANSPORT_AMO_OPS] = {
    [TRANSPORT_AMO_SET] = FI_ATOMIC_WRITE,
    [TRANSPORT_AMO_FETCH] = FI_ATOMIC_READ,
    [TRANSPORT_AMO_SWAP] = FI_ATOMIC_WRITE,
    [TRANSPORT_AMO_COMPARE_SWAP] = FI_CSWAP,
    [TRANSPORT_AMO_ADD] = FI_SUM,
    [TRANSPORT_AMO_AND] = FI_BAND,
    [TRANSPORT_AMO_OR] = FI_BOR,
    [TRANSPORT_AMO_XOR] = FI_BXOR,
};

/* Index into net->native. */
static unsigned ofi_amo_row(bool fetches, size_t size)
{
    return (fetches ? 2U : 0U) + (size == sizeof(uint64_t) ? 1U : 0U);
}

static enum fi_datatype ofi_amo_datatype(size_t size)
{
    return size == sizeof(uint64_t) ? FI_UINT64 : FI_UINT32;
}

static bool ofi_amo_is_provided(struct fid_ep *ep, enum transport_amo_op op, bool fetches,
                                size_t size)
{
    size_t count = 0;
    int rc;

    if (op == TRANSPORT_AMO_COMPARE_SWAP)
        rc = fi_compare_atomicvalid(ep, ofi_amo_datatype(size), op_of[op], &count);
    else if (fetches)
        rc = fi_fetch_atomicvalid(ep, ofi_amo_datatype(size), op_of[op], &count);
    else
        rc = fi_atomicvalid(ep, ofi_amo_datatype(size), op_of[op], &count);
    return rc == 0 && count > 0;
}

void ofi_amo_query(struct transport_net *net)
{
    if (net->avoid[CAPABILITY_ATOMICS] || (net->info->caps & FI_ATOMIC) == 0 ||
        net->ctx_0->ep->atomic == NULL || !ofi_select_coherent(net->info))
        return;
    for (unsigned op = 0; op < TRANSPORT_AMO_OPS; op++)
        for (unsigned fetches = 0; fetches < 2; fetches++)
            for (size_t size = sizeof(uint32_t); size <= sizeof(uint64_t); size *= 2)
                if (ofi_amo_is_provided(net->ctx_0->ep, op, fetches != 0, size))
                    net->native[ofi_amo_row(fetches != 0, size)] |= 1U << op;
}

static void ofi_amo_set_word(void *to, uint64_t value, size_t size)
{
    uint32_t low = (uint32_t)value;

    memcpy(to, size == sizeof low ? (const void *)&low : &value, size);
}

static ssize_t ofi_amo_post_base(struct transport_ctx *ctx, struct ofi_op *op,
                                 const struct ofi_target *t, enum transport_amo_op what)
{
    struct fi_ioc ioc = {.addr = &op->u.word.operand, .count = 1};
    struct fi_rma_ioc remote = {.addr = t->at, .count = 1, .key = t->key};
    struct fi_msg_atomic msg = {.msg_iov = &ioc,
                                .desc = &op->desc,
                                .iov_count = 1,
                                .addr = t->addr,
                                .rma_iov = &remote,
                                .rma_iov_count = 1,
                                .datatype = ofi_amo_datatype(op->len),
                                .op = op_of[what],
                                .context = &op->fi};

    return fi_atomicmsg(ctx->ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

static ssize_t ofi_amo_post_fetch(struct transport_ctx *ctx, struct ofi_op *op,
                                  const struct ofi_target *t, enum transport_amo_op what)
{
    return fi_fetch_atomic(ctx->ep, &op->u.word.operand, 1, op->desc, &op->u.word.result,
                           op->desc, t->addr, t->at, t->key, ofi_amo_datatype(op->len),
                           op_of[what], &op->fi);
}

static ssize_t ofi_amo_post_compare(struct transport_ctx *ctx, struct ofi_op *op,
                                    const struct ofi_target *t,
                                    enum transport_amo_op what)
{
    return fi_compare_atomic(ctx->ep, &op->u.word.operand, 1, op->desc, &op->u.word.cond,
                             op->desc, &op->u.word.result, op->desc, t->addr, t->at,
                             t->key, ofi_amo_datatype(op->len), op_of[what], &op->fi);
}

static int ofi_amo_native(struct transport_ctx *ctx, const struct transport_symaddr *at,
                          const struct transport_amo *amo, bool fetches,
                          struct transport_completion *done)
{
    struct ofi_target target;
    int rc = ofi_target(ctx, at, &target);

    if (rc != 0)
        return rc;
    struct ofi_op *op = ofi_op_alloc(ctx, OFI_AMO, at->pe, done);
    if (op == NULL)
        return -EAGAIN;
    op->to = amo->result;
    op->len = amo->size;
    ofi_amo_set_word(&op->u.word.operand, amo->operand, amo->size);
    ofi_amo_set_word(&op->u.word.cond, amo->cond, amo->size);
    ssize_t posted = amo->op == TRANSPORT_AMO_COMPARE_SWAP
                         ? ofi_amo_post_compare(ctx, op, &target, amo->op)
                         : (fetches ? ofi_amo_post_fetch
                                    : ofi_amo_post_base)(ctx, op, &target, amo->op);
    if (posted == -FI_ENOSYS || posted == -FI_EOPNOTSUPP)
        return ofi_post_refused(ctx, op, at->pe, -FI_ENOSYS, NULL);
    rc = ofi_post_result(ctx, op, at->pe, posted, "an atomic operation");
    if (rc == 0)
        ctx->amos_in_flight++;
    return rc;
}

/* Some providers list atomics that they do not support (net of libfabric 1.17). */
static void ofi_amo_disable_native(struct transport_net *net)
{
    for (size_t i = 0; i < sizeof net->native / sizeof net->native[0]; i++)
        store_relaxed_u32(&net->native[i], 0);
}

int ofi_amo(struct transport_ctx *ctx, const struct transport_symaddr *at,
            const struct transport_amo *amo, struct transport_completion *done)
{
    static const uint32_t always_fetch = 1U << TRANSPORT_AMO_FETCH |
                                         1U << TRANSPORT_AMO_SWAP |
                                         1U << TRANSPORT_AMO_COMPARE_SWAP;
    struct transport_net *net = ctx->net;
    uint32_t bit = 1U << amo->op;
    bool fetches = amo->result != NULL || (always_fetch & bit) != 0;

    if (amo->after_puts && !ofi_rma_is_after_puts(ctx, at->pe))
        return -EAGAIN;
    if ((load_relaxed_u32(&net->native[ofi_amo_row(fetches, amo->size)]) & bit) != 0) {
        int rc = ofi_amo_native(ctx, at, amo, fetches, done);
        if (rc != -ENOSYS)
            return rc;
        ofi_amo_disable_native(net);
    }
    return ofi_am_send_request(ctx, OFI_MESSAGE_AMO, at, amo, done);
}
