/* SPDX-License-Identifier: BSD-3-Clause */
/* bcast.c - see bcast.h.  Uses: core/team, barrier, bridge, stage, rma, datatype/copy. */
#include "config.h"

#include "pgas/coll/barrier.h"
#include "pgas/coll/bcast.h"
#include "pgas/coll/bridge.h"
#include "pgas/coll/stage.h"
#include "pgas/core/log.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/rma.h"

/* The root's own copy, when it may be made at all: not in place, and not where the others
 * still read. */
static bool copies(const struct shmem_team *team, const void *dest, const void *source)
{
    return team->psync == NULL && dest != source;
}

/* Over nodes: the leaders get it from the root, their nodes from them.  On the root's
 * node all take it from the root. */
static void spread_far(struct shmem_team *team, void *dest, const void *source,
                       size_t bytes, int root, const char *fn)
{
    if (bridge_leads(team)) {
        rma_get(SHMEM_CTX_DEFAULT, dest, source, bytes, root, fn);
        bridge_share(team, fn);
        return;
    }
    bridge_share(team, fn);
    copy_bytes(dest, peer_at(dest, bytes, bridge_leader(team), fn), bytes);
}

/* What is small goes with the barrier. */
static void bcast_small(struct shmem_team *team, void *dest, const void *source,
                        size_t bytes, int root, const char *fn)
{
    const char *box = bridge_gather(team, source, bytes, root, fn);

    if (bytes > 0 && !(team->me == root && dest == source))
        copy_bytes(dest, box, bytes);
}

int bcast(struct shmem_team *team, void *dest, const void *source, size_t n, size_t size,
          int root, const char *fn)
{
    size_t bytes = rma_bytes(n, size, fn);
    bool late = stage_overlap(dest, bytes, source, bytes);

    if (root < 0 || root >= team->npes)
        log_die("%s: argument 'PE_root' = %d, but the team has PEs 0..%d", fn, root,
                team->npes - 1);
    if (unlikely(team->far) && bridge_fits(team, 1, bytes)) {
        bcast_small(team, dest, source, bytes, root, fn);
        return 0;
    }
    bool mine = team->me == root && copies(team, dest, source);
    int from = team_world_pe(team, root);
    barrier_sync(team, fn); /* the source is ready, and dest may be written */
    if (team->nodes != NULL && net_far(from))
        spread_far(team, dest, source, bytes, from, fn);
    else if (bytes > 0 && team->me != root)
        rma_get(SHMEM_CTX_DEFAULT, dest, source, bytes, from, fn);
    else if (bytes > 0 && mine && !late)
        copy_bytes(dest, source, bytes);
    barrier_sync(team, fn); /* the source may be changed */
    if (mine && late)
        memmove(dest, source, bytes);
    return 0;
}
