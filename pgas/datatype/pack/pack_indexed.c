/* SPDX-License-Identifier: BSD-3-Clause */
/* pack_indexed.c - see pack_indexed.h.  Uses: copy, pack_choice, pack_isas. */
#include "config.h"

#include "pgas/datatype/copy.h"
#include "pgas/datatype/pack/pack_choice.h"
#include "pgas/datatype/pack/pack_indexed.h"
#include "pgas/datatype/pack/pack_isas.h"
#include "pgas/threads/atomic.h"

/* block is a constant, or unknown. */
ALWAYS_INLINE void indexed_from(char *restrict packed, const char *restrict base,
                                const struct layout_block *restrict table, size_t block,
                                size_t n)
{
    for (size_t i = 0; i < n; i++)
        memcpy(packed + i * block, base + table[i].at, block);
}

ALWAYS_INLINE void indexed_into(char *restrict base, const char *restrict packed,
                                const struct layout_block *restrict table, size_t block,
                                size_t n)
{
    for (size_t i = 0; i < n; i++)
        memcpy(base + table[i].at, packed + i * block, block);
}

/* clang-format off */
#define INDEXED_SIZES(S) S(1) S(2) S(4) S(8) S(12) S(16) S(24) S(32) S(48) S(64)
/* clang-format on */
#define INDEXED_FROM(BLOCK)                                                              \
    case BLOCK:                                                                          \
        indexed_from(packed, base, table, BLOCK, n);                                     \
        break;
#define INDEXED_INTO(BLOCK)                                                              \
    case BLOCK:                                                                          \
        indexed_into(base, packed, table, BLOCK, n);                                     \
        break;

static void indexed_from_loop(char *packed, const char *base,
                              const struct layout_block *table, size_t block, size_t n)
{
    switch (block) {
        INDEXED_SIZES(INDEXED_FROM)
    default:
        for (size_t i = 0; i < n; i++)
            copy_bytes(packed + i * block, base + table[i].at, block);
        break;
    }
}

void pack_indexed_from(char *packed, const char *base, const struct layout_block *table,
                       size_t block, size_t n)
{
    static const pack_indexed_gather gather[] = {PACK_INDEXED_GATHERS};
    size_t gathered = 0;

    if ((block == 4 || block == 8) && gather[block / 8] != NULL &&
        pack_choice_allows(PACK_GATHER_AVX512)) {
        gathered = n - n % 8;
        gather[block / 8](packed, base, table, gathered);
    }
    indexed_from_loop(packed + gathered * block, base, table + gathered, block,
                      n - gathered);
}

void pack_indexed_into(char *base, const char *packed, const struct layout_block *table,
                       size_t block, size_t n)
{
    switch (block) {
        INDEXED_SIZES(INDEXED_INTO)
    default:
        for (size_t i = 0; i < n; i++)
            copy_bytes(base + table[i].at, packed + i * block, block);
        break;
    }
}
