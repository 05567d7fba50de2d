/* SPDX-License-Identifier: BSD-3-Clause */
/* scratch.c - see scratch.h.  Uses: core/team, core/heap, core/log, internode, allgather.
 */
#include "config.h"

#include <stdlib.h>

#include "pgas/coll/sync/internode.h"
#include "pgas/coll/sync/allgather.h"
#include "pgas/coll/sync/scratch.h"
#include "pgas/core/memory/heap.h"
#include "pgas/core/base/log.h"
#include "pgas/threads/atomic.h"

/* Heap offsets of the buffers by node; NULL if a leader has none. */
static uint64_t *scratch_note(const struct shmem_team *team, const struct descriptors *r)
{
    const struct team_nodes *n = team->nodes;
    uint64_t *space = malloc((size_t)n->leaders * sizeof *space);
    bool all = true;

    if (space == NULL)
        log_die("no memory for a list of %d nodes", n->leaders);
    for (int node = 0; node < n->leaders; node++) {
        space[node] = *(const uint64_t *)allgather_at(r, n->leader[node]);
        all = all && space[node] != 0;
    }
    if (all)
        return space;
    free(space);
    return NULL;
}

static void scratch_ask(struct shmem_team *team, const char *fn)
{
    uint64_t *mine = &team_words(team, team->me)->part.place;
    bool leads = internode_is_leader(team);
    size_t offset = 0;

    if (leads && !heap_alloc_result(SCRATCH_ALL, &offset))
        offset = 0;
    *mine = offset;
    struct descriptors r = allgather_open(team, mine, sizeof *mine, fn);
    team->nodes->space = scratch_note(team, &r);
    team->nodes->asked = true;
    allgather_close(&r);
    if (team->nodes->space != NULL)
        return;
    if (offset != 0)
        heap_free_result(offset);
    log_debug("%s: a node leader has no memory for %d bytes of scratch buffer; large "
              "collectives over nodes are slower. Increase SHMEM_SHARED_SIZE.",
              fn, (int)SCRATCH_ALL);
}

bool scratch_get(struct shmem_team *team, const char *fn)
{
    if (unlikely(!team->nodes->asked))
        scratch_ask(team, fn);
    return team->nodes->space != NULL;
}
