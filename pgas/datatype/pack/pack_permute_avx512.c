/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack_permute_avx512.c - the kernel permute_avx512 (flags: pgas/local.mk), with lanes of
 * 4 bytes for all units from 4 on: permutations of wider lanes are not faster.
 */
#include "config.h"

#include <immintrin.h>

#include "pgas/datatype/pack/pack_table.h"

/* Without optimization gcc's intrinsics are macros that convert masks. */
#pragma GCC diagnostic ignored "-Wsign-conversion"

#define PERMUTE_FNS pack_permute_avx512

enum { REGISTER = 64, LANE = 4, TO_STRIDE_MAX = 64, WINDOW_MAX = 4 };

typedef __mmask16 lane_mask;

PACK_INLINE lane_mask lanes_below(size_t n)
{
    return (lane_mask)(n >= 16 ? 0xffffu : (1u << n) - 1);
}

PACK_INLINE void line_store(bool gaps, char *at, lane_mask data, __m512i x)
{
    if (gaps)
        _mm512_mask_storeu_epi32(at, data, x);
    else
        _mm512_storeu_si512(at, x);
}

/* Lanes without data are not read. */
PACK_INLINE __m512i line_load(lane_mask data, const char *at)
{
    return _mm512_maskz_loadu_epi32(data, at);
}

PACK_INLINE __m512i line_subtract(__m512i lanes, size_t n)
{
    return _mm512_sub_epi32(lanes, _mm512_set1_epi32((int)n));
}

/* Lane i of the result is lane index[i] of in[0 .. window - 1]. */
PACK_INLINE __m512i registers_permute(const __m512i *in, __m512i index, size_t window)
{
    if (window == 1)
        return _mm512_permutexvar_epi32(index, in[0]);
    __m512i low = _mm512_permutex2var_epi32(in[0], index, in[1]);
    if (window == 2)
        return low;
    __mmask16 is_high = _mm512_test_epi32_mask(index, _mm512_set1_epi32(32));
    if (window == 3)
        return _mm512_mask_permutexvar_epi32(low, is_high, index, in[2]);
    return _mm512_mask_mov_epi32(low, is_high,
                                 _mm512_permutex2var_epi32(in[2], index, in[3]));
}

struct permute;
static __m512i line_lanes(const struct permute *x, size_t in, lane_mask *data);

#include "pgas/datatype/pack/pack_permute.h"

/* The source lanes of target lanes in .. in + 15, and which of them are data.  The
 * multiplication divides exactly: (in + 15) * T < 65536. */
static __m512i line_lanes(const struct permute *x, size_t in, lane_mask *data)
{
    __m512i t = _mm512_add_epi32(
        _mm512_set1_epi32((int)in),
        _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    __m512i stride = _mm512_set1_epi32((int)x->to_stride);
    __m512i block = _mm512_srli_epi32(
        _mm512_mullo_epi32(t, _mm512_set1_epi32((int)x->reciprocal)), 16);

    t = _mm512_sub_epi32(t, _mm512_mullo_epi32(block, stride));
    *data = _mm512_cmplt_epi32_mask(t, _mm512_set1_epi32((int)x->block));
    return _mm512_add_epi32(
        t, _mm512_mullo_epi32(block, _mm512_set1_epi32((int)x->from_stride)));
}
