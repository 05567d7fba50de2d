/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack_table.h - the kernels that copy a vector of blocks, from strided to strided memory
 * in one pass.  Packing and unpacking are the cases in which one side has no gaps.
 *
 * A kernel writes no byte outside the blocks, not even with its old value, because
 * another thread or PE may own the gaps.  It reads no byte outside the range from the
 * first to the last byte of the source blocks.  Source and target do not overlap, nor do
 * the target blocks.  A kernel is called only with a vector that its `can` accepts. Uses:
 * isa.  Used by: pack, pack_*.c, tests, bench.
 */
#ifndef PGAS_DATATYPE_PACK_TABLE_H
#define PGAS_DATATYPE_PACK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pgas/datatype/isa.h"

struct vector_copy {
    char *to;
    const char *from;
    ptrdiff_t to_stride, from_stride; /* bytes; equal to block: no gaps on this side */
    size_t block, count;              /* > 0 */
};

/* K(NAME, name, ISA).  Names are the values of SHMEM_PACK_KERNEL:
 * - scalar: one load and one store per unit
 * - block: a copy of variable length per block
 * - fixed*: a loop per block size, which the compiler knows; other sizes up to
 *   PACK_FIXED_MAX are two overlapping copies of a power of two
 * - gather*, scatter: the lanes of a register are units of several blocks
 * - structure_sve: loads of 2, 3 or 4 registers that separate the members of structures
 * - permute*: loads whole registers, with their gaps, and moves the units within them */
#define PACK_KERNEL_TABLE(K)                                                             \
    K(SCALAR, scalar, BASELINE)                                                          \
    K(BLOCK, block, BASELINE)                                                            \
    K(FIXED, fixed, BASELINE)                                                            \
    K(FIXED_AVX2, fixed_avx2, AVX2)                                                      \
    K(FIXED_AVX512, fixed_avx512, AVX512)                                                \
    K(GATHER_AVX2, gather_avx2, AVX2)                                                    \
    K(GATHER_AVX512, gather_avx512, AVX512)                                              \
    K(PERMUTE_AVX512, permute_avx512, AVX512)                                            \
    K(PERMUTE_VBMI, permute_vbmi, AVX512)                                                \
    K(FIXED_SVE, fixed_sve, SVE)                                                         \
    K(GATHER_SVE, gather_sve, SVE)                                                       \
    K(STRUCTURE_SVE, structure_sve, SVE)

#define PACK_ENUM(NAME, name, ISA) PACK_##NAME,
enum pack_kernel { PACK_KERNEL_TABLE(PACK_ENUM) PACK_KERNELS };
#undef PACK_ENUM

enum { PACK_FIXED_MAX = 256 };

/* Of functions whose constant arguments select the code. */
#define PACK_INLINE static inline __attribute__((always_inline))

/* A kernel with long preparations divides `run` in two steps, so that later copies of the
 * same shape can reuse the plan: block, strides, and the positions of source and target
 * in a line of PACK_LINE bytes.  A plan has at most PACK_PLAN_BYTES, begins at a multiple
 * of PACK_LINE and is only read once it is made. */
enum { PACK_LINE = 64, PACK_PLAN_BYTES = 2816 };

typedef void (*pack_run)(const struct vector_copy *v);

struct pack_kernel_fns {
    bool (*can)(const struct vector_copy *v); /* NULL: the kernel is not built */
    pack_run run;
    pack_run (*loop)(const struct vector_copy *v); /* what `run` calls; NULL: itself */
    void (*plan_make)(void *plan, const struct vector_copy *v); /* NULL: no plans */
    void (*plan_run)(const void *plan, const struct vector_copy *v);
};

extern const struct pack_kernel_fns pack_scalar, pack_block;
extern const struct pack_kernel_fns pack_fixed, pack_fixed_avx2, pack_fixed_avx512,
    pack_fixed_sve;
extern const struct pack_kernel_fns pack_gather_avx2, pack_gather_avx512,
    pack_permute_avx512, pack_permute_vbmi, pack_gather_sve, pack_structure_sve;

/* The largest of 1, 2, 4, 8 and 16 that divides the block and both strides */
static inline size_t pack_unit(const struct vector_copy *v)
{
    size_t bits = v->block | (size_t)v->to_stride | (size_t)v->from_stride | 16;

    return bits & -bits;
}

static inline bool pack_to_is_dense(const struct vector_copy *v)
{
    return v->to_stride == (ptrdiff_t)v->block;
}

static inline bool pack_from_is_dense(const struct vector_copy *v)
{
    return v->from_stride == (ptrdiff_t)v->block;
}

#endif
