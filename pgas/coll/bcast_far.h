/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast_far.h - broadcasts of a team over several nodes (team->nodes).
 * Uses: core/team.  Used by: bcast.
 */
#ifndef PGAS_COLL_BCAST_FAR_H
#define PGAS_COLL_BCAST_FAR_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/core/team.h"

/* As bcast, or without `copies` as bcast_set; bytes > 0.  The leaders meet. */
void bcast_far(struct shmem_team *team, void *dest, const void *source, size_t bytes,
               int root, bool copies, const char *fn);

/* The same of at most TEAM_PUSH_BYTES: the PEs do not wait for each other. */
void bcast_push(struct shmem_team *team, void *dest, const void *source, size_t bytes,
                int root, bool copies, const char *fn);

#endif
