/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op_table.h - shared by the kernel files: the table layout, the two forms of a kernel
 * and non-temporal output.  Uses: op.  Used by: op, op_kernels, op_rest, tests, bench.
 */
#ifndef PGAS_DATATYPE_OP_TABLE_H
#define PGAS_DATATYPE_OP_TABLE_H

#include "pgas/datatype/op/op.h"

/* Indexed by kind, operation and log2 of the size; {NULL, NULL} where undefined */
enum { OP_SIZES = 6 };
typedef struct op_fns op_table[OP_KINDS][OPS][OP_SIZES];

/* One table per instruction set, built from op_kernels.h.  op_rest has the kernels
 * without vector code (long double, and pairs where a table has none).  op_scalar is not
 * vectorised and is used by benchmarks only. */
extern const op_table op_base, op_avx2, op_avx512, op_sve, op_scalar, op_rest;

/* Selected for the processor by copy_init and op_init; the same for all PEs of a process.
 */
struct kernels {
    size_t nontemporal_copy; /* threshold in bytes of non-temporal stores in copies */
    size_t nontemporal_op;   /* threshold for results that are not in place */
    size_t wide_copy_max;    /* 0: wide registers are absent or disabled */
    size_t long_copy_max;    /* from wide_copy_max to here: long_copy */
    void (*long_copy)(char *d, const char *s, size_t n);
    const op_table *ops;
};
extern struct kernels kernels;

/* out = a op b for n elements of `size` bytes with non-temporal stores, from a kernel
 * that uses ordinary stores. */
void op_stream(op_kernel3 kernel, char *out, const char *a, const char *b, size_t n,
               size_t size);

/* The two forms of an operation, both defined by function F_run */
#define OP_FORM_TWO(F)                                                                   \
    static void F##_two(void *acc, const void *in, size_t n)                             \
    {                                                                                    \
        F##_run(acc, acc, in, n);                                                        \
    }
#define OP_FORM_THREE(F, T)                                                              \
    static void F##_three(void *out, const void *a, const void *b, size_t n)             \
    {                                                                                    \
        if (n * sizeof(T) >= kernels.nontemporal_op && out != a && out != b)             \
            op_stream(F##_run, out, a, b, n, sizeof(T));                                 \
        else                                                                             \
            F##_run(out, a, b, n);                                                       \
    }
#define OP_FORMS(F, T) OP_FORM_TWO(F) OP_FORM_THREE(F, T)

#endif
