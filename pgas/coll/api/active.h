/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * active.h - active sets (deprecated, 9.10), implemented as cached teams.
 *
 * The first collective over an active set creates a team of its members, so that all
 * algorithms can be used, and keeps it until shmem_finalize; the set of all PEs is the
 * world team. If a member has SHMEM_THREAD_MULTIPLE, each pSync array has a team of its
 * own. Without a free team slot, the collective runs between barriers over pSync.
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
