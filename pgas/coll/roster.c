/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * roster.c - see roster.h.  Uses: core/team, core/log, barrier, bridge, rma, rma/order.
 *
 * Few entries come with the barrier; else each PE gets all of them for itself.
 */
#include "config.h"

#include <stdlib.h>

#include "pgas/coll/barrier.h"
#include "pgas/coll/bridge.h"
#include "pgas/coll/roster.h"
#include "pgas/core/log.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"

static struct roster fetch(struct shmem_team *team, const void *mine, size_t bytes,
                           const char *fn)
{
    char *entry = malloc(rma_bytes((size_t)team->npes, bytes, fn));

    if (entry == NULL)
        log_die("%s: no memory for what %d PEs say of themselves", fn, team->npes);
    barrier_sync(team, fn);
    for (int i = 0; i < team->npes; i++)
        rma_get_nbi(SHMEM_CTX_DEFAULT, entry + (size_t)i * bytes, mine, bytes,
                    team_world_pe(team, i), fn);
    order_quiet(SHMEM_CTX_DEFAULT, fn);
    return (struct roster){team, entry, bytes, entry};
}

struct roster roster_open(struct shmem_team *team, const void *mine, size_t bytes,
                          const char *fn)
{
    if (!bridge_fits(team, (size_t)team->npes, bytes))
        return fetch(team, mine, bytes, fn);
    return (struct roster){team, bridge_gather(team, mine, bytes, -1, fn), bytes, NULL};
}

const void *roster_at(const struct roster *r, int i)
{
    if (r->memory == NULL)
        return bridge_part(r->team, r->entries, r->bytes, i);
    return r->entries + (size_t)i * r->bytes;
}

void roster_close(struct roster *roster)
{
    free(roster->memory);
}
