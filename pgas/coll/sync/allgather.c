/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allgather.c - see allgather.h.  Uses: core/team, core/log, barrier, internode, rma,
 * rma/order, datatype/copy.
 *
 * The descriptors are piggybacked on barriers (internode_gather), in which each node
 * leader sends log2 N messages.  If all descriptors fit the piggyback buffer, one barrier
 * is enough; otherwise each barrier carries a part of each descriptor.  So the allgather
 * opens no connection beyond those of the barrier. Only in a team with more PEs than the
 * piggyback buffer has bytes does each PE get the descriptors directly from all other
 * PEs.
 */
#include "config.h"

#include "pgas/coll/api/coll_state.h"
#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/sync/allgather.h"
#include "pgas/core/base/log.h"
#include "pgas/datatype/copy.h"
#include "pgas/ft/ft_temp.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"

static char *allgather_entries_alloc(const struct shmem_team *team, size_t bytes,
                                     const char *fn)
{
    char *entry = ft_temp_alloc(rma_bytes((size_t)team->npes, bytes, fn));

    if (entry == NULL)
        log_die("%s: no memory for the descriptors of %d PEs", fn, team->npes);
    return entry;
}

/* One barrier per `most` bytes of the descriptors. */
static struct descriptors allgather_gather_parts(struct shmem_team *team,
                                                 const void *mine, size_t bytes,
                                                 size_t most, const char *fn)
{
    size_t n;
    char *entry = allgather_entries_alloc(team, bytes, fn);

    for (size_t at = 0; at < bytes; at += n) {
        n = bytes - at < most ? bytes - at : most;
        const char *buffer = internode_gather(team, (const char *)mine + at, n, -1, fn);
        for (int i = 0; i < team->npes; i++)
            copy_bytes(entry + (size_t)i * bytes + at, internode_part(team, buffer, n, i),
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
        rma_get_nbi(CTX_LIBRARY, entry + (size_t)i * bytes, mine, bytes,
                    team_world_pe(team, i), fn);
    order_quiet(CTX_LIBRARY, fn);
    return (struct descriptors){team, entry, bytes, entry};
}

/* Bytes of each descriptor that one barrier carries; 0: none fit. */
static size_t allgather_part(struct shmem_team *team, size_t bytes, const char *fn)
{
    size_t npes = (size_t)team->npes, most = coll_self.allgather_max / npes;

    most = bytes < most ? bytes : most;
    if (most == 0 || internode_fits(team, npes, most, fn))
        return most;
    return team->nodes != NULL ? internode_small_bytes() / npes : 0;
}

struct descriptors allgather_open(struct shmem_team *team, const void *mine, size_t bytes,
                                  const char *fn)
{
    size_t most = allgather_part(team, bytes, fn);

    if (most == 0)
        return allgather_fetch(team, mine, bytes, fn);
    if (most < bytes)
        return allgather_gather_parts(team, mine, bytes, most, fn);
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
    ft_temp_free(descriptors->memory);
}
