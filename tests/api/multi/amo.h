/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * amo.h - every integer atomic of every type behind one prototype: values are 64 bits
 * wide, sign-extended where the type is signed. .
 */
#ifndef TESTS_API_MULTI_AMO_H
#define TESTS_API_MULTI_AMO_H

#include "shmem_types.def"
#include "tests/api/multi/check.h"

/* v is the operand, cond the condition of compare_swap; what the routine returns, or 0.
 */
typedef uint64_t (*amo_fn)(void *dest, uint64_t v, uint64_t cond, int pe);

#define AMO(NAME, C, OP, CALL)                                                           \
    static uint64_t OP##_##NAME(void *d, uint64_t v, uint64_t cond, int pe)              \
    {                                                                                    \
        (void)v, (void)cond;                                                             \
        return (uint64_t)CALL;                                                           \
    }
#define AMO_VOID(NAME, C, OP, CALL)                                                      \
    static uint64_t OP##_##NAME(void *d, uint64_t v, uint64_t cond, int pe)              \
    {                                                                                    \
        (void)v, (void)cond;                                                             \
        CALL;                                                                            \
        return 0;                                                                        \
    }
/* The nbi forms fetch into a local word of the type, which quiet completes. */
#define AMO_NBI(NAME, C, OP, CALL)                                                       \
    static uint64_t OP##_nbi_##NAME(void *d, uint64_t v, uint64_t cond, int pe)          \
    {                                                                                    \
        C f = 0;                                                                         \
        (void)v, (void)cond, CALL, shmem_quiet();                                        \
        return (uint64_t)f;                                                              \
    }
#define CTX SHMEM_CTX_DEFAULT

