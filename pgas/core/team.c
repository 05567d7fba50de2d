/* SPDX-License-Identifier: BSD-3-Clause */
/* team.c - see team.h.  Uses: core/peer, core/heap, core/pool, core/slot, core/log. */
#include "config.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/heap.h"
#include "pgas/core/log.h"
#include "pgas/core/peer.h"
#include "pgas/core/team.h"
#include "pgas/threads/atomic.h"

static struct shmem_team world, shared;
static struct pool teams = POOL_OF(struct shmem_team);

_Static_assert(SLOT_USER * sizeof(struct team_words) <= HEAP_RESERVED,
               "the predefined teams' words fit the reserved part of the heap");

/* ---- who is in a team -------------------------------------------------------------- */

bool team_strided(const int *list, int n, int *start, int *stride)
{
    *start = list[0];
    *stride = n > 1 ? list[1] - list[0] : 1;
    for (int i = 1; i < n; i++)
        if (list[i] - list[i - 1] != *stride)
            return false;
    return true;
}

/* Make it strided if it can be: that takes no memory and is found again faster. */
static void simplify(struct shmem_team *team, int *list)
{
    if (team_strided(list, team->npes, &team->start, &team->stride))
        free(list);
    else
        team->list = list;
}

/* Enter the PEs of the set, which are counted in the parent.  False without memory. */
static bool fill(struct shmem_team *team, const struct shmem_team *parent,
                 const struct team_set *set)
{
    int *list = malloc((size_t)set->size * sizeof *list);

    if (list == NULL)
        return false;
    for (int i = 0; i < set->size; i++)
        list[i] = team_world_pe(parent, team_set_at(set, i));
    team->npes = set->size;
    simplify(team, list);
    team->me = team_index(team, pgas_self.me);
    return true;
}

int team_index(const struct shmem_team *team, int world_pe)
{
    if (team->list == NULL) {
        int distance = world_pe - team->start, i = distance / team->stride;
        return distance % team->stride == 0 && i >= 0 && i < team->npes ? i : -1;
    }
    for (int i = 0; i < team->npes; i++)
        if (team->list[i] == world_pe)
            return i;
    return -1;
}

/* ---- handles -------------------------------------------------------------------------
 */

static bool predefined(shmem_team_t handle)
{
    return handle == SHMEM_TEAM_WORLD || handle == SHMEM_TEAM_SHARED;
}

bool team_alive(shmem_team_t handle)
{
    return predefined(handle) || pool_has(&teams, handle);
}

struct shmem_team *team_of(shmem_team_t handle, const char *fn)
{
    struct shmem_team *team = handle == SHMEM_TEAM_WORLD    ? &world
                              : handle == SHMEM_TEAM_SHARED ? &shared
                              : pool_has(&teams, handle)    ? handle
                                                            : NULL;

    if (likely(team != NULL)) {
        team->fn = fn;
        return team;
    }
    log_die("%s: %p is no team%s; use one from shmem_team_split_strided or "
            "shmem_team_split_2d, SHMEM_TEAM_WORLD or SHMEM_TEAM_SHARED",
            fn, (void *)handle,
            handle == SHMEM_TEAM_INVALID ? " (SHMEM_TEAM_INVALID)" : " (any more)");
}

/* ---- words ---------------------------------------------------------------------------
 */

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
                   team->fn != NULL ? team->fn : "collective");
}

/* ---- life of a team ------------------------------------------------------------------
 */

struct shmem_team *team_new(const struct shmem_team *parent, const struct team_set *set)
{
    struct shmem_team *team = pool_take(&teams);

    if (team == NULL)
        return NULL;
    team->cpu = -1;
    if (fill(team, parent, set))
        return team;
    pool_give(&teams, team);
    return NULL;
}

void team_begin(struct shmem_team *team, uint32_t slot)
{
    team->words_offset = slot * sizeof(struct team_words);
    if (!slot_fresh(slot)) /* else they are zero, and perhaps no page is there yet */
        memset(team_words(team, team->me), 0, sizeof(struct team_words));
    pool_show(&team->item);
}

void team_free(struct shmem_team *team)
{
    if (team->words_offset != 0)
        slot_give((uint32_t)(team->words_offset / sizeof(struct team_words)));
    free((void *)team->list);
    pool_give(&teams, team);
}

/* The PEs of this node: those whose memory we can map. */
static void fill_shared(void)
{
    int *list = calloc(pgas_self.npes, sizeof *list);

    if (list == NULL)
        log_die("no memory for a list of %u PEs", pgas_self.npes);
    for (int pe = 0; pe < (int)pgas_self.npes; pe++)
        if (pgas_self.peer[pe].node != NULL)
            list[shared.npes++] = pe;
    simplify(&shared, list);
    shared.me = team_index(&shared, pgas_self.me);
}

void team_init(void)
{
    world = (struct shmem_team){.npes = (int)pgas_self.npes,
                                .me = pgas_self.me,
                                .stride = 1,
                                .cpu = -1,
                                .words_offset = SLOT_WORLD * sizeof(struct team_words),
                                .num_contexts = INT_MAX,
                                .name = "WORLD"};
    shared = (struct shmem_team){.cpu = -1,
                                 .words_offset = SLOT_SHARED * sizeof(struct team_words),
                                 .num_contexts = INT_MAX,
                                 .name = "SHARED"};
    fill_shared();
    size_t slots = pgas_self.env.team_size / sizeof(struct team_words);
    slot_init(slots < SLOT_MAX ? SLOT_USER + (uint32_t)slots : SLOT_MAX);
}

static bool leave(void *object, void *arg)
{
    const struct shmem_team *team = object;

    (void)arg;
    store_release_u32(&team_words(team, team->me)->left, team->epoch + 1);
    return false;
}

void team_leave_all(void)
{
    leave(&world, NULL);
    leave(&shared, NULL);
    pool_each(&teams, leave, NULL);
}

static bool drop(void *object, void *arg)
{
    const struct shmem_team *team = object;

    (void)arg;
    free((void *)team->list);
    return true;
}

void team_fini(void)
{
    pool_each(&teams, drop, NULL);
    pool_clear(&teams);
    slot_fini();
    free((void *)shared.list);
    shared.list = NULL;
}
