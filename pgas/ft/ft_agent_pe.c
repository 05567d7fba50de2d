/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_agent_pe.c - the agent and the PEs of its node.
 *
 * An agreement is contributed when every live member PE of the node has posted it: the
 * words are combined over these PEs.  Its decision is stored in the map before the first
 * mailbox is completed: a successor of this agent completes those that are left, for
 * which the condition can no longer become true.
 * Uses: ft_agent_int.h, ft_proto, ft_map.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "pgas/core/base/pgas_assert.h"
#include "pgas/ft/ft_agent_int.h"

#define NS_PER_MS 1000000u

_Static_assert((int)FT_WORDS == (int)FT_WORDS_MAX,
               "a mailbox has the words of one agreement");

/* ---- processes ----------------------------------------------------------------------
 */

void ft_agent_watch_pes(struct ft_agent *agent)
{
    for (uint32_t i = 0; i < agent->map->local; i++) {
        int32_t pid = agent->node->pe[i].pid;
        if (agent->pidfd[i] < 0 && pid > 0)
            agent->pidfd[i] = pidfd_open(pid, 0);
    }
}

/* The process of the agent, if it is a PE, is the last. */
void ft_agent_kill_pes(struct ft_agent *agent)
{
    bool me = false;

    for (uint32_t i = 0; i < agent->map->local; i++) {
        if (agent->node->pe[i].pid == getpid())
            me = true;
        else if (agent->pidfd[i] >= 0)
            pidfd_send_signal(agent->pidfd[i], SIGKILL, NULL, 0);
    }
    if (me)
        kill(getpid(), SIGKILL);
}

static bool ft_agent_is_live(const struct ft_agent *agent, uint32_t local)
{
    return !ft_map_has_failed(agent->map, ft_map_rank(agent->map)[local]);
}

bool ft_agent_pes_left(const struct ft_agent *agent)
{
    bool any = false;

    for (uint32_t i = 0; i < agent->map->local; i++) {
        if (!ft_agent_is_live(agent, i))
            continue;
        uint32_t left =
            atomic_load_explicit(&ft_map_word(agent->map)[i].left, memory_order_acquire);
        if ((int32_t)(left - agent->generation) < 0)
            return false;
        any = true;
    }
    return any;
}

void ft_agent_report_failures(struct ft_agent *agent, uint64_t now)
{
    const uint64_t *known = ft_proto_failed_pes(agent->proto);
    uint32_t n = 0;

    for (uint32_t w = 0; w < ft_map_set_words(agent->map); w++) {
        uint64_t fresh =
            atomic_load_explicit(&ft_map_failed(agent->map)[w], memory_order_acquire) &
            ~known[w];
        for (; fresh != 0; fresh &= fresh - 1)
            agent->list[n++] = w * 64 + (uint32_t)__builtin_ctzll(fresh);
    }
    if (n > 0)
        ft_proto_pe_failed(agent->proto, now, agent->list, n);
    agent->recheck = agent->recheck || n > 0;
}

/* Kills PEs without a sign of life; the kernel then reports their end as a failure.
 * Returns the time of the next check. */
uint64_t ft_agent_check_alive(struct ft_agent *agent, uint64_t now)
{
    uint32_t limit = agent->map->watchdog_ms, now_ms = (uint32_t)(now / NS_PER_MS);

    if (limit == 0)
        return FT_NEVER;
    for (uint32_t i = 0; i < agent->map->local; i++) {
        const struct ft_word *word = &ft_map_word(agent->map)[i];
        uint32_t at = atomic_load_explicit(&word->alive_ms, memory_order_relaxed);
        if (at == 0 || !ft_agent_is_live(agent, i) || agent->pidfd[i] < 0 ||
            (int32_t)(now_ms - at) < 0 || now_ms - at <= limit)
            continue;
        pidfd_send_signal(agent->pidfd[i], SIGKILL, NULL, 0);
    }
    return now + (uint64_t)limit * NS_PER_MS / 4;
}

/* ---- agreements ---------------------------------------------------------------------
 */

static bool ft_agent_same_key(struct ft_key a, uint64_t team, uint32_t seq)
{
    return a.team == team && a.seq == seq;
}

/* The mailbox of a local rank with a request for this agreement; -1: none. */
static int ft_agent_find_box(const struct ft_agent *agent, uint32_t local,
                             struct ft_key key)
{
    for (int slot = 0; slot < FT_SLOTS; slot++) {
        const struct ft_mailbox *box = ft_map_mailbox(agent->map, local, slot);
        if (atomic_load_explicit(&box->state, memory_order_acquire) == FT_POSTED &&
            box->request == FT_AGREE && ft_agent_same_key(key, box->team, box->seq))
            return slot;
    }
    return -1;
}

