/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack_avx512.c - the kernels with AVX-512 F (flags: pgas/local.mk).  Lanes have 4 bytes,
 * or 8 where the unit allows.  Masked lanes do not fault, in loads, stores, gathers and
 * scatters.
 */
#include "config.h"

#include <immintrin.h>

#define PACK_FIXED_FNS pack_fixed_avx512
#include "pgas/datatype/pack_fixed.h"
#include "pgas/datatype/pack_index.h"

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

static bool gather_can(const struct vector_copy *v)
{
    const size_t u = v->unit >= 8 ? 8 : 4;

    return v->unit >= 4 &&
           pack_index_can(v->block / u, v->to_stride / (ptrdiff_t)u, REGISTER / u) &&
           pack_index_can(v->block / u, v->from_stride / (ptrdiff_t)u, REGISTER / u);
}

static void gather_run(const struct vector_copy *v)
{
    const bool wide = v->unit >= 8;

    if (pack_to_is_dense(v))
        (wide ? gather_pack_8 : gather_pack_4)(v);
    else if (pack_from_is_dense(v))
        (wide ? gather_unpack_8 : gather_unpack_4)(v);
    else
        (wide ? gather_both_8 : gather_both_4)(v);
}

const struct pack_kernel_fns pack_gather_avx512 = {gather_can, gather_run};

/* ---- permute: packing ------------------------------------------------------------ */

enum { WINDOW_MAX = 4 }; /* registers from which one packed register is taken */

/* The largest distance within one packed register, in units, is below `window` registers.
 * A register may begin anywhere in a block unless the blocks divide it. */
static bool permute_pack_fits(size_t units, size_t stride, size_t lanes, size_t window)
{
    size_t first = lanes % units == 0 ? 0 : units - 1, last = first + lanes - 1;

    return last / units * stride + units - first <= window * lanes;
}

/* Lane i of the result is unit index[i] of the registers at `from`; `limit` units may be
 * read there. */
PACK_INLINE __m512i permute_window(bool wide, const char *from, size_t limit,
                                   const int32_t *index, size_t window)
{
    const size_t lanes = REGISTER / lane_bytes(wide);
    __m512i in[WINDOW_MAX], low, high, at;

    at = wide ? _mm512_cvtepi32_epi64(_mm256_load_si256((const __m256i *)index))
              : _mm512_load_si512(index);
    for (size_t w = 0; w < window; w++)
        in[w] = load_lanes(wide, lanes_below(limit > w * lanes ? limit - w * lanes : 0),
                           from + w * REGISTER);
    low = wide ? _mm512_permutex2var_epi64(in[0], at, in[1])
               : _mm512_permutex2var_epi32(in[0], at, in[1]);
    if (window == 2)
        return low;
    if (wide) {
        high = _mm512_permutex2var_epi64(in[2], at, in[3]);
        return _mm512_mask_mov_epi64(
            low, _mm512_cmpge_epi64_mask(at, _mm512_set1_epi64(16)), high);
    }
    high = _mm512_permutex2var_epi32(in[2], at, in[3]);
    return _mm512_mask_mov_epi32(low, _mm512_cmpge_epi32_mask(at, _mm512_set1_epi32(32)),
                                 high);
}

PACK_INLINE void permute_pack(bool wide, const struct vector_copy *v, size_t window)
{
    const size_t u = lane_bytes(wide), lanes = REGISTER / u, units = v->block / u;
    const size_t stride = (size_t)v->from_stride / u, whole = window * lanes;
    const size_t end = stride * (v->count - 1) + units; /* units that may be read */
    size_t left = units * v->count, r = 0, base = 0;
    size_t start[PACK_PERIOD_MAX];
    struct pack_index x;
    char *to = v->to;

    pack_index_make(&x, units, (ptrdiff_t)stride, v->count, lanes);
    for (size_t k = 0; k < x.registers && k * lanes < left; k++) {
        start[k] = (size_t)x.lane[k][0];
        for (size_t i = 0; i < lanes; i++)
            x.lane[k][i] -= (int32_t)start[k];
    }
    /* whole, a constant, makes the masks of the loads constants. */
    for (; left >= lanes && base + start[r] + whole <= end;
         left -= lanes, to += REGISTER) {
        store_lanes(wide, to, lanes_below(lanes),
                    permute_window(wide, v->from + (base + start[r]) * u, whole,
                                   x.lane[r], window));
        r++;
        base += r == x.registers ? (size_t)x.advance : 0;
        r = r == x.registers ? 0 : r;
    }
    for (; left > 0; to += REGISTER) {
        size_t now = left < lanes ? left : lanes;
        store_lanes(wide, to, lanes_below(now),
                    permute_window(wide, v->from + (base + start[r]) * u,
                                   end - base - start[r], x.lane[r], window));
        left -= now;
        r++;
        base += r == x.registers ? (size_t)x.advance : 0;
        r = r == x.registers ? 0 : r;
    }
}

