/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier.h - all PEs of a team meet; what was stored before is visible after.
 *
 * What was put to far PEs before, on the default context, is visible after `barrier`.
 * barrier_sync does not care for it: whoever calls it has completed his own puts
 * (order_quiet), or has none.
 * Uses: core/team, core/block, rma/order, internode, active.  Used by: all of coll.
 */
#ifndef PGAS_COLL_BARRIER_H
#define PGAS_COLL_BARRIER_H

#include "pgas/core/base/pgas.h"
#include "pgas/core/team/team.h"
#include "pgas/threads/atomic.h"

/* fn is the public routine, for reports of who waits where. */
void barrier(struct shmem_team *team, const char *fn);
void barrier_sync(struct shmem_team *team, const char *fn);

/* The last barrier of a team.  A PE that returns from it reads and writes no words of the
 * others any more, and nobody its own ones: they may be cleared for another team. */
void barrier_last(struct shmem_team *team, const char *fn);

/* With SHMEM_DEBUG: between them no other thread of this PE may be in a collective of the
 * team (or of the same PEs as an active set); ends the job if one is.  They nest. */
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

/* `left` is that word of PE i of the team: end the job if that PE has left, and had not
 * begun the barrier in which this one is. */
void barrier_check_left(const struct shmem_team *team, int i, uint32_t left,
                        const char *fn);

/* End the job: world PE `pe` has left it, and this PE waits for it in fn. */
_Noreturn void barrier_on_stall(int pe, const char *fn);

#endif
