/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_service.c - see ft_service.h.  Uses: ft_proto, ft_ring_order, ft_map. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "pgas/ft/protocol/ft_ring.h"
#include "pgas/ft/agent/ft_service.h"

enum { AGREEMENTS = 256 /* that the protocol stores */ };

/* ---- outputs of the protocol ------------------------------------------------------- */

static void ft_service_on_send(void *host, uint32_t to, const void *frame, size_t len)
{
    struct ft_service *s = host;

    s->calls->send(s->host, to, s->generation, frame, len);
}

static void ft_service_on_node_pes(void *host, uint32_t node, uint64_t *pes)
{
    const struct ft_service *s = host;

    for (uint32_t pe = 0; pe < s->map->npes; pe++)
        if (ft_service_node_of(s, pe) == node)
            ft_set_add(pes, pe);
}

/* Stores the members of a set of n in s->list; returns their number. */
static uint32_t ft_service_list(struct ft_service *s, const uint64_t *set, uint32_t n)
{
    uint32_t count = 0;

    for (uint32_t w = 0; w < FT_SET_WORDS(n); w++)
        for (uint64_t bits = set[w]; bits != 0; bits &= bits - 1)
            s->list[count++] = w * 64 + (uint32_t)__builtin_ctzll(bits);
    return count;
}

static void ft_service_on_failed(void *host, const struct ft_news *news)
{
    struct ft_service *s = host;
    uint32_t n = ft_service_list(s, news->nodes, s->map->nnodes);

    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = s->list[i];
        atomic_fetch_or_explicit(&ft_map_failed_nodes(s->map)[node / 64],
                                 UINT64_C(1) << node % 64, memory_order_release);
        s->calls->give_up(s->host, node);
    }
    n = ft_service_list(s, news->pes, s->map->npes);
    ft_map_fail(s->node, s->list, n);
    s->recheck = true;
    s->due_ns = 0;
    ft_service_expect_answers(s);
}

/* All members of SHMEM_TEAM_SHARED are on one node. */
static void ft_service_revoke(struct ft_service *s, uint32_t initiator,
                              const struct ft_revocation *what)
{
    bool certain = what->slot == FT_SLOT_WORLD ||
                   (what->slot == FT_SLOT_SHARED && initiator == s->map->node);
    bool fresh = false;

    for (uint32_t i = 0; i < s->map->local; i++)
        fresh = ft_map_revoke(s->map, i, what->slot, what->team, certain) || fresh;
    if (fresh)
        ft_map_changed(s->node);
}

static void ft_service_on_payload(void *host, uint32_t initiator, uint32_t kind,
                                  const void *data, size_t len)
{
    struct ft_service *s = host;
    struct ft_revocation what;

    if (kind >= FT_PAYLOAD_COMMIT_ASK && kind <= FT_PAYLOAD_COMMIT_OPEN)
        ft_service_on_commit(s, kind, data, len);
    if (kind != FT_PAYLOAD_REVOKE || len != sizeof what)
        return;
    memcpy(&what, data, sizeof what);
    ft_service_revoke(s, initiator, &what);
}

static void ft_service_on_decision(void *host, const struct ft_decision *decision)
{
    if (!ft_service_decide_commit(host, decision))
        ft_service_decide(host, decision);
}

static void ft_service_on_self_failed(void *host)
{
    struct ft_service *s = host;

    s->self_failed = true;
}

static const struct ft_callbacks ft_service_outputs = {
    .send = ft_service_on_send,
    .node_pes = ft_service_on_node_pes,
    .failed = ft_service_on_failed,
    .payload = ft_service_on_payload,
    .decision = ft_service_on_decision,
    .self_failed = ft_service_on_self_failed,
};

/* ---- start --------------------------------------------------------------------------
 */

static bool ft_service_make_order(struct ft_service *s)
{
    uint32_t n = s->map->nnodes;
    uint32_t *domain = calloc(n, sizeof *domain);

    free(s->order);
    s->order = calloc(n, sizeof *s->order);
    for (uint32_t i = 0; domain != NULL && i < n; i++)
        domain[i] = ft_map_endpoint(s->map)[i].domain;
    bool good =
        domain != NULL && s->order != NULL && ft_ring_order(domain, n, s->order) == 0;
    free(domain);
    if (!good) {
        free(s->order);
        s->order = NULL;
    }
    return good;
}

static void ft_service_copy_set(uint64_t *to, const _Atomic uint64_t *from, uint32_t n)
{
    for (uint32_t w = 0; w < FT_SET_WORDS(n); w++)
        to[w] = atomic_load_explicit(&from[w], memory_order_acquire) & ft_set_valid(w, n);
}

/* Copies the failures in the map to s->set and s->pes.  A predecessor may have
 * ended after it had stored a node and before it had stored the PEs of the node. */
static void ft_service_load_failures(struct ft_service *s)
{
    const struct ft_map *map = s->map;
    uint32_t n = 0;

    ft_service_copy_set(s->set, ft_map_failed_nodes(map), map->nnodes);
    for (uint32_t pe = 0; pe < map->npes; pe++)
        if (ft_set_has(s->set, ft_service_node_of(s, pe)))
            s->list[n++] = pe;
    ft_map_fail(s->node, s->list, n);
    ft_service_copy_set(s->pes, ft_map_failed(map), map->npes);
}

