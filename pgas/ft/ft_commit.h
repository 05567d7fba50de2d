/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_commit.h - uniform outcome of synchronizing calls: a barrier of a team succeeds on
 * all live members or on none, although a failure interrupts some of them only.
 *
 * A PE calls ft_commit_begin before and ft_commit_end after the barrier, in a guard of
 * the team (ft.h).  They record the number of the call in the PE's line of the alive map
 * (struct ft_call).  If the barrier is interrupted, ft_unwind asks the agent for the
 * outcome: success if a live member has completed the call, which implies that all
 * members, the failed ones included, have entered it, else the error.  The agents of all
 * nodes decide together (ft_service_commit.c).
 *
 * The outcome cannot change after it was read: a member that has not entered the call by
 * then never completes it.  Dekker's pattern: the PE stores `begun` and then loads the
 * epoch; the agent increments the epoch, calls membarrier(), and then loads `begun`.  So
 * either the agent sees that the PE is in the call and waits for its end, or the PE sees
 * the new epoch and refuses the call.  The same holds for `ended`: either the agent sees
 * it, or the PE sees the new epoch and wakes the agent.  Without membarrier() the PE
 * executes a full fence.
 *
 * Teams in slots from FT_TEAMS on have no line: their calls return the error at once.
 * Uses: ft, ft_map, core/team.  Used by: coll, ft_guard.
 */
#ifndef PGAS_FT_COMMIT_H
#define PGAS_FT_COMMIT_H

#include "pgas/core/base/pgas.h"
#include "pgas/core/base/stress.h"
#include "pgas/core/team/team.h"
#include "pgas/ft/ft.h"

/* Assigns the record and the line of the team's slot (ft_map.h), when the team gets its
 * slot.  With SHMEM_FT=abort the team has none. */
void ft_commit_assign(struct shmem_team *team);

/* The slow paths of the two functions below. */
void ft_commit_recheck(struct shmem_team *team, struct ft_call *call);
void ft_commit_notify(void);

/* Asks for the outcome of the call of a guard that was interrupted because of `status`;
 * true: success. */
bool ft_commit_ask(struct ft_guard *g, int status);

/* True if no failure is known that was not known when the status of the team was cached
 * as 0; orders earlier stores of this PE before that. */
ALWAYS_INLINE bool ft_commit_unchanged(struct shmem_team *team)
{
    if (likely(pgas_self.membarrier))
        fence_compiler();
    else
        fence_full();
    return ft_team_intact(team);
}

ALWAYS_INLINE void ft_commit_begin(struct shmem_team *team)
{
    struct ft_guard *g = pgas_thread.guard;
    struct ft_call *call = team->ft_call;

    if (unlikely(call == NULL || g == NULL || g->team != team))
        return;
    stress_point();
    uint64_t number = atomic_load_explicit(&call->begun, memory_order_relaxed) + 1;
    atomic_store_explicit(&call->begun, number, memory_order_relaxed);
    if (unlikely(!ft_commit_unchanged(team)))
        ft_commit_recheck(team, call);
    g->call = call;
}

ALWAYS_INLINE void ft_commit_end(struct shmem_team *team)
{
    struct ft_guard *g = pgas_thread.guard;
    struct ft_call *call = g != NULL ? g->call : NULL;

    if (unlikely(call == NULL))
        return;
    atomic_store_explicit(&call->ended,
                          atomic_load_explicit(&call->begun, memory_order_relaxed),
                          memory_order_release);
    g->call = NULL;
    if (unlikely(!ft_commit_unchanged(team)))
        ft_commit_notify();
}

#endif
