/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op.h - reduction kernels: acc[i] = acc[i] op in[i] for n elements, one function per
 * (operation, type) of the tables in shmem_types.def.  acc and in do not overlap.
 * A leaf.  Used by: coll/reduce.
 */
#ifndef PGAS_DATATYPE_OP_H
#define PGAS_DATATYPE_OP_H

#include <stddef.h>
#include <stdint.h>

#include "include/shmem_types.def"

typedef void (*op_kernel)(void *acc, const void *in, size_t n);

/* op_sum_NAME for every numeric type, op_max_NAME and op_min_NAME for ordered ones */
#define NUM(NAME, C, KIND) void op_sum_##NAME(void *acc, const void *in, size_t n);
SHMEM_TYPES_REDUCE_NUM(NUM)
#undef NUM
#define ORD(NAME, C, KIND)                                                               \
    void op_max_##NAME(void *acc, const void *in, size_t n);                             \
    void op_min_##NAME(void *acc, const void *in, size_t n);
SHMEM_TYPES_REDUCE_ORD(ORD)
#undef ORD

#endif
