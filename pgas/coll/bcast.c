/* SPDX-License-Identifier: BSD-3-Clause */
/* bcast.c - see bcast.h.  Uses: core/team, barrier, stage, rma, datatype/copy. */
#include "config.h"

#include "pgas/coll/barrier.h"
#include "pgas/coll/bcast.h"
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

int bcast(struct shmem_team *team, void *dest, const void *source, size_t n, size_t size,
          int root, const char *fn)
{
    size_t bytes = rma_bytes(n, size, fn);
    bool late = stage_overlap(dest, bytes, source, bytes);

    if (root < 0 || root >= team->npes)
        log_die("%s: argument 'PE_root' = %d, but the team has PEs 0..%d", fn, root,
                team->npes - 1);
    bool mine = team->me == root && copies(team, dest, source);
    barrier(team, fn); /* the source is ready, and dest may be written */
    if (bytes > 0 && team->me != root)
        copy_bytes(dest, peer_at(source, bytes, team_world_pe(team, root), fn), bytes);
    else if (bytes > 0 && mine && !late)
        copy_bytes(dest, source, bytes);
    barrier(team, fn); /* the source may be changed */
    if (mine && late)
        memmove(dest, source, bytes);
    return 0;
}
