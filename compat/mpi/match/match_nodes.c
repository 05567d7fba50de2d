/* SPDX-License-Identifier: BSD-3-Clause */
/* match_nodes.c - see match_nodes.h. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "compat/mpi/match/match_nodes.h"
#include "compat/mpi/match/match_regions.h"
#include "pgas/core/base/pgas_assert.h"

enum {
    SPARES_MAX = 2,                  /* empty nodes that a queue keeps */
    MERGE_MAX = MATCH_SLOTS * 3 / 4, /* entries of a merged node: more can be appended */
};

/* ---- layout --------------------------------------------------------------------- */

/* Of the keys of all slots, or of their masks */
static size_t match_nodes_key_bytes(const struct match_queue *q)
{
    return (size_t)MATCH_SLOTS * (q->exact ? 2 * sizeof(uint32_t) : q->lane_bits / 8u);
}

static size_t match_nodes_entries_at(const struct match_queue *q)
{
    return match_nodes_key_bytes(q) * (q->posted ? 2 : 1);
}

size_t match_nodes_bytes(const struct match_queue *q)
{
    return sizeof(struct match_node) + match_nodes_entries_at(q) +
           MATCH_SLOTS * sizeof(struct match_entry *);
}

static struct match_entry **match_nodes_entries(const struct match_queue *q,
                                                const struct match_node *n)
{
    return (struct match_entry **)(void *)((char *)(uintptr_t)n->lanes +
                                           match_nodes_entries_at(q));
}

/* ---- allocation ----------------------------------------------------------------- */

static struct match_node *match_nodes_alloc(struct match_queue *q)
{
    struct match_node *n = q->spare;
    uint16_t region = MATCH_NO_REGION;

    if (n != NULL) {
        region = n->region;
        q->spare = n->next;
        q->spares--;
    } else {
        n = aligned_alloc(MATCH_LINE, match_nodes_bytes(q));
        if (n == NULL)
            return NULL;
        if (q->regions != NULL)
            region = match_regions_add(q->regions, n, match_nodes_bytes(q));
    }
    *n = (struct match_node){.source_bits = q->split.source_bits,
                             .tag_bits = q->split.tag_bits,
                             .region = region};
    if (++q->stats.nodes > q->stats.most_nodes)
        q->stats.most_nodes = q->stats.nodes;
    return n;
}

static void match_nodes_release(struct match_queue *q, struct match_node *n)
{
    q->stats.nodes--;
    if (q->spares == SPARES_MAX) {
        match_regions_free(q->regions, n->region, n);
        return;
    }
    n->next = q->spare;
    q->spare = n;
    q->spares++;
}

static void match_nodes_unlink(struct match_queue *q, struct match_node *n)
{
    *(n->prev == NULL ? &q->first : &n->prev->next) = n->next;
    *(n->next == NULL ? &q->last : &n->next->prev) = n->prev;
    match_nodes_release(q, n);
}

/* ---- slots ---------------------------------------------------------------------- */

static void match_nodes_store_fuzzy(const struct match_queue *q, struct match_node *n,
                                    unsigned slot, const struct match_key *key)
{
    uint32_t mask =
        match_fuzzy_key(match_field_mask(key->source), match_field_mask(key->tag),
                        n->source_bits, n->tag_bits);
    uint32_t lane = mask & match_fuzzy_key(match_hash(key->source, key->context),
                                           match_hash(key->tag, key->context),
                                           n->source_bits, n->tag_bits);
    void *masks = n->lanes + match_nodes_key_bytes(q);

    if (q->lane_bits == 8) {
        n->lanes[slot] = (uint8_t)lane;
        if (q->posted)
            ((uint8_t *)masks)[slot] = (uint8_t)mask;
    } else if (q->lane_bits == 16) {
        ((uint16_t *)(void *)n->lanes)[slot] = (uint16_t)lane;
        if (q->posted)
            ((uint16_t *)masks)[slot] = (uint16_t)mask;
    } else {
        ((uint32_t *)(void *)n->lanes)[slot] = lane;
        if (q->posted)
            ((uint32_t *)masks)[slot] = mask;
    }
}

