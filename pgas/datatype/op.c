/* SPDX-License-Identifier: BSD-3-Clause */
/* op.c - see op.h.  A leaf. */
#include "config.h"

#include "pgas/datatype/op.h"

/* The loops are made for vector registers; gcc uses them at -O3 only. */
#ifndef __clang__
#pragma GCC optimize("O3")
#endif

_Static_assert(sizeof(float) == 4 && sizeof(double) == 8 && sizeof(long double) == 16,
               "a size tells a real type from the others");

/* The representations.  The user's type may be another one of the same size. */
#define REPRESENTATION(NAME, C) typedef C __attribute__((may_alias)) NAME;
/* clang-format off */
REPRESENTATION(s8, int8_t)   REPRESENTATION(u8, uint8_t)
REPRESENTATION(s16, int16_t) REPRESENTATION(u16, uint16_t)
REPRESENTATION(s32, int32_t) REPRESENTATION(u32, uint32_t)
REPRESENTATION(s64, int64_t) REPRESENTATION(u64, uint64_t)
REPRESENTATION(f32, float)   REPRESENTATION(c32, float _Complex)
REPRESENTATION(f64, double)  REPRESENTATION(c64, double _Complex)
REPRESENTATION(f128, long double)
/* clang-format on */

#define KERNEL(NAME, T, EXPRESSION)                                                      \
    static void NAME##_##T(void *acc, const void *in, size_t n)                          \
    {                                                                                    \
        T *restrict a = acc;                                                             \
        const T *restrict b = in;                                                        \
        for (size_t i = 0; i < n; i++)                                                   \
            a[i] = (T)(EXPRESSION);                                                      \
    }

/* 1u keeps the product of two 16-bit numbers, which C promotes to int, from overflowing.
 */
#define UNSIGNED(T)                                                                      \
    KERNEL(and, T, a[i] & b[i])                                                          \
    KERNEL(or, T, a[i] | b[i])                                                           \
    KERNEL(xor, T, a[i] ^ b[i])                                                          \
    KERNEL(sum, T, a[i] + b[i])                                                          \
    KERNEL(prod, T, 1u * a[i] * b[i])
#define ORDERED(T)                                                                       \
    KERNEL(max, T, b[i] > a[i] ? b[i] : a[i])                                            \
    KERNEL(min, T, b[i] < a[i] ? b[i] : a[i])
#define NUMERIC(T) KERNEL(sum, T, a[i] + b[i]) KERNEL(prod, T, a[i] * b[i])

    /* clang-format off */
UNSIGNED(u8) UNSIGNED(u16) UNSIGNED(u32) UNSIGNED(u64)
ORDERED(u8)  ORDERED(u16)  ORDERED(u32)  ORDERED(u64)
ORDERED(s8)  ORDERED(s16)  ORDERED(s32)  ORDERED(s64)
ORDERED(f32) ORDERED(f64)  ORDERED(f128)
NUMERIC(f32) NUMERIC(f64)  NUMERIC(f128)
NUMERIC(c32) NUMERIC(c64)

/* By kind, operation, and the logarithm of the size */
enum { SIZES = 5 };
#define BY_SIZE(NAME, T) {NAME##_##T##8, NAME##_##T##16, NAME##_##T##32, NAME##_##T##64}
#define INTEGER(T)                                                                       \
    {[OP_AND] = BY_SIZE(and, u), [OP_OR] = BY_SIZE(or, u), [OP_XOR] = BY_SIZE(xor, u),   \
     [OP_MAX] = BY_SIZE(max, T), [OP_MIN] = BY_SIZE(min, T),                             \
     [OP_SUM] = BY_SIZE(sum, u), [OP_PROD] = BY_SIZE(prod, u)}
#define REAL(NAME)    {[2] = NAME##_f32, [3] = NAME##_f64, [4] = NAME##_f128}
#define COMPLEX(NAME) {[3] = NAME##_c32, [4] = NAME##_c64}

static const op_kernel kernels[][OPS][SIZES] = {
    [OP_SINT] = INTEGER(s),
    [OP_UINT] = INTEGER(u),
    [OP_FLT] = {[OP_MAX] = REAL(max), [OP_MIN] = REAL(min),
                [OP_SUM] = REAL(sum), [OP_PROD] = REAL(prod)},
    [OP_CPLX] = {[OP_SUM] = COMPLEX(sum), [OP_PROD] = COMPLEX(prod)},
};
/* clang-format on */

op_kernel op_find(enum op op, enum op_kind kind, size_t size)
{
    unsigned log = (unsigned)__builtin_ctzll(size | (uint64_t)1 << (SIZES - 1));

    return kernels[kind][op][log];
}
