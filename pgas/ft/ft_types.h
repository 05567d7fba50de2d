/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_types.h - types and limits shared by the failure protocols: agreement keys, words,
 * decisions, and bit sets.
 * A bit set of n members is an array of FT_SET_WORDS(n) words; member i is bit i % 64 of
 * word i / 64; bits at and beyond n are 0. A leaf.  Used by: all of pgas/ft.
 */
#ifndef PGAS_FT_TYPES_H
#define PGAS_FT_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FT_WORDS_MAX = 24,    /* AND words plus MAX words of one agreement */
    FT_PAYLOAD_MAX = 512, /* bytes of one ft_proto_broadcast */
};
#define FT_NODES_MAX    65536u     /* nodes of a job */
#define FT_PES_MAX      (1u << 24) /* PEs of a job */
#define FT_NODE_NONE    UINT32_MAX
#define FT_NEVER        UINT64_MAX /* a time that does not come */
#define FT_SET_WORDS(n) (((size_t)(n) + 63) / 64)

/* The bits of word `w` of a set that belong to its n members. */
static inline uint64_t ft_set_valid(size_t w, uint32_t n)
{
    if (w * 64 >= n)
        return 0;
    return n - w * 64 >= 64 ? UINT64_MAX : (UINT64_C(1) << (n - w * 64)) - 1;
}

/* Names one agreement.  All members of a team use the same team id and count its
 * agreements with seq; a node starts agreement seq + 1 only after the decision of seq was
 * delivered to it. */
struct ft_key {
    uint64_t team;
    uint32_t seq;
};

/* word[0..n_and) are combined with AND, word[n_and..n_and+n_max) with MAX (unsigned).
 * n_and + n_max <= FT_WORDS_MAX; both numbers are equal in all contributions. */
struct ft_words {
    uint32_t n_and, n_max;
    uint64_t word[FT_WORDS_MAX];
};

/* The result of an agreement, equal on all surviving member nodes.  `failed` is the set
 * of failed PEs (npes bits, of the whole job, not only of the team): at least all that a
 * contributing node knew when it contributed, and all PEs of nodes that did not
 * contribute because they failed.  `view` is opaque; ft_proto_agree_restore takes it
 * back. */
struct ft_decision {
    struct ft_key key;
    uint64_t view;
    struct ft_words words;
    const uint64_t *failed;
};

/* PEs and nodes that were not known as failed before.  The PEs of each node in `nodes`
 * are in `pes`.  Valid during the callback. */
struct ft_news {
    const uint64_t *pes, *nodes; /* bit sets of npes and nnodes members */
    uint32_t npes_failed, nnodes_failed;
};

static inline bool ft_set_has(const uint64_t *set, uint32_t i)
{
    return (set[i / 64] >> (i % 64)) & 1;
}

static inline void ft_set_add(uint64_t *set, uint32_t i)
{
    set[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline void ft_set_remove(uint64_t *set, uint32_t i)
{
    set[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

#endif
