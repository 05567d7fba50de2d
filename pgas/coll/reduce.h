/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.h - reductions (9.10.9).  Uses: team, barrier, datatype/op.  Used by: api_coll.
 */
#ifndef PGAS_COLL_REDUCE_H
#define PGAS_COLL_REDUCE_H

#include <stddef.h>

#include "include/shmem.h"
#include "pgas/datatype/op.h"

/* dest on all PEs = source of PE 0 op source of PE 1 op ..., in this order.  dest and
 * source are the same or do not overlap. */
int reduce(shmem_team_t team, void *dest, const void *source, size_t n, size_t size,
           op_kernel op, const char *fn);

#endif
