/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op.h - reduction kernels: acc[i] = acc[i] op in[i], and out[i] = a[i] op b[i], for n
 * elements.
 *
 * There is one pair of kernels per operation and representation (kind and size of an
 * element): long, long long and ptrdiff_t share a representation.  All operations of
 * OpenSHMEM and MPI are covered.  The kernels of all instruction sets produce the same
 * bits:
 * - Integers wrap around: the order of the PEs must not decide whether an overflow is
 *   undefined.  Logical operations yield 0 or 1.
 * - Real and complex operations round once per operation as C's operators do; nothing is
 *   fused or reordered.  A complex product of infinities follows Annex G of C.  The bits
 *   of a NaN produced by a sum or product are unspecified.
 * - max is `b > a ? b : a` and min is `b < a ? b : a` for all types: for equal zeros, and
 *   if either operand is a NaN, the first operand is kept bit for bit.
 * - maxloc and minloc operate on struct {value; int index;}.  The larger (smaller) value
 *   wins, among equal values the smaller index.  A NaN never replaces the first operand
 *   and is never replaced.
 *
 * Uses: copy, isa.  Used by: coll/reduce, coll/scan, and their rows.
 */
#ifndef PGAS_DATATYPE_OP_H
#define PGAS_DATATYPE_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pgas/datatype/isa.h"

enum op {
    OP_AND,
    OP_OR,
    OP_XOR,
    OP_MAX,
    OP_MIN,
    OP_SUM,
    OP_PROD,
    OP_LAND,
    OP_LOR,
    OP_LXOR,
    OP_MAXLOC,
    OP_MINLOC,
    OPS
};

/* PAIR: a value of the given kind and an int; its size is that of the value. */
enum op_kind { OP_SINT, OP_UINT, OP_FLT, OP_CPLX, OP_PAIR_SINT, OP_PAIR_FLT, OP_KINDS };

/* acc and in do not overlap.  Elements need not be aligned. */
typedef void (*op_kernel)(void *acc, const void *in, size_t n);

/* out equals a, equals b, or overlaps neither; a and b are unrestricted.  A large out
 * that is neither a nor b is written with non-temporal stores. */
typedef void (*op_kernel3)(void *out, const void *a, const void *b, size_t n);

struct op_fns {
    op_kernel two;
    op_kernel3 three;
};

/* The kernels for elements of this kind and size (a power of two), or NULL if the
 * operation is not defined for them: bitwise and logical operations take integers, max
 * and min take integers and reals, maxloc and minloc take pairs, sum and product take all
 * but pairs. */
const struct op_fns *op_find(enum op op, enum op_kind kind, size_t size);

/* True if the operation yields the same bits in any order of combination; for a result of
 * op_find.  Holds for integers; for reals not even max and min qualify, because of signed
 * zeros and NaNs. */
bool op_exact(const struct op_fns *op);

/* Selects an instruction set that isa_here() allows; before this call op_find returns the
 * kernels of the baseline.  Results of at least `nontemporal` bytes are written with
 * non-temporal stores. */
void op_init(enum isa isa, size_t nontemporal);

/* The op_kind of C type C with KIND in shmem_types.def.  The signedness of `char` depends
 * on the platform. */
#define OP_KIND_SINT(C) ((C)-1 < (C)1 ? OP_SINT : OP_UINT)
#define OP_KIND_UINT(C) OP_UINT
#define OP_KIND_FLT(C)  OP_FLT
#define OP_KIND_CPLX(C) OP_CPLX

#endif
