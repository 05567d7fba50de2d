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
#include "pgas/datatype/op.h"

/*
 * Synchronisation words before a node's copy, in the memory of its leader.  All of them
 * only increase.  Each PE numbers its calls 1, 2, ..
 */
struct shared_head {
    /* Number of entries of PEs of this node (acq_rel): call k has been entered by all
     * when it is k * local_pes.  No PE enters k + 1 earlier, since no PE leaves k
     * earlier. */
    _Alignas(NODE_LINE) uint64_t entered;
    /* Last call that all have entered (release): the copy may be written. */
    _Alignas(NODE_LINE) uint64_t open;
    /* Number of parts written (acq_rel), in calls in which each PE writes a part. */
    _Alignas(NODE_LINE) uint64_t filled;
    /* Last call whose result is complete (store release, load acquire). */
    _Alignas(NODE_LINE) uint64_t ready;
    /* Large broadcast: last call whose root has published the address of its source in
     * `from` (symaddr_encode); 0 = the data are already in the copy. */
    _Alignas(NODE_LINE) uint64_t told;
    uint64_t from;
    /* Set over the network: last call whose root's node has a complete copy. */
    _Alignas(NODE_LINE) uint64_t come;
};

struct shmemx_shared {
    struct pool_item item;
    shmem_team_t handle; /* of the team, as passed by the user */
    struct shmem_team *team;
    size_t bytes;
    uint64_t calls, fills; /* entered by this PE; equal on all PEs within a call */
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
 * nodes: a barrier. */
void shared_enter(struct shmemx_shared *s, const char *fn);
/* Wait until all PEs of the node have entered the call. */
void shared_await_open(const struct shmemx_shared *s, const char *fn);
/* Publish the result of the call / wait for it. */
void shared_release(const struct shmemx_shared *s);
void shared_await_ready(const struct shmemx_shared *s, const char *fn);
/* Wait until a remote root has announced that its node's copy is complete. */
void shared_await_entered(const struct shmemx_shared *s, const char *fn);

/* On the root's node: copy the root's source to the node's copy, and publish it. */
void shared_spread(struct shmemx_shared *s, const void *source, size_t bytes, int root,
                   const char *fn);
/* Copy to this PE's block of the copy, unless source is NULL or that block. */
void shared_put_block(const struct shmemx_shared *s, const void *source, size_t bytes);
/* After shared_enter, for a team on one node. */
void shared_node_fcollect(struct shmemx_shared *s, const void *source, size_t bytes,
                          const char *fn);
void shared_node_reduce(const struct shared_sum *sum);
/* Combine this PE's slice of the sources of the PEs of this node, into the copy. */
void shared_combine(const struct shared_sum *sum);

/* After shared_enter, for a team over several nodes. */
void shared_internode_broadcast(struct shmemx_shared *s, const void *source, size_t bytes,
                                int root, const char *fn);
void shared_internode_fcollect(struct shmemx_shared *s, const void *source, size_t bytes,
                               const char *fn);
void shared_internode_reduce(const struct shared_sum *sum);

#endif
