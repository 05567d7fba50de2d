/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall_internode.h - alltoall and alltoalls of small blocks of a team over several
 * nodes. Uses: core/team, select.  Used by: alltoall, alltoalls.
 */
#ifndef PGAS_COLL_ALLTOALL_INTERNODE_H
#define PGAS_COLL_ALLTOALL_INTERNODE_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/coll/algorithms/alltoall.h"
#include "pgas/coll/select/select.h"
#include "pgas/core/team/team.h"

/* The algorithm for blocks of `each` bytes: the selected one, or one that needs less
 * memory.  Collective as scratch_get. */
enum select_algorithm alltoall_internode_algorithm(struct shmem_team *team, size_t each,
                                                   const char *fn);

/* dest and source do not overlap. */
void alltoall_gather(struct shmem_team *team, char *dest, const void *source, size_t each,
                     const char *fn);

/* INTERNODE_ALLTOALL_DIRECT or _BRUCK; dest and source may overlap. */
void alltoall_bundles(struct shmem_team *team, enum select_algorithm a, void *dest,
                      const void *source, const struct strides *x, const char *fn);

#endif
