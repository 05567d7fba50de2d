/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * match_sve.c - the kernels with SVE, for registers of any length (flags:
 * compat/mpi/local.mk).
 */
#include "config.h"

#include <arm_sve.h>

#include "compat/mpi/match/match_scan.h"

/* The hits of a register as bits: one step for each hit, and most registers have none. */
#define SVE_BITS(W)                                                                      \
    static inline uint64_t sve_bits_##W(svbool_t on, svbool_t hit, unsigned slot)        \
    {                                                                                    \
        uint64_t bits = 0;                                                               \
        for (; svptest_any(on, hit); hit = svbic_z(on, hit, svbrka_z(on, hit)))          \
            bits |= UINT64_C(1) << (slot + svcntp_b##W(on, svbrkb_z(on, hit)));          \
        return bits;                                                                     \
    }
SVE_BITS(8)
SVE_BITS(16)
SVE_BITS(32)

#define SVE_AND(W, STEP)                                                                 \
    MATCH_INLINE uint64_t sve_and_##W(const void *keys, uint32_t key, uint32_t mask)     \
    {                                                                                    \
        uint64_t bits = 0;                                                               \
        for (unsigned i = 0; i < MATCH_GROUP; i += (unsigned)STEP())                     \
            bits |= sve_and_at_##W((const uint##W##_t *)keys + i, i, key, mask);         \
        return bits;                                                                     \
    }
#define SVE_AND_AT(W)                                                                    \
    MATCH_INLINE uint64_t sve_and_at_##W(const uint##W##_t *keys, unsigned i,            \
                                         uint32_t key, uint32_t mask)                    \
    {                                                                                    \
        svbool_t on = svwhilelt_b##W##_u32(i, MATCH_GROUP);                              \
        svuint##W##_t k = svand_x(on, svld1(on, keys), (uint##W##_t)mask);               \
        return sve_bits_##W(on, svcmpeq(on, k, (uint##W##_t)key), i);                    \
    }
#define SVE_MASKS(W, STEP)                                                               \
    MATCH_INLINE uint64_t sve_masks_##W(const void *k, const void *m, uint32_t key)      \
    {                                                                                    \
        uint64_t bits = 0;                                                               \
        for (unsigned i = 0; i < MATCH_GROUP; i += (unsigned)STEP())                     \
            bits |= sve_masks_at_##W(k, m, i, key);                                      \
        return bits;                                                                     \
    }
#define SVE_MASKS_AT(W)                                                                  \
    MATCH_INLINE uint64_t sve_masks_at_##W(const uint##W##_t *k, const uint##W##_t *m,   \
                                           unsigned i, uint32_t key)                     \
    {                                                                                    \
        svbool_t on = svwhilelt_b##W##_u32(i, MATCH_GROUP);                              \
        svuint##W##_t x = svand_x(on, svld1(on, m + i), (uint##W##_t)key);               \
        return sve_bits_##W(on, svcmpeq(on, x, svld1(on, k + i)), i);                    \
    }
#define SVE_SCAN(W)                                                                      \
    static uint64_t match_scan_sve_##W(struct match_cursor *c)                           \
    {                                                                                    \
        return match_scan_fuzzy(c, W / 8, sve_and_##W, sve_masks_##W);                   \
    }
SVE_AND_AT(8)
SVE_AND_AT(16)
SVE_AND_AT(32)
SVE_AND(8, svcntb)
SVE_AND(16, svcnth)
SVE_AND(32, svcntw)
SVE_MASKS_AT(8)
SVE_MASKS_AT(16)
SVE_MASKS_AT(32)
SVE_MASKS(8, svcntb)
SVE_MASKS(16, svcnth)
SVE_MASKS(32, svcntw)
SVE_SCAN(8)
SVE_SCAN(16)
SVE_SCAN(32)

/* ---- exact keys ----------------------------------------------------------------- */

static inline uint64_t sve_exact_and_at(const uint32_t *source, unsigned i,
                                        const struct match_cursor *c)
{
    svbool_t on = svwhilelt_b32_u32(i, MATCH_GROUP);
    svuint32_t s = svand_x(on, svld1(on, source + i), c->source_mask);
    svuint32_t t = svand_x(on, svld1(on, source + MATCH_SLOTS + i), c->tag_mask);

    return sve_bits_32(on, svcmpeq(svcmpeq(on, s, c->source), t, c->tag), i);
}

static inline uint64_t sve_exact_masks_at(const uint32_t *source, unsigned i,
                                          const struct match_cursor *c)
{
    svbool_t on = svwhilelt_b32_u32(i, MATCH_GROUP);
    svuint32_t s = svand_x(on, svld1(on, source + 2 * MATCH_SLOTS + i), c->source);
    svuint32_t t = svand_x(on, svld1(on, source + 3 * MATCH_SLOTS + i), c->tag);
    svbool_t equal = svcmpeq(on, s, svld1(on, source + i));

    return sve_bits_32(on, svcmpeq(equal, t, svld1(on, source + MATCH_SLOTS + i)), i);
}

MATCH_INLINE uint64_t sve_exact_and(const unsigned char *keys,
                                    const struct match_cursor *c)
{
    uint64_t bits = 0;

    for (unsigned i = 0; i < MATCH_GROUP; i += (unsigned)svcntw())
        bits |= sve_exact_and_at((const uint32_t *)(const void *)keys, i, c);
    return bits;
}

MATCH_INLINE uint64_t sve_exact_masks(const unsigned char *keys,
                                      const struct match_cursor *c)
{
    uint64_t bits = 0;

    for (unsigned i = 0; i < MATCH_GROUP; i += (unsigned)svcntw())
        bits |= sve_exact_masks_at((const uint32_t *)(const void *)keys, i, c);
    return bits;
}

static uint64_t match_scan_sve_vector(struct match_cursor *c)
{
    return match_scan_exact(c, sve_exact_and, sve_exact_masks);
}

const struct match_kernels match_kernels_sve = {match_scan_sve_8, match_scan_sve_16,
                                                match_scan_sve_32, match_scan_sve_vector};
