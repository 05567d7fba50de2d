/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * match_scan.h - the loop over nodes and groups that all kernels share.  The file of an
 * instruction set includes it and adds the comparison of one group.
 * Uses: match_kernels.  Used by: match_base, match_avx2, match_avx512, match_sve.
 */
#ifndef COMPAT_MPI_MATCH_SCAN_H
#define COMPAT_MPI_MATCH_SCAN_H

#include "compat/mpi/match/match_kernels.h"

/* Of functions whose constant arguments select the code */
#define MATCH_INLINE static inline __attribute__((always_inline))

/* Compare the keys of a group: bit i of the result stands for slot i.
 * and:   (key[i] & mask) == key
 * masks: (key & mask[i]) == key[i], with the masks of the entries */
typedef uint64_t (*match_and_fn)(const void *keys, uint32_t key, uint32_t mask);
typedef uint64_t (*match_masks_fn)(const void *keys, const void *masks, uint32_t key);

/* `bytes` per lane, and both functions, are constants.  Entries have masks only in queues
 * of posted receives, and searches only in queues of messages: never both. */
MATCH_INLINE uint64_t match_scan_fuzzy(struct match_cursor *c, unsigned bytes,
                                       match_and_fn compare_and,
                                       match_masks_fn compare_masks)
{
    unsigned g = c->resume / MATCH_GROUP;

    for (const struct match_node *n = c->node; n != NULL; n = n->next, g = 0) {
        const unsigned groups = (n->used + MATCH_GROUP - 1u) / MATCH_GROUP;
        match_cursor_split(c, n);
        for (; g < groups; g++) {
            const unsigned char *keys = n->lanes + g * MATCH_GROUP * bytes;
            uint64_t found = n->live[g];
            if (found == 0)
                continue;
            found &= (n->wild >> g & 1) == 0
                         ? compare_and(keys, c->key, c->mask)
                         : compare_masks(keys, keys + MATCH_SLOTS * bytes, c->key);
            if (found == 0)
                continue;
            c->node = n;
            c->group = g;
            c->resume = (g + 1) * MATCH_GROUP;
            return found;
        }
    }
    c->node = NULL;
    return 0;
}

/* The same with exact sources and tags.  keys: the sources of a group; its tags, source
 * masks and tag masks follow in distances of EXACT_STRIDE. */
typedef uint64_t (*match_exact_fn)(const unsigned char *keys,
                                   const struct match_cursor *c);

enum { EXACT_STRIDE = MATCH_SLOTS * sizeof(uint32_t) };

MATCH_INLINE uint64_t match_scan_exact(struct match_cursor *c, match_exact_fn compare_and,
                                       match_exact_fn compare_masks)
{
    unsigned g = c->resume / MATCH_GROUP;

    for (const struct match_node *n = c->node; n != NULL; n = n->next, g = 0) {
        const unsigned groups = (n->used + MATCH_GROUP - 1u) / MATCH_GROUP;
        for (; g < groups; g++) {
            const unsigned char *keys = n->lanes + g * MATCH_GROUP * sizeof(uint32_t);
            uint64_t found = n->live[g];
            if (found == 0)
                continue;
            found &=
                (n->wild >> g & 1) == 0 ? compare_and(keys, c) : compare_masks(keys, c);
            if (found == 0)
                continue;
            c->node = n;
            c->group = g;
            c->resume = (g + 1) * MATCH_GROUP;
            return found;
        }
    }
    c->node = NULL;
    return 0;
}

#endif
