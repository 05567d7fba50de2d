/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bridge.h - how a team over several nodes (team_nodes) meets, and what it hands over
 * while it does.
 * Uses: core/team, core/block, rma, look, barrier.  Used by: barrier, bcast, collect,
 * reduce, scan, roster.
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

/* World PE of the leader of our node, and whether that is us. */
int bridge_leader(const struct shmem_team *team);
bool bridge_leads(const struct shmem_team *team);

/* The leader of each node calls it when it has got something that its node needs; the
 * others wait for that.  Once at most between two barriers. */
void bridge_share(struct shmem_team *team, const char *fn);

#endif