static void match_nodes_store_exact(const struct match_queue *q, struct match_node *n,
                                    unsigned slot, const struct match_key *key)
{
    uint32_t *lane = (uint32_t *)(void *)n->lanes + slot;
    uint32_t source_mask = match_field_mask(key->source),
             tag_mask = match_field_mask(key->tag);

    lane[0] = (uint32_t)key->source & source_mask;
    lane[MATCH_SLOTS] = (uint32_t)key->tag & tag_mask;
    if (q->posted) {
        lane[2 * MATCH_SLOTS] = source_mask;
        lane[3 * MATCH_SLOTS] = tag_mask;
    }
}

/* In the next free slot */
static void match_nodes_store(const struct match_queue *q, struct match_node *n,
                              struct match_entry *e)
{
    unsigned slot = n->used++, group = slot / MATCH_GROUP;

    PGAS_ASSERT(slot < MATCH_SLOTS);
    n->count++;
    n->live[group] |= UINT64_C(1) << slot % MATCH_GROUP;
    if (q->posted && (e->key.source == MATCH_ANY_SOURCE || e->key.tag == MATCH_ANY_TAG))
        n->wild |= (uint8_t)(1u << group);
    if (q->exact)
        match_nodes_store_exact(q, n, slot, &e->key);
    else
        match_nodes_store_fuzzy(q, n, slot, &e->key);
    match_nodes_entries(q, n)[slot] = e;
    e->where = MATCH_IN_NODE;
    e->node = n;
    e->slot = (uint16_t)slot;
}

/* ---- compaction ----------------------------------------------------------------- */

static void match_nodes_reset(const struct match_queue *q, struct match_node *n)
{
    n->used = n->count = 0;
    n->wild = 0;
    memset(n->live, 0, sizeof n->live);
    n->source_bits = q->split.source_bits;
    n->tag_bits = q->split.tag_bits;
}

/* Appends the live entries of `from` to `to` in order.  They may be the same node: an
 * entry moves to its own slot or to an older one. */
static void match_nodes_move(const struct match_queue *q, struct match_node *to,
                             struct match_node *from)
{
    struct match_entry **entries = match_nodes_entries(q, from);
    uint64_t live[MATCH_GROUPS];

    memcpy(live, from->live, sizeof live);
    if (to == from)
        match_nodes_reset(q, to);
    for (unsigned g = 0; g < MATCH_GROUPS; g++)
        for (; live[g] != 0; live[g] &= live[g] - 1)
            match_nodes_store(
                q, to, entries[g * MATCH_GROUP + (unsigned)__builtin_ctzll(live[g])]);
}

static void match_nodes_compact(struct match_queue *q, struct match_node *n)
{
    match_nodes_move(q, n, n);
    q->stats.compactions++;
}

static bool match_nodes_can_merge(const struct match_node *older,
                                  const struct match_node *younger)
{
    return older != NULL && younger != NULL && older->count + younger->count <= MERGE_MAX;
}

static void match_nodes_merge(struct match_queue *q, struct match_node *older,
                              struct match_node *younger)
{
    match_nodes_compact(q, older);
    match_nodes_move(q, older, younger);
    match_nodes_unlink(q, younger);
    q->stats.merges++;
}

/* ---- the operations ------------------------------------------------------------- */

/* A node with a free slot at the end of the chain.  At least half of the slots have been
 * emptied between two compactions of a node. */
static struct match_node *match_nodes_reserve(struct match_queue *q)
{
    struct match_node *n = q->last;

    if (n != NULL && n->used < MATCH_SLOTS)
        return n;
    if (n != NULL && n->count <= MATCH_SLOTS / 2) {
        match_nodes_compact(q, n);
        return n;
    }
    /* The node will not change for long: it is worth the better split. */
    if (n != NULL && !q->exact && n->source_bits != q->split.source_bits)
        match_nodes_compact(q, n);
    if (n != NULL && n->used < MATCH_SLOTS)
        return n;
    n = match_nodes_alloc(q);
    if (n == NULL)
        return NULL;
    n->prev = q->last;
    *(q->last == NULL ? &q->first : &q->last->next) = n;
    q->last = n;
    return n;
}

