/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * amo_at.h - an atomic operation on a word of any PE, near or far, chosen by number: for
 * locks, barriers and what else is not on the fast path; and the way that the fast path
 * (api_amo.c) takes when it fails.
 * Uses: amo, rma, core/net.  Used by: api_amo, api_deprecated, signal, lock, coll.
 */
#ifndef PGAS_RMA_AMO_AT_H
#define PGAS_RMA_AMO_AT_H

#include "pgas/core/ctx.h"
#include "pgas/transport/transport.h"

/* One call of an atomic routine. */
struct amo_call {
    shmem_ctx_t ctx;
    enum transport_amo_op op;
    void *addr; /* symmetric, of size 4 or 8 */
    size_t size;
    uint64_t operand, cond;
    int pe;
    const char *fn;
    /* Where the old value goes: AMO_NOW returns it; AMO_LATER stores size bytes at
     * `later`, perhaps not before the context's quiet; AMO_NEVER: it is not wanted, and
     * the operation may be done as late as quiet. */
    enum amo_want { AMO_NOW, AMO_LATER, AMO_NEVER } want;
    void *later;
};

/* Do it on whatever PE; wakes who sleeps for the word.  The old value for AMO_NOW. */
uint64_t amo_call(const struct amo_call *call) __attribute__((cold));

/* The old value of the word; waits for it.  On the default context. */
uint64_t amo_at(enum transport_amo_op op, void *addr, size_t size, uint64_t operand,
                int pe, const char *fn);
uint64_t amo_compare_swap_at(void *addr, size_t size, uint64_t cond, uint64_t value,
                             int pe, const char *fn);
/* The same without the old value and without waiting: set, add, and, or, xor.  Puts and
 * such updates of the default context to this PE before it come first only if order_fence
 * was called between. */
void amo_post(enum transport_amo_op op, void *addr, size_t size, uint64_t operand, int pe,
              const char *fn);

#endif
