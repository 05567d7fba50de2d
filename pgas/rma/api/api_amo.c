/* SPDX-License-Identifier: BSD-3-Clause */
/* api_amo.c - rows of the atomic memory operations (9.7).  Uses: amo_at, rma. */
#include "config.h"

#include <string.h>

#include "pgas/transport/perform.h"
#include "pgas/rma/amo_at.h"
#include "pgas/rma/api.h"
#include "pgas/rma/rma.h"

/* clang-format off */

/* Conversions between a value of the type and the bit pattern that amo.h uses. */
#define BITS(NAME, C, KIND)                                                              \
    static inline uint64_t bits_##NAME(C value)                                          \
    { uint64_t bits = 0; memcpy(&bits, &value, sizeof value); return bits; }             \
    static inline C value_##NAME(uint64_t bits)                                          \
    { C value; memcpy(&value, &bits, sizeof value); return value; }
SHMEM_TYPES_AMO_EXT(BITS)
#undef BITS

/* clang-format on */

/* The description of an operation packed into one register, so that the slow path is a
 * tail call and the fast path saves no registers. */
ALWAYS_INLINE uint64_t what_of(enum transport_amo_op op, enum amo_want want, size_t size,
                               int pe)
{
    return (uint64_t)(uint32_t)pe << 32 | (uint64_t)op << 16 | (uint64_t)want << 8 | size;
}

/* Slow paths: a PE of another node, the first access to a local PE, errors. */
#define SLOW static __attribute__((noinline)) uint64_t

SLOW api_amo_swap_slow(uint64_t what, shmem_ctx_t ctx, void *addr, uint64_t value,
                       uint64_t cond, void *later, const char *fn)
{
    return amo_call(
        &(struct amo_call){.ctx = ctx,
                           .amo = {.op = (enum transport_amo_op)(what >> 16 & 0xff),
                                   .size = what & 0xff,
                                   .operand = value,
                                   .cond = cond},
                           .addr = addr,
                           .pe = (int)(what >> 32),
                           .fn = fn,
                           .want = (enum amo_want)(what >> 8 & 0xff),
                           .later = later});
}

SLOW api_amo_slow(uint64_t what, shmem_ctx_t ctx, void *addr, uint64_t value, void *later,
                  const char *fn)
{
    return api_amo_swap_slow(what, ctx, addr, value, 0, later, fn);
}

/*
 * An atomic operation on (address, PE): translates the address, performs the operation
 * and wakes sleepers.  Inlined with constant op, want and size, which then cost nothing.
 * The PE's record is loaded first: a load after the atomic would have to wait for it.
 * AMO_NEVER does not use the old value, so that a bitwise operation is one instruction
 * instead of a load and a loop of compare-and-swap.
 */
ALWAYS_INLINE uint64_t api_amo_apply(enum transport_amo_op op, enum amo_want want,
                                     size_t size, shmem_ctx_t ctx, void *addr,
                                     uint64_t value, uint64_t cond, int pe, void *later,
                                     const char *fn)
{
    void *word = peer_quick(addr, size, pe);

    if (unlikely(word == NULL))
        return op == TRANSPORT_AMO_COMPARE_SWAP
                   ? api_amo_swap_slow(what_of(op, want, size, pe), ctx, addr, value,
                                       cond, later, fn)
                   : api_amo_slow(what_of(op, want, size, pe), ctx, addr, value, later,
                                  fn);
    struct node_pe *node = pgas_self.peer[pe].node;
    uint64_t old = perform_op(op, word, value, cond, size);
    if (want == AMO_LATER)
        memcpy(later, &old, size); /* its low bytes */
    if (op == TRANSPORT_AMO_FETCH)
        return old;
    return rma_changed_then(node, addr, size, want == AMO_NEVER ? 0 : old);
}

/* clang-format off */

/* A call of operation OP on `dest` with an operand and, for compare_swap, a condition */
#define CALL(C, OP, WANT, bits, cond, later)                                             \
    api_amo_apply(TRANSPORT_AMO_##OP, AMO_##WANT, sizeof(C), ctx, dest, bits, cond, pe,  \
                  later, fn)
#define NOW(C, OP, bits)   CALL(C, OP, NOW, bits, 0, NULL)
#define LATER(C, OP, bits) CALL(C, OP, LATER, bits, 0, fetch)
#define NEVER(C, OP, bits) CALL(C, OP, NEVER, bits, 0, NULL)

