/* SPDX-License-Identifier: BSD-3-Clause */
/* op_test.c - every reduction kernel at the boundary values of its type. */
#include "config.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <float.h>

#include "pgas/datatype/op.h"

/* Smallest and largest value of a C type, by KIND */
#define LEAST_SINT(C) (C)(-MOST_SINT(C) - 1)
#define MOST_SINT(C)  (C)((((uint64_t)1 << (sizeof(C) * CHAR_BIT - 2)) - 1) * 2 + 1)
#define LEAST_UINT(C) (C)0
#define MOST_UINT(C)  (C) ~(C)0
#define LEAST_FLT(C)  (C) - FLT_MAX
#define MOST_FLT(C)   (C) FLT_MAX

#define ORDERED(NAME, C, KIND)                                                           \
    Test(op, max_min_##NAME)                                                             \
    {                                                                                    \
        C least = LEAST_##KIND(C), most = MOST_##KIND(C);                                \
        C a[4] = {least, most, (C)1, (C)100}, b[4] = {most, least, (C)2, (C)99};         \
        op_max_##NAME(a, b, 4);                                                          \
        cr_assert(a[0] == most && a[1] == most && a[2] == (C)2 && a[3] == (C)100);       \
        C c[4] = {least, most, (C)1, (C)100};                                            \
        op_min_##NAME(c, b, 4);                                                          \
        cr_assert(c[0] == least && c[1] == least && c[2] == (C)1 && c[3] == (C)99);      \
    }
SHMEM_TYPES_REDUCE_ORD(ORDERED)

#define NUMERIC(NAME, C, KIND)                                                           \
    Test(op, sum_##NAME)                                                                 \
    {                                                                                    \
        C a[3] = {(C)1, (C)40, (C)0}, b[3] = {(C)2, (C)60, (C)0};                        \
        op_sum_##NAME(a, b, 3);                                                          \
        cr_assert(a[0] == (C)3 && a[1] == (C)100 && a[2] == (C)0);                       \
        op_sum_##NAME(a, b, 0);                                                          \
        cr_assert(a[0] == (C)3);                                                         \
    }
SHMEM_TYPES_REDUCE_NUM(NUMERIC)

Test(op, signed_sums_wrap_around)
{
    long a = LONG_MAX, b = 1;

    op_sum_long(&a, &b, 1);
    cr_assert_eq(a, LONG_MIN);
}
