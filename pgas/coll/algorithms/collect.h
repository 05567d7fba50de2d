/* SPDX-License-Identifier: BSD-3-Clause */
/* collect.h - concatenation (9.10.8).  Uses: barrier, internode, allgather, bounce.
 * Used by: the rows. */
#ifndef PGAS_COLL_COLLECT_H
#define PGAS_COLL_COLLECT_H

#include <stddef.h>

#include "pgas/core/team/team.h"

/* dest on all PEs = the sources of all PEs, concatenated in PE order: n elements of each
 * PE, the same n on all PEs for fcollect.  Both return 0. */
int collect(struct shmem_team *team, void *dest, const void *source, size_t n,
            size_t size, const char *fn);
int fcollect(struct shmem_team *team, void *dest, const void *source, size_t n,
             size_t size, const char *fn);

#endif
