/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall_far.h - exchanges of few bytes of a team over several nodes (team->nodes).
 * Uses: core/team.  Used by: alltoall.
 */
#ifndef PGAS_COLL_ALLTOALL_FAR_H
#define PGAS_COLL_ALLTOALL_FAR_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/core/team.h"

/* Is there room for blocks of `each` bytes?  The first time for a team all PEs meet. */
bool alltoall_bruck_fits(struct shmem_team *team, size_t each, const char *fn);

/* As alltoall; dest and source may overlap. */
void alltoall_bruck(struct shmem_team *team, void *dest, const void *source, size_t each,
                    const char *fn);

#endif
