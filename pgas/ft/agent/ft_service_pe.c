/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_service_pe.c - requests of the PEs of a node, and decisions.
 *
 * An agreement is contributed when every live member PE of the node has posted it: the
 * words are combined over these PEs.  Its decision is stored in the map before the first
 * mailbox is completed: a successor of this agent completes the others, for
 * which the condition can no longer become true.
 * Uses: ft_service.h, ft_proto, ft_map.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "pgas/ft/agent/ft_service.h"

enum { RETRY_NS = 10000000 /* after which a contribution is tried again */ };

_Static_assert((int)FT_WORDS == (int)FT_WORDS_MAX,
               "a mailbox has the words of one agreement");

/* ---- agreements ---------------------------------------------------------------------
 */

static bool ft_service_same_key(struct ft_key a, uint64_t team, uint32_t seq)
{
    return a.team == team && a.seq == seq;
}

/* The mailbox of a local rank with a request for this agreement; -1: none. */
static int ft_service_find_box(const struct ft_service *s, uint32_t local,
                               struct ft_key key)
{
    for (int slot = 0; slot < FT_SLOTS; slot++) {
        const struct ft_mailbox *box = ft_map_mailbox(s->map, local, slot);
        if (atomic_load_explicit(&box->state, memory_order_acquire) == FT_POSTED &&
            box->request == FT_AGREE && ft_service_same_key(key, box->team, box->seq))
            return slot;
    }
    return -1;
}

static void ft_service_combine(struct ft_words *sum, const struct ft_mailbox *box)
{
    for (uint32_t i = 0; i < sum->n_and; i++)
        sum->word[i] &= box->word[i];
    for (uint32_t i = sum->n_and; i < sum->n_and + sum->n_max; i++)
        sum->word[i] = box->word[i] > sum->word[i] ? box->word[i] : sum->word[i];
}

/* Combines the words of all live member PEs of the node; false: one has not posted. */
static bool ft_service_gather(const struct ft_service *s, struct ft_key key,
                              const uint64_t *members, struct ft_words *sum)
{
    for (uint32_t i = 0; i < s->map->local; i++) {
        if (!ft_service_is_live(s, i) || !ft_set_has(members, ft_map_rank(s->map)[i]))
            continue;
        int slot = ft_service_find_box(s, i, key);
        if (slot < 0)
            return false;
        ft_service_combine(sum, ft_map_mailbox(s->map, i, slot));
    }
    return true;
}

/* Stores the nodes that have live member PEs in s->set. */
static void ft_service_find_nodes(struct ft_service *s, const uint64_t *members)
{
    const struct ft_map *map = s->map;

    memset(s->set, 0, map->node_words * sizeof *s->set);
    for (uint32_t w = 0; w < ft_map_set_words(map); w++) {
        uint64_t live = members[w] & ~ft_proto_failed_pes(s->proto)[w];
        for (; live != 0; live &= live - 1) {
            uint32_t pe = w * 64 + (uint32_t)__builtin_ctzll(live);
            if (pe < map->npes)
                ft_set_add(s->set, ft_service_node_of(s, pe));
        }
    }
    ft_set_add(s->set, map->node);
}

static struct ft_decided *ft_service_find_decided(const struct ft_service *s,
                                                  uint64_t team, uint32_t seq)
{
    for (uint32_t i = 0; i < FT_DECIDED; i++) {
        struct ft_decided *d = ft_map_decided(s->map, i);
        if (atomic_load_explicit(&d->valid, memory_order_acquire) != 0 &&
            d->team == team && d->seq == seq)
            return d;
    }
    return NULL;
}

static void ft_service_complete(struct ft_service *s, uint32_t local, int slot,
                                const uint64_t *word, const uint64_t *failed)
{
    struct ft_mailbox *box = ft_map_mailbox(s->map, local, slot);

    memcpy(box->word, word, sizeof box->word);
    memcpy(ft_map_agreed(s->map, local, slot), failed,
           ft_map_set_words(s->map) * sizeof *failed);
    ft_map_complete(s->node, local, slot);
}

static struct ft_open *ft_service_find_open(const struct ft_service *s, uint64_t team,
                                            uint32_t seq)
{
    struct ft_open *open = s->open;

    while (open != NULL && !ft_service_same_key(open->key, team, seq))
        open = open->next;
    return open;
}

/* Without memory, or without space in the protocol, the mailbox is tried again. */
static void ft_service_contribute(struct ft_service *s, uint64_t now,
                                  const struct ft_mailbox *box, const uint64_t *members)
{
    size_t bytes = ft_map_set_words(s->map) * sizeof *members;
    struct ft_key key = {.team = box->team, .seq = box->seq};
    struct ft_words sum = {.n_and = box->ands, .n_max = box->maxs};

    memset(sum.word, 0xff, sum.n_and * sizeof sum.word[0]);
    if (!ft_service_gather(s, key, members, &sum))
        return;
    struct ft_open *open = malloc(sizeof *open + bytes);
    if (open == NULL) {
        ft_service_retry_after(s, now, RETRY_NS);
        return;
    }
    *open = (struct ft_open){.next = s->open, .key = key};
    memcpy(open->members, members, bytes);
    s->open = open;
    ft_service_find_nodes(s, members);
    /* The decision may be delivered in this call. */
    if (ft_proto_agree(s->proto, now, key, s->set, &sum) != 0) {
        open->decided = true;
        ft_service_retry_after(s, now, RETRY_NS);
    }
}

