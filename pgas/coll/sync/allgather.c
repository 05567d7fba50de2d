/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allgather.c - see allgather.h.  Uses: core/team, core/log, barrier, internode, rma,
 * rma/order, datatype/copy.
 *
 * The descriptors are piggybacked on barriers (internode_gather), in which each node
 * leader sends log2 N messages.  If all descriptors fit the piggyback buffer, one barrier
 * is enough; otherwise each barrier carries a part of each descriptor.  So no PE opens a
 * connection that a barrier would not open.  Only if the team has more PEs than the
 * piggyback buffer has bytes, each PE gets the descriptors directly from all other PEs.
 */
#include "config.h"

#include <stdlib.h>

#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/sync/allgather.h"
#include "pgas/core/base/log.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"

size_t allgather_max = TEAM_BOX;

static char *allgather_entries_alloc(const struct shmem_team *team, size_t bytes,
                                     const char *fn)
{
    char *entry = malloc(rma_bytes((size_t)team->npes, bytes, fn));

    if (entry == NULL)
        log_die("%s: no memory for the descriptors of %d PEs", fn, team->npes);
    return entry;
}

/* One barrier per part of the descriptors that fits the piggyback buffer. */
static struct descriptors allgather_gather_parts(struct shmem_team *team,
                                                 const void *mine, size_t bytes,
                                                 const char *fn)
{
    size_t most = allgather_max / (size_t)team->npes, n;
    char *entry = allgather_entries_alloc(team, bytes, fn);

    for (size_t at = 0; at < bytes; at += n) {
        n = bytes - at < most ? bytes - at : most;
        const char *box = internode_gather(team, (const char *)mine + at, n, -1, fn);
        for (int i = 0; i < team->npes; i++)
            copy_bytes(entry + (size_t)i * bytes + at, internode_part(team, box, n, i),
                       n);
    }
    return (struct descriptors){team, entry, bytes, entry};
}

static struct descriptors allgather_fetch(struct shmem_team *team, const void *mine,
                                          size_t bytes, const char *fn)
{
    char *entry = allgather_entries_alloc(team, bytes, fn);

    barrier_sync(team, fn);
    for (int i = 0; i < team->npes; i++)
        rma_get_nbi(SHMEM_CTX_DEFAULT, entry + (size_t)i * bytes, mine, bytes,
                    team_world_pe(team, i), fn);
    order_quiet(SHMEM_CTX_DEFAULT, fn);
    return (struct descriptors){team, entry, bytes, entry};
}

struct descriptors allgather_open(struct shmem_team *team, const void *mine, size_t bytes,
                                  const char *fn)
{
    size_t npes = (size_t)team->npes;

    if (!internode_fits(team, npes, 1) || npes > allgather_max)
        return allgather_fetch(team, mine, bytes, fn);
    if (npes * bytes > allgather_max)
        return allgather_gather_parts(team, mine, bytes, fn);
    return (struct descriptors){team, internode_gather(team, mine, bytes, -1, fn), bytes,
                                NULL};
}

const void *allgather_at(const struct descriptors *r, int i)
{
    if (r->memory == NULL)
        return internode_part(r->team, r->entries, r->bytes, i);
    return r->entries + (size_t)i * r->bytes;
}

void allgather_close(struct descriptors *descriptors)
{
    free(descriptors->memory);
}
