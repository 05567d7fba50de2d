/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scratch.h - scratch buffers of the node leaders of a team over several nodes: receive
 * buffers for large collectives whose data cannot be put to their destination directly.
 * Uses: core/team, core/heap, allgather.
 * Used by: reduce_internode, reduce_leaders, alltoall_internode.
 */
#ifndef PGAS_COLL_SCRATCH_H
#define PGAS_COLL_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/core/base/pgas.h"
#include "pgas/core/team/team.h"

enum {
    SCRATCH_PIECE = 512 * 1024, /* segment of a pipelined message */
    SCRATCH_SLACK = 16 * 1024,  /* alignment of parts to cache lines */
    /* Of one collective; there are two, for even and odd collectives (leader_msg.c). */
    SCRATCH_BYTES = 2 * SCRATCH_PIECE + SCRATCH_SLACK,
    SCRATCH_OWN = 2 * SCRATCH_BYTES, /* offset of a segment that only the leader writes */
    SCRATCH_ALL = SCRATCH_OWN + SCRATCH_PIECE,
};

/* True if all leaders have a scratch buffer; equal on all PEs.  The first call of a team
 * is collective and allocates them.  False if SHMEM_SHARED_SIZE is too small. */
bool scratch_get(struct shmem_team *team, const char *fn);

/* Symmetric address of byte `at` of the scratch buffer of a node's leader. */
static inline char *scratch_at(const struct shmem_team *team, int node, size_t at)
{
    return (char *)pgas_self.heap_base + team->nodes->space[node] + at;
}

#endif
