/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack_sve.c - the kernels with SVE, for registers of any length (flags: pgas/local.mk).
 * A register holds whole blocks; lanes that are left over are inactive and do not fault.
 */
#include "config.h"

#include <arm_sve.h>

#define PACK_FIXED_FNS pack_fixed_sve
#include "pgas/datatype/pack/pack_fixed.h"

/* Lane i is at unit i / E * S + i % E: an index column for E = 1. */
static svint32_t lanes_4(size_t units, ptrdiff_t stride)
{
    if (units == 1)
        return svindex_s32(0, (int32_t)stride);
    svbool_t all = svptrue_b32();
    svint32_t i = svindex_s32(0, 1), e = svdup_s32((int32_t)units);
    svint32_t block = svdiv_x(all, i, e);
    return svmla_x(all, svmls_x(all, i, block, e), block, svdup_s32((int32_t)stride));
}

static svint64_t lanes_8(size_t units, ptrdiff_t stride)
{
    if (units == 1)
        return svindex_s64(0, (int64_t)stride);
    svbool_t all = svptrue_b64();
    svint64_t i = svindex_s64(0, 1), e = svdup_s64((int64_t)units);
    svint64_t block = svdiv_x(all, i, e);
    return svmla_x(all, svmls_x(all, i, block, e), block, svdup_s64((int64_t)stride));
}

static void gather_4(const struct vector_copy *v)
{
    const size_t units = v->block / 4, blocks = svcntw() / units, lanes = blocks * units;
    const svint32_t to = lanes_4(units, v->to_stride / 4);
    const svint32_t from = lanes_4(units, v->from_stride / 4);
    const bool pack = pack_to_is_dense(v), unpack = pack_from_is_dense(v);
    const ptrdiff_t to_step = (ptrdiff_t)blocks * v->to_stride;
    const ptrdiff_t from_step = (ptrdiff_t)blocks * v->from_stride;
    const size_t all = v->count * units;
    char *t = v->to;
    const char *f = v->from;

    for (size_t done = 0; done < all; done += lanes, t += to_step, f += from_step) {
        size_t now = all - done < lanes ? all - done : lanes;
        svbool_t on = svwhilelt_b32_u64(0, now);
        const uint32_t *source = (const uint32_t *)(const void *)f;
        uint32_t *target = (uint32_t *)(void *)t;
        svuint32_t x = unpack ? svld1(on, source) : svld1_gather_index(on, source, from);
        if (pack)
            svst1(on, target, x);
        else
            svst1_scatter_index(on, target, to, x);
    }
}

static void gather_8(const struct vector_copy *v)
{
    const size_t units = v->block / 8, blocks = svcntd() / units, lanes = blocks * units;
    const svint64_t to = lanes_8(units, v->to_stride / 8);
    const svint64_t from = lanes_8(units, v->from_stride / 8);
    const bool pack = pack_to_is_dense(v), unpack = pack_from_is_dense(v);
    const ptrdiff_t to_step = (ptrdiff_t)blocks * v->to_stride;
    const ptrdiff_t from_step = (ptrdiff_t)blocks * v->from_stride;
    const size_t all = v->count * units;
    char *t = v->to;
    const char *f = v->from;

    for (size_t done = 0; done < all; done += lanes, t += to_step, f += from_step) {
        size_t now = all - done < lanes ? all - done : lanes;
        svbool_t on = svwhilelt_b64_u64(0, now);
        const uint64_t *source = (const uint64_t *)(const void *)f;
        uint64_t *target = (uint64_t *)(void *)t;
        svuint64_t x = unpack ? svld1(on, source) : svld1_gather_index(on, source, from);
        if (pack)
            svst1(on, target, x);
        else
            svst1_scatter_index(on, target, to, x);
    }
}

/* Offsets of one register, at most 64 lanes of 4 bytes, fit int32_t. */
static bool gather_stride_can(ptrdiff_t stride)
{
    return stride <= INT32_MAX / 64 && stride >= -(INT32_MAX / 64);
}

static bool gather_can(const struct vector_copy *v)
{
    return pack_unit(v) >= 4 && v->block <= svcntb() && gather_stride_can(v->to_stride) &&
           gather_stride_can(v->from_stride);
}

static void gather_run(const struct vector_copy *v)
{
    (pack_unit(v) >= 8 ? gather_8 : gather_4)(v);
}

const struct pack_kernel_fns pack_gather_sve = {.can = gather_can, .run = gather_run};

/* ---- packing blocks of one unit that are 2, 3 or 4 units apart -------------------- */

/* A structure is a block and its gap.  The gap of the last block must not be read: copies
 * that block, and returns the number of the others. */
static size_t structure_last(const struct vector_copy *v)
{
    ptrdiff_t n = (ptrdiff_t)v->count - 1;

    memcpy(v->to + n * v->to_stride, v->from + n * v->from_stride, v->block);
    return (size_t)n;
}

#define STRUCTURE_STEP(N, BITS, T)                                                       \
    static inline void structure_step_##N##_##BITS(const struct vector_copy *v,          \
                                                   size_t i, size_t n)                   \
    {                                                                                    \
        svbool_t on = svwhilelt_b##BITS##_u64(i, n);                                     \
        const T *f = (const T *)(const void *)v->from + N * i;                           \
        svst1(on, (T *)(void *)v->to + i, svget##N(svld##N(on, f), 0));                  \
    }
#define STRUCTURE_LOOP(N, BITS, LANES)                                                   \
    static void structure_##N##_##BITS(const struct vector_copy *v)                      \
    {                                                                                    \
        size_t n = structure_last(v);                                                    \
        for (size_t i = 0; i < n; i += LANES)                                            \
            structure_step_##N##_##BITS(v, i, n);                                        \
    }
/* clang-format off */
#define STRUCTURES(N)                                                                    \
    STRUCTURE_STEP(N, 8, uint8_t) STRUCTURE_STEP(N, 16, uint16_t)                        \
    STRUCTURE_STEP(N, 32, uint32_t) STRUCTURE_STEP(N, 64, uint64_t)                      \
    STRUCTURE_LOOP(N, 8, svcntb()) STRUCTURE_LOOP(N, 16, svcnth())                       \
    STRUCTURE_LOOP(N, 32, svcntw()) STRUCTURE_LOOP(N, 64, svcntd())
/* clang-format on */
STRUCTURES(2)
STRUCTURES(3)
STRUCTURES(4)

#define STRUCTURE_ROW(N)                                                                 \
    {                                                                                    \
        structure_##N##_8, structure_##N##_16, structure_##N##_32, structure_##N##_64    \
    }

static bool structure_can(const struct vector_copy *v)
{
    ptrdiff_t stride = v->from_stride, block = (ptrdiff_t)v->block;

    return v->block == pack_unit(v) && v->block <= 8 && pack_to_is_dense(v) &&
           (stride == 2 * block || stride == 3 * block || stride == 4 * block);
}

static void structure_run(const struct vector_copy *v)
{
    static const pack_run run[][4] = {STRUCTURE_ROW(2), STRUCTURE_ROW(3),
                                      STRUCTURE_ROW(4)};

    run[(size_t)v->from_stride / v->block - 2][__builtin_ctzl(v->block)](v);
}

const struct pack_kernel_fns pack_structure_sve = {.can = structure_can,
                                                   .run = structure_run};
