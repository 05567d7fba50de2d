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

/* A register of lanes of 4 bytes, or of 8 if `wide`, a constant everywhere. */
PACK_INLINE void gather_line(bool wide, char *to, const char *from, const int32_t *lane)
{
    __m256i got =
        wide ? _mm256_i32gather_epi64((const long long *)from,
                                      _mm_load_si128((const __m128i *)lane), 8)
             : _mm256_i32gather_epi32((const int *)from,
                                      _mm256_load_si256((const __m256i *)lane), 4);

    _mm256_storeu_si256((__m256i *)to, got);
}

/* Its first n lanes */
PACK_INLINE void gather_line_part(bool wide, char *to, const char *from,
                                  const int32_t *lane, size_t n)
{
    const __m256i zero = _mm256_setzero_si256();

    if (wide) {
        __m256i mask = _mm256_cmpgt_epi64(_mm256_set1_epi64x((long long)n),
                                          _mm256_setr_epi64x(0, 1, 2, 3));
        __m256i got =
            _mm256_mask_i32gather_epi64(zero, (const long long *)from,
                                        _mm_load_si128((const __m128i *)lane), mask, 8);
        _mm256_maskstore_epi64((long long *)to, mask, got);
        return;
    }
    __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n),
                                      _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    __m256i got = _mm256_mask_i32gather_epi32(
        zero, (const int *)from, _mm256_load_si256((const __m256i *)lane), mask, 4);
    _mm256_maskstore_epi32((int *)to, mask, got);
}

PACK_INLINE void gather_pack(bool wide, const struct vector_copy *v)
{
    const size_t u = wide ? 8 : 4, lanes = REGISTER / u, units = v->block / u;
    size_t left = units * v->count, r = 0;
    struct pack_index x;
    const char *from = v->from;
    char *to = v->to;

    pack_index_make(&x, units, v->from_stride / (ptrdiff_t)u, v->count, lanes);
    for (; left >= lanes; left -= lanes, to += REGISTER) {
        gather_line(wide, to, from, x.lane[r]);
        r = r + 1 == x.registers ? 0 : r + 1;
        from += r == 0 ? x.advance * (ptrdiff_t)u : 0;
    }
    if (left > 0)
        gather_line_part(wide, to, from, x.lane[r], left);
}

static void gather_pack_4(const struct vector_copy *v)
{
    gather_pack(false, v);
}

static void gather_pack_8(const struct vector_copy *v)
{
    gather_pack(true, v);
}

static bool gather_can(const struct vector_copy *v)
{
    const unsigned shift = pack_unit(v) >= 8 ? 3 : 2;

    return pack_unit(v) >= 4 && pack_to_is_dense(v) &&
           pack_index_can(v->block >> shift, v->from_stride >> shift, REGISTER >> shift);
}

static void gather_run(const struct vector_copy *v)
{
    (pack_unit(v) >= 8 ? gather_pack_8 : gather_pack_4)(v);
}

const struct pack_kernel_fns pack_gather_avx2 = {.can = gather_can, .run = gather_run};