static void ft_agent_combine(struct ft_words *sum, const struct ft_mailbox *box)
{
    for (uint32_t i = 0; i < sum->n_and; i++)
        sum->word[i] &= box->word[i];
    for (uint32_t i = sum->n_and; i < sum->n_and + sum->n_max; i++)
        sum->word[i] = box->word[i] > sum->word[i] ? box->word[i] : sum->word[i];
}

/* Combines the words of all live member PEs of the node; false: one has not posted. */
static bool ft_agent_gather(const struct ft_agent *agent, struct ft_key key,
                            const uint64_t *members, struct ft_words *sum)
{
    for (uint32_t i = 0; i < agent->map->local; i++) {
        if (!ft_set_has(members, ft_map_rank(agent->map)[i]) ||
            !ft_agent_is_live(agent, i))
            continue;
        int slot = ft_agent_find_box(agent, i, key);
        if (slot < 0)
            return false;
        ft_agent_combine(sum, ft_map_mailbox(agent->map, i, slot));
    }
    return true;
}

/* Stores the nodes that have live member PEs in agent->set. */
static void ft_agent_find_nodes(struct ft_agent *agent, const uint64_t *members)
{
    const struct ft_map *map = agent->map;

    memset(agent->set, 0, map->node_words * sizeof *agent->set);
    for (uint32_t w = 0; w < ft_map_set_words(map); w++) {
        uint64_t live = members[w] & ~ft_proto_failed_pes(agent->proto)[w];
        for (; live != 0; live &= live - 1) {
            uint32_t pe = w * 64 + (uint32_t)__builtin_ctzll(live);
            if (pe < map->npes)
                ft_set_add(agent->set, ft_map_node_of(map)[pe]);
        }
    }
    ft_set_add(agent->set, map->node);
}

static struct ft_decided *ft_agent_find_decided(const struct ft_agent *agent,
                                                uint64_t team, uint32_t seq)
{
    for (uint32_t i = 0; i < FT_DECIDED; i++) {
        struct ft_decided *d = ft_map_decided(agent->map, i);
        if (atomic_load_explicit(&d->valid, memory_order_acquire) != 0 &&
            d->team == team && d->seq == seq)
            return d;
    }
    return NULL;
}

static void ft_agent_complete(struct ft_agent *agent, uint32_t local, int slot,
                              const uint64_t *word, const uint64_t *failed)
{
    struct ft_mailbox *box = ft_map_mailbox(agent->map, local, slot);

    memcpy(box->word, word, sizeof box->word);
    memcpy(ft_map_agreed(agent->map, local, slot), failed,
           ft_map_set_words(agent->map) * sizeof *failed);
    ft_map_complete(agent->node, local, slot);
}

static struct ft_open *ft_agent_find_open(const struct ft_agent *agent, uint64_t team,
                                          uint32_t seq)
{
    struct ft_open *open = agent->open;

    while (open != NULL && !ft_agent_same_key(open->key, team, seq))
        open = open->next;
    return open;
}

/* False: the protocol has no space; the mailbox is tried again. */
static void ft_agent_contribute(struct ft_agent *agent, uint64_t now,
                                const struct ft_mailbox *box, const uint64_t *members)
{
    size_t bytes = ft_map_set_words(agent->map) * sizeof *members;
    struct ft_key key = {.team = box->team, .seq = box->seq};
    struct ft_words sum = {.n_and = box->ands, .n_max = box->maxs};

    memset(sum.word, 0xff, sum.n_and * sizeof sum.word[0]);
    if (!ft_agent_gather(agent, key, members, &sum))
        return;
    struct ft_open *open = malloc(sizeof *open + bytes);
    if (open == NULL)
        return;
    *open = (struct ft_open){.next = agent->open, .key = key};
    memcpy(open->members, members, bytes);
    agent->open = open;
    ft_agent_find_nodes(agent, members);
    /* The decision may be delivered in this call. */
    if (ft_proto_agree(agent->proto, now, key, agent->set, &sum) != 0)
        open->decided = true;
}

static void ft_agent_take_agree(struct ft_agent *agent, uint64_t now, uint32_t local,
                                int slot)
{
    struct ft_mailbox *box = ft_map_mailbox(agent->map, local, slot);
    struct ft_decided *d = ft_agent_find_decided(agent, box->team, box->seq);

    if (d != NULL)
        ft_agent_complete(agent, local, slot, d->word, ft_map_decided_failed(d));
    else if (ft_agent_find_open(agent, box->team, box->seq) == NULL &&
             box->ands + box->maxs <= FT_WORDS)
        ft_agent_contribute(agent, now, box, ft_map_members(agent->map, local, slot));
}

static void ft_agent_take_revoke(struct ft_agent *agent, uint64_t now, uint32_t local,
                                 int slot)
{
    uint64_t team = ft_map_mailbox(agent->map, local, slot)->team;

    ft_proto_broadcast(agent->proto, now, FT_PAYLOAD_REVOKE, &team, sizeof team);
    ft_map_complete(agent->node, local, slot);
}

