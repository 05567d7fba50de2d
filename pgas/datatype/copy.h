/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy.h - copy bytes, with the kernel that is best for the length.
 *
 * Up to 16 bytes: moves inline, one for 1, 2, 4 and 8 bytes, so that an aligned word of
 * those sizes is stored once and whole (somebody may wait for it).  Then a loop over wide
 * registers, then memcpy of the C library, and for what the caches would not hold anyway
 * stores that go around them.  Uses: isa.  Used by: rma, coll.
 */
#ifndef PGAS_DATATYPE_COPY_H
#define PGAS_DATATYPE_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pgas/datatype/isa.h"

/* Copy n bytes, not overlapping.  The stores are visible to others in program order with
 * later stores, as with memcpy. */
void copy_large(void *dst, const void *src, size_t n);

/* Choose the kernels: those of an instruction set that isa_here() allows; copies of at
 * least `nontemporal` bytes go around the caches.  Without it all copies are memcpy. */
void copy_init(enum isa isa, size_t nontemporal);

/* The same for a part of `all` bytes that are copied one part after the other: what the
 * caches would not hold in all goes around them. */
void copy_part(void *dst, const void *src, size_t n, size_t all);

#define COPY_SMALL_MAX 16

/* Two moves of T that may overlap, for lengths from sizeof(T) to twice that; one for
 * exactly sizeof(T) */
/* clang-format off */
#define COPY_PAIR(T)                                                                     \
    static inline void copy_##T(char *d, const char *s, size_t n)                        \
    {                                                                                    \
        T head, tail;                                                                    \
        memcpy(&head, s, sizeof head); memcpy(&tail, s + n - sizeof tail, sizeof tail);  \
        memcpy(d, &head, sizeof head);                                                   \
        if (n > sizeof head) memcpy(d + n - sizeof tail, &tail, sizeof tail);            \
    }
COPY_PAIR(uint16_t)
COPY_PAIR(uint32_t)
COPY_PAIR(uint64_t)
/* clang-format on */
#undef COPY_PAIR

static inline void copy_small(char *d, const char *s, size_t n)
{
    if (n >= sizeof(uint64_t))
        copy_uint64_t(d, s, n);
    else if (n >= sizeof(uint32_t))
        copy_uint32_t(d, s, n);
    else if (n >= sizeof(uint16_t))
        copy_uint16_t(d, s, n);
    else if (n == 1)
        *d = *s;
}

static inline void copy_bytes(void *dst, const void *src, size_t n)
{
    if (n <= COPY_SMALL_MAX)
        copy_small(dst, src, n);
    else
        copy_large(dst, src, n);
}

#endif
