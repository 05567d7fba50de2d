/* SPDX-License-Identifier: BSD-3-Clause */
/* team_coll.c - see team_coll.h.  Uses: core/team, core/peer, core/log, scratch. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/base/counter.h"
#include "pgas/core/base/log.h"
#include "pgas/core/memory/peer.h"
#include "pgas/ft/ft_commit.h"
#include "pgas/threads/atomic.h"

struct team_words *team_words(const struct shmem_team *team, int i)
{
    PGAS_ASSERT(i >= 0 && i < team->npes);
    return peer_at(team_here(team, 0), sizeof(struct team_words), team_world_pe(team, i),
                   team_routine());
}

uint64_t team_world_epoch(void)
{
    return team_world()->coll->barrier.epoch;
}

/* ---- layout ---------------------------------------------------------------------- */

size_t team_coll_node_team_offset(void)
{
    return sizeof(struct internode_words) + 2 * internode_small_bytes();
}

size_t team_coll_words_bytes(bool remote)
{
    if (remote)
        return team_coll_node_team_offset();
    return pgas_self.net != NULL ? offsetof(struct node_words, cpu)
                                 : sizeof(struct node_words);
}

/* Offset of the extent in a slot. */
static size_t team_coll_extent(void)
{
    return team_coll_words_bytes(false) +
           (pgas_self.net != NULL ? team_coll_node_team_offset() : 0);
}

/* ---- private state --------------------------------------------------------------- */

static struct team_coll *team_coll_alloc(void)
{
    struct team_coll *coll = calloc(1, sizeof *coll);

    if (coll != NULL)
        coll->barrier.cpu = -1;
    return coll;
}

bool team_coll_attach(struct shmem_team *team)
{
    struct shmem_team *node_team = team->node_team;

    team->coll = team_coll_alloc();
    if (node_team != NULL)
        node_team->coll = team_coll_alloc();
    if (team->coll == NULL || (node_team != NULL && node_team->coll == NULL)) {
        team_coll_detach(team);
        return false;
    }
    team->coll->extent = team_coll_extent();
    if (node_team != NULL)
        node_team->coll->extent = team_coll_extent() - team_coll_node_team_offset();
    return true;
}

void team_coll_detach(struct shmem_team *team)
{
    struct team_coll *coll = team->coll;

    if (team->node_team != NULL)
        team_coll_detach(team->node_team);
    if (coll == NULL)
        return;
    groups_free(&coll->groups);
    scratch_free(&coll->reduce.ring, team->me);
    if (team->nodes != NULL) {
        int owner = internode_is_leader(team) ? team->nodes->me : SCRATCH_NO_OWNER;
        scratch_free(&coll->scratch, owner);
        scratch_free(&coll->internode.eager, owner);
    }
    free(coll);
    team->coll = NULL;
}

/* ---- life of a team -------------------------------------------------------------- */

struct shmem_team *team_coll_new(const struct shmem_team *parent,
                                 const struct team_set *set)
{
    struct shmem_team *team = team_new(parent, set);

    if (team == NULL || team_coll_attach(team))
        return team;
    team_free(team);
    return NULL;
}

void team_coll_free(struct shmem_team *team)
{
    team_coll_detach(team);
    team_free(team);
}

static void team_coll_abandon_state(struct shmem_team *team)
{
    struct team_coll *coll = team->coll;

    if (team->node_team != NULL)
        team_coll_abandon_state(team->node_team);
    nb_abandon(team);
    groups_free(&coll->groups);
    scratch_free(&coll->reduce.ring, SCRATCH_NO_OWNER);
    scratch_free(&coll->scratch, SCRATCH_NO_OWNER);
    scratch_free(&coll->internode.eager, SCRATCH_NO_OWNER);
    free(coll);
    team->coll = NULL;
}

void team_coll_abandon(struct shmem_team *team)
{
    team_coll_abandon_state(team);
    team->words_offset = 0;
    team_free(team);
}

static void team_coll_set_node_team_offset(struct shmem_team *team)
{
    if (team->node_team != NULL)
        team->node_team->words_offset = team->words_offset + team_coll_node_team_offset();
}

void team_coll_begin(struct shmem_team *team, uint32_t slot)
{
    bool used = !slot_first_use(slot); /* unused memory is zero and may have no pages */

    team_assign(team, slot);
    team_coll_set_node_team_offset(team);
    if (used)
        memset((char *)pgas_self.heap_base + team->words_offset, 0,
               team_coll_extent() + sizeof(struct team_extent));
    ft_commit_assign(team);
    counter_start_team(team);
    team_publish(team);
}

void team_coll_init(void)
{
    team_init(team_coll_extent() + sizeof(struct team_extent));
    struct shmem_team *world = team_world();
    if (!team_coll_attach(world) ||
        !team_coll_attach(team_of(SHMEM_TEAM_SHARED, "shmem_init")))
        log_die("no memory for the predefined teams");
    team_coll_set_node_team_offset(world);
    ft_commit_assign(world);
    ft_commit_assign(team_of(SHMEM_TEAM_SHARED, "shmem_init"));
    counter_start_team(world);
    counter_start_team(team_of(SHMEM_TEAM_SHARED, "shmem_init"));
}

static void team_coll_leave_one(struct shmem_team *team)
{
    struct departure_words *mine = &team_words(team, team->me)->departure;
    const struct team_coll *coll = team->coll;

    if (team->node_team != NULL)
        team_coll_leave_one(team->node_team);
    store_relaxed_u64(&mine->mailbox_calls, coll->mailbox.calls.seq + 1);
    store_relaxed_u64(&mine->nb_calls, coll->nb.calls.acked + 1);
    store_relaxed_u64(&mine->alltoall_blocks, coll->alltoall.expected + 1);
    store_release_u64(&mine->epoch, coll->barrier.epoch + 1);
}

void team_coll_leave(void)
{
    team_each(team_coll_leave_one);
}

void team_coll_fini(void)
{
    team_each(team_coll_detach);
    team_fini();
}
