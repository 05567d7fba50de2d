/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared.h - node-shared results: one copy of a collective's result on each node, which
 * all PEs of the node load from (shmemx_shared_*).
 * Uses: core/team, core/heap, core/pool, barrier, internode, allgather, rma, datatype.
 * Used by: the rows, life.
 */
#ifndef PGAS_COLL_SHARED_H
#define PGAS_COLL_SHARED_H

#include <stddef.h>

#include "include/shmemx.h"
#include "pgas/datatype/op/op.h"

/* Collective: 0, or -1 on all PEs (no space, or SHMEM_TEAM_INVALID). */
int shared_create(shmem_team_t team, size_t bytes, shmemx_shared_t *shared,
                  const char *fn);
void shared_destroy(shmemx_shared_t *shared, const char *fn);

/* Address of this node's copy. */
void *shared_ptr(shmemx_shared_t shared, const char *fn);

/*
 * Collective calls, in the same order on all PEs of the team.  The result of a call is
 * valid until this PE enters the next one.  After shared_reclaim no PE reads the old
 * result: PEs may write their part of the next one in place and pass a NULL source.
 */
int shared_reclaim(shmemx_shared_t shared, const char *fn);
int shared_broadcast(shmemx_shared_t shared, const void *source, size_t bytes, int root,
                     const char *fn);
int shared_fcollect(shmemx_shared_t shared, const void *source, size_t bytes,
                    const char *fn);
/* Combines n elements of `size` bytes: on each node in PE order, then in node order. */
int shared_reduce(shmemx_shared_t shared, const void *source, size_t n, size_t size,
                  const struct op_fns *op, const char *fn);

/* In shmem_finalize: invalidate the remaining handles. */
void shared_fini(void);

#endif
