/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * match_split.h - the split of a fuzzy key between source and tag, from a running
 * estimate of how many bits of each vary: a program with one source and many tags gets a
 * key of tag bits.  A bad estimate costs speed, never a wrong match.
 *
 * Bits that differ between consecutive entries are collected for MATCH_PERIOD entries;
 * the estimate is the union of the last two periods. Uses: match_key.  Used by:
 * match_queue, match_nodes.
 */
#ifndef COMPAT_MPI_MATCH_SPLIT_H
#define COMPAT_MPI_MATCH_SPLIT_H

#include <stdbool.h>

#include "compat/mpi/match/match_key.h"

enum { MATCH_PERIOD = 256 };

struct match_split {
    uint8_t source_bits, tag_bits; /* together the width of a key */
    bool has_source, has_tag;      /* source, tag are valid */
    uint32_t samples;              /* since the last choice */
    int32_t source, tag;           /* last ones that were not wildcards */
    uint32_t source_varies, tag_varies;
    uint32_t source_before, tag_before; /* of the last period */
    uint32_t source_ever, tag_ever;
};

static inline void match_split_init(struct match_split *s, unsigned width)
{
    *s = (struct match_split){.source_bits = (uint8_t)(width / 2),
                              .tag_bits = (uint8_t)(width - width / 2)};
}

/* Bits that nobody needs are shared; where there are too few, each field gets its part.
 */
static inline void match_split_choose(struct match_split *s, unsigned width)
{
    unsigned source = (unsigned)__builtin_popcount(s->source_varies | s->source_before);
    unsigned tag = (unsigned)__builtin_popcount(s->tag_varies | s->tag_before);
    unsigned bits = source + tag <= width ? source + (width - source - tag) / 2
                                          : width * source / (source + tag);

    s->source_bits = (uint8_t)bits;
    s->tag_bits = (uint8_t)(width - bits);
    s->source_ever |= s->source_varies;
    s->tag_ever |= s->tag_varies;
    s->source_before = s->source_varies;
    s->tag_before = s->tag_varies;
    s->source_varies = s->tag_varies = 0;
    s->samples = 0;
}

static inline void match_split_sample(struct match_split *s, const struct match_key *key)
{
    if (key->source != MATCH_ANY_SOURCE) {
        if (s->has_source)
            s->source_varies |= (uint32_t)(key->source ^ s->source);
        s->source = key->source;
        s->has_source = true;
    }
    if (key->tag != MATCH_ANY_TAG) {
        if (s->has_tag)
            s->tag_varies |= (uint32_t)(key->tag ^ s->tag);
        s->tag = key->tag;
        s->has_tag = true;
    }
    s->samples++;
}

#endif
