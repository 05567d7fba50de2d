/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compare.h - a word of this PE against a value (9.11): loads and comparisons.
 *
 * Every comparison with a value is membership of one interval modulo 2^64 (or of its
 * complement), whatever the sign: x > v is x in v+1..MAX.  So who looks again and again
 * has one subtraction and one comparison each time.
 * Uses: threads/atomic.  Used by: wait, wait_set.
 */
#ifndef PGAS_RMA_COMPARE_H
#define PGAS_RMA_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pgas/threads/atomic.h"

/* How a word is to be read: bytes and sign. */
enum wait_kind { WAIT_SINT, WAIT_UINT };

/* x is in it if (x - low <= span) == within. */
struct interval {
    uint64_t low, span;
    bool within;
};

/* The x for which `x cmp v` holds; v and x in 64 bits with the sign that kind says.  Ends
 * the job with a sentence if cmp is no comparison. */
struct interval interval_of(int cmp, enum wait_kind kind, uint64_t v, const char *fn);

ALWAYS_INLINE bool interval_has(const struct interval *i, uint64_t x)
{
    return (x - i->low <= i->span) == i->within;
}

/* A word of 2, 4 or 8 bytes, made 64 bits wide; with the effect of an acquire. */
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
