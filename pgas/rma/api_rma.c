/* SPDX-License-Identifier: BSD-3-Clause */
/* api_rma.c - rows of put, get, p and g (9.6).  Uses: rma. */
#include "config.h"

#include "pgas/rma/api.h"
#include "pgas/rma/rma.h"

/* clang-format off */

/* A routine that moves n elements of S bytes, and its form with a context */
#define MOVE(move, fn, PTR, S)                                                           \
    API(void, shmem_##fn, (PTR dest, const PTR source, size_t n, int pe))                \
    { rma_##move(dest, source, n, S, pe, "shmem_" #fn); }                                \
    API(void, shmem_ctx_##fn,                                                            \
        (shmem_ctx_t ctx, PTR dest, const PTR source, size_t n, int pe))                 \
    { (void)ctx; rma_##move(dest, source, n, S, pe, "shmem_ctx_" #fn); }

/* TYPE is the C type as one word, which `const` can stand before */
#define TYPED(NAME, C, KIND)                                                             \
    typedef C type_##NAME;                                                               \
    MOVE(put, NAME##_put, type_##NAME *, sizeof(C))                                      \
    MOVE(put, NAME##_put_nbi, type_##NAME *, sizeof(C))                                  \
    MOVE(get, NAME##_get, type_##NAME *, sizeof(C))                                      \
    MOVE(get, NAME##_get_nbi, type_##NAME *, sizeof(C))
SHMEM_TYPES_RMA(TYPED)
#undef TYPED

#define S(bits)                                                                          \
    MOVE(put, put##bits, void *, bits / 8)                                               \
    MOVE(put, put##bits##_nbi, void *, bits / 8)                                         \
    MOVE(get, get##bits, void *, bits / 8)                                               \
    MOVE(get, get##bits##_nbi, void *, bits / 8)
SHMEM_SIZES(S)
#undef S

MOVE(put, putmem, void *, 1)
MOVE(put, putmem_nbi, void *, 1)
MOVE(get, getmem, void *, 1)
MOVE(get, getmem_nbi, void *, 1)

/* One element by value: a plain store or load of its type, else a put or get of one. */
#define STORE(NAME, C)                                                                   \
    static inline void p_##NAME(C *dest, C value, int pe, const char *fn)                \
    {                                                                                    \
        C *word = peer_quick(dest, sizeof(C), pe);                                       \
        if (likely(word != NULL)) *word = value, rma_changed(dest, sizeof(C), pe);       \
        else rma_put(dest, &value, 1, sizeof(C), pe, fn);                                \
    }
#define LOAD(NAME, C)                                                                    \
    static inline C g_##NAME(const C *source, int pe, const char *fn)                    \
    {                                                                                    \
        const C *word = peer_quick(source, sizeof(C), pe);                               \
        if (likely(word != NULL)) return *word;                                          \
        C value; rma_get(&value, source, 1, sizeof(C), pe, fn); return value;            \
    }
#define P(NAME, C)                                                                       \
    API(void, shmem_##NAME##_p, (C *dest, C value, int pe))                              \
    { p_##NAME(dest, value, pe, "shmem_" #NAME "_p"); }                                  \
    API(void, shmem_ctx_##NAME##_p, (shmem_ctx_t ctx, C *dest, C value, int pe))         \
    { (void)ctx; p_##NAME(dest, value, pe, "shmem_ctx_" #NAME "_p"); }
#define G(NAME, C)                                                                       \
    API(C, shmem_##NAME##_g, (const C *source, int pe))                                  \
    { return g_##NAME(source, pe, "shmem_" #NAME "_g"); }                                \
    API(C, shmem_ctx_##NAME##_g, (shmem_ctx_t ctx, const C *source, int pe))             \
    { (void)ctx; return g_##NAME(source, pe, "shmem_ctx_" #NAME "_g"); }
#define BY_VALUE(NAME, C, KIND) STORE(NAME, C) LOAD(NAME, C) P(NAME, C) G(NAME, C)
SHMEM_TYPES_RMA(BY_VALUE)
