/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * active.h - active sets (deprecated, 9.10), implemented as cached teams.
 *
 * In the first call of a set its members create a team, which supports all algorithms,
 * and keep it until shmem_finalize; the set of all PEs uses the world team. With
 * SHMEM_THREAD_MULTIPLE on some member, each pSync array has a team of its own. If no
 * team slot is left, the collectives run between barriers over the user's pSync array.
 * Uses: core/team, core/slot.  Used by: barrier, collect, verify, life, api_deprecated.
 */
#ifndef PGAS_COLL_ACTIVE_H
#define PGAS_COLL_ACTIVE_H

#include "pgas/core/team/team.h"

/* The team of the PEs start + i * 2^log_stride, 0 <= i < size, for this call.  Its
 * `psync` is NULL, or it has no synchronisation area and uses `psync`.  The first call of
 * a set is collective over its members.  Returns NULL if this PE is not a member; ends
 * the job with an error message if the arguments do not describe an active set.
 * Thread-safe for calls with different pSync arrays. */
struct shmem_team *active_team(int start, int log_stride, int size, long *psync,
                               const char *fn);

/* Free all records; called by shmem_finalize before the teams are freed. */
void active_fini(void);

/* The set as a temporary team without a synchronisation area, for one call.  Ends the job
 * with an error message if the arguments do not describe an active set, or if the caller
 * is not a member. */
struct shmem_team active_set(int start, int log_stride, int size, long *psync,
                             const char *fn);

/* Barrier over pSync.  On return all words of this PE's pSync are SHMEM_SYNC_VALUE, until
 * another PE of the set enters the next barrier. */
void active_barrier(const struct shmem_team *set, const char *fn);

/* The descriptor of PE i of the set for a collect, in its pSync. */
struct descriptor *active_part(const struct shmem_team *set, int i, const char *fn);

#endif
