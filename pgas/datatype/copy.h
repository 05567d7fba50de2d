/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy.h - memory copy with a kernel per length.
 *
 * Up to 16 bytes: inline moves.  Exactly 1, 2, 4 and 8 bytes are one store, so that an
 * aligned word is never torn (a PE may be waiting on it).  Above: a loop over wide
 * registers (copy_x86.h), from 1 or 2 KiB on with an aligned destination and each byte
 * stored once (copy_isas.h), then memcpy, and non-temporal stores for copies that exceed
 * the caches.
 * Uses: isa.  Used by: rma, coll.
 */
#ifndef PGAS_DATATYPE_COPY_H
#define PGAS_DATATYPE_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pgas/datatype/isa.h"

/* Copies n bytes that do not overlap.  As with memcpy, the stores are ordered before
 * later stores in program order. */
void copy_large(void *dst, const void *src, size_t n);

/* Selects the kernels of an instruction set that isa_here() allows.  Copies of at least
 * `nontemporal` bytes use non-temporal stores.  Before this call copy_large is memcpy. */
void copy_init(enum isa isa, size_t nontemporal);

/* Copies one part of a transfer of `all` bytes in total; the total decides whether
 * non-temporal stores are used. */
void copy_part(void *dst, const void *src, size_t n, size_t all);

#define COPY_SMALL_MAX 16

/* Two possibly overlapping moves of type T for lengths from sizeof(T) to twice that; one
 * move for exactly sizeof(T) */
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
