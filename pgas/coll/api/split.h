/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * split.h - creation of teams from a parent team, and their destruction (9.4.6 to 9.4.8).
 *
 * The creation routines are collective over the parent.  The handle is SHMEM_TEAM_INVALID
 * on a PE that is not a member, and on all PEs if the creation failed.  Different threads
 * may split different parents concurrently.
 * Uses: core/team, core/ctx, barrier, allgather.  Used by: api_team.
 */
#ifndef PGAS_COLL_SPLIT_H
#define PGAS_COLL_SPLIT_H

#include "pgas/core/boot/node.h"
#include "pgas/core/team/team.h"

/* On each PE: the slot that it proposes for a new team, double-buffered by round. */
struct split_words {
    _Alignas(NODE_LINE) uint32_t offer[2];
};
struct split_state {
    uint64_t offers; /* rounds of proposals begun by this PE */
};

/* num_contexts of a new team: from config if mask selects it, else 0. */
int split_config(const shmem_team_config_t *config, long mask);

/* Create a team of the PEs of the set.  Returns 0 on all live PEs, or -1 on all, or after
 * a failure an error code of shmemx.h on all; the codes may differ. */
int split_set(shmem_team_t parent, const struct team_set *set, int num_contexts,
              shmem_team_t *team, const char *fn);

/* Arrange the PEs of the parent in rows of length xrange, and create a team of each row
 * (xaxis) and of each column (yaxis); num_contexts of each.  The teams are those of this
 * PE.  Returns as split_set. */
int split_axes(shmem_team_t parent, int xrange, const int num_contexts[2],
               shmem_team_t *xaxis, shmem_team_t *yaxis, const char *fn);

/* Destroy a team created by the user, and its contexts; collective over the team. */
void split_destroy(shmem_team_t team, const char *fn);

/* Creates a team of PEs of the parent that contains all PEs that call it; 0 on success.
 */
int split_team(struct shmem_team *parent, const struct team_set *set, shmem_team_t *team,
               const char *fn);

/* Collective: the bitwise and of the values of all PEs of the team. */
uint32_t split_and(struct shmem_team *team, uint32_t value, const char *fn);

#endif
