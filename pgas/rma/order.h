/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * order.h - fence and quiet (9.12) of a context.  Puts to mapped PEs are stores: fence
 * orders them, quiet makes them visible.  For PEs of other nodes see core/progress/net.h.
 * Uses: threads/atomic, core/ctx, core/net.  Used by: api_order, api_ctx, lock, coll.
 */
#ifndef PGAS_RMA_ORDER_H
#define PGAS_RMA_ORDER_H

#include "pgas/core/team/ctx.h"
#include "pgas/core/progress/net.h"
#include "pgas/threads/atomic.h"

static inline void order_fence(shmem_ctx_t ctx, const char *fn)
{
    fence_acq_rel();
    if (unlikely(pgas_self.net != NULL))
        ctx_net_fence(ctx, fn);
}

static inline void order_quiet(shmem_ctx_t ctx, const char *fn)
{
    fence_full();
    if (unlikely(pgas_self.net != NULL))
        ctx_net_quiet(ctx, fn);
}

#endif
