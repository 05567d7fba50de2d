/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall_internode.h - alltoall of small blocks of a team over several nodes.
 * Uses: core/team.  Used by: alltoall, alltoalls.
 */
#ifndef PGAS_COLL_ALLTOALL_REMOTE_H
#define PGAS_COLL_ALLTOALL_REMOTE_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/core/team/team.h"

/* True if blocks of `each` bytes are to be piggybacked on a barrier, and fit. */
bool alltoall_gathers(struct shmem_team *team, size_t each, const char *fn);
void alltoall_gather(struct shmem_team *team, char *dest, const void *source, size_t each,
                     const char *fn);

/* True if there is scratch memory for blocks of `each` bytes; first call: scratch_get. */
bool alltoall_bruck_fits(struct shmem_team *team, size_t each, const char *fn);

/* As alltoall; dest and source may overlap. */
void alltoall_bruck(struct shmem_team *team, void *dest, const void *source, size_t each,
                    const char *fn);

#endif
