/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack_avx2.c - the kernels with AVX2 (flags: pgas/local.mk).  AVX2 has no scatter, and
 * masks only by the sign bits of a vector; masked lanes do not fault.
 */
#include "config.h"

#include <immintrin.h>

#define PACK_FIXED_FNS pack_fixed_avx2
#include "pgas/datatype/pack/pack_fixed.h"
#include "pgas/datatype/pack/pack_index.h"

enum { REGISTER = 32 };

static void gather_pack_4(const struct vector_copy *v)
{
    const size_t lanes = REGISTER / 4, units = v->block / 4;
    size_t left = units * v->count, r = 0;
    struct pack_index x;
    const char *from = v->from;
    char *to = v->to;

    pack_index_make(&x, units, v->from_stride / 4, v->count, lanes);
    for (; left > 0; to += REGISTER) {
        size_t now = left < lanes ? left : lanes;
        __m256i at = _mm256_load_si256((const __m256i *)x.lane[r]);
        if (now == lanes) {
            _mm256_storeu_si256((__m256i *)to,
                                _mm256_i32gather_epi32((const int *)from, at, 4));
        } else {
            __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)now),
                                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
            __m256i got = _mm256_mask_i32gather_epi32(_mm256_setzero_si256(),
                                                      (const int *)from, at, mask, 4);
            _mm256_maskstore_epi32((int *)to, mask, got);
        }
        left -= now;
        r = r + 1 == x.registers ? 0 : r + 1;
        from += r == 0 ? x.advance * 4 : 0;
    }
}

static void gather_pack_8(const struct vector_copy *v)
{
    const size_t lanes = REGISTER / 8, units = v->block / 8;
    size_t left = units * v->count, r = 0;
    struct pack_index x;
    const char *from = v->from;
    char *to = v->to;

    pack_index_make(&x, units, v->from_stride / 8, v->count, lanes);
    for (; left > 0; to += REGISTER) {
        size_t now = left < lanes ? left : lanes;
        __m128i at = _mm_load_si128((const __m128i *)x.lane[r]);
        if (now == lanes) {
            _mm256_storeu_si256((__m256i *)to,
                                _mm256_i32gather_epi64((const long long *)from, at, 8));
        } else {
            __m256i mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x((long long)now),
                                              _mm256_setr_epi64x(0, 1, 2, 3));
            __m256i got = _mm256_mask_i32gather_epi64(
                _mm256_setzero_si256(), (const long long *)from, at, mask, 8);
            _mm256_maskstore_epi64((long long *)to, mask, got);
        }
        left -= now;
        r = r + 1 == x.registers ? 0 : r + 1;
        from += r == 0 ? x.advance * 8 : 0;
    }
}

static bool gather_can(const struct vector_copy *v)
{
    const unsigned shift = v->unit >= 8 ? 3 : 2;

    return v->unit >= 4 && pack_to_is_dense(v) &&
           pack_index_can(v->block >> shift, v->from_stride >> shift, REGISTER >> shift);
}

static void gather_run(const struct vector_copy *v)
{
    (v->unit >= 8 ? gather_pack_8 : gather_pack_4)(v);
}

const struct pack_kernel_fns pack_gather_avx2 = {gather_can, gather_run};
