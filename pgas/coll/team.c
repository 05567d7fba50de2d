/* SPDX-License-Identifier: BSD-3-Clause */
/* team.c - see team.h.  Uses: core/peer, core/heap, core/log. */
#include "config.h"

#include "pgas/coll/team.h"
#include "pgas/core/heap.h"
#include "pgas/core/log.h"
#include "pgas/core/peer.h"

static struct shmem_team world, shared;

_Static_assert(2 * sizeof(struct team_words) <= HEAP_RESERVED,
               "the predefined teams' words fit the reserved part of the heap");

void team_init(void)
{
    world =
        (struct shmem_team){.npes = (int)pgas_self.npes, .me = pgas_self.me, .cpu = -1};
    shared = world;
    shared.words_offset = sizeof(struct team_words);
}

struct shmem_team *team_of(shmem_team_t handle, const char *fn)
{
    peer_check(pgas_self.me, fn);
    if (handle == SHMEM_TEAM_WORLD)
        return &world;
    if (handle == SHMEM_TEAM_SHARED)
        return &shared;
    log_die("%s: argument 'team' = %p is no team; it must be SHMEM_TEAM_WORLD or "
            "SHMEM_TEAM_SHARED",
            fn, (void *)handle);
}

int team_world_pe(const struct shmem_team *team, int i)
{
    (void)team;
    return i;
}

uint32_t team_world_epoch(void)
{
    return world.epoch;
}

const void *team_here(const struct shmem_team *team, size_t offset)
{
    return (const char *)pgas_self.heap_base + team->words_offset + offset;
}

struct team_words *team_words(const struct shmem_team *team, int i)
{
    return peer_at(team_here(team, 0), sizeof(struct team_words), team_world_pe(team, i),
                   "collective");
}
