/* SPDX-License-Identifier: BSD-3-Clause */
/* api_strided.c - rows of strided and block-strided put and get (9.6.1).  Uses: strided.
 */
#include "config.h"

#include "pgas/rma/api.h"
#include "pgas/rma/strided.h"

/* clang-format off */

/* iput and iget of n elements, ibput and ibget of n blocks, of elements of S bytes.  dest
 * is symmetric in a put, source in a get. */
#define STRIDES (ptrdiff_t, dst, DST), (ptrdiff_t, sst, SST)
#define ENDS_put(PTR) (PTR, dest, SYM_DST), (const PTR, source, LOCAL_SST)
#define ENDS_get(PTR) (PTR, dest, LOCAL_DST), (const PTR, source, SYM_SST)
#define ELEMENTS(move, X, PTR, S)                                                        \
    ROUTINE_CTX(void, X, S,                                                              \
                strided_##move(ctx, dest, source,                                        \
                               (struct strided){dst, sst, 1, nelems, S}, pe, fn),        \
                ENDS_##move(PTR), STRIDES, (size_t, nelems, COUNT), (int, pe, PE))
#define BLOCKS(move, X, PTR, S)                                                          \
    ROUTINE_CTX(void, X, S,                                                              \
                strided_##move(ctx, dest, source,                                        \
                               (struct strided){dst, sst, bsize, nblocks, S}, pe, fn),   \
                ENDS_##move(PTR), STRIDES, (size_t, bsize, BSIZE),                       \
                (size_t, nblocks, COUNT), (int, pe, PE))
#define ALL(move, i, ib, PTR, S) ELEMENTS(move, i, PTR, S) BLOCKS(move, ib, PTR, S)

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
