/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.h - reductions (9.10.9).  Uses: barrier, slice, datatype/op.  Used by: the rows.
 */
#ifndef PGAS_COLL_REDUCE_H
#define PGAS_COLL_REDUCE_H

#include <stddef.h>

#include "pgas/core/team.h"
#include "pgas/datatype/op.h"

/* dest on all PEs = source of PE 0 op source of PE 1 op ..., in this order, for n
 * elements of `size` bytes.  dest and source are the same or do not overlap.  Returns 0.
 */
int reduce(struct shmem_team *team, void *dest, const void *source, size_t n, size_t size,
           op_kernel op, const char *fn);

#endif
