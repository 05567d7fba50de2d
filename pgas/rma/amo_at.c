/* SPDX-License-Identifier: BSD-3-Clause */
/* amo_at.c - see amo_at.h.  Uses: rma, core/net, core/ctx. */
#include "config.h"

#include <string.h>

#include "pgas/transport/perform.h"
#include "pgas/rma/amo_at.h"
#include "pgas/rma/rma.h"

static uint64_t amo_call_local(const struct amo_call *c)
{
    void *word = peer_at(c->addr, c->amo.size, c->pe, c->fn);
    uint64_t old = perform_amo(word, &c->amo);

    if (c->amo.op != TRANSPORT_AMO_FETCH)
        rma_changed(c->addr, c->amo.size, c->pe);
    if (c->want == AMO_LATER)
        memcpy(c->later, &old, c->amo.size); /* its low bytes */
    return old;
}

/* The transport reads the caller's description: copying what was just stored, in wider
 * loads, would stall. */
uint64_t amo_call(struct amo_call *c)
{
    uint64_t old = 0;

    if (!net_remote(c->pe))
        return amo_call_local(c);
    c->amo.result = c->want == AMO_NOW ? &old : c->want == AMO_LATER ? c->later : NULL;
    net_amo(ctx_net(c->ctx), peer_symaddr(c->addr, c->amo.size, c->pe, c->fn), &c->amo,
            c->want == AMO_NOW ? NET_NOW : NET_LATER, c->fn);
    return old;
}

/* An operation on the default context. */
static struct amo_call amo_default_call(enum transport_amo_op op, void *addr, size_t size,
                                        uint64_t operand, int pe, const char *fn)
{
    return (struct amo_call){
        .ctx = SHMEM_CTX_DEFAULT,
        .amo = {.op = op, .size = (uint32_t)size, .operand = operand},
        .addr = addr,
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

    call.amo.cond = cond;
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
