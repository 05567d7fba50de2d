/* SPDX-License-Identifier: BSD-3-Clause */
/* amo_at.c - see amo_at.h.  Uses: rma, core/net, core/ctx. */
#include "config.h"

#include <string.h>

#include "pgas/transport/perform.h"
#include "pgas/rma/amo_at.h"
#include "pgas/rma/rma.h"

static uint64_t amo_call_local(const struct amo_call *c)
{
    void *word = peer_at(c->addr, c->size, c->pe, c->fn);
    uint64_t old = perform_op(c->op, word, c->operand, c->cond, c->size);

    if (c->op != TRANSPORT_AMO_FETCH)
        rma_changed(c->addr, c->size, c->pe);
    if (c->want == AMO_LATER)
        memcpy(c->later, &old, c->size); /* its low bytes */
    return old;
}

uint64_t amo_call(const struct amo_call *c)
{
    uint64_t old = 0;

    if (!net_remote(c->pe))
        return amo_call_local(c);
    void *const result[] = {[AMO_NOW] = &old, [AMO_LATER] = c->later, [AMO_NEVER] = NULL};
    struct transport_amo amo = {.op = c->op,
                                .size = (uint32_t)c->size,
                                .operand = c->operand,
                                .cond = c->cond,
                                .result = result[c->want]};
    net_amo(ctx_net(c->ctx), peer_symaddr(c->addr, c->size, c->pe, c->fn), &amo,
            c->want == AMO_NOW ? NET_NOW : NET_LATER, c->fn);
    return old;
}

/* An operation on the default context. */
static struct amo_call amo_default_call(enum transport_amo_op op, void *addr, size_t size,
                                        uint64_t operand, int pe, const char *fn)
{
    return (struct amo_call){.ctx = SHMEM_CTX_DEFAULT,
                             .op = op,
                             .addr = addr,
                             .size = size,
                             .operand = operand,
                             .pe = pe,
                             .fn = fn,
                             .want = AMO_NOW};
}

uint64_t amo_at(enum transport_amo_op op, void *addr, size_t size, uint64_t operand,
                int pe, const char *fn)
{
    struct amo_call call = amo_default_call(op, addr, size, operand, pe, fn);

    return amo_call(&call);
}

uint64_t amo_compare_swap_at(void *addr, size_t size, uint64_t cond, uint64_t value,
                             int pe, const char *fn)
{
    struct amo_call call =
        amo_default_call(TRANSPORT_AMO_COMPARE_SWAP, addr, size, value, pe, fn);

    call.cond = cond;
    return amo_call(&call);
}

void amo_post(shmem_ctx_t ctx, enum transport_amo_op op, void *addr, size_t size,
              uint64_t operand, int pe, const char *fn)
{
    struct amo_call call = amo_default_call(op, addr, size, operand, pe, fn);

    call.ctx = ctx;
    call.want = AMO_NEVER;
    (void)amo_call(&call);
}
