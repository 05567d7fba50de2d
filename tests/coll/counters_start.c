/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counters_start.c - see counters_start.h.
 *
 * The accesses are generic in the type of the counters, so that the same file shows what
 * is wrong with narrower ones (tests/coll/counters.sh).
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/coll/groups/groups.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/base/counter.h"
#include "tests/coll/counters_start.h"

struct counters counters = {.step = 1};

struct counters counters_near(int kind, bool unused)
{
    return (struct counters){.start = (UINT64_C(1) << kind) - COUNTERS_BELOW,
                             .step = COUNTERS_STEP,
                             .unused = unused};
}

static __attribute__((constructor)) void counters_read_env(void)
{
    const char *text = getenv("COUNTERS");
    char words[8] = "";
    int kind = 0;

    if (text != NULL && sscanf(text, "%d %7s", &kind, words) == 2)
        counters = counters_near(kind, strcmp(words, "unused") == 0);
}

uint64_t counter_start(void)
{
    return counters.start;
}

uint64_t counter_step(void)
{
    return counters.step;
}

/* ---- words ------------------------------------------------------------------------- */

/* The words of a predefined team may already be in use by PEs that were faster: additions
 * commute, and a word that was stored is newer. */
#define ADD(word, n) __atomic_fetch_add(&(word), (__typeof__(word))(n), __ATOMIC_ACQ_REL)
#define STORE(word)                                                                      \
    do {                                                                                 \
        __typeof__(word) zero = 0;                                                       \
        if (!counters.unused)                                                            \
            __atomic_compare_exchange_n(&(word), &zero,                                  \
                                        (__typeof__(word))counters.start, false,         \
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);             \
    } while (0)

/* Those of the tree: on the first PE of each group. */
static void start_tree(struct shmem_team *team, struct node_words *mine)
{
    const struct groups *g = groups_of(team);

    for (int l = 0; l < g->own; l++) {
        const struct groups_level *level = &g->level[l];
        if (g->order[level->begin[level->mine]] != team->me)
            continue;
        if (level->members > 1)
            ADD(mine->tree.level[l].arrived, counters.start * (uint64_t)level->members);
        STORE(mine->tree.level[l].epoch);
    }
    for (int k = 0; k < BARRIER_GROUP_ROUNDS; k++)
        STORE(mine->tree.round[k].epoch);
}

/* The node phase of a barrier over nodes, by groups. */
static void start_phase(struct shmem_team *team, struct node_words *mine)
{
    const struct groups *g = groups_of(team);
    int level = groups_own_level(g, team->me, 0);
    uint64_t children = 0;

    for (int l = 0; l < level; l++)
        children += (uint64_t)g->level[l].members - 1;
    ADD(mine->phase.arrived, counters.start * children);
    STORE(mine->phase.epoch);
}

static void start_node_words(struct shmem_team *team)
{
    struct node_words *mine = node_words(team, team->me);

    if (team->me == 0)
        ADD(mine->team.barrier.arrived, counters.start * (uint64_t)team->npes);
    STORE(mine->team.barrier.epoch);
    for (int k = 0; k < BARRIER_ROUNDS; k++)
        STORE(mine->round[k].epoch);
    start_tree(team, mine);
    if (team->whole != NULL)
        start_phase(team, mine);
}

static void start_internode_words(struct shmem_team *team)
{
    struct internode_words *mine = internode_own_words(team);

    if (internode_is_leader(team))
        ADD(mine->team.barrier.arrived,
            counters.start * (uint64_t)(team->nodes->local_pes - 1));
    STORE(mine->team.barrier.epoch);
}

/* ---- the copies of a PE ------------------------------------------------------------ */

#define SET(counter) ((counter) = (__typeof__(counter))counters.start)

static void start_credit(struct credit *c)
{
    SET(c->seq);
    SET(c->acked);
}

static void start_copies(struct shmem_team *team)
{
    struct team_coll *coll = team->coll;

    SET(coll->barrier.epoch);
    SET(coll->barrier.counted);
    SET(coll->barrier.trees);
    SET(coll->internode.counts);
    SET(coll->internode.epoch);
    SET(coll->internode.buffers);
    SET(coll->split.offers);
    SET(coll->leader.messages);
    start_credit(&coll->leader.calls);
    start_credit(&coll->mailbox.calls);
    SET(coll->mailbox.before_barrier);
    start_credit(&coll->nb.calls);
    SET(team->agreements);
    if (team->ft_call != NULL) {
        SET(team->ft_call->begun);
        SET(team->ft_call->ended);
    }
}

void counter_start_team(struct shmem_team *team)
{
    if (counters.start == 0)
        return;
    if (team->node_team != NULL)
        counter_start_team(team->node_team);
    start_copies(team);
    if (team->npes == 1)
        return;
    if (team->remote)
        start_internode_words(team);
    else
        start_node_words(team);
}
