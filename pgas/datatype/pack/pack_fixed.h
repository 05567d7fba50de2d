/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack_fixed.h - the source of the kernels `fixed`: a loop for each block size and for
 * each of packing, unpacking and strided copy, so that the compiler turns the copy of a
 * block into a few moves.  One file per instruction set includes it, is compiled with its
 * own flags and defines PACK_FIXED_FNS, the name of the kernel. Uses: pack_table.  Used
 * by: pack_base, pack_avx2, pack_avx512, pack_sve.
 */
#include <string.h>

#include "pgas/datatype/pack/pack_table.h"

/* gcc unrolls and vectorises as wanted at -O3 only; CFLAGS may say less. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#pragma GCC optimize("O3")
#endif

enum pack_shape { SHAPE_PACK, SHAPE_UNPACK, SHAPE_STRIDED, SHAPES };

/* block and shape are constants. */
PACK_INLINE void pack_loop(const struct vector_copy *v, size_t block,
                           enum pack_shape shape)
{
    ptrdiff_t to_step = shape == SHAPE_PACK ? (ptrdiff_t)block : v->to_stride;
    ptrdiff_t from_step = shape == SHAPE_UNPACK ? (ptrdiff_t)block : v->from_stride;
    char *restrict to = v->to;
    const char *restrict from = v->from;

#pragma GCC unroll 4
    for (size_t i = v->count; i > 0; i--) {
        memcpy(to, from, block);
        to += to_step;
        from += from_step;
    }
}

/* half < block <= 2 * half, where half is a constant: two copies that may overlap.  Both
 * write only the block. */
PACK_INLINE void pack_loop_ends(const struct vector_copy *v, size_t half)
{
    char *restrict to = v->to;
    const char *restrict from = v->from;
    size_t second = v->block - half;

    for (size_t i = v->count; i > 0; i--) {
        memcpy(to, from, half);
        memcpy(to + second, from + second, half);
        to += v->to_stride;
        from += v->from_stride;
    }
}

#define PACK_LOOP(NAME, BLOCK, SHAPE)                                                    \
    static void NAME##_##BLOCK(const struct vector_copy *v)                              \
    {                                                                                    \
        pack_loop(v, BLOCK, SHAPE);                                                      \
    }
#define PACK_LOOPS(BLOCK)                                                                \
    PACK_LOOP(pack, BLOCK, SHAPE_PACK)                                                   \
    PACK_LOOP(unpack, BLOCK, SHAPE_UNPACK) PACK_LOOP(strided, BLOCK, SHAPE_STRIDED)
/* clang-format off */
#define PACK_SIZES(S)                                                                    \
    S(1) S(2) S(3) S(4) S(5) S(6) S(7) S(8) S(10) S(12) S(14) S(16) S(20) S(24) S(28)    \
    S(32) S(36) S(40) S(44) S(48) S(56) S(64) S(72) S(80) S(88) S(96) S(112) S(128)      \
    S(160) S(192) S(224) S(256)
/* clang-format on */
PACK_SIZES(PACK_LOOPS)

#define PACK_ROW(BLOCK) [BLOCK] = {pack_##BLOCK, unpack_##BLOCK, strided_##BLOCK},
static const pack_run pack_loops[PACK_FIXED_MAX + 1][SHAPES] = {PACK_SIZES(PACK_ROW)};

static bool pack_fixed_can(const struct vector_copy *v)
{
    return v->block <= PACK_FIXED_MAX;
}

static void pack_fixed_ends(const struct vector_copy *v)
{
    if (v->block > 128)
        pack_loop_ends(v, 128);
    else if (v->block > 64)
        pack_loop_ends(v, 64);
    else if (v->block > 32)
        pack_loop_ends(v, 32);
    else if (v->block > 16)
        pack_loop_ends(v, 16);
    else
        pack_loop_ends(v, 8);
}

static inline pack_run pack_fixed_loop(const struct vector_copy *v)
{
    enum pack_shape shape = pack_to_is_dense(v)     ? SHAPE_PACK
                            : pack_from_is_dense(v) ? SHAPE_UNPACK
                                                    : SHAPE_STRIDED;
    pack_run run = pack_loops[v->block][shape];

    return run != NULL ? run : pack_fixed_ends;
}

static void pack_fixed_run(const struct vector_copy *v)
{
    pack_fixed_loop(v)(v);
}

const struct pack_kernel_fns PACK_FIXED_FNS = {
    .can = pack_fixed_can, .run = pack_fixed_run, .loop = pack_fixed_loop};
