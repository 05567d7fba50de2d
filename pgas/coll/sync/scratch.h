/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scratch.h - where the leaders of a team over several nodes have space for what others
 * send them in large collectives, and cannot be put to where it belongs yet. Uses:
 * core/team, core/heap, allgather.  Used by: reduce_internode, reduce_leaders,
 * alltoall_internode.
 */
#ifndef PGAS_COLL_SCRATCH_H
#define PGAS_COLL_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/core/base/pgas.h"
#include "pgas/core/team/team.h"

enum {
    SCRATCH_PIECE =
        512 * 1024, /* of a large message that is worked on at a time, at most */
    SCRATCH_SLACK = 16 * 1024, /* for parts that begin on lines of their own */
    /* Of a leader, for what comes in one collective; and another one, for the next. */
    SCRATCH_BYTES = 2 * SCRATCH_PIECE + SCRATCH_SLACK,
    SCRATCH_OWN = 2 * SCRATCH_BYTES, /* where another piece is, for the leader */
    SCRATCH_ALL = SCRATCH_OWN + SCRATCH_PIECE,
};

/* Have all leaders space?  The first time for a team all of its PEs meet, and they get
 * the same answer.  It is SHMEM_SHARED_SIZE that may be too small. */
bool scratch_get(struct shmem_team *team, const char *fn);

/* The symmetric address of byte `at` of the space of a node's leader. */
static inline char *scratch_at(const struct shmem_team *team, int node, size_t at)
{
    return (char *)pgas_self.heap_base + team->nodes->space[node] + at;
}

#endif
