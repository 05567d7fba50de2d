/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_int.h - internals of node-shared results.
 * Uses: core/team, core/pool, core/peer.  Used by: shared, shared_node, shared_internode.
 */
#ifndef PGAS_COLL_SHARED_INT_H
#define PGAS_COLL_SHARED_INT_H

#include "include/shmemx.h"
#include "pgas/core/base/pool.h"
#include "pgas/core/team/team.h"
#include "pgas/datatype/op/op.h"

/*
 * Synchronisation words before a node's copy, in the memory of its leader.  All of them
 * only increase.  Each PE numbers its calls 1, 2, ..
 */
struct shared_head {
    /* Number of calls entered by the PEs of this node (acq_rel): all have entered call k
     * when it is k * local_pes. No PE leaves k before that, so none enters k + 1. */
    _Alignas(NODE_LINE) uint64_t entered;
    /* Last call that all PEs have entered (release): the copy may be written. */
    _Alignas(NODE_LINE) uint64_t open;
    /* Number of parts written (acq_rel), in calls in which each PE writes a part. */
    _Alignas(NODE_LINE) uint64_t filled;
    /* Last call whose result is complete (store release, load acquire). */
    _Alignas(NODE_LINE) uint64_t ready;
    /* Large broadcast: last call whose root has published the address of its source in
     * `from` (symaddr_encode); 0 = the data are already in the copy. */
    _Alignas(NODE_LINE) uint64_t source_ready;
    uint64_t from;
    /* Set by a remote root: last call in which the copy of the root's node is complete.
     */
    _Alignas(NODE_LINE) uint64_t remote_ready;
};

struct shmemx_shared {
    struct pool_item item;
    shmem_team_t handle; /* of the team, as passed by the user */
    struct shmem_team *team;
    size_t bytes;
    uint64_t calls, fills; /* begun by this PE; equal on all PEs within a call */
    int local_pes, rank;   /* PEs of the team on this node; index of this PE among them */
    struct shared_head *head; /* of this node's leader */
    char *copy;
    uint64_t *offset; /* by node: heap offset of its leader's head */
};

/* One reduction. */
struct shared_sum {
    struct shmemx_shared *s;
    const char *source;
    size_t n, size;
    const struct op_fns *op;
    const char *fn;
};

/* Team number of the k-th PE of the team on this node. */
static inline int shared_local_pe(const struct shmemx_shared *s, int k)
{
    return s->team->nodes != NULL ? s->team->nodes->local_pe[k] : k;
}

/* Enter the next call; the result of the previous one is no longer read.  Over several
 * nodes this is a barrier. */
void shared_enter(struct shmemx_shared *s, const char *fn);
/* Wait until all PEs of the node have entered the call. */
void shared_await_open(const struct shmemx_shared *s, const char *fn);
/* Publish the result of the call, and wait for it. */
void shared_release(const struct shmemx_shared *s);
void shared_await_ready(const struct shmemx_shared *s, const char *fn);
/* Wait until a remote root has announced that its node's copy is complete. */
void shared_await_remote_ready(const struct shmemx_shared *s, const char *fn);

/* On the root's node: copy the root's source to the node's copy, and publish it. */
void shared_node_broadcast(struct shmemx_shared *s, const void *source, size_t bytes,
                           int root, const char *fn);
/* Copy source to this PE's block of the node's copy, unless source is NULL or that block.
 */
void shared_put_block(const struct shmemx_shared *s, const void *source, size_t bytes);
/* The calls for a team on one node, after shared_enter. */
void shared_node_fcollect(struct shmemx_shared *s, const void *source, size_t bytes,
                          const char *fn);
void shared_node_reduce(const struct shared_sum *sum);
/* Combine this PE's slice of the sources of the PEs of this node, into the copy. */
void shared_combine(const struct shared_sum *sum);

/* The calls for a team over several nodes, after shared_enter. */
void shared_internode_broadcast(struct shmemx_shared *s, const void *source, size_t bytes,
                                int root, const char *fn);
void shared_internode_fcollect(struct shmemx_shared *s, const void *source, size_t bytes,
                               const char *fn);
void shared_internode_reduce(const struct shared_sum *sum);

#endif
