/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast_internode.h - broadcast of a team over several nodes (team->nodes).
 * Uses: core/team.  Used by: bcast.
 */
#ifndef PGAS_COLL_BCAST_REMOTE_H
#define PGAS_COLL_BCAST_REMOTE_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/core/team/team.h"

/* As bcast, or as bcast_set without `copies`; bytes > 0.  Contains a leader barrier. */
void bcast_internode(struct shmem_team *team, void *dest, const void *source,
                     size_t bytes, int root, bool copies, const char *fn);

/* The same for at most TEAM_PUSH_BYTES; a leader barrier once per TEAM_PUSHES calls. */
void bcast_eager(struct shmem_team *team, void *dest, const void *source, size_t bytes,
                 int root, bool copies, const char *fn);

#endif
