/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast_internode.h - broadcasts of a team over several nodes (team->nodes).
 * Uses: core/team.  Used by: bcast.
 */
#ifndef PGAS_COLL_BCAST_REMOTE_H
#define PGAS_COLL_BCAST_REMOTE_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/core/team/team.h"

/* As bcast, or without `copies` as bcast_set; bytes > 0.  The leaders meet. */
void bcast_internode(struct shmem_team *team, void *dest, const void *source,
                     size_t bytes, int root, bool copies, const char *fn);

/* The same of at most TEAM_PUSH_BYTES: the PEs do not wait for each other. */
void bcast_eager(struct shmem_team *team, void *dest, const void *source, size_t bytes,
                 int root, bool copies, const char *fn);

#endif
