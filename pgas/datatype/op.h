/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * op.h - reduction kernels: acc[i] = acc[i] op in[i], and out[i] = a[i] op b[i], for n
 * elements.
 *
 * One pair of kernels for each operation and representation (kind and bytes of an
 * element): what C calls long, long long and ptrdiff_t is one representation.  All
 * operations of OpenSHMEM and of MPI.  Kernels of all instruction sets give the same
 * bits:
 * - Integers wrap around, as an overflow in one order of the PEs must not be undefined
 *   when another order has none.  Logical operations give 0 or 1.
 * - Reals and complex numbers are rounded as C's operators do, once per operation:
 * nothing is fused or put into another order.  A complex product of infinities is C's
 * (Annex G).  What is undefined is the bits of a NaN that a sum or product gives.
 * - max is `b > a ? b : a`, min is `b < a ? b : a`, for all types: of equal zeros, and if
 *   one of the two is a NaN, the first one stays, bit for bit.
 * - maxloc and minloc take a pair of C's struct {value; int index;}.  The larger
 * (smaller) value wins, of equal values the one with the smaller index; a NaN never
 * displaces the first one, and nothing displaces a NaN.
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

/* PAIR: of a value with that sign or form, and an int; its size is that of the value. */
enum op_kind { OP_SINT, OP_UINT, OP_FLT, OP_CPLX, OP_PAIR_SINT, OP_PAIR_FLT, OP_KINDS };

/* acc and in do not overlap.  Elements may lie at any byte. */
typedef void (*op_kernel)(void *acc, const void *in, size_t n);

/* out is a, or is b, or does not overlap them; a and b may be anything.  A large out that
 * is neither a nor b is written around the caches. */
typedef void (*op_kernel3)(void *out, const void *a, const void *b, size_t n);

struct op_fns {
    op_kernel two;
    op_kernel3 three;
};

/* The kernels for elements of that kind and size, a power of two; NULL if the operation
 * is not defined for them: and, or, xor and the logical ones are for integers, max and
 * min for integers and reals, maxloc and minloc for pairs, sum and product for all but
 * pairs. */
const struct op_fns *op_find(enum op op, enum op_kind kind, size_t size);

/* Does it give the same bits in whatever order elements are combined?  For what op_find
 * returned.  Integers do; of reals also max and min do not, for zeros and NaNs. */
bool op_exact(const struct op_fns *op);

/* Choose the instruction set, one that isa_here() allows; op_find finds kernels of it
 * from then on, before that those of the baseline.  Results of at least `nontemporal`
 * bytes go around the caches. */
void op_init(enum isa isa, size_t nontemporal);

/* The kind of C type C that has KIND in shmem_types.def.  Whether `char` has a sign is a
 * matter of the processor. */
#define OP_KIND_SINT(C) ((C)-1 < (C)1 ? OP_SINT : OP_UINT)
#define OP_KIND_UINT(C) OP_UINT
#define OP_KIND_FLT(C)  OP_FLT
#define OP_KIND_CPLX(C) OP_CPLX

#endif
