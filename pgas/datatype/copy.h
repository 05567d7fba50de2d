/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy.h - copy bytes, with the kernel that is best for the length.
 *
 * Up to 16 bytes: two moves that may overlap, inline.  Up to the crossover: memcpy of the
 * C library.  Above it: stores that go around the caches, which would not hold the data
 * anyway.  A leaf.  Used by: rma, coll.
 */
#ifndef PGAS_DATATYPE_COPY_H
#define PGAS_DATATYPE_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Copy n bytes, not overlapping.  The stores are visible to others in program order with
 * later stores, as with memcpy. */
void copy_large(void *dst, const void *src, size_t n);

/* Copies of at least n bytes use non-temporal stores. */
void copy_set_nontemporal(size_t n);

#define COPY_SMALL_MAX 16

static inline void copy_small(void *dst, const void *src, size_t n)
{
    char *d = dst;
    const char *s = src;

    if (n >= 8) {
        uint64_t head, tail;
        memcpy(&head, s, 8);
        memcpy(&tail, s + n - 8, 8);
        memcpy(d, &head, 8);
        memcpy(d + n - 8, &tail, 8);
    } else if (n >= 4) {
        uint32_t head, tail;
        memcpy(&head, s, 4);
        memcpy(&tail, s + n - 4, 4);
        memcpy(d, &head, 4);
        memcpy(d + n - 4, &tail, 4);
    } else {
        for (size_t i = 0; i < n; i++)
            d[i] = s[i];
    }
}

static inline void copy_bytes(void *dst, const void *src, size_t n)
{
    if (n == sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, src, sizeof word);
        memcpy(dst, &word, sizeof word); /* one store: an aligned word is never torn */
    } else if (n <= COPY_SMALL_MAX) {
        copy_small(dst, src, n);
    } else {
        copy_large(dst, src, n);
    }
}

#endif
