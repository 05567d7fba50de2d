/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op.h - reduction kernels: acc[i] = acc[i] op in[i] for n elements.
 *
 * One kernel for each operation and representation (kind and bytes of an element): what
 * C calls long, long long and ptrdiff_t is one representation.  Integers wrap around, as
 * an overflow in one order of the PEs must not be undefined when another order has none.
 * A leaf.  Used by: coll/reduce, coll/scan, and their rows.
 */
#ifndef PGAS_DATATYPE_OP_H
#define PGAS_DATATYPE_OP_H

#include <stddef.h>
#include <stdint.h>

enum op { OP_AND, OP_OR, OP_XOR, OP_MAX, OP_MIN, OP_SUM, OP_PROD, OPS };
enum op_kind { OP_SINT, OP_UINT, OP_FLT, OP_CPLX };

/* acc and in do not overlap, and are aligned as elements of their type are. */
typedef void (*op_kernel)(void *acc, const void *in, size_t n);

/* The kernel for elements of that kind and size; NULL if the operation is not defined for
 * them (and, or, xor on reals; max and min on complex numbers). */
op_kernel op_find(enum op op, enum op_kind kind, size_t size);

/* The kind of C type C that has KIND in shmem_types.def.  Whether `char` has a sign is a
 * matter of the processor. */
#define OP_KIND_SINT(C) ((C)-1 < (C)1 ? OP_SINT : OP_UINT)
#define OP_KIND_UINT(C) OP_UINT
#define OP_KIND_FLT(C)  OP_FLT
#define OP_KIND_CPLX(C) OP_CPLX

#endif
