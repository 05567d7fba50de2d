/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * amo.h - atomic memory operations on 4- and 8-byte words with the processor's atomics.
 *
 * Values are passed in the low bytes of a uint64_t.  `size` is 4 or 8 and always a
 * constant, so each call compiles to one instruction.  Operations have acquire-release
 * semantics: the specification requires no order, and this one is free on x86.
 * Uses: atomic.  Used by: rma, transport/perform.h.
 */
#ifndef PGAS_THREADS_AMO_H
#define PGAS_THREADS_AMO_H

#include <stddef.h>
#include <stdint.h>

#include "pgas/threads/atomic.h"

#define AMO_BINARY(NAME, CALL)                                                           \
    static inline uint64_t amo_##NAME(void *word, uint64_t value, size_t size)           \
    {                                                                                    \
        if (size == sizeof(uint32_t))                                                    \
            return CALL##_acq_rel_u32(word, (uint32_t)value);                            \
        return CALL##_acq_rel_u64(word, value);                                          \
    }
AMO_BINARY(swap, swap)
AMO_BINARY(fetch_add, fetch_add)
AMO_BINARY(fetch_and, fetch_and)
AMO_BINARY(fetch_or, fetch_or)
AMO_BINARY(fetch_xor, fetch_xor)
#undef AMO_BINARY

static inline uint64_t amo_compare_swap(void *word, uint64_t cond, uint64_t value,
                                        size_t size)
{
    if (size == sizeof(uint32_t))
        return cas_acq_rel_u32(word, (uint32_t)cond, (uint32_t)value);
    return cas_acq_rel_u64(word, cond, value);
}

static inline uint64_t amo_fetch(const void *word, size_t size)
{
    if (size == sizeof(uint32_t))
        return load_acquire_u32(word);
    return load_acquire_u64(word);
}

static inline void amo_set(void *word, uint64_t value, size_t size)
{
    if (size == sizeof(uint32_t))
        store_release_u32(word, (uint32_t)value);
    else
        store_release_u64(word, value);
}

#endif
