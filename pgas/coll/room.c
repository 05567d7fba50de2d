/* SPDX-License-Identifier: BSD-3-Clause */
/* room.c - see room.h.  Uses: core/team, core/heap, core/log, bridge, roster. */
#include "config.h"

#include <stdlib.h>

#include "pgas/coll/bridge.h"
#include "pgas/coll/roster.h"
#include "pgas/coll/room.h"
#include "pgas/core/heap.h"
#include "pgas/core/log.h"
#include "pgas/threads/atomic.h"

/* By node, or NULL if a leader has none. */
static uint64_t *note(const struct shmem_team *team, const struct roster *r)
{
    const struct team_nodes *n = team->nodes;
    uint64_t *room = malloc((size_t)n->leaders * sizeof *room);
    bool all = true;

    if (room == NULL)
        log_die("no memory for a list of %d nodes", n->leaders);
    for (int node = 0; node < n->leaders; node++) {
        room[node] = *(const uint64_t *)roster_at(r, n->leader[node]);
        all = all && room[node] != 0;
    }
    if (all)
        return room;
    free(room);
    return NULL;
}

static void ask(struct shmem_team *team, const char *fn)
{
    uint64_t *mine = &team_words(team, team->me)->part.place;
    bool leads = bridge_leads(team);
    size_t offset = 0;

    if (leads && !heap_take_result(ROOM_ALL, &offset))
        offset = 0;
    *mine = offset;
    struct roster r = roster_open(team, mine, sizeof *mine, fn);
    team->nodes->room = note(team, &r);
    team->nodes->asked = true;
    roster_close(&r);
    if (team->nodes->room != NULL)
        return;
    if (offset != 0)
        heap_give_result(offset);
    log_debug("%s: no room for %d bytes on some leader (SHMEM_SHARED_SIZE): large "
              "collectives over nodes are slower",
              fn, (int)ROOM_ALL);
}

bool room_get(struct shmem_team *team, const char *fn)
{
    if (unlikely(!team->nodes->asked))
        ask(team, fn);
    return team->nodes->room != NULL;
}
