/* SPDX-License-Identifier: BSD-3-Clause */
/* match_avx2.c - the kernels with AVX2 (flags: compat/mpi/local.mk). */
#include "config.h"

#include <immintrin.h>

#include "compat/mpi/match/match_scan.h"

/* The comparison of W-bit lanes of one register: with a mask for all, or one of each
 * entry */
#define AVX2_EQUAL(W, FN)                                                                \
    MATCH_INLINE __m256i avx2_equal_##W(__m256i keys, const __m256i *masks, __m256i key, \
                                        __m256i mask)                                    \
    {                                                                                    \
        return masks == NULL                                                             \
                   ? FN(_mm256_and_si256(keys, mask), key)                               \
                   : FN(_mm256_and_si256(key, _mm256_load_si256(masks)), keys);          \
    }
AVX2_EQUAL(8, _mm256_cmpeq_epi8)
AVX2_EQUAL(16, _mm256_cmpeq_epi16)
AVX2_EQUAL(32, _mm256_cmpeq_epi32)

MATCH_INLINE const __m256i *avx2_at(const __m256i *masks, unsigned i)
{
    return masks == NULL ? NULL : masks + i;
}

MATCH_INLINE bool avx2_none(__m256i x)
{
    return _mm256_testz_si256(x, x) != 0;
}

MATCH_INLINE uint32_t avx2_bits(__m256i bytes)
{
    return (uint32_t)_mm256_movemask_epi8(bytes);
}

MATCH_INLINE uint64_t avx2_group_8(const __m256i *keys, const __m256i *masks,
                                   uint32_t key, uint32_t mask)
{
    const __m256i k = _mm256_set1_epi8((char)key), m = _mm256_set1_epi8((char)mask);
    uint64_t low = avx2_bits(avx2_equal_8(keys[0], masks, k, m));

    return low | (uint64_t)avx2_bits(avx2_equal_8(keys[1], avx2_at(masks, 1), k, m))
                     << 32;
}

/* Two registers of 16-bit results as bits in order: the pack works on halves. */
MATCH_INLINE uint32_t avx2_bits_16(__m256i a, __m256i b)
{
    return avx2_bits(_mm256_permute4x64_epi64(_mm256_packs_epi16(a, b), 0xd8));
}

MATCH_INLINE uint64_t avx2_group_16(const __m256i *keys, const __m256i *masks,
                                    uint32_t key, uint32_t mask)
{
    const __m256i k = _mm256_set1_epi16((short)key), m = _mm256_set1_epi16((short)mask);
    __m256i e[4];

    for (unsigned i = 0; i < 4; i++)
        e[i] = avx2_equal_16(keys[i], avx2_at(masks, i), k, m);
    if (avx2_none(
            _mm256_or_si256(_mm256_or_si256(e[0], e[1]), _mm256_or_si256(e[2], e[3]))))
        return 0;
    return avx2_bits_16(e[0], e[1]) | (uint64_t)avx2_bits_16(e[2], e[3]) << 32;
}

/* Eight registers of 32-bit results as bits */
MATCH_INLINE uint64_t avx2_bits_32(const __m256i *e)
{
    uint64_t bits = 0;

    for (unsigned i = 0; i < 8; i++)
        bits |= (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(e[i]))
                << 8 * i;
    return bits;
}

MATCH_INLINE uint64_t avx2_group_32(const __m256i *keys, const __m256i *masks,
                                    uint32_t key, uint32_t mask)
{
    const __m256i k = _mm256_set1_epi32((int)key), m = _mm256_set1_epi32((int)mask);
    __m256i e[8], any = _mm256_setzero_si256();

    for (unsigned i = 0; i < 8; i++) {
        e[i] = avx2_equal_32(keys[i], avx2_at(masks, i), k, m);
        any = _mm256_or_si256(any, e[i]);
    }
    return avx2_none(any) ? 0 : avx2_bits_32(e);
}

#define AVX2_AND(BITS)                                                                   \
    MATCH_INLINE uint64_t avx2_and_##BITS(const void *keys, uint32_t key, uint32_t mask) \
    {                                                                                    \
        return avx2_group_##BITS(keys, NULL, key, mask);                                 \
    }
#define AVX2_MASKS(BITS)                                                                 \
    MATCH_INLINE uint64_t avx2_masks_##BITS(const void *keys, const void *masks,         \
                                            uint32_t key)                                \
    {                                                                                    \
        return avx2_group_##BITS(keys, masks, key, 0);                                   \
    }
#define AVX2_SCAN(BITS)                                                                  \
    static uint64_t match_scan_avx2_##BITS(struct match_cursor *c)                       \
    {                                                                                    \
        return match_scan_fuzzy(c, BITS / 8, avx2_and_##BITS, avx2_masks_##BITS);        \
    }
AVX2_AND(8)
AVX2_AND(16)
AVX2_AND(32)
AVX2_MASKS(8)
AVX2_MASKS(16)
AVX2_MASKS(32)
AVX2_SCAN(8)
AVX2_SCAN(16)
AVX2_SCAN(32)

/* ---- exact keys ----------------------------------------------------------------- */

MATCH_INLINE uint64_t avx2_exact(const unsigned char *keys, const struct match_cursor *c,
                                 bool masked)
{
    const __m256i *source = (const __m256i *)(const void *)keys;
    const __m256i *tag = source + MATCH_SLOTS / 8, *source_mask = tag + MATCH_SLOTS / 8,
                  *tag_mask = source_mask + MATCH_SLOTS / 8;
    const __m256i s = _mm256_set1_epi32((int)c->source),
                  t = _mm256_set1_epi32((int)c->tag),
                  sm = _mm256_set1_epi32((int)c->source_mask),
                  tm = _mm256_set1_epi32((int)c->tag_mask);
    __m256i e[8], any = _mm256_setzero_si256();

    for (unsigned i = 0; i < 8; i++) {
        e[i] = _mm256_and_si256(
            avx2_equal_32(source[i], masked ? source_mask + i : NULL, s, sm),
            avx2_equal_32(tag[i], masked ? tag_mask + i : NULL, t, tm));
        any = _mm256_or_si256(any, e[i]);
    }
    return avx2_none(any) ? 0 : avx2_bits_32(e);
}

MATCH_INLINE uint64_t avx2_exact_and(const unsigned char *keys,
                                     const struct match_cursor *c)
{
    return avx2_exact(keys, c, false);
}

MATCH_INLINE uint64_t avx2_exact_masks(const unsigned char *keys,
                                       const struct match_cursor *c)
{
    return avx2_exact(keys, c, true);
}

static uint64_t match_scan_avx2_vector(struct match_cursor *c)
{
    return match_scan_exact(c, avx2_exact_and, avx2_exact_masks);
}

const struct match_kernels match_kernels_avx2 = {
    match_scan_avx2_8, match_scan_avx2_16, match_scan_avx2_32, match_scan_avx2_vector};
