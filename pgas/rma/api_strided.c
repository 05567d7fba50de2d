/* SPDX-License-Identifier: BSD-3-Clause */
/* api_strided.c - rows of strided and block-strided put and get (9.6.1).  Uses: strided.
 */
#include "config.h"

#include "pgas/rma/api.h"
#include "pgas/rma/strided.h"

/* clang-format off */

/* iput and iget of n elements of S bytes */
#define ELEMENTS(move, fn, PTR, S)                                                       \
    API(void, shmem_##fn, (PTR dest, const PTR source, ptrdiff_t dst, ptrdiff_t sst,     \
                           size_t n, int pe))                                            \
    {                                                                                    \
        strided_##move(dest, source, (struct strided){dst, sst, 1, n, S}, pe,            \
                       "shmem_" #fn);                                                    \
    }
#define ELEMENTS_CTX(move, fn, PTR, S)                                                   \
    API(void, shmem_ctx_##fn, (shmem_ctx_t ctx, PTR dest, const PTR source,              \
                               ptrdiff_t dst, ptrdiff_t sst, size_t n, int pe))          \
    {                                                                                    \
        (void)ctx;                                                                       \
        strided_##move(dest, source, (struct strided){dst, sst, 1, n, S}, pe,            \
                       "shmem_ctx_" #fn);                                                \
    }
/* ibput and ibget of n blocks of b elements of S bytes */
#define BLOCKS(move, fn, PTR, S)                                                         \
    API(void, shmem_##fn, (PTR dest, const PTR source, ptrdiff_t dst, ptrdiff_t sst,     \
                           size_t b, size_t n, int pe))                                  \
    {                                                                                    \
        strided_##move(dest, source, (struct strided){dst, sst, b, n, S}, pe,            \
                       "shmem_" #fn);                                                    \
    }
#define BLOCKS_CTX(move, fn, PTR, S)                                                     \
    API(void, shmem_ctx_##fn, (shmem_ctx_t ctx, PTR dest, const PTR source,              \
                               ptrdiff_t dst, ptrdiff_t sst, size_t b, size_t n,         \
                               int pe))                                                  \
    {                                                                                    \
        (void)ctx; strided_##move(dest, source, (struct strided){dst, sst, b, n, S}, pe, \
                                  "shmem_ctx_" #fn);                                     \
    }
#define ALL(move, i, ib, PTR, S)                                                         \
    ELEMENTS(move, i, PTR, S)                                                            \
    ELEMENTS_CTX(move, i, PTR, S)                                                        \
    BLOCKS(move, ib, PTR, S)                                                             \
    BLOCKS_CTX(move, ib, PTR, S)

#define TYPED(NAME, C, KIND)                                                             \
    typedef C type_##NAME;                                                               \
    ALL(put, NAME##_iput, NAME##_ibput, type_##NAME *, sizeof(C))                        \
    ALL(get, NAME##_iget, NAME##_ibget, type_##NAME *, sizeof(C))
SHMEM_TYPES_RMA(TYPED)
#undef TYPED

#define S(bits)                                                                          \
    ALL(put, iput##bits, ibput##bits, void *, bits / 8)                                  \
    ALL(get, iget##bits, ibget##bits, void *, bits / 8)
SHMEM_SIZES(S)
#undef S
