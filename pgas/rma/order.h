/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * order.h - fence and quiet (9.12).  On a node puts are stores: fence orders them,
 * quiet makes them visible.  Uses: threads/atomic.  Used by: api_order, lock, coll.
 */
#ifndef PGAS_RMA_ORDER_H
#define PGAS_RMA_ORDER_H

#include "pgas/threads/atomic.h"

static inline void order_fence(void)
{
    fence_acq_rel();
}
static inline void order_quiet(void)
{
    fence_full();
}

#endif
