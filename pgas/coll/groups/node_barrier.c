/* SPDX-License-Identifier: BSD-3-Clause */
/* node_barrier.c - see node_barrier.h. */
#include "config.h"

#include "pgas/coll/groups/groups.h"
#include "pgas/coll/groups/node_barrier.h"
#include "pgas/coll/select/select.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/base/pgas.h"
#include "pgas/core/base/stress.h"
#include "pgas/rma/rma.h"

enum { LEADER = 0 }; /* index in the node team */

/* Dissemination has no node phase of its own: with many PEs groups replace it here, since
 * their alternative is a counter.  The team of the arrival profile has no node team. */
bool node_barrier_by_groups(struct shmem_team *team)
{
    struct shmem_team *node_team = team->node_team;

    if (node_team == NULL || node_team->npes == 1)
        return false;
    enum select_algorithm a = select_algorithm(node_team, SELECT_BARRIER, 0);
    return a == BARRIER_TREE ||
           (a == BARRIER_DISSEMINATION && !select_is_requested(a) &&
            node_team->npes > GROUPS_MANY && !pgas_self.oversubscribed);
}

static struct node_barrier_words *node_barrier_words_of(const struct shmem_team *team,
                                                        int i)
{
    return &node_words(team, i)->phase;
}

static const void *node_barrier_here(const struct shmem_team *team, size_t offset)
{
    return team_here(team, offsetof(struct node_words, phase) + offset);
}

/* Number of PEs that represent the other members of the groups below `level`. */
static uint64_t node_barrier_children(const struct groups *g, int level)
{
    uint64_t n = 0;

    while (--level >= 0)
        n += (uint64_t)g->level[level].members - 1;
    return n;
}

/* Invariant: `arrived` of a PE is the number of arrivals of its children.  A
 * child arrives again only after the PE has arrived itself, since it must be released, or
 * never.  acq_rel: the PE acquires what its children have released, and releases it with
 * its own arrival. */
void node_barrier_arrive(struct shmem_team *team, const char *fn)
{
    struct shmem_team *node_team = team->node_team;
    const struct groups *g = groups_of(node_team);
    const int me = node_team->me, level = groups_own_level(g, me, LEADER);
    const size_t offset = offsetof(struct node_barrier_words, arrived);

    if (level > 0)
        internode_wait_on_node(
            team, &node_barrier_words_of(node_team, me)->arrived,
            node_barrier_here(node_team, offset),
            team->coll->internode.counts * node_barrier_children(g, level), fn);
    if (me == LEADER)
        return;
    int head = groups_head(g, level, LEADER);
    stress_point();
    fetch_add_acq_rel_u64(&node_barrier_words_of(node_team, head)->arrived, 1);
    rma_changed(node_barrier_here(node_team, offset), sizeof(uint64_t),
                team_world_pe(node_team, head));
}

/* `epoch` of a PE is the epoch of the last barrier in which it released its children. */
void node_barrier_release(struct shmem_team *team, const char *fn)
{
    struct shmem_team *node_team = team->node_team;
    const struct groups *g = groups_of(node_team);
    const int me = node_team->me, level = groups_own_level(g, me, LEADER);
    const void *here =
        node_barrier_here(node_team, offsetof(struct node_barrier_words, epoch));
    const uint64_t epoch = team->coll->barrier.epoch;

    if (me != LEADER) {
        int head = groups_head(g, level, LEADER);
        internode_wait_on_node(team, &node_barrier_words_of(node_team, head)->epoch, here,
                               epoch, fn);
    }
    if (level == 0)
        return;
    stress_point();
    store_release_u64(&node_barrier_words_of(node_team, me)->epoch, epoch);
    for (int l = level; --l >= 0;)
        for (int i = 0; i < g->level[l].members; i++) {
            int pe = groups_member(g, l, i, LEADER);
            if (pe != me)
                rma_changed(here, sizeof(uint64_t), team_world_pe(node_team, pe));
        }
}
