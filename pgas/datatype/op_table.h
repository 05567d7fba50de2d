/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op_table.h - what the files with kernels share: the form of their tables, the two
 * forms of a kernel, and the way around the caches.  Uses: op.  Used by: op, op_kernels,
 * op_rest, tests, bench.
 */
#ifndef PGAS_DATATYPE_OP_TABLE_H
#define PGAS_DATATYPE_OP_TABLE_H

#include "pgas/datatype/op.h"

/* By kind, operation, and the logarithm of the size; {NULL, NULL} where there is none */
enum { OP_SIZES = 6 };
typedef struct op_fns op_table[OP_KINDS][OPS][OP_SIZES];

/* One of each instruction set, made from op_kernels.h, and what has no vectors (op_rest:
 * long double, and pairs where a table has none).  op_scalar is for benchmarks: without
 * vectors. */
extern const op_table op_base, op_avx2, op_avx512, op_sve, op_scalar, op_rest;

/* Results of so many bytes, which are neither of the sources, go around the caches. */
extern size_t op_nontemporal;

/* out = a op b for n elements of `size` bytes around the caches, by a kernel that itself
 * would go through them. */
void op_stream(op_kernel3 kernel, char *out, const char *a, const char *b, size_t n,
               size_t size);

/* The two forms of an operation, both made of the function F_run */
#define OP_FORM_TWO(F)                                                                   \
    static void F##_two(void *acc, const void *in, size_t n)                             \
    {                                                                                    \
        F##_run(acc, acc, in, n);                                                        \
    }
#define OP_FORM_THREE(F, T)                                                              \
    static void F##_three(void *out, const void *a, const void *b, size_t n)             \
    {                                                                                    \
        if (n * sizeof(T) >= op_nontemporal && out != a && out != b)                     \
            op_stream(F##_run, out, a, b, n, sizeof(T));                                 \
        else                                                                             \
            F##_run(out, a, b, n);                                                       \
    }
#define OP_FORMS(F, T) OP_FORM_TWO(F) OP_FORM_THREE(F, T)

#endif
