/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * match_node.h - a node of a linked array: MATCH_SLOTS slots in order of age, and what a
 * search needs to find candidates in a chain of nodes.
 *
 * Slot i holds an entry if bit i of `live` is set.  Slots are filled in order, and a slot
 * whose entry was removed stays empty until the node is compacted: so the order of slots
 * is the order in which entries were appended.
 *
 * The lanes of a node are the compared keys of all slots, one behind the other, in a
 * queue of posted receives their masks, and the pointers to the entries:
 *
 *   - fuzzy: key[SLOTS], mask[SLOTS], each of 1, 2 or 4 bytes;
 *
 *   - array, vector: source[SLOTS], tag[SLOTS], source mask[SLOTS], tag mask[SLOTS], each
 *     of 4 bytes.
 *
 * Keys are stored masked: a wildcard is 0 under the mask 0.
 *
 * A fuzzy key consists of the high `source_bits` bits of a hash of the source and the
 * high `tag_bits` bits of a hash of the tag; the context is part of both hashes.  The
 * split is constant as long as the node is not empty, and may differ from node to node.
 * Uses: match_key.  Used by: match_queue, the kernels.
 */
#ifndef COMPAT_MPI_MATCH_NODE_H
#define COMPAT_MPI_MATCH_NODE_H

#include <stddef.h>

#include "compat/mpi/match/match_key.h"

enum {
    MATCH_GROUP = 64, /* slots that a kernel tests at once: the bits of a word */
    MATCH_GROUPS = 4,
    MATCH_SLOTS = MATCH_GROUP * MATCH_GROUPS,
    MATCH_LINE = 64,
};

struct match_node {
    struct match_node *next, *prev;
    uint16_t used;  /* slots [0, used) have been filled */
    uint16_t count; /* live slots */
    uint8_t source_bits, tag_bits;
    uint8_t wild; /* bit g: masks of group g have to be read; may be set without need */
    uint16_t region; /* of match_regions.h; constant */
    uint64_t live[MATCH_GROUPS];
    _Alignas(MATCH_LINE) unsigned char lanes[];
};

/* A search: what is wanted, and where the last candidates are. */
struct match_cursor {
    const struct match_node *node; /* NULL: the end of the chain */
    uint32_t group;                /* of the candidates, within the node */
    uint32_t resume;               /* first slot of the node that is not tested yet */
    uint32_t source, tag;          /* exact, masked */
    uint32_t source_mask, tag_mask;
    uint32_t source_hash, tag_hash;
    uint32_t key, mask; /* fuzzy, for the split of the node */
    uint8_t source_bits, tag_bits;
};

/* Advances to the next group that has candidates in slots from `resume` on, and returns
 * them as a bit mask.  0 at the end of the chain.  A candidate is a live slot whose key
 * fits; the caller compares the entry itself. */
typedef uint64_t (*match_scan_fn)(struct match_cursor *c);

/* Multiplicative hashing: the high bits of the product depend on all bits of the value,
 * and consecutive values are spread evenly. */
static inline uint32_t match_hash(int32_t value, uint32_t context)
{
    return ((uint32_t)value + context * 0x85ebca6bu) * 0x9e3779b1u;
}

/* The key for a split: either number of bits may be 0 to 32, together at most 32. */
static inline uint32_t match_fuzzy_key(uint32_t source_hash, uint32_t tag_hash,
                                       unsigned source_bits, unsigned tag_bits)
{
    uint64_t source = ((uint64_t)source_hash << source_bits) >> 32;
    uint64_t tag = ((uint64_t)tag_hash << tag_bits) >> 32;

    return (uint32_t)(source << tag_bits | tag);
}

/* Computes the key again if the node has another split than the one before. */
static inline void match_cursor_split(struct match_cursor *c, const struct match_node *n)
{
    if (n->source_bits == c->source_bits && n->tag_bits == c->tag_bits)
        return;
    c->source_bits = n->source_bits;
    c->tag_bits = n->tag_bits;
    c->mask = match_fuzzy_key(c->source_mask, c->tag_mask, c->source_bits, c->tag_bits);
    c->key = c->mask &
             match_fuzzy_key(c->source_hash, c->tag_hash, c->source_bits, c->tag_bits);
}

#endif
