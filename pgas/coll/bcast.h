/* SPDX-License-Identifier: BSD-3-Clause */
/* bcast.h - broadcast (9.10.7).  Uses: team, barrier.  Used by: api_coll. */
#ifndef PGAS_COLL_BCAST_H
#define PGAS_COLL_BCAST_H

#include <stddef.h>

#include "include/shmem.h"

/* Copy n elements of `size` bytes from source on PE root of the team to dest on all. */
int bcast(shmem_team_t team, void *dest, const void *source, size_t n, size_t size,
          int root, const char *fn);

#endif
