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
#include "pgas/datatype/op.h"

/* All PEs of the team: 0, or -1 on all of them (no space, or SHMEM_TEAM_INVALID). */
int shared_create(shmem_team_t team, size_t bytes, shmemx_shared_t *shared,
                  const char *fn);
void shared_destroy(shmemx_shared_t *shared, const char *fn);

/* This node's copy. */
void *shared_ptr(shmemx_shared_t shared, const char *fn);

/*
 * Each is called by all PEs of the team, in one order.  The result of a call stays until
 * this PE calls the next one.  After shared_reclaim nobody reads an old one any more, and
 * PEs may write in place: then the next call's source is NULL.
 */
int shared_reclaim(shmemx_shared_t shared, const char *fn);
int shared_broadcast(shmemx_shared_t shared, const void *source, size_t bytes, int root,
                     const char *fn);
int shared_fcollect(shmemx_shared_t shared, const void *source, size_t bytes,
                    const char *fn);
/* n elements of `size` bytes: on each node in the order of the PEs, then node by node. */
int shared_reduce(shmemx_shared_t shared, const void *source, size_t n, size_t size,
                  const struct op_fns *op, const char *fn);

/* shmem_finalize: the handles that are left are none any more. */
void shared_forget(void);

#endif
