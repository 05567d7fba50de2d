/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall_internode.h - exchanges of few bytes of a team over several nodes
 * (team->nodes). Uses: core/team.  Used by: alltoall, alltoalls.
 */
#ifndef PGAS_COLL_ALLTOALL_REMOTE_H
#define PGAS_COLL_ALLTOALL_REMOTE_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/core/team/team.h"

/* Do blocks of `each` bytes go best with a meeting, from all to all; and is there space?
 */
bool alltoall_gathers(struct shmem_team *team, size_t each);
void alltoall_gather(struct shmem_team *team, char *dest, const void *source, size_t each,
                     const char *fn);

/* Is there space for blocks of `each` bytes?  The first time for a team all PEs meet. */
bool alltoall_bruck_fits(struct shmem_team *team, size_t each, const char *fn);

/* As alltoall; dest and source may overlap. */
void alltoall_bruck(struct shmem_team *team, void *dest, const void *source, size_t each,
                    const char *fn);

#endif
