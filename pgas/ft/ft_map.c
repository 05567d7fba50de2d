/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_map.c - see ft_map.h.  Uses: core/base/os.h, core/boot/node.h. */
#include "config.h"

#include <string.h>

#include "pgas/core/base/counter.h"
#include "pgas/core/base/os.h"
#include "pgas/core/boot/node.h"
#include "pgas/ft/ft_map.h"
#include "pgas/ft/ft_types.h"

static uint64_t ft_map_round_up(uint64_t n)
{
    return (n + FT_LINE - 1) / FT_LINE * FT_LINE;
}

/* Appends a part of n bytes at a cache line; returns its offset. */
static uint64_t ft_map_append(uint64_t *end, uint64_t n)
{
    uint64_t at = ft_map_round_up(*end);

    *end = at + n;
    return at;
}

static uint64_t ft_map_layout(struct ft_map *map)
{
    uint64_t end = sizeof *map, slots = (uint64_t)map->local * FT_SLOTS;
    uint64_t set = ft_map_set_words(map) * sizeof(uint64_t);

    map->failed_at = ft_map_append(&end, set);
    map->node_words = (map->nnodes + 63) / 64;
    map->failed_nodes_at = ft_map_append(&end, map->node_words * sizeof(uint64_t));
    map->node_of_at = ft_map_append(&end, map->npes * sizeof(uint32_t));
    map->rank_at = ft_map_append(&end, map->local * sizeof(uint32_t));
    map->word_at = ft_map_append(&end, map->local * sizeof(struct ft_word));
    map->endpoint_at = ft_map_append(&end, map->nnodes * sizeof(struct ft_endpoint));
    map->mailbox_at = ft_map_append(&end, slots * sizeof(struct ft_mailbox));
    map->sets_at = ft_map_append(&end, slots * 2 * set);
    map->decided_bytes = ft_map_round_up(sizeof(struct ft_decided) + set +
                                         map->node_words * sizeof(uint64_t));
    map->decided_at = ft_map_append(&end, FT_DECIDED * map->decided_bytes);
    map->calls_at = ft_map_append(&end, map->local * sizeof(struct ft_calls));
    map->slots_at = ft_map_append(&end, (uint64_t)map->local * FT_TEAM_SLOTS *
                                            sizeof(struct ft_team_slot));
    return end;
}

size_t ft_map_bytes(uint32_t npes, uint32_t nnodes, uint32_t local)
{
    struct ft_map map = {.npes = npes, .nnodes = nnodes, .local = local};

    return ft_map_layout(&map);
}

void ft_map_init(struct ft_map *map, uint32_t npes, uint32_t nnodes, uint32_t node,
                 uint32_t local)
{
    map->npes = npes;
    map->nnodes = nnodes;
    map->node = node;
    map->local = local;
    map->epoch = map->event = (uint32_t)counter_start();
    ft_map_layout(map);
}

static bool ft_endpoint_has(const struct ft_endpoint *e, const struct ft_address *a)
{
    for (int i = 0; i < FT_ADDRESSES; i++)
        if (e->address[i].family == a->family &&
            memcmp(e->address[i].ip, a->ip, sizeof a->ip) == 0)
            return true;
    return false;
}

/* Counts the addresses of e, and those of them that `other` has. */
static int ft_endpoint_count(const struct ft_endpoint *e, const struct ft_endpoint *other,
                             int *common)
{
    int n = 0;

    *common = 0;
    for (int i = 0; i < FT_ADDRESSES; i++)
        if (e->address[i].family != 0) {
            n++;
            *common += ft_endpoint_has(other, &e->address[i]);
        }
    return n;
}

bool ft_endpoint_share_host(const struct ft_endpoint *a, const struct ft_endpoint *b)
{
    int of_a, of_b, a_in_b, b_in_a;

    of_a = ft_endpoint_count(a, b, &a_in_b);
    of_b = ft_endpoint_count(b, a, &b_in_a);
    return of_a > 0 && of_b > 0 && (a_in_b == of_a || b_in_a == of_b);
}

void ft_map_wake_all(struct node *node)
{
    for (uint32_t i = 0; i < node->npes; i++) {
        atomic_fetch_add_explicit(&node->pe[i].wake, 1, memory_order_release);
        os_futex_wake(&node->pe[i].wake);
    }
}