bool match_nodes_append(struct match_queue *q, struct match_entry *e)
{
    struct match_node *n = match_nodes_reserve(q);

    if (n == NULL)
        return false;
    match_nodes_store(q, n, e);
    return true;
}

/* Slots at the end of the last node can be used again: nothing younger exists. */
static void match_nodes_trim(struct match_node *n)
{
    unsigned g = (n->used - 1u) / MATCH_GROUP;

    while (n->live[g] == 0)
        g--;
    n->used = (uint16_t)((g + 1) * MATCH_GROUP - (unsigned)__builtin_clzll(n->live[g]));
}

void match_nodes_remove(struct match_queue *q, struct match_entry *e)
{
    struct match_node *n = e->node;

    PGAS_ASSERT(e->where == MATCH_IN_NODE && n->count > 0);
    n->live[e->slot / MATCH_GROUP] &= ~(UINT64_C(1) << e->slot % MATCH_GROUP);
    n->count--;
    e->where = MATCH_NOWHERE;
    if (n->count == 0) {
        if (q->first == q->last)
            match_nodes_reset(q, n);
        else
            match_nodes_unlink(q, n);
        return;
    }
    if (n == q->last && e->slot + 1u == n->used)
        match_nodes_trim(n);
    /* A merge costs up to MERGE_MAX moves: tried once for each halving of a node. */
    if (n->count > MATCH_SLOTS / 2 || (n->count & (n->count - 1)) != 0)
        return;
    if (match_nodes_can_merge(n->prev, n))
        match_nodes_merge(q, n->prev, n);
    else if (match_nodes_can_merge(n, n->next))
        match_nodes_merge(q, n, n->next);
}

struct match_entry *match_nodes_search(struct match_queue *q, const struct match_key *key)
{
    const uint32_t source_mask = match_field_mask(key->source),
                   tag_mask = match_field_mask(key->tag);
    struct match_cursor c = {
        .node = q->first,
        .source = (uint32_t)key->source & source_mask,
        .tag = (uint32_t)key->tag & tag_mask,
        .source_mask = source_mask,
        .tag_mask = tag_mask,
        .source_hash = match_hash(key->source, key->context),
        .tag_hash = match_hash(key->tag, key->context),
        .source_bits = UINT8_MAX, /* no node has this split */
    };
    const bool posted = q->posted;

    for (uint64_t found = q->scan(&c); found != 0; found = q->scan(&c)) {
        struct match_entry **entries =
            match_nodes_entries(q, c.node) + c.group * MATCH_GROUP;
        for (; found != 0; found &= found - 1) {
            struct match_entry *e = entries[__builtin_ctzll(found)];
            q->stats.candidates++;
            if (posted ? match_key_fits(&e->key, key) : match_key_fits(key, &e->key))
                return e;
            q->stats.false_positives++;
        }
    }
    return NULL;
}

void match_nodes_to_list(struct match_queue *q)
{
    for (struct match_node *n = q->first, *next; n != NULL; n = next) {
        struct match_entry **entries = match_nodes_entries(q, n);
        for (unsigned g = 0; g < MATCH_GROUPS; g++)
            for (uint64_t live = n->live[g]; live != 0; live &= live - 1)
                match_list_append(
                    &q->list, entries[g * MATCH_GROUP + (unsigned)__builtin_ctzll(live)],
                    MATCH_IN_LIST);
        next = n->next;
        match_nodes_release(q, n);
    }
    q->first = q->last = NULL;
}

void match_nodes_free(struct match_queue *q)
{
    for (struct match_node *n = q->first, *next; n != NULL; n = next) {
        next = n->next;
        match_regions_free(q->regions, n->region, n);
    }
    for (struct match_node *n = q->spare, *next; n != NULL; n = next) {
        next = n->next;
        match_regions_free(q->regions, n->region, n);
    }
    q->first = q->last = q->spare = NULL;
    q->spares = 0;
}
