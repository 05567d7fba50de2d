/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.h - reductions to all PEs (9.10.9) and to one PE.  Uses: core/team, datatype/op.
 * Used by: the api_* files. */
#ifndef PGAS_COLL_REDUCE_H
#define PGAS_COLL_REDUCE_H

#include <stddef.h>

#include "pgas/core/team/team.h"
#include "pgas/datatype/op.h"

/* Reduction to all PEs of n elements of `size` bytes; all PEs receive the same bits.
 *
 * Combining order on one node: PE order, except for the algorithms first, lines, chain,
 * tree and static; adaptive selection (adapt.h) may change the algorithm between calls.
 * Over several nodes the contributions of each node are combined first.  With
 * SHMEM_REPRODUCIBLE the order is independent of the arrival order and of the placement.
 *
 * dest and source are the same or do not overlap.  Returns 0. */
int reduce(struct shmem_team *team, void *dest, const void *source, size_t n, size_t size,
           const struct op_fns *op, const char *fn);

/* Reduction to dest of PE `root` of the team; dest is ignored on the other PEs.  source
 * is at the same symmetric address on all PEs.  A PE may return before other PEs have
 * entered the call, and may modify its source after it has returned. */
int reduce_to(struct shmem_team *team, int root, void *dest, const void *source, size_t n,
              size_t size, const struct op_fns *op, const char *fn);

/* For the api_* files: REDUCE(NAME, C, KIND, op, OP) for each operation of a type list */
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
