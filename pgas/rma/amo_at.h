/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * amo_at.h - an atomic operation on a word of any PE, with the operation as an argument:
 * for locks and barriers, and as the slow path of the atomic routines (api_amo.c).
 * Uses: amo, rma, core/net.  Used by: api_amo, api_deprecated, signal, lock, coll.
 */
#ifndef PGAS_RMA_AMO_AT_H
#define PGAS_RMA_AMO_AT_H

#include "pgas/core/team/ctx.h"
#include "pgas/transport/transport.h"

/* One call of an atomic routine. */
struct amo_call {
    shmem_ctx_t ctx;
    struct transport_amo amo; /* amo_call sets `result` */
    void *addr;               /* symmetric, of amo.size bytes */
    int pe;
    const char *fn;
    /* Delivery of the old value.  AMO_NOW returns it.  AMO_LATER stores amo.size bytes at
     * `later`, by the context's quiet at the latest.  AMO_NEVER discards it, and the
     * operation itself may complete as late as the quiet. */
    enum amo_want { AMO_NOW, AMO_LATER, AMO_NEVER } want;
    void *later;
};

/* Performs the operation on a local or remote PE and wakes the PE if it sleeps on the
 * word.  Returns the old value for AMO_NOW. */
uint64_t amo_call(struct amo_call *call);

/* Blocking operations on the default context; they return the old value of the word. */
uint64_t amo_at(enum transport_amo_op op, void *addr, size_t size, uint64_t operand,
                int pe, const char *fn);
uint64_t amo_compare_swap_at(void *addr, size_t size, uint64_t cond, uint64_t value,
                             int pe, const char *fn);
/* Nonblocking, non-fetching form, for set, add, and, or, xor.  It is ordered after
 * earlier puts and updates of the context to the same PE only if order_fence was called
 * in between. */
void amo_post(shmem_ctx_t ctx, enum transport_amo_op op, void *addr, size_t size,
              uint64_t operand, int pe, const char *fn);

#endif
