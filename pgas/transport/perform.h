/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * perform.h - performs operations of transport.h with CPU instructions: for transports
 * that map the target's memory or perform operations at the target, and for the library's
 * fast path.
 * Uses: transport.h, threads/amo.  Used by: shm, sim, ofi, ucx, rma.
 */
#ifndef PGAS_TRANSPORT_PERFORM_H
#define PGAS_TRANSPORT_PERFORM_H

#include <stdint.h>

#include "pgas/threads/amo.h"
#include "pgas/transport/transport.h"

/* Perform `op` on an aligned word of 4 or 8 bytes; returns the old value, or 0 for SET.
 * Inline, so that a constant op selects its case at compile time. */
ALWAYS_INLINE uint64_t perform_op(enum transport_amo_op op, void *word, uint64_t operand,
                                  uint64_t cond, size_t size)
{
    switch (op) {
    case TRANSPORT_AMO_SET:
        amo_set(word, operand, size);
        return 0;
    case TRANSPORT_AMO_FETCH:
        return amo_fetch(word, size);
    case TRANSPORT_AMO_SWAP:
        return amo_swap(word, operand, size);
    case TRANSPORT_AMO_COMPARE_SWAP:
        return amo_compare_swap(word, cond, operand, size);
    case TRANSPORT_AMO_ADD:
        return amo_fetch_add(word, operand, size);
    case TRANSPORT_AMO_AND:
        return amo_fetch_and(word, operand, size);
    case TRANSPORT_AMO_OR:
        return amo_fetch_or(word, operand, size);
    case TRANSPORT_AMO_XOR:
        return amo_fetch_xor(word, operand, size);
    case TRANSPORT_AMO_OPS:
        break;
    }
    return 0;
}

/* A SET never returns the old value; use SWAP. */
static inline uint64_t perform_amo(void *word, const struct transport_amo *amo)
{
    return perform_op(amo->op, word, amo->operand, amo->cond, amo->size);
}

/* The update of a put with signal. */
static inline void perform_signal(void *word, const struct transport_signal *signal)
{
    (void)perform_op(signal->op, word, signal->operand, 0, signal->size);
}

/* Store the old value if amo->result is set. */
static inline void perform_result(const struct transport_amo *amo, uint64_t value)
{
    if (amo->result == NULL)
        return;
    if (amo->size == sizeof(uint32_t))
        *(uint32_t *)amo->result = (uint32_t)value;
    else
        *(uint64_t *)amo->result = value;
}

/* Complete an operation; done may be NULL; error: 0 or -errno. */
static inline void perform_completion(struct transport_completion *done, int error)
{
    if (done == NULL)
        return;
    if (error != 0)
        done->error = error;
    store_release_u32(&done->pending, 0);
}

#endif