bool ft_service_start(struct ft_service *s, uint64_t now, uint32_t generation,
                      uint32_t incarnation)
{
    struct ft_map *map = s->map;
    struct ft_config c = {.me = map->node,
                          .nnodes = map->nnodes,
                          .npes = map->npes,
                          .incarnation = incarnation,
                          .delta = s->delta_ns,
                          .eta = s->eta_ns,
                          .grace = incarnation == 0 ? s->grace_ns : 0,
                          .agreements = AGREEMENTS,
                          .failed_pes = s->pes,
                          .failed_nodes = s->set,
                          .calls = &ft_service_outputs,
                          .host = s};

    if (s->order == NULL && !ft_service_make_order(s))
        return false;
    c.order = s->order;
    ft_service_free_open(s, true);
    ft_service_free_commits(s);
    ft_proto_free(s->proto);
    s->generation = generation;
    ft_service_load_failures(s);
    s->proto = ft_proto_init(&c, now);
    if (s->proto == NULL) {
        s->generation = 0;
        return false;
    }
    if (incarnation > 0)
        ft_service_restore(s);
    return true;
}

/* ---- inputs -------------------------------------------------------------------------
 */

bool ft_service_receive(struct ft_service *s, uint64_t now, uint32_t from,
                        uint32_t generation, const void *frame, size_t len)
{
    if ((int32_t)(generation - s->generation) > 0 &&
        !ft_service_start(s, now, generation, 0))
        return false;
    if (generation == s->generation && s->proto != NULL)
        ft_proto_receive(s->proto, now, from, frame, len);
    return true;
}

void ft_service_closed(struct ft_service *s, uint64_t now, uint32_t node)
{
    if (s->proto != NULL)
        ft_proto_closed(s->proto, now, node);
}

void ft_service_node_lost(struct ft_service *s, uint64_t now, uint32_t node)
{
    if (s->proto != NULL)
        ft_proto_node_lost(s->proto, now, node);
}

bool ft_service_is_live(const struct ft_service *s, uint32_t local)
{
    uint32_t pe = ft_map_rank(s->map)[local];

    return pe < s->map->npes && !ft_map_has_failed(s->map, pe);
}

uint32_t ft_service_node_of(const struct ft_service *s, uint32_t pe)
{
    uint32_t node = ft_map_node_of(s->map)[pe];

    return node < s->map->nnodes ? node : s->map->node;
}

bool ft_service_pes_departed(const struct ft_service *s)
{
    bool any = false;

    for (uint32_t i = 0; i < s->map->local; i++) {
        if (!ft_service_is_live(s, i))
            continue;
        uint32_t departed =
            atomic_load_explicit(&ft_map_word(s->map)[i].departed, memory_order_acquire);
        if ((int32_t)(departed - s->generation) < 0)
            return false;
        any = true;
    }
    return any;
}

static void ft_service_report_failures(struct ft_service *s, uint64_t now)
{
    const uint64_t *known = ft_proto_failed_pes(s->proto);
    uint32_t n = 0;

    for (uint32_t w = 0; w < ft_map_set_words(s->map); w++) {
        uint64_t fresh =
            atomic_load_explicit(&ft_map_failed(s->map)[w], memory_order_acquire) &
            ft_set_valid(w, s->map->npes) & ~known[w];
        for (; fresh != 0; fresh &= fresh - 1)
            s->list[n++] = w * 64 + (uint32_t)__builtin_ctzll(fresh);
    }
    if (n > 0)
        ft_proto_pe_failed(s->proto, now, s->list, n);
    s->recheck = s->recheck || n > 0;
}

void ft_service_serve(struct ft_service *s, uint64_t now)
{
    s->due_ns = FT_NEVER;
    ft_service_report_failures(s, now);
    ft_service_serve_mailboxes(s, now);
    ft_service_serve_commits(s, now);
}

/* ---- memory -------------------------------------------------------------------------
 */

bool ft_service_init(struct ft_service *s, struct node *node,
                     const struct ft_service_calls *calls, void *host)
{
    struct ft_map *map = node_ft(node);
    uint32_t most = map->npes > map->nnodes ? map->npes : map->nnodes;

    *s = (struct ft_service){
        .node = node, .map = map, .calls = calls, .host = host, .due_ns = FT_NEVER};
    s->list = malloc(most * sizeof *s->list);
    s->set = malloc(map->node_words * sizeof *s->set);
    s->pes = malloc(ft_map_set_words(map) * sizeof *s->pes);
    return s->list != NULL && s->set != NULL && s->pes != NULL;
}

void ft_service_fini(struct ft_service *s)
{
    ft_service_free_open(s, true);
    ft_service_free_commits(s);
    ft_proto_free(s->proto);
    free(s->order);
    free(s->list);
    free(s->set);
    free(s->pes);
}
