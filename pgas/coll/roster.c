/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * roster.c - see roster.h.  Uses: core/team, core/log, barrier, bridge, rma, rma/order,
 * datatype/copy.
 *
 * The descriptors are piggybacked on barriers (bridge_gather), in which each node leader
 * sends log2 N messages.  If all descriptors fit the piggyback buffer, one barrier is
 * enough; otherwise each barrier carries a part of each descriptor.  So no PE opens a
 * connection that a barrier would not open.  Only if the team has more PEs than the
 * piggyback buffer has bytes, each PE gets the descriptors directly from all other PEs.
 */
#include "config.h"

#include <stdlib.h>

#include "pgas/coll/barrier.h"
#include "pgas/coll/bridge.h"
#include "pgas/coll/roster.h"
#include "pgas/core/log.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"

size_t roster_box = TEAM_BOX;

static char *entries_alloc(const struct shmem_team *team, size_t bytes, const char *fn)
{
    char *entry = malloc(rma_bytes((size_t)team->npes, bytes, fn));

    if (entry == NULL)
        log_die("%s: no memory for the descriptors of %d PEs", fn, team->npes);
    return entry;
}

/* One barrier per part of the descriptors that fits the piggyback buffer. */
static struct roster gather_parts(struct shmem_team *team, const void *mine, size_t bytes,
                                  const char *fn)
{
    size_t most = roster_box / (size_t)team->npes, n;
    char *entry = entries_alloc(team, bytes, fn);

    for (size_t at = 0; at < bytes; at += n) {
        n = bytes - at < most ? bytes - at : most;
        const char *box = bridge_gather(team, (const char *)mine + at, n, -1, fn);
        for (int i = 0; i < team->npes; i++)
            copy_bytes(entry + (size_t)i * bytes + at, bridge_part(team, box, n, i), n);
    }
    return (struct roster){team, entry, bytes, entry};
}

static struct roster fetch(struct shmem_team *team, const void *mine, size_t bytes,
                           const char *fn)
{
    char *entry = entries_alloc(team, bytes, fn);

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
    size_t npes = (size_t)team->npes;

    if (!bridge_fits(team, npes, 1) || npes > roster_box)
        return fetch(team, mine, bytes, fn);
    if (npes * bytes > roster_box)
        return gather_parts(team, mine, bytes, fn);
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
