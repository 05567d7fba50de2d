/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.h - reductions (9.10.9).  Uses: core/team, datatype/op.
 * Used by: the rows. */
#ifndef PGAS_COLL_REDUCE_H
#define PGAS_COLL_REDUCE_H

#include <stddef.h>

#include "pgas/core/team.h"
#include "pgas/datatype/op.h"

/* dest on all PEs = the sources of all PEs combined, for n elements of `size` bytes: the
 * same bits on all.  On one node in the order of the PEs, but for the algorithms first,
 * lines, chain, tree and static; which one a team uses may change with the arrivals of
 * its PEs (adapt.h).
 * Over nodes each node's first.  With SHMEM_REPRODUCIBLE in an order that neither the
 * arrivals nor the nodes change.  dest and source are the same or do not overlap.
 * Returns 0. */
int reduce(struct shmem_team *team, void *dest, const void *source, size_t n, size_t size,
           const struct op_fns *op, const char *fn);

/* The same to dest of PE root of the team alone; dest of the others means nothing. source
 * is at the same symmetric address on all.  A PE may return before others have come, and
 * may change its source then. */
int reduce_to(struct shmem_team *team, int root, void *dest, const void *source, size_t n,
              size_t size, const struct op_fns *op, const char *fn);

/* For the rows: REDUCE(NAME, C, KIND, op, OP) for each operation of a list of types */
/* clang-format off */
#define REDUCE_BITWISE(NAME, C, KIND)                                                    \
    REDUCE(NAME, C, KIND, and, OP_AND) REDUCE(NAME, C, KIND, or, OP_OR)                  \
    REDUCE(NAME, C, KIND, xor, OP_XOR)
#define REDUCE_ORDERED(NAME, C, KIND)                                                    \
    REDUCE(NAME, C, KIND, max, OP_MAX) REDUCE(NAME, C, KIND, min, OP_MIN)
#define REDUCE_NUMERIC(NAME, C, KIND)                                                    \
    REDUCE(NAME, C, KIND, sum, OP_SUM) REDUCE(NAME, C, KIND, prod, OP_PROD)
/* clang-format on */

#endif
