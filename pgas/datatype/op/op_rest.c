/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op_rest.c - the kernels that are not vectorised: long double, its complex type, and
 * value-index pairs for tables without them.  Uses: op_table.  Used by: op.
 */
#include "config.h"

#include <complex.h>
#include <string.h>

#include "pgas/datatype/op/op_table.h"

_Static_assert(sizeof(float) == 4 && sizeof(double) == 8 && sizeof(long double) == 16,
               "sizes identify the real types");

/* Unaligned; the user's type may be another one of the same size. */
typedef long double __attribute__((may_alias, aligned(1))) f128;
typedef long double _Complex __attribute__((may_alias, aligned(1))) c128;

/* clang-format off */
#define KERNEL(F, T, EXPRESSION)                                                         \
    static void F##_run(void *x, const void *y, const void *z, size_t n)                 \
    {                                                                                    \
        T *out = x; const T *a = y, *b = z;                                              \
        for (size_t i = 0; i < n; i++) out[i] = EXPRESSION;                              \
    }                                                                                    \
    OP_FORMS(F, T)
KERNEL(max_f128, f128, b[i] > a[i] ? b[i] : a[i])
KERNEL(min_f128, f128, b[i] < a[i] ? b[i] : a[i])
KERNEL(sum_f128, f128, a[i] + b[i])
KERNEL(prod_f128, f128, a[i] * b[i])
KERNEL(sum_c128, c128, a[i] + b[i])
KERNEL(prod_c128, c128, a[i] * b[i])

/* ---- pairs ----------------------------------------------------------------------- */

/* q displaces p if its value is BETTER, or the same and its index is smaller. */
#define LOCATION(F, T, BETTER)                                                           \
    static T F##_one(T p, T q)                                                           \
    {                                                                                    \
        bool same = q.value == p.value && q.index < p.index;                             \
        return q.value BETTER p.value || same ? q : p;                                   \
    }
#define AT(T, memory) ((memory) + i * sizeof(T))
#define LOCATION_RUN(F, T)                                                               \
    static void F##_run(void *x, const void *y, const void *z, size_t n)                 \
    {                                                                                    \
        char *out = x; const char *a = y, *b = z; T p, q;                                \
        for (size_t i = 0; i < n; i++)                                                   \
            memcpy(&p, AT(T, a), sizeof p), memcpy(&q, AT(T, b), sizeof q),              \
            p = F##_one(p, q), memcpy(AT(T, out), &p, sizeof p);                         \
    }
#define LOCATIONS(T, VALUE)                                                              \
    typedef struct { VALUE value; int index; } T;                                        \
    LOCATION(maxloc_##T, T, >) LOCATION_RUN(maxloc_##T, T) OP_FORMS(maxloc_##T, T)       \
    LOCATION(minloc_##T, T, <) LOCATION_RUN(minloc_##T, T) OP_FORMS(minloc_##T, T)
LOCATIONS(ps16, int16_t) LOCATIONS(ps32, int32_t) LOCATIONS(ps64, int64_t)
LOCATIONS(pf32, float)   LOCATIONS(pf64, double)  LOCATIONS(pf128, long double)

/* ---- table ----------------------------------------------------------------------- */

#define FNS(F)         {F##_two, F##_three}
#define SIGNED(NAME)                                                                     \
    {[1] = FNS(NAME##_ps16), [2] = FNS(NAME##_ps32), [3] = FNS(NAME##_ps64)}
#define FLOATING(NAME)                                                                   \
    {[2] = FNS(NAME##_pf32), [3] = FNS(NAME##_pf64), [4] = FNS(NAME##_pf128)}

const op_table op_rest = {
    [OP_FLT] = {[OP_MAX] = {[4] = FNS(max_f128)}, [OP_MIN] = {[4] = FNS(min_f128)},
                [OP_SUM] = {[4] = FNS(sum_f128)}, [OP_PROD] = {[4] = FNS(prod_f128)}},
    [OP_CPLX] = {[OP_SUM] = {[5] = FNS(sum_c128)}, [OP_PROD] = {[5] = FNS(prod_c128)}},
    [OP_PAIR_SINT] = {[OP_MAXLOC] = SIGNED(maxloc), [OP_MINLOC] = SIGNED(minloc)},
    [OP_PAIR_FLT] = {[OP_MAXLOC] = FLOATING(maxloc), [OP_MINLOC] = FLOATING(minloc)},
};
/* clang-format on */
