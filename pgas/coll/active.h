/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * active.h - active sets (deprecated, 9.10): a team that lasts for one call, whose words
 * are the user's pSync array.
 * Uses: core/team.  Used by: barrier, collect, api_deprecated.
 */
#ifndef PGAS_COLL_ACTIVE_H
#define PGAS_COLL_ACTIVE_H

#include "pgas/core/team.h"

/* The set of PEs start + i * 2^log_stride, 0 <= i < size.  Ends the job with a sentence
 * if there is no such set or the caller is not in it. */
struct shmem_team active_set(int start, int log_stride, int size, long *psync,
                             const char *fn);

/* All PEs of the set meet.  All words are SHMEM_SYNC_VALUE again when it returns, until
 * another PE of the set calls the next one. */
void active_barrier(const struct shmem_team *set, const char *fn);

/* The words in which PE i of the set says what it brings to a collect. */
struct team_part *active_part(const struct shmem_team *set, int i, const char *fn);

#endif
