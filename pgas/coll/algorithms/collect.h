/* SPDX-License-Identifier: BSD-3-Clause */
/* collect.h - concatenation (9.10.8).  Uses: barrier, internode, allgather, bounce. Used
 * by: the rows. */
#ifndef PGAS_COLL_COLLECT_H
#define PGAS_COLL_COLLECT_H

#include <stddef.h>

#include "pgas/core/team/team.h"

/* dest on all PEs = the sources of all PEs one behind the other, in the order of the PEs.
 * Each PE brings its own n elements; for fcollect all n are equal.  Both return 0. */
int collect(struct shmem_team *team, void *dest, const void *source, size_t n,
            size_t size, const char *fn);
int fcollect(struct shmem_team *team, void *dest, const void *source, size_t n,
             size_t size, const char *fn);

#endif