static void ft_service_take_agree(struct ft_service *s, uint64_t now, uint32_t local,
                                  int slot)
{
    struct ft_mailbox *box = ft_map_mailbox(s->map, local, slot);
    struct ft_decided *d = ft_service_find_decided(s, box->team, box->seq);

    if (d != NULL)
        ft_service_complete(s, local, slot, d->word, ft_map_decided_failed(d));
    else if (ft_service_find_open(s, box->team, box->seq) == NULL &&
             box->ands + box->maxs <= FT_WORDS)
        ft_service_contribute(s, now, box, ft_map_members(s->map, local, slot));
}

/* All live nodes get a revocation that this one has got: no second broadcast, although
 * all PEs of a team may revoke it at the same time. */
static void ft_service_take_revoke(struct ft_service *s, uint64_t now, uint32_t local,
                                   int slot)
{
    const struct ft_mailbox *box = ft_map_mailbox(s->map, local, slot);
    struct ft_revocation what = {.team = box->team, .slot = box->slot};

    if (!ft_map_is_revoked(s->map, local, what.slot, what.team))
        ft_proto_broadcast(s->proto, now, FT_PAYLOAD_REVOKE, &what, sizeof what);
    ft_map_complete(s->node, local, slot);
}

/* Live nodes whose member PEs have all failed contribute no more. */
static void ft_service_exclude(struct ft_service *s, uint64_t now, struct ft_open *open)
{
    const struct ft_map *map = s->map;

    ft_service_find_nodes(s, open->members);
    for (uint32_t pe = 0; pe < map->npes && !open->decided; pe++) {
        uint32_t node = ft_service_node_of(s, pe);
        if (!ft_set_has(open->members, pe) || ft_set_has(s->set, node) ||
            ft_proto_node_failed(s->proto, node))
            continue;
        ft_set_add(s->set, node);
        ft_proto_agree_exclude(s->proto, now, open->key, node);
    }
}

void ft_service_free_open(struct ft_service *s, bool all)
{
    for (struct ft_open **at = &s->open; *at != NULL;) {
        struct ft_open *open = *at;
        if (all || open->decided) {
            *at = open->next;
            free(open);
        } else {
            at = &open->next;
        }
    }
}

void ft_service_serve_mailboxes(struct ft_service *s, uint64_t now)
{
    bool recheck = s->recheck;

    s->recheck = false;
    for (struct ft_open *open = s->open; recheck && open != NULL; open = open->next)
        ft_service_exclude(s, now, open);
    for (uint32_t i = 0; i < s->map->local; i++)
        for (int slot = 0; slot < FT_SLOTS; slot++) {
            const struct ft_mailbox *box = ft_map_mailbox(s->map, i, slot);
            if (atomic_load_explicit(&box->state, memory_order_acquire) != FT_POSTED ||
                !ft_service_is_live(s, i))
                continue;
            if (box->request == FT_AGREE)
                ft_service_take_agree(s, now, i, slot);
            else if (box->request == FT_REVOKE)
                ft_service_take_revoke(s, now, i, slot);
        }
    ft_service_free_open(s, false);
}

/* ---- decisions ----------------------------------------------------------------------
 */

/* The place of the previous decision of the team, which nobody asks for any more, or else
 * the oldest place. */
static struct ft_decided *ft_service_decided_place(struct ft_service *s, uint64_t team)
{
    for (uint32_t i = 0; i < FT_DECIDED; i++) {
        struct ft_decided *d = ft_map_decided(s->map, i);
        if (atomic_load_explicit(&d->valid, memory_order_relaxed) != 0 && d->team == team)
            return d;
    }
    return ft_map_decided(s->map, s->map->decisions++ % FT_DECIDED);
}

static void ft_service_store_decision(struct ft_service *s,
                                      const struct ft_decision *from,
                                      const struct ft_open *open)
{
    struct ft_decided *d = ft_service_decided_place(s, from->key.team);

    atomic_store_explicit(&d->valid, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    d->team = from->key.team;
    d->seq = from->key.seq;
    d->view = from->view;
    d->ands = from->words.n_and;
    d->maxs = from->words.n_max;
    memcpy(d->word, from->words.word, sizeof d->word);
    memcpy(ft_map_decided_failed(d), from->failed,
           ft_map_set_words(s->map) * sizeof *from->failed);
    ft_service_find_nodes(s, open->members);
    memcpy(ft_map_decided_nodes(s->map, d), s->set, s->map->node_words * sizeof *s->set);
    atomic_store_explicit(&d->valid, 1, memory_order_release);
}

/* Without a record of a contribution the decision is ignored: a mailbox that waits for it
 * contributes when it is served next, upon which the protocol repeats the decision. */
void ft_service_decide(struct ft_service *s, const struct ft_decision *decision)
{
    struct ft_open *open = ft_service_find_open(s, decision->key.team, decision->key.seq);

    if (open == NULL)
        return;
    ft_service_store_decision(s, decision, open);
    open->decided = true;
    for (uint32_t i = 0; i < s->map->local; i++) {
        int slot = ft_service_find_box(s, i, decision->key);
        if (slot >= 0)
            ft_service_complete(s, i, slot, decision->words.word, decision->failed);
    }
}

void ft_service_restore(struct ft_service *s)
{
    for (uint32_t i = 0; i < FT_DECIDED; i++) {
        struct ft_decided *d = ft_map_decided(s->map, i);
        if (atomic_load_explicit(&d->valid, memory_order_acquire) == 0 ||
            d->ands > FT_WORDS || d->maxs > FT_WORDS - d->ands)
            continue;
        struct ft_decision decision = {.key = {.team = d->team, .seq = d->seq},
                                       .view = d->view,
                                       .words = {.n_and = d->ands, .n_max = d->maxs},
                                       .failed = ft_map_decided_failed(d)};
        memcpy(decision.words.word, d->word, sizeof d->word);
        ft_proto_agree_restore(s->proto, &decision, ft_map_decided_nodes(s->map, d));
    }
}