#define DEST(C)  (C *, dest, WORD)
#define VALUE(C) (C, value, ANY)
#define TO(C)    (C *, fetch, POINTER)
#define ON_PE    (int, pe, PE)

/* Routines of operation OP with one operand: fetching, fetching nbi, non-fetching */
#define FETCHING(NAME, C, routine, OP)                                                   \
    ROUTINE_CTX(C, NAME##_atomic_##routine, sizeof(C),                                   \
                return value_##NAME(NOW(C, OP, bits_##NAME(value))),               \
                DEST(C), VALUE(C), ON_PE)                                                \
    ROUTINE_CTX(void, NAME##_atomic_##routine##_nbi, sizeof(C),                          \
                LATER(C, OP, bits_##NAME(value)), TO(C), DEST(C), VALUE(C), ON_PE)
#define PLAIN(NAME, C, routine, OP)                                                      \
    ROUTINE_CTX(void, NAME##_atomic_##routine, sizeof(C),                                \
                NEVER(C, OP, bits_##NAME(value)), DEST(C), VALUE(C), ON_PE)

#define SOURCE_CALL(C, ...) void *dest = (void *)source; __VA_ARGS__
#define FETCH(NAME, C)                                                                   \
    ROUTINE_CTX(C, NAME##_atomic_fetch, sizeof(C),                                       \
                SOURCE_CALL(C, return value_##NAME(NOW(C, FETCH, 0))),             \
                (const C *, source, WORD), ON_PE)                                        \
    ROUTINE_CTX(void, NAME##_atomic_fetch_nbi, sizeof(C),                                \
                SOURCE_CALL(C, LATER(C, FETCH, 0)),                                \
                TO(C), (const C *, source, WORD), ON_PE)
#define EXTENDED(NAME, C, KIND)                                                          \
    FETCH(NAME, C)                                                                       \
    PLAIN(NAME, C, set, SET)                                                             \
    FETCHING(NAME, C, swap, SWAP)
SHMEM_TYPES_AMO_EXT(EXTENDED)
#undef EXTENDED

#define CAS(NAME, C, WANT, later)                                                        \
    CALL(C, COMPARE_SWAP, WANT, bits_##NAME(value), bits_##NAME(cond), later)
#define COMPARE_SWAP(NAME, C, KIND)                                                      \
    ROUTINE_CTX(C, NAME##_atomic_compare_swap, sizeof(C),                                \
                return value_##NAME(CAS(NAME, C, NOW, NULL)), DEST(C), (C, cond, ANY),   \
                VALUE(C), ON_PE)                                                         \
    ROUTINE_CTX(void, NAME##_atomic_compare_swap_nbi, sizeof(C),                         \
                CAS(NAME, C, LATER, fetch), TO(C), DEST(C), (C, cond, ANY), VALUE(C),    \
                ON_PE)
SHMEM_TYPES_AMO(COMPARE_SWAP)
#undef COMPARE_SWAP

#define ADD(NAME, C, KIND)                                                               \
    FETCHING(NAME, C, fetch_add, ADD)                                                    \
    PLAIN(NAME, C, add, ADD)
SHMEM_TYPES_AMO(ADD)
#undef ADD

#define INC(NAME, C, KIND)                                                               \
    ROUTINE_CTX(C, NAME##_atomic_fetch_inc, sizeof(C),                                   \
                return value_##NAME(NOW(C, ADD, 1)), DEST(C), ON_PE)               \
    ROUTINE_CTX(void, NAME##_atomic_fetch_inc_nbi, sizeof(C), LATER(C, ADD, 1),    \
                TO(C), DEST(C), ON_PE)                                                   \
    ROUTINE_CTX(void, NAME##_atomic_inc, sizeof(C), NEVER(C, ADD, 1), DEST(C),     \
                ON_PE)
SHMEM_TYPES_AMO(INC)
#undef INC

#define BITWISE(NAME, C, KIND)                                                           \
    FETCHING(NAME, C, fetch_and, AND) PLAIN(NAME, C, and, AND)                           \
    FETCHING(NAME, C, fetch_or, OR) PLAIN(NAME, C, or, OR)                               \
    FETCHING(NAME, C, fetch_xor, XOR) PLAIN(NAME, C, xor, XOR)
SHMEM_TYPES_AMO_BIT(BITWISE)
#undef BITWISE
