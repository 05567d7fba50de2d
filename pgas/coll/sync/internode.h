/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * internode.h - how a team over several nodes (team_nodes) meets, and what it hands over
 * while it does.
 * Uses: core/team, core/block, rma, probe, barrier.  Used by: barrier, bcast, collect,
 * alltoall, reduce, scan, their *_remote and *_leaders, leader_msg, scratch, allgather.
 */
#ifndef PGAS_COLL_INTERNODE_H
#define PGAS_COLL_INTERNODE_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/core/team/team.h"

/* barrier_sync and barrier_last of such a team. */
void internode_cross(struct shmem_team *team, const char *fn);
void internode_cross_last(struct shmem_team *team, const char *fn);

/* Do `bytes` of each of `parts` PEs fit a box?  False for a team without nodes. */
bool internode_fits(const struct shmem_team *team, size_t parts, size_t bytes);

/*
 * All PEs meet, and each has then what the others have brought: `bytes` at mine of all
 * PEs, or those of PE root alone, if it is not -1.  They stay where they are until this
 * PE calls it again for the team, and are aligned for any type of which bytes is a
 * multiple. Only if internode_fits; 0 bytes will do.
 */
const char *internode_gather(struct shmem_team *team, const void *mine, size_t bytes,
                             int root, const char *fn);

/* Of what internode_gather has returned for all PEs: that of PE i. */
static inline const char *internode_part(const struct shmem_team *team, const char *all,
                                         size_t bytes, int i)
{
    return all + (size_t)team_place(team, i) * bytes;
}

/*
 * Collectives whose PEs meet on their nodes first, as teams of their own (team->near),
 * and in which only the leaders meet over the network.  Each begins with internode_begin
 * on all PEs: one that waits in it then knows who has left the job before.  In
 * internode_gather_nodes a leader knows that all PEs of its node have come.
 */
void internode_begin(struct shmem_team *team);
/* The leaders meet; the others do not wait. */
void internode_barrier(struct shmem_team *team, const char *fn);
/* The same, and each leader has then `bytes` of each node, at bytes * node; they stay
 * until the PEs of the team have called this, or internode_gather, twice more.  All PEs
 * call it; NULL if we do not lead.  Only if internode_fits for as many parts as there are
 * nodes.
 */
const char *internode_gather_nodes(struct shmem_team *team, const void *mine,
                                   size_t bytes, const char *fn);

/* Now and then, who waits for the leader of a node looks whether it has left the job;
 * ends it then. */
struct look;
void internode_probe(const struct shmem_team *team, int node, struct look *look,
                     const char *fn);

/* The PEs of the team, node by node, to be freed; NULL: they are in that order. */
int *internode_order(const struct shmem_team *team, const char *fn);

/* World PE of the leader of our node, and whether that is us. */
int internode_leader(const struct shmem_team *team);
bool internode_is_leader(const struct shmem_team *team);

#endif
