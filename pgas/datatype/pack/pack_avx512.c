/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack_avx512.c - the kernels with AVX-512 F (flags: pgas/local.mk).  Lanes have 4 bytes,
 * or 8 where the unit allows.  Masked lanes do not fault, in loads, stores, gathers and
 * scatters.
 */
#include "config.h"

#include <immintrin.h>

#define PACK_FIXED_FNS pack_fixed_avx512
#include "pgas/datatype/pack/pack_fixed.h"
#include "pgas/datatype/pack/pack_index.h"
#include "pgas/datatype/pack/pack_indexed.h"

/* Without optimization gcc's gathers and scatters are macros that convert masks to signed
 * types. */
#pragma GCC diagnostic ignored "-Wsign-conversion"

enum { REGISTER = 64 };

/* A register of 16 lanes of 4 bytes or 8 lanes of 8; `wide` is a constant everywhere. */
PACK_INLINE size_t lane_bytes(bool wide)
{
    return wide ? 8 : 4;
}

/* The first n lanes */
PACK_INLINE __mmask16 lanes_below(size_t n)
{
    return (__mmask16)(n >= 16 ? 0xffffu : (1u << n) - 1);
}

PACK_INLINE __m512i load_lanes(bool wide, __mmask16 m, const char *at)
{
    return wide ? _mm512_maskz_loadu_epi64((__mmask8)m, at)
                : _mm512_maskz_loadu_epi32(m, at);
}

PACK_INLINE void store_lanes(bool wide, char *at, __mmask16 m, __m512i x)
{
    if (wide)
        _mm512_mask_storeu_epi64(at, (__mmask8)m, x);
    else
        _mm512_mask_storeu_epi32(at, m, x);
}

/* ---- gather and scatter ---------------------------------------------------------- */

/* One side of a copy: dense, or lanes at 32-bit indices from `at` */
struct side {
    bool dense;
    const struct pack_index *index;
};

PACK_INLINE __m512i side_load(bool wide, struct side s, const char *at, size_t r,
                              __mmask16 m)
{
    if (s.dense)
        return load_lanes(wide, m, at);
    const int32_t *lane = s.index->lane[r];
    const __m512i zero = _mm512_setzero_si512();
    if (wide)
        return _mm512_mask_i32gather_epi64(
            zero, (__mmask8)m, _mm256_load_si256((const __m256i *)lane), at, 8);
    return _mm512_mask_i32gather_epi32(zero, m, _mm512_load_si512(lane), at, 4);
}

PACK_INLINE void side_store(bool wide, struct side s, char *at, size_t r, __mmask16 m,
                            __m512i x)
{
    if (s.dense) {
        store_lanes(wide, at, m, x);
        return;
    }
    const int32_t *lane = s.index->lane[r];
    if (wide)
        _mm512_mask_i32scatter_epi64(at, (__mmask8)m,
                                     _mm256_load_si256((const __m256i *)lane), x, 8);
    else
        _mm512_mask_i32scatter_epi32(at, m, _mm512_load_si512(lane), x, 4);
}

/* Bytes to advance after register r of a period */
PACK_INLINE ptrdiff_t side_step(bool wide, struct side s, size_t r, size_t registers)
{
    if (s.dense)
        return REGISTER;
    return r + 1 == registers ? s.index->advance * (ptrdiff_t)lane_bytes(wide) : 0;
}

PACK_INLINE void gather_loop(bool wide, const struct vector_copy *v, struct side to,
                             struct side from, size_t registers)
{
    const size_t lanes = REGISTER / lane_bytes(wide);
    const __mmask16 all = lanes_below(lanes);
    size_t left = v->block / lane_bytes(wide) * v->count, r = 0;
    char *t = v->to;
    const char *f = v->from;

#pragma GCC unroll 4
    for (; left >= lanes; left -= lanes) {
        side_store(wide, to, t, r, all, side_load(wide, from, f, r, all));
        t += side_step(wide, to, r, registers);
        f += side_step(wide, from, r, registers);
        r = r + 1 == registers ? 0 : r + 1;
    }
    if (left > 0) {
        __mmask16 m = lanes_below(left);
        side_store(wide, to, t, r, m, side_load(wide, from, f, r, m));
    }
}

/* The pattern of most vectors is one register, whose indices then stay in a register. */
PACK_INLINE void gather_with(bool wide, const struct vector_copy *v, bool to_dense,
                             bool from_dense)
{
    const size_t u = lane_bytes(wide), lanes = REGISTER / u, units = v->block / u;
    struct pack_index to, from;
    size_t registers = 1;

    if (!to_dense) {
        pack_index_make(&to, units, v->to_stride / (ptrdiff_t)u, v->count, lanes);
        registers = to.registers;
    }
    if (!from_dense) {
        pack_index_make(&from, units, v->from_stride / (ptrdiff_t)u, v->count, lanes);
        registers = from.registers;
    }
    if (registers == 1)
        gather_loop(wide, v, (struct side){to_dense, &to},
                    (struct side){from_dense, &from}, 1);
    else
        gather_loop(wide, v, (struct side){to_dense, &to},
                    (struct side){from_dense, &from}, registers);
}

static void gather_pack_4(const struct vector_copy *v)
{
    gather_with(false, v, true, false);
}
static void gather_pack_8(const struct vector_copy *v)
{
    gather_with(true, v, true, false);
}
static void gather_unpack_4(const struct vector_copy *v)
{
    gather_with(false, v, false, true);
}
static void gather_unpack_8(const struct vector_copy *v)
{
    gather_with(true, v, false, true);
}
static void gather_both_4(const struct vector_copy *v)
{
    gather_with(false, v, false, false);
}
static void gather_both_8(const struct vector_copy *v)
{
    gather_with(true, v, false, false);
}

/* Shifts instead of divisions, since this runs with every copy */
static bool gather_can(const struct vector_copy *v)
{
    const unsigned shift = pack_unit(v) >= 8 ? 3 : 2;

    return pack_unit(v) >= 4 &&
           pack_index_can(v->block >> shift, v->to_stride >> shift, REGISTER >> shift) &&
           pack_index_can(v->block >> shift, v->from_stride >> shift, REGISTER >> shift);
}

static void gather_run(const struct vector_copy *v)
{
    const bool wide = pack_unit(v) >= 8;

    if (pack_to_is_dense(v))
        (wide ? gather_pack_8 : gather_pack_4)(v);
    else if (pack_from_is_dense(v))
        (wide ? gather_unpack_8 : gather_unpack_4)(v);
    else
        (wide ? gather_both_8 : gather_both_4)(v);
}

const struct pack_kernel_fns pack_gather_avx512 = {.can = gather_can, .run = gather_run};

/* ---- gather from a table of displacements ---------------------------------------- */

PACK_INLINE __m512i table_displacements(const struct layout_block *table)
{
    const __m512i at = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);

    return _mm512_permutex2var_epi64(_mm512_loadu_si512(table), at,
                                     _mm512_loadu_si512(table + 4));
}

void pack_indexed_gather_4(char *packed, const char *base,
                           const struct layout_block *table, size_t n)
{
    for (size_t i = 0; i < n; i += 8)
        _mm256_storeu_si256(
            (__m256i *)(packed + 4 * i),
            _mm512_i64gather_epi32(table_displacements(table + i), base, 1));
}

void pack_indexed_gather_8(char *packed, const char *base,
                           const struct layout_block *table, size_t n)
{
    for (size_t i = 0; i < n; i += 8)
        _mm512_storeu_si512(packed + 8 * i, _mm512_i64gather_epi64(
                                                table_displacements(table + i), base, 1));
}
