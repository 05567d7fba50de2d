/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall_internode.h - alltoall of small blocks of a team over several nodes.
 * Uses: core/team.  Used by: alltoall, alltoalls.
 */
#ifndef PGAS_COLL_ALLTOALL_INTERNODE_H
#define PGAS_COLL_ALLTOALL_INTERNODE_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/core/team/team.h"

/* True if `gather` is selected for blocks of `each` bytes and they fit the piggyback
 * buffer. */
bool alltoall_gathers(struct shmem_team *team, size_t each, const char *fn);
void alltoall_gather(struct shmem_team *team, char *dest, const void *source, size_t each,
                     const char *fn);

/* True if the leaders have scratch memory for blocks of `each` bytes; collective as
 * scratch_get. */
bool alltoall_bruck_fits(struct shmem_team *team, size_t each, const char *fn);

/* As alltoall; dest and source may overlap. */
void alltoall_bruck(struct shmem_team *team, void *dest, const void *source, size_t each,
                    const char *fn);

#endif