void ft_map_notify_agent(struct ft_map *map)
{
    atomic_fetch_add_explicit(&map->event, 1, memory_order_release);
    os_futex_wake(&map->event);
}

void ft_map_set_agent(struct node *node, enum ft_agent_state state)
{
    struct ft_map *map = node_ft(node);

    atomic_store_explicit(&map->agent, state, memory_order_release);
    os_futex_wake(&map->agent);
    ft_map_wake_all(node);
    ft_map_notify_agent(map);
}

void ft_map_wake_watchers(struct ft_map *map)
{
    atomic_fetch_add_explicit(&map->epoch, 1, memory_order_release);
    os_futex_wake(&map->epoch);
}

void ft_map_changed(struct node *node)
{
    struct ft_map *map = node_ft(node);

    ft_map_wake_watchers(map);
    ft_map_wake_all(node);
    ft_map_notify_agent(map);
}

/* Raises `failures` to the number of failed PEs; true if it was lower. */
static bool ft_map_count(struct ft_map *map)
{
    uint32_t n = 0, seen = atomic_load_explicit(&map->failures, memory_order_acquire);

    for (uint32_t i = 0; i < ft_map_set_words(map); i++)
        n += (uint32_t)__builtin_popcountll(
            atomic_load_explicit(&ft_map_failed(map)[i], memory_order_acquire) &
            ft_set_valid(i, map->npes));
    while (seen < n)
        if (atomic_compare_exchange_weak_explicit(
                &map->failures, &seen, n, memory_order_acq_rel, memory_order_acquire))
            return true;
    return false;
}

/* The process that calls it may die after each statement; the next call for the same PEs
 * does what was left undone.  A number that is no PE comes from a damaged map. */
bool ft_map_fail(struct node *node, const uint32_t *pe, uint32_t n)
{
    struct ft_map *map = node_ft(node);
    bool fresh = false;

    for (uint32_t i = 0; i < n; i++) {
        if (pe[i] >= map->npes)
            continue;
        uint64_t bit = (uint64_t)1 << pe[i] % 64;
        uint64_t was = atomic_fetch_or_explicit(&ft_map_failed(map)[pe[i] / 64], bit,
                                                memory_order_acq_rel);
        fresh = fresh || (was & bit) == 0;
    }
    if (ft_map_count(map))
        ft_map_changed(node);
    return fresh;
}

bool ft_map_revoke(struct ft_map *map, uint32_t local, uint32_t slot, uint64_t team,
                   bool certain)
{
    struct ft_team_slot *s = ft_map_slot(map, local, slot);

    if (s == NULL || team == 0 ||
        (!certain && atomic_load_explicit(&s->team, memory_order_acquire) != team) ||
        atomic_load_explicit(&s->revoked, memory_order_relaxed) == team)
        return false;
    atomic_store_explicit(&s->revoked, team, memory_order_release);
    return true;
}

bool ft_map_is_revoked(const struct ft_map *map, uint32_t local, uint32_t slot,
                       uint64_t team)
{
    const struct ft_team_slot *s = ft_map_slot(map, local, slot);

    return s != NULL && team != 0 &&
           atomic_load_explicit(&s->revoked, memory_order_acquire) == team;
}

static void ft_map_wake_pe(struct node *node, uint32_t local)
{
    atomic_fetch_add_explicit(&node->pe[local].wake, 1, memory_order_release);
    os_futex_wake(&node->pe[local].wake);
}

void ft_map_complete(struct node *node, uint32_t local, int slot)
{
    struct ft_mailbox *box = ft_map_mailbox(node_ft(node), local, slot);

    atomic_store_explicit(&box->state, FT_DONE, memory_order_release);
    ft_map_wake_pe(node, local);
}

/* The PE waits for both stores: a successor of an agent that dies in between finds the
 * bit and answers again, and a new question is not lost. */
void ft_map_answer(struct node *node, uint32_t local, uint32_t line, bool success)
{
    struct ft_calls *calls = ft_map_calls(node_ft(node), local);
    struct ft_call *call = &calls->line[line];
    uint64_t number = atomic_load_explicit(&call->asked, memory_order_acquire);

    call->success = success;
    atomic_store_explicit(&call->answered, number, memory_order_release);
    atomic_fetch_and_explicit(&calls->asking[line / 64], ~(UINT64_C(1) << line % 64),
                              memory_order_release);
    ft_map_wake_pe(node, local);
}
