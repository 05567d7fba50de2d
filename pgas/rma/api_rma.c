/* SPDX-License-Identifier: BSD-3-Clause */
/* api_rma.c - rows of put, get, p and g (9.6).  Uses: rma. */
#include "config.h"

#include "pgas/rma/api.h"
#include "pgas/rma/rma.h"

/* put, get and their nbi forms of one element type.  S is the size in bytes. */
#define PUT(fn, PTR, S)                                                                  \
    API(void, shmem_##fn, (PTR dest, const PTR source, size_t n, int pe))                \
    {                                                                                    \
        rma_put(dest, source, n, S, pe, "shmem_" #fn);                                   \
    }                                                                                    \
    API(void, shmem_ctx_##fn,                                                            \
        (shmem_ctx_t ctx, PTR dest, const PTR source, size_t n, int pe))                 \
    {                                                                                    \
        (void)ctx;                                                                       \
        rma_put(dest, source, n, S, pe, "shmem_ctx_" #fn);                               \
    }
#define GET(fn, PTR, S)                                                                  \
    API(void, shmem_##fn, (PTR dest, const PTR source, size_t n, int pe))                \
    {                                                                                    \
        rma_get(dest, source, n, S, pe, "shmem_" #fn);                                   \
    }                                                                                    \
    API(void, shmem_ctx_##fn,                                                            \
        (shmem_ctx_t ctx, PTR dest, const PTR source, size_t n, int pe))                 \
    {                                                                                    \
        (void)ctx;                                                                       \
        rma_get(dest, source, n, S, pe, "shmem_ctx_" #fn);                               \
    }

/* A pointer type that `const` can stand before */
#define TYPED(NAME, C, KIND)                                                             \
    typedef C type_##NAME;                                                               \
    PUT(NAME##_put, type_##NAME *, sizeof(C))                                            \
    PUT(NAME##_put_nbi, type_##NAME *, sizeof(C))                                        \
    GET(NAME##_get, type_##NAME *, sizeof(C))                                            \
    GET(NAME##_get_nbi, type_##NAME *, sizeof(C))
SHMEM_TYPES_RMA(TYPED)
#undef TYPED

#define S(bits)                                                                          \
    PUT(put##bits, void *, bits / 8)                                                     \
    PUT(put##bits##_nbi, void *, bits / 8)                                               \
    GET(get##bits, void *, bits / 8)                                                     \
    GET(get##bits##_nbi, void *, bits / 8)
SHMEM_SIZES(S)
#undef S

PUT(putmem, void *, 1)
PUT(putmem_nbi, void *, 1)
GET(getmem, void *, 1)
GET(getmem_nbi, void *, 1)

/* One element by value: a plain store or load of its type. */
#define P(NAME, C, KIND)                                                                 \
    API(void, shmem_##NAME##_p, (C * dest, C value, int pe))                             \
    {                                                                                    \
        *(C *)peer_at(dest, sizeof(C), pe, "shmem_" #NAME "_p") = value;                 \
        rma_changed(dest, sizeof(C), pe);                                                \
    }                                                                                    \
    API(void, shmem_ctx_##NAME##_p, (shmem_ctx_t ctx, C * dest, C value, int pe))        \
    {                                                                                    \
        (void)ctx;                                                                       \
        *(C *)peer_at(dest, sizeof(C), pe, "shmem_ctx_" #NAME "_p") = value;             \
        rma_changed(dest, sizeof(C), pe);                                                \
    }
SHMEM_TYPES_RMA(P)
#undef P

#define G(NAME, C, KIND)                                                                 \
    API(C, shmem_##NAME##_g, (const C *source, int pe))                                  \
    {                                                                                    \
        return *(const C *)peer_at(source, sizeof(C), pe, "shmem_" #NAME "_g");          \
    }                                                                                    \
    API(C, shmem_ctx_##NAME##_g, (shmem_ctx_t ctx, const C *source, int pe))             \
    {                                                                                    \
        (void)ctx;                                                                       \
        return *(const C *)peer_at(source, sizeof(C), pe, "shmem_ctx_" #NAME "_g");      \
    }
SHMEM_TYPES_RMA(G)
#undef G
