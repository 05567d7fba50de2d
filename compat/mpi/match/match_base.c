/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * match_base.c - the kernels for the compiler's default instruction set, which compare
 * the lanes of 8 bytes at a time or leave it to the compiler; the scalar kernel; and the
 * tables.
 */
#include "config.h"

#include <string.h>

#include "compat/mpi/match/match_isas.h"
#include "compat/mpi/match/match_scan.h"

/* gcc vectorises as wanted at -O3 only; CFLAGS may say less. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__)
#pragma GCC optimize("O3")
#endif

/* A 64-bit word with v in each lane of `bytes` bytes */
MATCH_INLINE uint64_t base_spread(unsigned bytes, uint64_t v)
{
    const uint64_t ones = bytes == 1   ? 0x0101010101010101u
                          : bytes == 2 ? 0x0001000100010001u
                                       : 0x0000000100000001u;

    return (bytes == 4 ? v & UINT32_MAX : v & ((1u << 8 * bytes) - 1)) * ones;
}

/* Sets the high bit of each lane of x that is 0, exactly: no carry leaves a lane. */
MATCH_INLINE uint64_t base_zero_lanes(unsigned bytes, uint64_t x)
{
    const uint64_t high = base_spread(bytes, 1u << (8 * bytes - 1));

    return ~(((x & ~high) + ~high) | x) & high;
}

/* Lanes that differ are not 0.  masks: of the entries, or NULL for `mask` */
MATCH_INLINE uint64_t base_differ(const uint64_t *keys, const uint64_t *masks,
                                  unsigned word, uint64_t key, uint64_t mask)
{
    return masks == NULL ? (keys[word] & mask) ^ key : (key & masks[word]) ^ keys[word];
}

MATCH_INLINE uint64_t base_group(unsigned bytes, const uint64_t *keys,
                                 const uint64_t *masks, uint32_t key, uint32_t mask)
{
    const unsigned words = MATCH_GROUP * bytes / 8, lanes = 8 / bytes;
    const uint64_t k = base_spread(bytes, key), m = base_spread(bytes, mask);
    uint64_t any = 0, bits = 0;

    for (unsigned w = 0; w < words; w++)
        any |= base_zero_lanes(bytes, base_differ(keys, masks, w, k, m));
    if (any == 0)
        return 0;
    for (unsigned w = 0; w < words; w++) {
        uint64_t zero = base_zero_lanes(bytes, base_differ(keys, masks, w, k, m));
        for (; zero != 0; zero &= zero - 1)
            bits |= UINT64_C(1)
                    << (w * lanes + (unsigned)__builtin_ctzll(zero) / (8 * bytes));
    }
    return bits;
}

#define BASE_AND(BITS)                                                                   \
    MATCH_INLINE uint64_t base_and_##BITS(const void *keys, uint32_t key, uint32_t mask) \
    {                                                                                    \
        return base_group(BITS / 8, keys, NULL, key, mask);                              \
    }
#define BASE_MASKS(BITS)                                                                 \
    MATCH_INLINE uint64_t base_masks_##BITS(const void *keys, const void *masks,         \
                                            uint32_t key)                                \
    {                                                                                    \
        return base_group(BITS / 8, keys, masks, key, 0);                                \
    }
#define BASE_SCAN(BITS)                                                                  \
    static uint64_t match_scan_base_##BITS(struct match_cursor *c)                       \
    {                                                                                    \
        return match_scan_fuzzy(c, BITS / 8, base_and_##BITS, base_masks_##BITS);        \
    }
BASE_AND(8)
BASE_AND(16)
BASE_AND(32)
BASE_MASKS(8)
BASE_MASKS(16)
BASE_MASKS(32)
BASE_SCAN(8)
BASE_SCAN(16)
BASE_SCAN(32)

/* Compares sources and tags of the slots [0, 64) of a group. */
MATCH_INLINE uint64_t base_exact(const unsigned char *keys, const struct match_cursor *c,
                                 bool masked)
{
    const uint32_t *source = (const uint32_t *)(const void *)keys;
    const uint32_t *tag = source + MATCH_SLOTS, *source_mask = tag + MATCH_SLOTS,
                   *tag_mask = source_mask + MATCH_SLOTS;
    const uint32_t s = c->source, t = c->tag, sm = c->source_mask, tm = c->tag_mask;
    uint32_t differ[MATCH_GROUP], any = 0;
    uint64_t bits = 0;

    for (unsigned i = 0; i < MATCH_GROUP; i++) {
        differ[i] =
            masked ? ((s & source_mask[i]) ^ source[i]) | ((t & tag_mask[i]) ^ tag[i])
                   : ((source[i] & sm) ^ s) | ((tag[i] & tm) ^ t);
        any |= differ[i] == 0;
    }
    for (unsigned i = 0; any != 0 && i < MATCH_GROUP; i++)
        bits |= (uint64_t)(differ[i] == 0) << i;
    return bits;
}

MATCH_INLINE uint64_t base_exact_and(const unsigned char *keys,
                                     const struct match_cursor *c)
{
    return base_exact(keys, c, false);
}

MATCH_INLINE uint64_t base_exact_masks(const unsigned char *keys,
                                       const struct match_cursor *c)
{
    return base_exact(keys, c, true);
}

static uint64_t match_scan_base_vector(struct match_cursor *c)
{
    return match_scan_exact(c, base_exact_and, base_exact_masks);
}

const struct match_kernels match_kernels_baseline = {
    match_scan_base_8, match_scan_base_16, match_scan_base_32, match_scan_base_vector};

/* ---- the scalar kernel ---------------------------------------------------------- */

static bool array_slot_fits(const struct match_node *n, unsigned i,
                            const struct match_cursor *c)
{
    const uint32_t *source = (const uint32_t *)(const void *)n->lanes;
    const uint32_t *tag = source + MATCH_SLOTS, *source_mask = tag + MATCH_SLOTS,
                   *tag_mask = source_mask + MATCH_SLOTS;

    if (n->wild == 0)
        return (((source[i] & c->source_mask) ^ c->source) |
                ((tag[i] & c->tag_mask) ^ c->tag)) == 0;
    return (((c->source & source_mask[i]) ^ source[i]) |
            ((c->tag & tag_mask[i]) ^ tag[i])) == 0;
}

uint64_t match_scan_array(struct match_cursor *c)
{
    unsigned i = c->resume;

    for (const struct match_node *n = c->node; n != NULL; n = n->next, i = 0)
        for (; i < n->used; i++) {
            if (!array_slot_fits(n, i, c) ||
                (n->live[i / MATCH_GROUP] >> i % MATCH_GROUP & 1) == 0)
                continue;
            c->node = n;
            c->group = i / MATCH_GROUP;
            c->resume = i + 1;
            return UINT64_C(1) << i % MATCH_GROUP;
        }
    c->node = NULL;
    return 0;
}

/* ---- the tables ----------------------------------------------------------------- */

const struct match_kernels *match_kernels_of(enum isa isa)
{
    static const struct match_kernels *const kernels[ISAS] = {
        [ISA_BASELINE] = &match_kernels_baseline, MATCH_ISA_KERNELS};

    return kernels[isa];
}
