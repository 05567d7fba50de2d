/* SPDX-License-Identifier: BSD-3-Clause */
/* scan.h - prefix sums (9.10.10).  Uses: barrier, internode, remote, slice, datatype/op.
 * Used by: the api_* files. */
#ifndef PGAS_COLL_SCAN_H
#define PGAS_COLL_SCAN_H

#include <stddef.h>

#include "pgas/core/team/team.h"
#include "pgas/datatype/op/op.h"

/* Inclusive scan: dest on PE i of the team = source of PE 0 op ... op source of PE i, in
 * this order, for n elements of `size` bytes.  The exclusive scan ends with the source of
 * PE i - 1, and yields zero on PE 0.  The contributions are added one after the other,
 * except by the inter-node algorithm `doubling`, which combines those of each node first.
 * dest and source are the same or do not overlap.  Both return 0. */
int scan_inclusive(struct shmem_team *team, void *dest, const void *source, size_t n,
                   size_t size, const struct op_fns *op, const char *fn);
int scan_exclusive(struct shmem_team *team, void *dest, const void *source, size_t n,
                   size_t size, const struct op_fns *op, const char *fn);

#endif
