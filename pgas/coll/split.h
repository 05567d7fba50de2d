/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * split.h - teams made of other teams, and destroyed (9.4.6 to 9.4.8).
 * Each routine is for all PEs of the parent; a team of which the PE is no member, or that
 * could not be made, is SHMEM_TEAM_INVALID.  Teams with different parents may be made by
 * different threads at the same time.
 * Uses: core/team, core/ctx, barrier, roster.  Used by: api_team.
 */
#ifndef PGAS_COLL_SPLIT_H
#define PGAS_COLL_SPLIT_H

#include "pgas/core/team.h"

/* Configuration of a new team: num_contexts, if config and mask say so, else 0. */
int split_config(const shmem_team_config_t *config, long mask);

/* Make a team of the PEs of the set.  0 or -1, the same on all PEs. */
int split_set(shmem_team_t parent, const struct team_set *set, int num_contexts,
              shmem_team_t *team, const char *fn);

/* Make the PEs a rectangle, row by row xrange long, and a team of each row (axis 0) or
 * column (axis 1); this PE gets its own.  0 or -1, the same on all PEs. */
int split_axis(shmem_team_t parent, int xrange, int axis, int num_contexts,
               shmem_team_t *team, const char *fn);

/* Destroy a team of the user, with its contexts. */
void split_destroy(shmem_team_t team, const char *fn);

#endif
