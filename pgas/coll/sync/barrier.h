/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier.h - barrier over the PEs of a team; stores before it are visible after it.
 *
 * `barrier` first completes the puts of the default context (quiet).  `barrier_sync` does
 * not: its caller has completed its puts (order_quiet) or has issued none.
 * Uses: core/team, core/block, rma/order, internode, active.  Used by: all of coll.
 */
#ifndef PGAS_COLL_BARRIER_H
#define PGAS_COLL_BARRIER_H

#include "pgas/core/base/pgas.h"
#include "pgas/core/team/team.h"
#include "pgas/threads/atomic.h"

/* fn is the public routine, for error messages. */
void barrier(struct shmem_team *team, const char *fn);
void barrier_sync(struct shmem_team *team, const char *fn);

/* The last barrier of a team.  After it no PE accesses the sync area of another PE, so
 * that the areas may be cleared for another team. */
void barrier_last(struct shmem_team *team, const char *fn);

/* SHMEM_DEBUG: end the job if between enter and leave another thread of this PE is in a
 * collective of the team, or of the same PEs as an active set.  Calls nest. */
void barrier_enter(struct shmem_team *team, const char *fn);
void barrier_leave(struct shmem_team *team, const char *fn);
static inline void barrier_guard(struct shmem_team *team, const char *fn)
{
    if (unlikely(pgas_self.checks))
        barrier_enter(team, fn);
}
static inline void barrier_unguard(struct shmem_team *team, const char *fn)
{
    if (unlikely(pgas_self.checks))
        barrier_leave(team, fn);
}

/* `left` was read from the sync area of PE i of the team: end the job if that PE has
 * departed before it entered the barrier in which this PE waits. */
void barrier_check_left(const struct shmem_team *team, int i, uint32_t left,
                        const char *fn);

/* End the job: world PE `pe` has departed, and this PE waits for it in fn. */
_Noreturn void barrier_on_stall(int pe, const char *fn);

#endif
