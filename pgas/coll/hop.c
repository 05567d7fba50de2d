/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hop.c - see hop.h.  Uses: core/team, core/block, core/stress, rma, rma/order,
 * rma/signal, bridge, look.
 *
 * The message of a step sets word step modulo TEAM_HOPS of its target's `landed` to its
 * number, base + step + 1.  Invariants: the leaders have met since the collective before,
 * in which each has waited for all that was sent to it, so a word has never a number of
 * this one before its message is there; and who uses a word a second time has sent a
 * fence between (at each multiple of TEAM_HOPS), so that the second signal says that the
 * first message is there too.
 */
#include "config.h"

#include "pgas/coll/bridge.h"
#include "pgas/coll/hop.h"
#include "pgas/coll/look.h"
#include "pgas/core/block.h"
#include "pgas/core/stress.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"
#include "pgas/rma/signal.h"

struct hops hops_begin(struct shmem_team *team, const char *fn)
{
    return (struct hops){team, fn, team->nodes->hops};
}

void hops_end(struct hops *h, int steps)
{
    h->team->nodes->hops += (uint64_t)steps;
    order_quiet(SHMEM_CTX_DEFAULT, h->fn);
}

static int leader_of(const struct hops *h, int node)
{
    return team_world_pe(h->team, h->team->nodes->leader[node]);
}

/* Our word for a step: the others' are at the same symmetric address. */
static uint64_t *word_of(const struct hops *h, int step)
{
    return &team_words(h->team, h->team->me)->landed[step % TEAM_HOPS];
}

static void send(const struct hops *h, int step, int node, const struct signal_put *put)
{
    stress_point();
    if (unlikely(step > 0 && step % TEAM_HOPS == 0))
        order_fence(SHMEM_CTX_DEFAULT, h->fn);
    signal_put(SHMEM_CTX_DEFAULT, put, word_of(h, step), h->base + (uint64_t)step + 1,
               SHMEM_SIGNAL_SET, leader_of(h, node), h->fn);
    stress_point();
}

void hop_put(const struct hops *h, int step, int node, void *there, const void *from,
             size_t bytes)
{
    send(h, step, node, &(struct signal_put){there, from, bytes, 1, .nbi = true});
}

void hop_put_now(const struct hops *h, int step, int node, void *there, const void *from,
                 size_t bytes)
{
    send(h, step, node, &(struct signal_put){there, from, bytes, 1, .nbi = false});
}

void hop_add(const struct hops *h, int node, void *there, const void *from, size_t bytes)
{
    rma_put_nbi(SHMEM_CTX_DEFAULT, there, from, bytes, leader_of(h, node), h->fn);
}

void hop_signal(const struct hops *h, int step, int node)
{
    order_fence(SHMEM_CTX_DEFAULT, h->fn);
    signal_update(SHMEM_CTX_DEFAULT, word_of(h, step), h->base + (uint64_t)step + 1,
                  SHMEM_SIGNAL_SET, leader_of(h, node), h->fn);
}

void hop_push(struct shmem_team *team, int node, char *bytes, size_t n, uint64_t *word,
              uint64_t value, const char *fn)
{
    stress_point();
    signal_put(SHMEM_CTX_DEFAULT, &(struct signal_put){bytes, bytes, n, 1, .nbi = true},
               word, value, SHMEM_SIGNAL_SET,
               team_world_pe(team, team->nodes->leader[node]), fn);
    stress_point();
}

struct goal {
    struct shmem_team *team;
    const uint64_t *word;
    uint64_t value;
    int node;
    struct look *look;
    const char *fn;
};

static bool landed(const void *arg)
{
    const struct goal *g = arg;

    return load_acquire_u64(g->word) >= g->value;
}

static void in_vain(const void *arg)
{
    const struct goal *g = arg;

    bridge_look(g->team, g->node, g->look, g->fn);
}

void hop_await_push(struct shmem_team *team, int node, const uint64_t *word,
                    uint64_t value, const char *fn)
{
    struct look look = {0};
    struct goal g = {team, word, value, node, &look, fn};

    if (landed(&g))
        return;
    block_until(&(struct block_wait){.ready = landed,
                                     .arg = &g,
                                     .far = true,
                                     .word = g.word,
                                     .what = fn,
                                     .in_vain = in_vain});
}

void hop_await(const struct hops *h, int step, int node)
{
    hop_await_push(h->team, node, word_of(h, step), h->base + (uint64_t)step + 1, h->fn);
}
