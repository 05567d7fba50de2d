/* SPDX-License-Identifier: BSD-3-Clause */
/* match_bins.c - see match_bins.h. */
#include "config.h"

#include <stdlib.h>

#include "compat/mpi/match/match_bins.h"
#include "pgas/core/base/pgas_assert.h"

struct match_bins {
    bool posted;
    unsigned number;   /* a power of two */
    unsigned shift;    /* of a 32-bit hash to a bin */
    uint64_t occupied; /* bit i: bin i is not empty */
    uint64_t age;      /* of the next entry */
    struct match_queue any_source;
    struct match_queue bin[];
};

struct match_bins *match_bins_make(const struct match_options *options, bool posted)
{
    struct match_bins *b = malloc(sizeof *b + options->bins * sizeof b->bin[0]);
    struct match_options of_bin = *options;

    if (b == NULL)
        return NULL;
    *b = (struct match_bins){.posted = posted,
                             .number = options->bins,
                             .shift = (unsigned)__builtin_clz(options->bins) + 1};
    of_bin.bins = 0;
    of_bin.timed = false;
    match_queue_init(&b->any_source, &of_bin, posted);
    for (unsigned i = 0; i < b->number; i++)
        match_queue_init(&b->bin[i], &of_bin, posted);
    return b;
}

void match_bins_free(struct match_bins *b)
{
    if (b == NULL)
        return;
    match_queue_free(&b->any_source);
    for (unsigned i = 0; i < b->number; i++)
        match_queue_free(&b->bin[i]);
    free(b);
}

/* The multiplier differs from that of match_hash: the keys of a bin shall not agree in
 * the bits that fuzzy keys consist of.  The fraction of the square root of 2 spreads
 * consecutive sources evenly. */
static unsigned match_bins_index(const struct match_bins *b, const struct match_key *key)
{
    uint32_t hash = ((uint32_t)key->source + key->context * 0x85ebca6bu) * 0x6a09e667u;

    return hash >> b->shift;
}

void match_bins_append(struct match_bins *b, struct match_entry *e)
{
    e->age = b->age++;
    if (e->key.source == MATCH_ANY_SOURCE) {
        match_queue_append(&b->any_source, e);
        return;
    }
    unsigned i = match_bins_index(b, &e->key);
    b->occupied |= UINT64_C(1) << i;
    match_queue_append(&b->bin[i], e);
}

void match_bins_remove(struct match_bins *b, struct match_entry *e)
{
    if (e->key.source == MATCH_ANY_SOURCE) {
        match_queue_remove(&b->any_source, e);
        return;
    }
    unsigned i = match_bins_index(b, &e->key);
    match_queue_remove(&b->bin[i], e);
    if (b->bin[i].count == 0)
        b->occupied &= ~(UINT64_C(1) << i);
}

static struct match_entry *match_bins_older(struct match_entry *a, struct match_entry *b)
{
    return a == NULL || (b != NULL && b->age < a->age) ? b : a;
}

static struct match_entry *match_bins_search_all(struct match_bins *b,
                                                 const struct match_key *key)
{
    struct match_entry *oldest = NULL;

    for (uint64_t left = b->occupied; left != 0; left &= left - 1)
        oldest = match_bins_older(
            oldest, match_queue_search(&b->bin[__builtin_ctzll(left)], key));
    return oldest;
}

struct match_entry *match_bins_search(struct match_bins *b, const struct match_key *key)
{
    struct match_entry *e;

    if (key->source == MATCH_ANY_SOURCE) {
        PGAS_ASSERT(!b->posted); /* messages have no wildcards */
        return match_bins_search_all(b, key);
    }
    e = match_queue_search(&b->bin[match_bins_index(b, key)], key);
    return b->any_source.count == 0
               ? e
               : match_bins_older(e, match_queue_search(&b->any_source, key));
}

static void match_bins_add(struct match_stats *sum, const struct match_stats *s)
{
    sum->candidates += s->candidates;
    sum->false_positives += s->false_positives;
    sum->compactions += s->compactions;
    sum->merges += s->merges;
    sum->conversions += s->conversions;
    sum->failed_allocations += s->failed_allocations;
    sum->nodes += s->nodes;
    sum->most_nodes += s->most_nodes;
}

void match_bins_add_stats(const struct match_bins *b, struct match_stats *sum)
{
    match_bins_add(sum, &b->any_source.stats);
    for (unsigned i = 0; i < b->number; i++)
        match_bins_add(sum, &b->bin[i].stats);
}

size_t match_bins_memory(const struct match_bins *b)
{
    size_t bytes = sizeof *b + b->number * sizeof b->bin[0];

    bytes += match_queue_memory(&b->any_source);
    for (unsigned i = 0; i < b->number; i++)
        bytes += match_queue_memory(&b->bin[i]);
    return bytes;
}
