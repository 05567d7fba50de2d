/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmemx.h - what pgas offers beyond OpenSHMEM 1.6.  The names and their behaviour may
 * change with a release.
 */
#ifndef SHMEMX_H
#define SHMEMX_H

#include <shmem.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A team of any PEs: PE i of the new team is PE list[i] of the parent.  All PEs of the
   parent call it with the same list of n different PEs; those outside of it get
   SHMEM_TEAM_INVALID.  0 on success. */
int shmemx_team_create(shmem_team_t parent, const int *list, int n,
                       shmem_team_t *new_team);
int pshmemx_team_create(shmem_team_t parent, const int *list, int n,
                        shmem_team_t *new_team);

#ifdef __cplusplus
}
#endif

#endif
