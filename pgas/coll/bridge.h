/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bridge.h - how a team over several nodes (team_nodes) meets, and what it hands over
 * while it does.
 * Uses: core/team, core/block, rma, look, barrier.  Used by: barrier, bcast, collect,
 * alltoall, reduce, scan, their *_far and *_hops, hop, room, roster.
 */
#ifndef PGAS_COLL_BRIDGE_H
#define PGAS_COLL_BRIDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/core/team.h"

/* barrier_sync and barrier_last of such a team. */
void bridge_cross(struct shmem_team *team, const char *fn);
void bridge_cross_last(struct shmem_team *team, const char *fn);

/* Do `bytes` of each of `parts` PEs fit a box?  False for a team without nodes. */
bool bridge_fits(const struct shmem_team *team, size_t parts, size_t bytes);

/*
 * All PEs meet, and each has then what the others have brought: `bytes` at mine of all
 * PEs, or those of PE root alone, if it is not -1.  They stay where they are until this
 * PE calls it again for the team, and are aligned for any type of which bytes is a
 * multiple. Only if bridge_fits; 0 bytes will do.
 */
const char *bridge_gather(struct shmem_team *team, const void *mine, size_t bytes,
                          int root, const char *fn);

/* Of what bridge_gather has returned for all PEs: that of PE i. */
static inline const char *bridge_part(const struct shmem_team *team, const char *all,
                                      size_t bytes, int i)
{
    return all + (size_t)team_place(team, i) * bytes;
}

/*
 * Collectives whose PEs meet on their nodes first, as teams of their own (team->near),
 * and in which only the leaders meet over the network.  Each begins with bridge_begin on
 * all PEs: one that waits in it then knows who has left the job before.  In
 * bridge_gather_nodes a leader knows that all PEs of its node have come.
 */
void bridge_begin(struct shmem_team *team);
/* The leaders meet; the others do not wait. */
void bridge_meet(struct shmem_team *team, const char *fn);
/* The same, and each leader has then `bytes` of each node, at bytes * node; they stay
 * until the PEs of the team have called this, or bridge_gather, twice more.  All PEs call
 * it; NULL if we do not lead.  Only if bridge_fits for as many parts as there are nodes.
 */
const char *bridge_gather_nodes(struct shmem_team *team, const void *mine, size_t bytes,
                                const char *fn);

/* Now and then, who waits for the leader of a node looks whether it has left the job;
 * ends it then. */
struct look;
void bridge_look(const struct shmem_team *team, int node, struct look *look,
                 const char *fn);

/* The PEs of the team, node by node, to be freed; NULL: they are in that order. */
int *bridge_order(const struct shmem_team *team, const char *fn);

/* World PE of the leader of our node, and whether that is us. */
int bridge_leader(const struct shmem_team *team);
bool bridge_leads(const struct shmem_team *team);

#endif
