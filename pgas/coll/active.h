/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * active.h - active sets (deprecated, 9.10).  In its first call the members of a set make
 * a team, which takes all algorithms, and keep it until shmem_finalize; the set of all
 * PEs is the world team.  Where no slot is left for another team (or two threads use the
 * set with two pSync arrays) the set works without one: between barriers whose words are
 * the user's pSync array.
 * Uses: core/team, core/slot.  Used by: barrier, collect, meet, life, api_deprecated.
 */
#ifndef PGAS_COLL_ACTIVE_H
#define PGAS_COLL_ACTIVE_H

#include "pgas/core/team.h"

/* The team of the PEs start + i * 2^log_stride, 0 <= i < size, for this call: its `psync`
 * is NULL, or it has no words.  The first call of a set is collective over its members.
 * NULL if this PE is none of them; ends the job with a sentence if there is no such set.
 * Thread-safe, for calls with different pSync arrays. */
struct shmem_team *active_team(int start, int log_stride, int size, long *psync,
                               const char *fn);

/* Forget all sets: shmem_finalize, before the teams go. */
void active_forget(void);

/* The same set without a team, for one call.  Ends the job with a sentence
 * if there is no such set or the caller is not in it. */
struct shmem_team active_set(int start, int log_stride, int size, long *psync,
                             const char *fn);

/* All PEs of the set meet.  All words are SHMEM_SYNC_VALUE again when it returns, until
 * another PE of the set calls the next one. */
void active_barrier(const struct shmem_team *set, const char *fn);

/* The words in which PE i of the set says what it brings to a collect. */
struct team_part *active_part(const struct shmem_team *set, int i, const char *fn);

#endif
