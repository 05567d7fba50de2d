/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier.h - barrier over the PEs of a team; stores before it are visible after it.
 *
 * `barrier` first completes the puts of the default context (quiet).  `barrier_sync` does
 * not: its caller has completed its puts (order_quiet) or has issued none.
 * Uses: core/team, core/block, ft, rma/order, internode, active.  Used by: all of coll.
 */
#ifndef PGAS_COLL_BARRIER_H
#define PGAS_COLL_BARRIER_H

#include "pgas/core/base/pgas.h"
#include "pgas/core/team/team.h"
#include "pgas/ft/ft_commit.h"
#include "pgas/threads/atomic.h"

enum {
    BARRIER_ROUNDS = 20, /* maximum rounds of dissemination: log2 of the number of PEs */
    BARRIER_CPUS = 64,   /* processors with a residency hint */
    BARRIER_LEVELS = 3,  /* maximum levels of counters (tree) */
    BARRIER_GROUP_ROUNDS = 16, /* log2 of the groups of the last of them */
};

/* On the first PE of a team; on the leader of each node for a team over nodes, where
 * `arrived` counts the other PEs of the node. */
struct barrier_words {
    _Alignas(NODE_LINE) uint64_t arrived; /* arrivals so far */
    _Alignas(NODE_LINE) uint64_t epoch;   /* barriers completed */
};

/* On each PE, by round. */
struct barrier_round {
    _Alignas(NODE_LINE) uint64_t epoch; /* barrier that the partner has entered */
};

/* On the first PE of each group, by level (tree): as struct barrier_words, of the members
 * of the group. */
struct barrier_group {
    _Alignas(NODE_LINE) uint64_t arrived;
    _Alignas(NODE_LINE) uint64_t epoch;
};
struct barrier_tree_words {
    struct barrier_group level[BARRIER_LEVELS];
    struct barrier_round
        round[BARRIER_GROUP_ROUNDS]; /* of the groups of the last level */
};

/* On the first PE, by processor: the number of PEs that ran there at their last barrier,
 * and (epoch << 16 | number of them that have arrived at this barrier). Hints. */
struct barrier_cpu {
    _Alignas(NODE_LINE) uint32_t residents;
    uint32_t called;
};

/* On each PE: 1 + the number of barriers begun, of mailbox calls begun, of nonblocking
 * collectives completed, and of blocks received in pairwise alltoalls when the PE
 * departed; 0 before.  Its owner stores
 * `epoch` last (release), and before it increments node->departed: a waiting PE reads
 * these words only while node->departed is not 0. */
struct departure_words {
    _Alignas(NODE_LINE) uint64_t epoch;
    uint64_t mailbox_calls, nb_calls, alltoall_blocks;
};

/* Invariant: the counters begin at the same value (counter.h); counted and trees have
 * grown together by at most as much as epoch. */
struct barrier_state {
    uint64_t epoch;       /* barriers begun by this PE */
    uint64_t counted;     /* barriers among them counted in `arrived` */
    uint64_t trees;       /* barriers among them by tree */
    int cpu;              /* processor of this PE's residency hint; -1: none */
    uint64_t inside;      /* with SHMEM_DEBUG: the thread in a collective, 0 = none */
    int inside_depth;     /* its nesting; owned by that thread */
    uint32_t sets_inside; /* of the world: calls with an active set of all its PEs */
};

/* fn is the public routine, for error messages. */
void barrier(struct shmem_team *team, const char *fn);
void barrier_sync(struct shmem_team *team, const char *fn);

/* barrier_sync with a uniform outcome (ft/ft_commit.h), in a guard of the team: if it
 * succeeds on one live PE, it does so on all.  If a failure interrupts it, the function
 * with the guard returns; the status of the guard is the outcome. */
static inline void barrier_commit(struct shmem_team *team, const char *fn)
{
    if (likely(pgas_self.ft == NULL)) {
        barrier_sync(team, fn);
        return;
    }
    ft_commit_begin(team);
    barrier_sync(team, fn);
    ft_commit_end(team);
}

/* barrier_commit in a guard of its own.  0; or the status of the team on all live PEs, if
 * a failure has interrupted the barrier. */
int barrier_commit_guarded(struct shmem_team *team, const char *fn);

/* barrier_commit for the team of a handle. */
void barrier_commit_handle(shmem_team_t handle, const char *fn);

/* The end of a collective that moves data, with result rc, in a guard of the team.  With
 * SHMEM_FT_UNIFORM no PE passes the barrier before all have their data, so that its
 * outcome is that of the collective. */
static inline int barrier_end_collective(shmem_team_t handle, int rc, const char *fn)
{
    if (unlikely(pgas_self.env.ft_uniform != 0) && pgas_self.ft != NULL && rc == 0)
        barrier_commit_handle(handle, fn);
    return rc;
}

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

/* `departed` is departure_words.epoch of PE i of the team: end the job if that PE has
 * departed before it entered the barrier in which this PE waits. */
void barrier_check_departed(const struct shmem_team *team, int i, uint64_t departed,
                            const char *fn);

/* World PE `pe` has departed, and this PE waits for it in fn: ends the job, except while
 * the PE may have failed (ft_may_have_failed). */
void barrier_report_departed(int pe, const char *fn);

#endif
