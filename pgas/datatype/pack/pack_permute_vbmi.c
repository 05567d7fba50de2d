/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack_permute_vbmi.c - the kernel permute_vbmi (flags: pgas/local.mk), with lanes of a
 * byte, for units of 1 and 2 bytes.  Indices are modulo 256, four registers.
 */
#include "config.h"

#include <immintrin.h>

#include "pgas/datatype/pack/pack_table.h"

/* Without optimization gcc's intrinsics are macros that convert masks. */
#pragma GCC diagnostic ignored "-Wsign-conversion"

#define PERMUTE_FNS pack_permute_vbmi

enum { REGISTER = 64, LANE = 1, TO_STRIDE_MAX = 128, WINDOW_MAX = 4 };

typedef __mmask64 lane_mask;

PACK_INLINE lane_mask lanes_below(size_t n)
{
    return n >= 64 ? ~(lane_mask)0 : ((lane_mask)1 << n) - 1;
}

PACK_INLINE void line_store(bool gaps, char *at, lane_mask data, __m512i x)
{
    if (gaps)
        _mm512_mask_storeu_epi8(at, data, x);
    else
        _mm512_storeu_si512(at, x);
}

/* Lanes without data are not read. */
PACK_INLINE __m512i line_load(lane_mask data, const char *at)
{
    return _mm512_maskz_loadu_epi8(data, at);
}

PACK_INLINE __m512i line_subtract(__m512i lanes, size_t n)
{
    return _mm512_sub_epi8(lanes, _mm512_set1_epi8((char)n));
}

/* Lane i of the result is lane index[i] of in[0 .. window - 1]. */
PACK_INLINE __m512i registers_permute(const __m512i *in, __m512i index, size_t window)
{
    if (window == 1)
        return _mm512_permutexvar_epi8(index, in[0]);
    __m512i low = _mm512_permutex2var_epi8(in[0], index, in[1]);
    if (window == 2)
        return low;
    __mmask64 is_high = _mm512_movepi8_mask(index);
    if (window == 3)
        return _mm512_mask_permutexvar_epi8(low, is_high, index, in[2]);
    return _mm512_mask_mov_epi8(low, is_high,
                                _mm512_permutex2var_epi8(in[2], index, in[3]));
}

struct permute;
static __m512i line_lanes(const struct permute *x, size_t in, lane_mask *data);

#include "pgas/datatype/pack/pack_permute.h"

/* 32 lanes from lane `in` on, in 16 bits.  The multiplication divides exactly:
 * (in + 63) * T < 65536. */
static __m512i half_lanes(const struct permute *x, size_t in, __mmask32 *data)
{
    const __m512i iota = _mm512_cvtepu8_epi16(
        _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
                         19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31));
    __m512i t = _mm512_add_epi16(_mm512_set1_epi16((short)in), iota), block = t;

    if (x->to_stride > 1)
        block = _mm512_mulhi_epu16(t, _mm512_set1_epi16((short)x->reciprocal));
    t = _mm512_sub_epi16(
        t, _mm512_mullo_epi16(block, _mm512_set1_epi16((short)x->to_stride)));
    *data = _mm512_cmplt_epu16_mask(t, _mm512_set1_epi16((short)x->block));
    return _mm512_add_epi16(
        t, _mm512_mullo_epi16(block, _mm512_set1_epi16((short)x->from_stride)));
}

/* The source lanes of target lanes in .. in + 63, and which of them are data */
static __m512i line_lanes(const struct permute *x, size_t in, lane_mask *data)
{
    __mmask32 low, high;
    __m512i first = half_lanes(x, in, &low), second = half_lanes(x, in + 32, &high);

    *data = (lane_mask)high << 32 | low;
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(first)),
                              _mm512_cvtepi16_epi8(second), 1);
}
