/* SPDX-License-Identifier: BSD-3-Clause */
/* bcast.c - see bcast.h.  Uses: team, barrier, rma, datatype/copy. */
#include "config.h"

#include "pgas/coll/barrier.h"
#include "pgas/coll/bcast.h"
#include "pgas/core/log.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/rma.h"

int bcast(shmem_team_t handle, void *dest, const void *source, size_t n, size_t size,
          int root, const char *fn)
{
    struct shmem_team *team = team_of(handle, fn);
    size_t bytes = rma_bytes(n, size, fn);

    if (root < 0 || root >= team->npes)
        log_die("%s: argument 'PE_root' = %d, but the team has PEs 0..%d", fn, root,
                team->npes - 1);
    barrier(team, fn); /* the source is ready, and dest may be written */
    const void *from = peer_at(source, bytes, team_world_pe(team, root), fn);
    if (bytes > 0 && from != dest)
        copy_bytes(dest, from, bytes);
    barrier(team, fn); /* the source may be changed */
    return 0;
}
