/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_int.h - a node-shared result as its algorithms see it.
 * Uses: core/team, core/pool, core/peer.  Used by: shared, shared_node, shared_internode.
 */
#ifndef PGAS_COLL_SHARED_INT_H
#define PGAS_COLL_SHARED_INT_H

#include "include/shmemx.h"
#include "pgas/core/base/pool.h"
#include "pgas/core/team/team.h"
#include "pgas/datatype/op.h"

/*
 * The words before a node's copy, in the memory of its leader: the first PE of the team
 * there.  All of them only grow.  Calls are numbered 1, 2, .. by each PE for itself.
 */
struct shared_head {
    /* How often PEs of this node have entered a call (acq_rel): call k has been entered
     * by all when it is k times as many as they are.  Nobody enters k + 1 before, as
     * nobody leaves k before. */
    _Alignas(NODE_LINE) uint64_t entered;
    /* The last call that all have entered: the copy may be written. */
    _Alignas(NODE_LINE) uint64_t open;
    /* How often PEs have written their part, in the calls in which each has one. */
    _Alignas(NODE_LINE) uint64_t filled;
    /* The last call whose result is there (release; who reads it acquires). */
    _Alignas(NODE_LINE) uint64_t ready;
    /* In a large broadcast: the last call whose root has said where its source is, and
     * that place (check_place), 0 = it is in the copy already. */
    _Alignas(NODE_LINE) uint64_t told;
    uint64_t from;
    /* From the network: the last call whose root has its node's copy ready. */
    _Alignas(NODE_LINE) uint64_t come;
};

struct shmemx_shared {
    struct pool_item item;
    shmem_team_t handle; /* of the team, as the user gave it */
    struct shmem_team *team;
    size_t bytes;
    uint64_t calls, fills; /* of this PE; the same on all when they are in one call */
    int local_pes, rank; /* how many PEs of the team are on our node; which one we are */
    struct shared_head *head; /* of our leader */
    char *copy;
    uint64_t *place; /* by node: where its leader's head is, in bytes in the heap */
};

/* One reduction. */
struct shared_sum {
    struct shmemx_shared *s;
    const char *source;
    size_t n, size;
    const struct op_fns *op;
    const char *fn;
};

/* The k-th PE of the team on our node, in the team. */
static inline int shared_local_pe(const struct shmemx_shared *s, int k)
{
    return s->team->nodes != NULL ? s->team->nodes->local_pe[k] : k;
}

/* This PE is in the next call, and has read the result of the one before; over nodes: all
 * are. */
void shared_enter(struct shmemx_shared *s, const char *fn);
/* All PEs of the node have entered it. */
void shared_await_open(const struct shmemx_shared *s, const char *fn);
/* The result is there: release it / wait for that. */
void shared_release(const struct shmemx_shared *s);
void shared_await_ready(const struct shmemx_shared *s, const char *fn);
/* Wait until a far root has said that its node has it. */
void shared_await_entered(const struct shmemx_shared *s, const char *fn);

/* On the root's node: from its source to the copy, and release it. */
void shared_spread(struct shmemx_shared *s, const void *source, size_t bytes, int root,
                   const char *fn);
/* To our block of the copy, unless source is NULL or that block. */
void shared_put_block(const struct shmemx_shared *s, const void *source, size_t bytes);
/* After shared_enter, for a team on one node. */
void shared_node_fcollect(struct shmemx_shared *s, const void *source, size_t bytes,
                          const char *fn);
void shared_node_reduce(const struct shared_sum *sum);
/* Our slice of the sources of our node's PEs, combined in the copy. */
void shared_combine(const struct shared_sum *sum);

/* After shared_enter, for a team over several nodes. */
void shared_internode_broadcast(struct shmemx_shared *s, const void *source, size_t bytes,
                                int root, const char *fn);
void shared_internode_fcollect(struct shmemx_shared *s, const void *source, size_t bytes,
                               const char *fn);
void shared_internode_reduce(const struct shared_sum *sum);

#endif