/* Live nodes whose member PEs have all failed contribute no more. */
static void ft_agent_exclude(struct ft_agent *agent, uint64_t now, struct ft_open *open)
{
    const struct ft_map *map = agent->map;

    ft_agent_find_nodes(agent, open->members);
    for (uint32_t pe = 0; pe < map->npes && !open->decided; pe++) {
        uint32_t node = ft_map_node_of(map)[pe];
        if (!ft_set_has(open->members, pe) || ft_set_has(agent->set, node) ||
            ft_proto_node_failed(agent->proto, node))
            continue;
        ft_set_add(agent->set, node);
        ft_proto_agree_exclude(agent->proto, now, open->key, node);
    }
}

void ft_agent_free_open(struct ft_agent *agent, bool all)
{
    for (struct ft_open **at = &agent->open; *at != NULL;) {
        struct ft_open *open = *at;
        if (all || open->decided) {
            *at = open->next;
            free(open);
        } else {
            at = &open->next;
        }
    }
}

void ft_agent_serve_mailboxes(struct ft_agent *agent, uint64_t now)
{
    bool recheck = agent->recheck;

    agent->recheck = false;
    for (struct ft_open *open = agent->open; recheck && open != NULL; open = open->next)
        ft_agent_exclude(agent, now, open);
    for (uint32_t i = 0; i < agent->map->local; i++)
        for (int slot = 0; slot < FT_SLOTS; slot++) {
            const struct ft_mailbox *box = ft_map_mailbox(agent->map, i, slot);
            if (atomic_load_explicit(&box->state, memory_order_acquire) != FT_POSTED ||
                !ft_agent_is_live(agent, i))
                continue;
            if (box->request == FT_AGREE)
                ft_agent_take_agree(agent, now, i, slot);
            else if (box->request == FT_REVOKE)
                ft_agent_take_revoke(agent, now, i, slot);
        }
    ft_agent_free_open(agent, false);
}

/* ---- decisions ----------------------------------------------------------------------
 */

/* The place of the previous decision of the team, which nobody asks for any more, or else
 * the oldest place. */
static struct ft_decided *ft_agent_decided_place(struct ft_agent *agent, uint64_t team)
{
    for (uint32_t i = 0; i < FT_DECIDED; i++) {
        struct ft_decided *d = ft_map_decided(agent->map, i);
        if (atomic_load_explicit(&d->valid, memory_order_relaxed) != 0 && d->team == team)
            return d;
    }
    return ft_map_decided(agent->map, agent->map->decisions++ % FT_DECIDED);
}

static void ft_agent_store_decision(struct ft_agent *agent,
                                    const struct ft_decision *from,
                                    const struct ft_open *open)
{
    struct ft_decided *d = ft_agent_decided_place(agent, from->key.team);

    atomic_store_explicit(&d->valid, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    d->team = from->key.team;
    d->seq = from->key.seq;
    d->view = from->view;
    d->ands = from->words.n_and;
    d->maxs = from->words.n_max;
    memcpy(d->word, from->words.word, sizeof d->word);
    memcpy(ft_map_decided_failed(d), from->failed,
           ft_map_set_words(agent->map) * sizeof *from->failed);
    ft_agent_find_nodes(agent, open->members);
    memcpy(ft_map_decided_nodes(agent->map, d), agent->set,
           agent->map->node_words * sizeof *agent->set);
    atomic_store_explicit(&d->valid, 1, memory_order_release);
}

void ft_agent_decide(struct ft_agent *agent, const struct ft_decision *decision)
{
    struct ft_open *open =
        ft_agent_find_open(agent, decision->key.team, decision->key.seq);

    PGAS_ASSERT(open != NULL);
    ft_agent_store_decision(agent, decision, open);
    open->decided = true;
    for (uint32_t i = 0; i < agent->map->local; i++) {
        int slot = ft_agent_find_box(agent, i, decision->key);
        if (slot >= 0)
            ft_agent_complete(agent, i, slot, decision->words.word, decision->failed);
    }
}

void ft_agent_restore(struct ft_agent *agent)
{
    for (uint32_t i = 0; i < FT_DECIDED; i++) {
        struct ft_decided *d = ft_map_decided(agent->map, i);
        if (atomic_load_explicit(&d->valid, memory_order_acquire) == 0)
            continue;
        struct ft_decision decision = {.key = {.team = d->team, .seq = d->seq},
                                       .view = d->view,
                                       .words = {.n_and = d->ands, .n_max = d->maxs},
                                       .failed = ft_map_decided_failed(d)};
        memcpy(decision.words.word, d->word, sizeof d->word);
        ft_proto_agree_restore(agent->proto, &decision,
                               ft_map_decided_nodes(agent->map, d));
    }
}
