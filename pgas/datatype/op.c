/* SPDX-License-Identifier: BSD-3-Clause */
/* op.c - see op.h.  A leaf: the compiler vectorises the loops. */
#include "config.h"

#include "pgas/datatype/op.h"

/* Signed sums wrap around like unsigned ones: an overflow in one order of the PEs must
 * not be undefined when another order has none.  U is where the sum is formed. */
#define WRAP_SINT(C, a, b) (C)((uint64_t)(a) + (uint64_t)(b))
#define WRAP_UINT(C, a, b) (C)((uint64_t)(a) + (uint64_t)(b))
#define WRAP_FLT(C, a, b)  ((a) + (b))
#define WRAP_CPLX(C, a, b) ((a) + (b))

#define SUM(NAME, C, KIND)                                                               \
    void op_sum_##NAME(void *acc, const void *in, size_t n)                              \
    {                                                                                    \
        C *restrict a = acc;                                                             \
        const C *restrict b = in;                                                        \
        for (size_t i = 0; i < n; i++)                                                   \
            a[i] = WRAP_##KIND(C, a[i], b[i]);                                           \
    }
SHMEM_TYPES_REDUCE_NUM(SUM)

#define MAX(NAME, C, KIND)                                                               \
    void op_max_##NAME(void *acc, const void *in, size_t n)                              \
    {                                                                                    \
        C *restrict a = acc;                                                             \
        const C *restrict b = in;                                                        \
        for (size_t i = 0; i < n; i++)                                                   \
            a[i] = b[i] > a[i] ? b[i] : a[i];                                            \
    }
SHMEM_TYPES_REDUCE_ORD(MAX)

#define MIN(NAME, C, KIND)                                                               \
    void op_min_##NAME(void *acc, const void *in, size_t n)                              \
    {                                                                                    \
        C *restrict a = acc;                                                             \
        const C *restrict b = in;                                                        \
        for (size_t i = 0; i < n; i++)                                                   \
            a[i] = b[i] < a[i] ? b[i] : a[i];                                            \
    }
SHMEM_TYPES_REDUCE_ORD(MIN)