static void permute_pack_4_2(const struct vector_copy *v)
{
    permute_pack(false, v, 2);
}
static void permute_pack_4_4(const struct vector_copy *v)
{
    permute_pack(false, v, 4);
}
static void permute_pack_8_2(const struct vector_copy *v)
{
    permute_pack(true, v, 2);
}
static void permute_pack_8_4(const struct vector_copy *v)
{
    permute_pack(true, v, 4);
}

/* ---- permute: unpacking ---------------------------------------------------------- */

enum { LINES_MAX = 32 }; /* registers of strided memory before the pattern repeats */

/* What goes into register k of the strided memory: lane i gets unit source[k] +
 * lane[k][i] of the stream if bit i of mask[k] is set. */
struct expand {
    size_t registers, advance; /* units of the stream in a period */
    size_t source[LINES_MAX];
    __mmask16 mask[LINES_MAX];
    _Alignas(64) int32_t lane[LINES_MAX][PACK_LANES_MAX];
};

static void expand_make(struct expand *x, size_t units, size_t stride, size_t lanes)
{
    size_t in = 0,
           p = 0; /* position in the block and its gap; units of the stream so far */

    x->registers = stride / pack_gcd_lanes(stride, lanes);
    for (size_t k = 0; k < x->registers; k++) {
        x->source[k] = p;
        x->mask[k] = 0;
        for (size_t i = 0; i < lanes; i++) {
            bool data = in < units;
            x->lane[k][i] = (int32_t)(p - x->source[k]);
            x->mask[k] |= (__mmask16)((unsigned)data << i);
            p += data;
            in = in + 1 == stride ? 0 : in + 1;
        }
    }
    x->advance = p;
}

PACK_INLINE void expand_register(bool wide, char *to, const char *from, size_t limit,
                                 const struct expand *x, size_t r)
{
    const size_t lanes = REGISTER / lane_bytes(wide);
    __mmask16 mask = x->mask[r], readable = lanes_below(limit);
    __m512i in = load_lanes(wide, readable, from), at;

    if (wide) {
        at = _mm512_cvtepi32_epi64(_mm256_load_si256((const __m256i *)x->lane[r]));
        if (limit < lanes)
            mask &= _mm512_cmplt_epi64_mask(at, _mm512_set1_epi64((long long)limit));
        in = _mm512_permutexvar_epi64(at, in);
    } else {
        at = _mm512_load_si512(x->lane[r]);
        if (limit < lanes)
            mask &= _mm512_cmplt_epi32_mask(at, _mm512_set1_epi32((int)limit));
        in = _mm512_permutexvar_epi32(at, in);
    }
    store_lanes(wide, to, mask, in);
}

PACK_INLINE void permute_unpack(bool wide, const struct vector_copy *v)
{
    const size_t u = lane_bytes(wide), lanes = REGISTER / u, units = v->block / u;
    const size_t total = units * v->count;
    size_t base = 0, r = 0;
    struct expand x;
    char *to = v->to;

    expand_make(&x, units, (size_t)v->to_stride / u, lanes);
    while (base + x.source[r] < total) {
        size_t at = base + x.source[r], readable = total - at;
        const char *from = v->from + at * u;
        if (readable >= lanes)
            expand_register(wide, to, from, lanes, &x, r);
        else
            expand_register(wide, to, from, readable, &x, r);
        to += REGISTER;
        r++;
        base += r == x.registers ? x.advance : 0;
        r = r == x.registers ? 0 : r;
    }
}

static void permute_unpack_4(const struct vector_copy *v)
{
    permute_unpack(false, v);
}
static void permute_unpack_8(const struct vector_copy *v)
{
    permute_unpack(true, v);
}

static bool permute_can(const struct vector_copy *v)
{
    const size_t u = v->unit >= 8 ? 8 : 4, lanes = REGISTER / u, units = v->block / u;

    if (v->unit < 4 || units > lanes || v->to_stride <= 0 || v->from_stride <= 0)
        return false;
    if (pack_to_is_dense(v))
        return (size_t)v->from_stride >= v->block && /* source blocks may overlap */
               (size_t)v->from_stride <= WINDOW_MAX * v->block &&
               permute_pack_fits(units, (size_t)v->from_stride / u, lanes, WINDOW_MAX);
    return pack_from_is_dense(v) && (size_t)v->to_stride / u <= LINES_MAX;
}

static void permute_run(const struct vector_copy *v)
{
    const bool wide = v->unit >= 8;
    const size_t u = lane_bytes(wide), lanes = REGISTER / u;

    if (!pack_to_is_dense(v))
        (wide ? permute_unpack_8 : permute_unpack_4)(v);
    else if (permute_pack_fits(v->block / u, (size_t)v->from_stride / u, lanes, 2))
        (wide ? permute_pack_8_2 : permute_pack_4_2)(v);
    else
        (wide ? permute_pack_8_4 : permute_pack_4_4)(v);
}

const struct pack_kernel_fns pack_permute_avx512 = {permute_can, permute_run};
