/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shrink.h - what the survivors of a failure do with a team: agree, revoke, shrink.
 *
 * The decisions are agreements of the agents (ft/ft.h), which do not use the team's
 * memory: after a failure that is in an unknown state.
 * Uses: ft/ft, core/team, core/slot, split, symheap, team_coll.  Used by: api_ft, split.
 */
#ifndef PGAS_COLL_SHRINK_H
#define PGAS_COLL_SHRINK_H

#include <stdint.h>

#include "pgas/core/team/team.h"

/* shmemx_team_agree and shmemx_team_shrink. */
int shrink_agree(struct shmem_team *team, uint64_t *flags, const char *fn);
int shrink_team(struct shmem_team *team, shmem_team_t *survivors, const char *fn);

/* Frees this PE's part of a team that has failed.  Its sync area and scratch memory are
 * never used again, because other PEs may not know of the failure yet. */
void shrink_abandon(struct shmem_team *team);

#endif
