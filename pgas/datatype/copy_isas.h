/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy_isas.h - the copies that align their destination, for the instruction sets of this
 * architecture: a head up to a multiple of the size of a register, whole registers, and a
 * tail of less than a register.
 *
 * Invariant: each byte is stored once, and each aligned word of 1, 2, 4 or 8 bytes within
 * the destination by one instruction that does not cross a cache line.  A PE that waits
 * for such a word thus reads the old or the new value and, once it has seen the new one,
 * may write to the word: no second store of this copy overwrites that.  For this reason
 * head and tail are naturally aligned stores, not registers that overlap the next one.
 *
 * Without these copies memcpy is used, which aligns its stores: on other architectures,
 * and in the baseline of x86-64, whose registers of 16 bytes reach half its rate.
 * Uses: copy_aligned, copy_x86, isa.  Used by: copy, tests.
 */
#ifndef PGAS_DATATYPE_COPY_ISAS_H
#define PGAS_DATATYPE_COPY_ISAS_H

#include "pgas/datatype/copy_x86.h"
#include "pgas/datatype/isa.h"

/* From COPY_LONG bytes on the direction matters, and from `COPY_ALIGNED` of the
 * instruction set on the alignment; below, stores that cross cache lines cost no more
 * than head and tail.  In GB/s on Zen 5: at 1 KiB 108 to 145 unaligned, 75 to 134 aligned
 * with AVX2; at 2 KiB 77 to 131, and 97 to 142. */
#define COPY_LONG 1024

typedef void (*copy_kernel)(char *d, const char *s, size_t n);

#if defined(__x86_64__)
/* Tests define it to see each store of `bytes` consecutive bytes. */
#ifndef COPY_STORED
#define COPY_STORED(at, bytes) ((void)0)
#endif

#define COPY_ALWAYS static inline __attribute__((always_inline))

/* clang-format off */
#define COPY_PIECE(NAME, T)                                                              \
    typedef T copy_##NAME##_type __attribute__((aligned(1), may_alias));                 \
    COPY_ALWAYS void copy_##NAME(char *d, const char *s)                                 \
    {                                                                                    \
        COPY_STORED(d, sizeof(T));                                                       \
        *(copy_##NAME##_type *)d = *(const copy_##NAME##_type *)s;                       \
    }
/* clang-format on */
typedef char copy_16_vector __attribute__((vector_size(16)));
COPY_PIECE(1, char)
COPY_PIECE(2, uint16_t)
COPY_PIECE(4, uint32_t)
COPY_PIECE(8, uint64_t)
COPY_PIECE(16, copy_16_vector)

/* n < 64 bytes up to a multiple of 64 or, if n < 32, of 32 */
COPY_ALWAYS void copy_head(char *d, const char *s, size_t n)
{
    size_t at = 0;

    if ((n & 7) != 0) {
        if ((n & 1) != 0)
            copy_1(d, s);
        at = n & 1;
        if ((n & 2) != 0)
            copy_2(d + at, s + at);
        at = n & 3;
        if ((n & 4) != 0)
            copy_4(d + at, s + at);
        at = n & 7;
    }
    if ((n & 8) != 0)
        copy_8(d + at, s + at);
    at = n & 15;
    if ((n & 16) != 0)
        copy_16(d + at, s + at);
    at = n & 31;
    if ((n & 32) != 0) {
        copy_16(d + at, s + at);
        copy_16(d + at + 16, s + at + 16);
    }
}

/* n < 64 bytes from a multiple of 64 or, if n < 32, of 32 */
COPY_ALWAYS void copy_tail(char *d, const char *s, size_t n)
{
    if ((n & 32) != 0) {
        copy_16(d, s);
        copy_16(d + 16, s + 16);
    }
    size_t at = n & 32;
    if ((n & 16) != 0)
        copy_16(d + at, s + at);
    at = n & 48;
    if ((n & 8) != 0)
        copy_8(d + at, s + at);
    at = n & 56;
    if ((n & 7) == 0)
        return;
    if ((n & 4) != 0)
        copy_4(d + at, s + at);
    at = n & 60;
    if ((n & 2) != 0)
        copy_2(d + at, s + at);
    at = n & 62;
    if ((n & 1) != 0)
        copy_1(d + at, s + at);
}

#define COPY_VECTOR  32
#define COPY_ALIGNED 2048
#define COPY_TARGET  __attribute__((target("avx2")))
#define COPY_NAME(f) copy_avx2_##f
#include "pgas/datatype/copy_aligned.h"
#undef COPY_VECTOR
#undef COPY_ALIGNED
#undef COPY_TARGET
#undef COPY_NAME

#define COPY_VECTOR  64
#define COPY_ALIGNED 1536
#define COPY_TARGET  __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define COPY_NAME(f) copy_avx512_##f
#include "pgas/datatype/copy_aligned.h"
#undef COPY_VECTOR
#undef COPY_ALIGNED
#undef COPY_TARGET
#undef COPY_NAME

#define COPY_KERNELS [ISA_AVX2] = copy_avx2_long, [ISA_AVX512] = copy_avx512_long
#else
#define COPY_KERNELS [ISAS - 1] = NULL
#endif

#endif
