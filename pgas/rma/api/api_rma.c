/* SPDX-License-Identifier: BSD-3-Clause */
/* api_rma.c - rows of put, get, p and g (9.6).  Uses: rma. */
#include "config.h"

#include "pgas/rma/api.h"
#include "pgas/rma/rma.h"

/* clang-format off */

/* A routine that moves n elements of S bytes by function `how`, with and without ctx */
#define PUT(X, how, PTR, S)                                                              \
    ROUTINE_CTX(void, X, S, how(ctx, dest, source, rma_bytes(nelems, S, fn), pe, fn),    \
                (PTR, dest, SYM), (const PTR, source, LOCAL), (size_t, nelems, COUNT),   \
                (int, pe, PE))
#define GET(X, how, PTR, S)                                                              \
    ROUTINE_CTX(void, X, S, how(ctx, dest, source, rma_bytes(nelems, S, fn), pe, fn),    \
                (PTR, dest, LOCAL), (const PTR, source, SYM), (size_t, nelems, COUNT),   \
                (int, pe, PE))

/* type_NAME is the C type as one word, so that `const` can precede it */
#define TYPED(NAME, C, KIND)                                                             \
    typedef C type_##NAME;                                                               \
    PUT(NAME##_put, rma_put, type_##NAME *, sizeof(C))                                   \
    PUT(NAME##_put_nbi, rma_put_nbi, type_##NAME *, sizeof(C))                           \
    GET(NAME##_get, rma_get, type_##NAME *, sizeof(C))                                   \
    GET(NAME##_get_nbi, rma_get_nbi, type_##NAME *, sizeof(C))
SHMEM_TYPES_RMA(TYPED)
#undef TYPED

#define S(bits)                                                                          \
    PUT(put##bits, rma_put, void *, bits / 8)                                            \
    PUT(put##bits##_nbi, rma_put_nbi, void *, bits / 8)                                  \
    GET(get##bits, rma_get, void *, bits / 8)                                            \
    GET(get##bits##_nbi, rma_get_nbi, void *, bits / 8)
SHMEM_SIZES(S)
#undef S

PUT(putmem, rma_put, void *, 1)
PUT(putmem_nbi, rma_put_nbi, void *, 1)
GET(getmem, rma_get, void *, 1)
GET(getmem_nbi, rma_get_nbi, void *, 1)

/* p and g: a plain store or load of the type.  The slow path is an out-of-line put or get
 * of one element, so that the fast path does not need the value in memory. */
#define SLOW static __attribute__((noinline))
#define STORE_SLOW(NAME, C)                                                              \
    SLOW void p_slow_##NAME(shmem_ctx_t ctx, C *dest, C value, int pe, const char *fn)   \
    { rma_put(ctx, dest, &value, sizeof(C), pe, fn); }
#define STORE(NAME, C)                                                                   \
    ALWAYS_INLINE void p_##NAME(shmem_ctx_t ctx, C *dest, C value, int pe,               \
                                const char *fn)                                          \
    {                                                                                    \
        C *word = peer_quick(dest, sizeof(C), pe);                                       \
        if (unlikely(word == NULL)) { p_slow_##NAME(ctx, dest, value, pe, fn); return; } \
        *word = value, rma_changed(dest, sizeof(C), pe);                                 \
    }
#define LOAD(NAME, C)                                                                    \
    SLOW C g_slow_##NAME(shmem_ctx_t ctx, const C *source, int pe, const char *fn)       \
    { C value; rma_get(ctx, &value, source, sizeof(C), pe, fn); return value; }          \
    ALWAYS_INLINE C g_##NAME(shmem_ctx_t ctx, const C *source, int pe, const char *fn)   \
    {                                                                                    \
        const C *word = peer_quick(source, sizeof(C), pe);                               \
        return likely(word != NULL) ? *word : g_slow_##NAME(ctx, source, pe, fn);        \
    }
#define P(NAME, C)                                                                       \
    ROUTINE_CTX(void, NAME##_p, sizeof(C), p_##NAME(ctx, dest, value, pe, fn),           \
                (C *, dest, ELEMENT), (C, value, ANY), (int, pe, PE))
#define G(NAME, C)                                                                       \
    ROUTINE_CTX(C, NAME##_g, sizeof(C), return g_##NAME(ctx, source, pe, fn),            \
                (const C *, source, ELEMENT), (int, pe, PE))
#define BY_VALUE(NAME, C, KIND)                                                          \
    STORE_SLOW(NAME, C) STORE(NAME, C) P(NAME, C)                                        \
    LOAD(NAME, C) G(NAME, C)
SHMEM_TYPES_RMA(BY_VALUE)