#define AMO_STD(NAME, C, KIND)                                                           \
    AMO(NAME, C, fetch, shmem_##NAME##_atomic_fetch(d, pe))                              \
    AMO(NAME, C, swap, shmem_##NAME##_atomic_swap(d, (C)v, pe))                          \
    AMO(NAME, C, cswap, shmem_##NAME##_atomic_compare_swap(d, (C)cond, (C)v, pe))        \
    AMO(NAME, C, finc, shmem_##NAME##_atomic_fetch_inc(d, pe))                           \
    AMO(NAME, C, fadd, shmem_##NAME##_atomic_fetch_add(d, (C)v, pe))                     \
    AMO_CTX(NAME, C) AMO_VOIDS(NAME, C) AMO_NBIS(NAME, C)
#define AMO_CTX(NAME, C)                                                                 \
    AMO(NAME, C, ctx_fetch, shmem_ctx_##NAME##_atomic_fetch(CTX, d, pe))                 \
    AMO(NAME, C, ctx_swap, shmem_ctx_##NAME##_atomic_swap(CTX, d, (C)v, pe))             \
    AMO(NAME, C, ctx_cswap,                                                              \
        shmem_ctx_##NAME##_atomic_compare_swap(CTX, d, (C)cond, (C)v, pe))               \
    AMO(NAME, C, ctx_finc, shmem_ctx_##NAME##_atomic_fetch_inc(CTX, d, pe))              \
    AMO(NAME, C, ctx_fadd, shmem_ctx_##NAME##_atomic_fetch_add(CTX, d, (C)v, pe))
#define AMO_VOIDS(NAME, C)                                                               \
    AMO_VOID(NAME, C, set, shmem_##NAME##_atomic_set(d, (C)v, pe))                       \
    AMO_VOID(NAME, C, inc, shmem_##NAME##_atomic_inc(d, pe))                             \
    AMO_VOID(NAME, C, add, shmem_##NAME##_atomic_add(d, (C)v, pe))                       \
    AMO_VOID(NAME, C, ctx_set, shmem_ctx_##NAME##_atomic_set(CTX, d, (C)v, pe))          \
    AMO_VOID(NAME, C, ctx_inc, shmem_ctx_##NAME##_atomic_inc(CTX, d, pe))                \
    AMO_VOID(NAME, C, ctx_add, shmem_ctx_##NAME##_atomic_add(CTX, d, (C)v, pe))
#define AMO_NBIS(NAME, C)                                                                \
    AMO_NBI(NAME, C, fetch, shmem_##NAME##_atomic_fetch_nbi(&f, d, pe))                  \
    AMO_NBI(NAME, C, swap, shmem_##NAME##_atomic_swap_nbi(&f, d, (C)v, pe))              \
    AMO_NBI(NAME, C, cswap,                                                              \
            shmem_##NAME##_atomic_compare_swap_nbi(&f, d, (C)cond, (C)v, pe))            \
    AMO_NBI(NAME, C, finc, shmem_##NAME##_atomic_fetch_inc_nbi(&f, d, pe))               \
    AMO_NBI(NAME, C, fadd, shmem_##NAME##_atomic_fetch_add_nbi(&f, d, (C)v, pe))

#define AMO_BIT(NAME, C, KIND)                                                           \
    AMO_BIT_OP(NAME, C, and) AMO_BIT_OP(NAME, C, or) AMO_BIT_OP(NAME, C, xor)
#define AMO_BIT_OP(NAME, C, OP)                                                          \
    AMO_VOID(NAME, C, bit_##OP, shmem_##NAME##_atomic_##OP(d, (C)v, pe))                 \
    AMO_VOID(NAME, C, ctx_bit_##OP, shmem_ctx_##NAME##_atomic_##OP(CTX, d, (C)v, pe))    \
    AMO(NAME, C, f##OP, shmem_##NAME##_atomic_fetch_##OP(d, (C)v, pe))                   \
    AMO(NAME, C, ctx_f##OP, shmem_ctx_##NAME##_atomic_fetch_##OP(CTX, d, (C)v, pe))      \
    AMO_NBI(NAME, C, f##OP, shmem_##NAME##_atomic_fetch_##OP##_nbi(&f, d, (C)v, pe))

SHMEM_TYPES_AMO(AMO_STD)
SHMEM_TYPES_AMO_BIT(AMO_BIT)

/* What an operation does, for the model. */
enum amo_op {
    AMO_FETCH,
    AMO_SWAP,
    AMO_CSWAP,
    AMO_FINC,
    AMO_FADD,
    AMO_SET,
    AMO_INC,
    AMO_ADD,
    AMO_FAND,
    AMO_FOR,
    AMO_FXOR,
    AMO_AND,
    AMO_OR,
    AMO_XOR
};

struct amo {
    const char *name;
    enum amo_op op;
    size_t size;
    bool is_signed;
    amo_fn fn;
};
enum { SINT = 1, UINT = 0 };

#define AMO_ROW(NAME, C, KIND, FN, OP) {#NAME " " #FN, OP, sizeof(C), KIND, FN##_##NAME},
/* clang-format does not come to rest over rows of macros. */
/* clang-format off */
#define AMO_ROWS_STD(NAME, C, KIND)                                                      \
    AMO_ROW(NAME, C, KIND, fetch, AMO_FETCH) AMO_ROW(NAME, C, KIND, swap, AMO_SWAP)      \
    AMO_ROW(NAME, C, KIND, cswap, AMO_CSWAP) AMO_ROW(NAME, C, KIND, finc, AMO_FINC)      \
    AMO_ROW(NAME, C, KIND, fadd, AMO_FADD) AMO_ROW(NAME, C, KIND, set, AMO_SET)          \
    AMO_ROW(NAME, C, KIND, inc, AMO_INC) AMO_ROW(NAME, C, KIND, add, AMO_ADD)            \
    AMO_ROWS_CTX(NAME, C, KIND) AMO_ROWS_NBI(NAME, C, KIND)
#define AMO_ROWS_CTX(NAME, C, KIND)                                                      \
    AMO_ROW(NAME, C, KIND, ctx_fetch, AMO_FETCH)                                         \
    AMO_ROW(NAME, C, KIND, ctx_swap, AMO_SWAP)                                           \
    AMO_ROW(NAME, C, KIND, ctx_cswap, AMO_CSWAP)                                         \
    AMO_ROW(NAME, C, KIND, ctx_finc, AMO_FINC)                                           \
    AMO_ROW(NAME, C, KIND, ctx_fadd, AMO_FADD)                                           \
    AMO_ROW(NAME, C, KIND, ctx_set, AMO_SET)                                             \
    AMO_ROW(NAME, C, KIND, ctx_inc, AMO_INC) AMO_ROW(NAME, C, KIND, ctx_add, AMO_ADD)
#define AMO_ROWS_NBI(NAME, C, KIND)                                                      \
    AMO_ROW(NAME, C, KIND, fetch_nbi, AMO_FETCH)                                         \
    AMO_ROW(NAME, C, KIND, swap_nbi, AMO_SWAP)                                           \
    AMO_ROW(NAME, C, KIND, cswap_nbi, AMO_CSWAP)                                         \
    AMO_ROW(NAME, C, KIND, finc_nbi, AMO_FINC)                                           \
    AMO_ROW(NAME, C, KIND, fadd_nbi, AMO_FADD)
#define AMO_ROWS_BIT(NAME, C, KIND)                                                      \
    AMO_ROWS_OP(NAME, C, KIND, and, AMO_AND, AMO_FAND)                                   \
    AMO_ROWS_OP(NAME, C, KIND, or, AMO_OR, AMO_FOR)                                      \
    AMO_ROWS_OP(NAME, C, KIND, xor, AMO_XOR, AMO_FXOR)
#define AMO_ROWS_OP(NAME, C, KIND, OP, PLAIN, FETCHING)                                  \
    AMO_ROW(NAME, C, KIND, bit_##OP, PLAIN)                                              \
    AMO_ROW(NAME, C, KIND, ctx_bit_##OP, PLAIN)                                          \
    AMO_ROW(NAME, C, KIND, f##OP, FETCHING)                                              \
    AMO_ROW(NAME, C, KIND, ctx_f##OP, FETCHING)                                          \
    AMO_ROW(NAME, C, KIND, f##OP##_nbi, FETCHING)
/* clang-format on */

static const struct amo amos[] = {SHMEM_TYPES_AMO(AMO_ROWS_STD)
                                      SHMEM_TYPES_AMO_BIT(AMO_ROWS_BIT)};
enum { AMOS = sizeof(amos) / sizeof(amos[0]) };

/* The low bytes of v as the type sees them. */
static inline uint64_t amo_narrow(const struct amo *a, uint64_t v)
{
    unsigned shift = (unsigned)(64 - 8 * a->size);
    v <<= shift;
    return a->is_signed ? (uint64_t)((int64_t)v >> shift) : v >> shift;
}

/* The word after the operation; all in 64 bits, then narrowed. */
static inline uint64_t amo_model(const struct amo *a, uint64_t old, uint64_t v,
                                 uint64_t cond)
{
    switch (a->op) {
    case AMO_FETCH:
        return old;
    case AMO_SWAP:
    case AMO_SET:
        return amo_narrow(a, v);
    case AMO_CSWAP:
        return old == amo_narrow(a, cond) ? amo_narrow(a, v) : old;
    case AMO_FINC:
    case AMO_INC:
        return amo_narrow(a, old + 1);
    case AMO_FADD:
    case AMO_ADD:
        return amo_narrow(a, old + v);
    case AMO_FAND:
    case AMO_AND:
        return amo_narrow(a, old & v);
    case AMO_FOR:
    case AMO_OR:
        return amo_narrow(a, old | v);
    case AMO_FXOR:
    case AMO_XOR:
        return amo_narrow(a, old ^ v);
    }
    return 0;
}

static inline bool amo_returns(const struct amo *a)
{
    return a->op <= AMO_FADD || (a->op >= AMO_FAND && a->op <= AMO_FXOR);
}

#endif
