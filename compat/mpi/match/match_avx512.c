/* SPDX-License-Identifier: BSD-3-Clause */
/* match_avx512.c - the kernels with AVX-512BW (flags: compat/mpi/local.mk). */
#include "config.h"

#include <immintrin.h>

#include "compat/mpi/match/match_scan.h"

MATCH_INLINE uint64_t avx512_and_8(const void *keys, uint32_t key, uint32_t mask)
{
    return _mm512_cmpeq_epi8_mask(
        _mm512_and_si512(_mm512_load_si512(keys), _mm512_set1_epi8((char)mask)),
        _mm512_set1_epi8((char)key));
}

MATCH_INLINE uint64_t avx512_masks_8(const void *keys, const void *masks, uint32_t key)
{
    return _mm512_cmpeq_epi8_mask(
        _mm512_and_si512(_mm512_load_si512(masks), _mm512_set1_epi8((char)key)),
        _mm512_load_si512(keys));
}

MATCH_INLINE uint64_t avx512_and_16(const void *keys, uint32_t key, uint32_t mask)
{
    const __m512i *v = keys, k = _mm512_set1_epi16((short)key),
                  m = _mm512_set1_epi16((short)mask);
    uint64_t low = _mm512_cmpeq_epi16_mask(_mm512_and_si512(v[0], m), k);

    return low | (uint64_t)_mm512_cmpeq_epi16_mask(_mm512_and_si512(v[1], m), k) << 32;
}

MATCH_INLINE uint64_t avx512_masks_16(const void *keys, const void *masks, uint32_t key)
{
    const __m512i *v = keys, *m = masks, k = _mm512_set1_epi16((short)key);
    uint64_t low = _mm512_cmpeq_epi16_mask(_mm512_and_si512(m[0], k), v[0]);

    return low | (uint64_t)_mm512_cmpeq_epi16_mask(_mm512_and_si512(m[1], k), v[1]) << 32;
}

MATCH_INLINE uint64_t avx512_and_32(const void *keys, uint32_t key, uint32_t mask)
{
    const __m512i *v = keys, k = _mm512_set1_epi32((int)key),
                  m = _mm512_set1_epi32((int)mask);
    uint64_t bits = 0;

    for (unsigned i = 0; i < 4; i++)
        bits |= (uint64_t)_mm512_cmpeq_epi32_mask(_mm512_and_si512(v[i], m), k) << 16 * i;
    return bits;
}

MATCH_INLINE uint64_t avx512_masks_32(const void *keys, const void *masks, uint32_t key)
{
    const __m512i *v = keys, *m = masks, k = _mm512_set1_epi32((int)key);
    uint64_t bits = 0;

    for (unsigned i = 0; i < 4; i++)
        bits |= (uint64_t)_mm512_cmpeq_epi32_mask(_mm512_and_si512(m[i], k), v[i])
                << 16 * i;
    return bits;
}

#define AVX512_SCAN(BITS)                                                                \
    static uint64_t match_scan_avx512_##BITS(struct match_cursor *c)                     \
    {                                                                                    \
        return match_scan_fuzzy(c, BITS / 8, avx512_and_##BITS, avx512_masks_##BITS);    \
    }
AVX512_SCAN(8)
AVX512_SCAN(16)
AVX512_SCAN(32)

/* ---- exact keys ----------------------------------------------------------------- */

enum { EXACT_REGISTERS = MATCH_SLOTS / 16 };

MATCH_INLINE uint64_t avx512_exact_and(const unsigned char *keys,
                                       const struct match_cursor *c)
{
    const __m512i *source = (const __m512i *)(const void *)keys,
                  *tag = source + EXACT_REGISTERS;
    const __m512i s = _mm512_set1_epi32((int)c->source),
                  t = _mm512_set1_epi32((int)c->tag),
                  sm = _mm512_set1_epi32((int)c->source_mask),
                  tm = _mm512_set1_epi32((int)c->tag_mask);
    uint64_t bits = 0;

    for (unsigned i = 0; i < 4; i++) {
        __mmask16 e = _mm512_cmpeq_epi32_mask(_mm512_and_si512(source[i], sm), s);
        bits |= (uint64_t)_mm512_mask_cmpeq_epi32_mask(e, _mm512_and_si512(tag[i], tm), t)
                << 16 * i;
    }
    return bits;
}

MATCH_INLINE uint64_t avx512_exact_masks(const unsigned char *keys,
                                         const struct match_cursor *c)
{
    const __m512i *source = (const __m512i *)(const void *)keys,
                  *tag = source + EXACT_REGISTERS, *sm = tag + EXACT_REGISTERS,
                  *tm = sm + EXACT_REGISTERS;
    const __m512i s = _mm512_set1_epi32((int)c->source),
                  t = _mm512_set1_epi32((int)c->tag);
    uint64_t bits = 0;

    for (unsigned i = 0; i < 4; i++) {
        __mmask16 e = _mm512_cmpeq_epi32_mask(_mm512_and_si512(sm[i], s), source[i]);
        bits |=
            (uint64_t)_mm512_mask_cmpeq_epi32_mask(e, _mm512_and_si512(tm[i], t), tag[i])
            << 16 * i;
    }
    return bits;
}

static uint64_t match_scan_avx512_vector(struct match_cursor *c)
{
    return match_scan_exact(c, avx512_exact_and, avx512_exact_masks);
}

const struct match_kernels match_kernels_avx512 = {
    match_scan_avx512_8, match_scan_avx512_16, match_scan_avx512_32,
    match_scan_avx512_vector};
