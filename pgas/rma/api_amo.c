/* SPDX-License-Identifier: BSD-3-Clause */
/* api_amo.c - rows of the atomic memory operations (9.7).  Uses: amo, rma. */
#include "config.h"

#include <string.h>

#include "pgas/rma/amo.h"
#include "pgas/rma/api.h"
#include "pgas/rma/rma.h"

/* clang-format off */

/* Between a value of the type and the bits that amo.h moves: reals keep their bits. */
#define BITS(NAME, C, KIND)                                                              \
    static inline uint64_t bits_##NAME(C value)                                          \
    { uint64_t bits = 0; memcpy(&bits, &value, sizeof value); return bits; }             \
    static inline C value_##NAME(uint64_t bits)                                          \
    { C value; memcpy(&value, &bits, sizeof value); return value; }
SHMEM_TYPES_AMO_EXT(BITS)
#undef BITS

/* The operations on (address, PE): find the word, do it, wake sleepers.  Inline, so that
 * `size` and `fn` cost nothing; what is rare is a jump to a twin out of line, so that the
 * common way saves no registers. */
#define PARAMETERS void *dest, uint64_t value, size_t size, int pe, const char *fn
#define APPLY_SLOW(NAME)                                                                 \
    static __attribute__((noinline, cold)) uint64_t slow_##NAME(PARAMETERS)              \
    {                                                                                    \
        uint64_t old = amo_##NAME(peer_at_slow(dest, size, pe, fn), value, size);        \
        rma_changed(dest, size, pe);                                                     \
        return old;                                                                      \
    }
/* The record is loaded before the operation: behind it, the load would wait for it. */
#define APPLY_QUICK(NAME)                                                                \
    ALWAYS_INLINE uint64_t do_##NAME(PARAMETERS)                                         \
    {                                                                                    \
        void *word = peer_quick(dest, size, pe);                                         \
        if (unlikely(word == NULL)) return slow_##NAME(dest, value, size, pe, fn);       \
        struct node_pe *node = pgas_self.peer[pe].node;                                  \
        return rma_changed_then(node, dest, size, amo_##NAME(word, value, size));        \
    }
#define APPLY(NAME) APPLY_SLOW(NAME) APPLY_QUICK(NAME)
APPLY(swap)
APPLY(fetch_add)
APPLY(fetch_and)
APPLY(fetch_or)
APPLY(fetch_xor)
#undef APPLY

/* clang-format on */

ALWAYS_INLINE uint64_t do_compare_swap(void *dest, uint64_t cond, uint64_t value,
                                       size_t size, int pe, const char *fn)
{
    uint64_t old = amo_compare_swap(peer_at(dest, size, pe, fn), cond, value, size);

    rma_changed(dest, size, pe);
    return old;
}

ALWAYS_INLINE uint64_t do_fetch(const void *source, size_t size, int pe, const char *fn)
{
    return amo_fetch(peer_at(source, size, pe, fn), size);
}

ALWAYS_INLINE void do_set(void *dest, uint64_t value, size_t size, int pe, const char *fn)
{
    amo_set(peer_at(dest, size, pe, fn), value, size);
    rma_changed(dest, size, pe);
}

/* clang-format off */

/* Operation `op` with one operand: that fetches, that fetches nbi, that does not fetch */
#define DEST(C)  (C *, dest, WORD)
#define VALUE(C) (C, value, ANY)
#define TO(C)    (C *, fetch, POINTER)
#define ON_PE    (int, pe, PE)
#define RESULT(NAME, C, op, operand)                                                     \
    value_##NAME(do_##op(dest, operand, sizeof(C), pe, fn))
#define FETCHING(NAME, C, routine, op)                                                   \
    ROUTINE_CTX(C, NAME##_atomic_##routine, sizeof(C),                                   \
                return RESULT(NAME, C, op, bits_##NAME(value)),                          \
                DEST(C), VALUE(C), ON_PE)                                                \
    ROUTINE_CTX(void, NAME##_atomic_##routine##_nbi, sizeof(C),                          \
                *fetch = RESULT(NAME, C, op, bits_##NAME(value)),                        \
                TO(C), DEST(C), VALUE(C), ON_PE)
#define PLAIN(NAME, C, routine, op)                                                      \
    ROUTINE_CTX(void, NAME##_atomic_##routine, sizeof(C),                                \
                do_##op(dest, bits_##NAME(value), sizeof(C), pe, fn), DEST(C), VALUE(C), \
                ON_PE)

#define FETCH(NAME, C)                                                                   \
    ROUTINE_CTX(C, NAME##_atomic_fetch, sizeof(C),                                       \
                return value_##NAME(do_fetch(source, sizeof(C), pe, fn)),                \
                (const C *, source, WORD), ON_PE)                                        \
    ROUTINE_CTX(void, NAME##_atomic_fetch_nbi, sizeof(C),                                \
                *fetch = value_##NAME(do_fetch(source, sizeof(C), pe, fn)),              \
                TO(C), (const C *, source, WORD), ON_PE)
#define EXTENDED(NAME, C, KIND)                                                          \
    FETCH(NAME, C)                                                                       \
    PLAIN(NAME, C, set, set)                                                             \
    FETCHING(NAME, C, swap, swap)
SHMEM_TYPES_AMO_EXT(EXTENDED)
#undef EXTENDED

#define CAS(NAME, C)                                                                     \
    value_##NAME(do_compare_swap(dest, bits_##NAME(cond), bits_##NAME(value), sizeof(C), \
                                 pe, fn))
#define COMPARE_SWAP(NAME, C, KIND)                                                      \
    ROUTINE_CTX(C, NAME##_atomic_compare_swap, sizeof(C), return CAS(NAME, C),           \
                DEST(C), (C, cond, ANY), VALUE(C), ON_PE)                                \
    ROUTINE_CTX(void, NAME##_atomic_compare_swap_nbi, sizeof(C), *fetch = CAS(NAME, C),  \
                TO(C), DEST(C), (C, cond, ANY), VALUE(C), ON_PE)
SHMEM_TYPES_AMO(COMPARE_SWAP)
#undef COMPARE_SWAP

#define ADD(NAME, C, KIND)                                                               \
    FETCHING(NAME, C, fetch_add, fetch_add)                                              \
    PLAIN(NAME, C, add, fetch_add)
SHMEM_TYPES_AMO(ADD)
#undef ADD

#define INC(NAME, C, KIND)                                                               \
    ROUTINE_CTX(C, NAME##_atomic_fetch_inc, sizeof(C),                                   \
                return RESULT(NAME, C, fetch_add, 1), DEST(C), ON_PE)                    \
    ROUTINE_CTX(void, NAME##_atomic_fetch_inc_nbi, sizeof(C),                            \
                *fetch = RESULT(NAME, C, fetch_add, 1), TO(C), DEST(C), ON_PE)           \
    ROUTINE_CTX(void, NAME##_atomic_inc, sizeof(C),                                      \
                do_fetch_add(dest, 1, sizeof(C), pe, fn), DEST(C), ON_PE)
SHMEM_TYPES_AMO(INC)
#undef INC

#define BITWISE(NAME, C, KIND)                                                           \
    FETCHING(NAME, C, fetch_and, fetch_and) PLAIN(NAME, C, and, fetch_and)               \
    FETCHING(NAME, C, fetch_or, fetch_or) PLAIN(NAME, C, or, fetch_or)                   \
    FETCHING(NAME, C, fetch_xor, fetch_xor) PLAIN(NAME, C, xor, fetch_xor)
SHMEM_TYPES_AMO_BIT(BITWISE)
#undef BITWISE
