/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock_owner.h - locks that survive the failure of PEs, used with SHMEM_FT=continue.
 *
 * An MCS queue (lock.c) breaks if a PE in it fails.  Here the word `tail` on the lock's
 * home PE is the owner + 1, or 0; a PE acquires the lock by a compare-and-swap of 0, or
 * of an owner that has failed.  Waiters try again at growing intervals.  The lock is not
 * fair.
 *
 * If the home PE fails, the state of the lock is lost: lock_owner_set returns without the
 * lock.  After a shmemx_team_shrink of the world the home is the next PE that was not
 * excluded, where the lock is free.  All PEs then have the same home, because they have
 * agreed on the excluded PEs.
 * Uses: core/block, amo_at, ft.  Used by: lock.c.
 */
#ifndef PGAS_LOCK_OWNER_H
#define PGAS_LOCK_OWNER_H

#include <stdbool.h>

/* Wait for the lock; false if the home PE has failed.  `lock_owner_try` also returns
 * false if another PE holds the lock. */
bool lock_owner_set(long *lock, const char *fn);
bool lock_owner_try(long *lock, const char *fn);
/* Releases the lock, which this PE holds. */
void lock_owner_clear(long *lock, const char *fn);
/* The lock's home PE has failed. */
bool lock_owner_lost(const long *lock);

#endif
