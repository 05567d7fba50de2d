/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * node_barrier.h - the node phase of barriers over several nodes, by groups: the PEs of a
 * node arrive at their leader, and are released by it, through the tree of the groups of
 * the node team, whose root is the leader.
 *
 * Each PE waits for the PEs that it represents before it arrives at the representative of
 * its own group.  So after the last barrier of a team nobody accesses the words of a PE
 * that has arrived in it.
 * Uses: groups, internode, select.  Used by: internode.
 */
#ifndef PGAS_COLL_NODE_BARRIER_H
#define PGAS_COLL_NODE_BARRIER_H

#include <stdbool.h>
#include <stdint.h>

#include "pgas/core/boot/node.h"
#include "pgas/core/team/team.h"

/* On each PE of a node team. */
struct node_barrier_words {
    _Alignas(NODE_LINE) uint64_t arrived; /* by the PEs that this one represents */
    _Alignas(NODE_LINE) uint64_t epoch;   /* of the team; read by those PEs */
};

/* The team is over several nodes in all functions. */

/* True if the PEs of this node use the groups; constant for a team. */
bool node_barrier_by_groups(struct shmem_team *team);

/* Arrive; on the leader: wait until all PEs of the node have arrived.  internode.counts
 * is the number of arrivals so far, this one included. */
void node_barrier_arrive(struct shmem_team *team, const char *fn);

/* On the leader: release the others; on these: wait for that. */
void node_barrier_release(struct shmem_team *team, const char *fn);

#endif
