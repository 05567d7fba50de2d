/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compare.h - load a word of this PE and compare it with a value (9.11).
 *
 * Every comparison with a value, signed or unsigned, is membership in one interval modulo
 * 2^64 or in its complement: x > v is x in v+1..MAX.  A polling loop therefore needs one
 * subtraction and one comparison per iteration.
 * Uses: threads/atomic.  Used by: wait, wait_set.
 */
#ifndef PGAS_RMA_COMPARE_H
#define PGAS_RMA_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pgas/threads/atomic.h"

/* The signedness of a word. */
enum wait_kind { WAIT_SINT, WAIT_UINT };

/* x is a member if (x - low <= span) == within. */
struct interval {
    uint64_t low, span;
    bool within;
};

/* The set of x for which `x cmp v` holds; v and x are extended to 64 bits by `kind`. Ends
 * the job with an error message if cmp is not a SHMEM_CMP_ constant. */
struct interval interval_of(int cmp, enum wait_kind kind, uint64_t v, const char *fn);

ALWAYS_INLINE bool interval_has(const struct interval *i, uint64_t x)
{
    return (x - i->low <= i->span) == i->within;
}

/* Loads a word of 2, 4 or 8 bytes with acquire semantics and extends it to 64 bits. */
ALWAYS_INLINE uint64_t word_load(const void *word, size_t size, enum wait_kind kind)
{
    bool is_signed = kind == WAIT_SINT;

    if (size == sizeof(uint64_t))
        return load_acquire_u64(word);
    if (size == sizeof(uint32_t)) {
        uint32_t v = load_acquire_u32(word);
        return is_signed ? (uint64_t)(int64_t)(int32_t)v : v;
    }
    uint16_t v = __atomic_load_n((const uint16_t *)word, __ATOMIC_ACQUIRE);
    return is_signed ? (uint64_t)(int64_t)(int16_t)v : v;
}

#endif
