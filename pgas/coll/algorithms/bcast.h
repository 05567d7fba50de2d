/* SPDX-License-Identifier: BSD-3-Clause */
/* bcast.h - broadcast (9.10.7).  Uses: barrier, internode, bounce.
 * Used by: the rows, the inter-node algorithms. */
#ifndef PGAS_COLL_BCAST_H
#define PGAS_COLL_BCAST_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/core/team/team.h"

/* Copy n elements of `size` bytes from source on PE root of the team to dest on all.
 * Returns 0. */
int bcast(struct shmem_team *team, void *dest, const void *source, size_t n, size_t size,
          int root, const char *fn);
/* As bcast, but the root's dest is not written: for active sets. */
int bcast_set(struct shmem_team *team, void *dest, const void *source, size_t n,
              size_t size, int root, const char *fn);

/* The node phase of `bytes` > 0 on a team on one node that has mailboxes; `copies`: the
 * root's dest is written. */
void bcast_node(struct shmem_team *team, void *dest, const void *source, size_t bytes,
                int root, bool copies, const char *fn);

#endif
