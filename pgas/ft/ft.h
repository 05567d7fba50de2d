/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft.h - what this PE knows of failures, and how its calls end because of one.
 *
 * With SHMEM_FT=abort pgas_self.ft is NULL, and each function here costs one load and one
 * branch.  With SHMEM_FT=continue it is the alive map of the node (ft_map.h).
 *
 * A failed PE is `acknowledged` on this PE once a shmemx_team_shrink of this PE has
 * excluded it.  Routines without a team (waits) return while a failure of the world team
 * is unacknowledged.
 *
 * Collectives end by a non-local exit.  The checked entry point of the routine
 * (rma/api.h) opens a guard for its team; when block_until finds that the guarded team
 * has failed, it calls ft_unwind, which completes this PE's operations and continues in
 * the entry point, which returns the error.  A team with a failed PE or a revoked one
 * never enters a collective again, so that the private state that the unwound functions
 * leave behind is not used any more.  Invariant: no lock is held and no operation with a
 * completion on the stack is outstanding where a collective waits.
 *
 * The error codes are those of shmemx.h.
 * Uses: ft_map, core/team, core/net.  Used by: core/progress/block, rma, coll.
 */
#ifndef PGAS_FT_H
#define PGAS_FT_H

#include <stdbool.h>
#include <stdint.h>

#include "pgas/core/base/pgas.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/check/check.h"
#include "pgas/core/team/team.h"
#include "pgas/ft/ft_map.h"
#include "pgas/threads/atomic.h"

struct ft_temp;

/* True if world PE pe is known to have failed. */
ALWAYS_INLINE bool ft_pe_failed(int pe)
{
    const struct ft_map *map = pgas_self.ft;

    return unlikely(map != NULL) && ft_map_has_failed(map, (uint32_t)pe);
}

/* True if there is a failure that this PE has not acknowledged. */
ALWAYS_INLINE bool ft_unacknowledged(void)
{
    const struct ft_map *map = pgas_self.ft;

    return unlikely(map != NULL) &&
           atomic_load_explicit(&map->failures, memory_order_acquire) !=
               load_relaxed_u32(&pgas_self.ft_acknowledged);
}

/* Opens this PE's view at the end of shmem_init, and closes it in shmem_finalize. */
void ft_start(void);
void ft_stop(bool exiting);

/* Tells the network about newly failed PEs.  Any thread. */
void ft_process(void);
/* Sets the function of shmemx_failure_handler.  0, or -1: its thread cannot start. */
int ft_set_handler(void (*fn)(const int *pes, int n, void *arg), void *arg);
/* Calls it for failures that no function has been called for; one thread (ft_handler.h).
 */
void ft_call_handler(void);

/* The lower half of shmem_team.ft_cache: whether it has been computed, at any epoch, and
 * the status, which is negative if it is not 0. */
enum { FT_CACHED_NONE = 0, FT_CACHED_INTACT = 1 };

/* 0, SHMEMX_ERR_PE_FAILED or SHMEMX_ERR_REVOKED. */
int ft_team_status(struct shmem_team *team);
/* The same for the user: includes each PE for which ft_pe_failed is true.  A PE is marked
 * as failed before the epoch changes, on which ft_team_status depends. */
int ft_team_status_now(struct shmem_team *team);
/* The number of failed PEs of the team; stores the first max of them, as PE numbers of
 * the team. */
int ft_team_failed(const struct shmem_team *team, int *pes, int max);
/* Acknowledges the failures of a set of PEs (ft_map_agreed). */
void ft_acknowledge(const uint64_t *set);

/* ---- requests to the agent -------------------------------------------------------- */

/* An agreement of the survivors of a team; see struct ft_mailbox. */
struct ft_vote {
    int ands, maxs;
    uint64_t word[FT_WORDS];
    uint64_t *failed; /* out: the agreed set of failed PEs; ft_map_set_words words */
};

/* Collective over the survivors.  Never fails; ends when all live members have called it.
 */
void ft_agree(struct shmem_team *team, struct ft_vote *vote, const char *fn);
void ft_revoke(struct shmem_team *team, const char *fn);

/* ---- guards ----------------------------------------------------------------------- */

/* The entry of a collective; on the stack of its entry point.  env is that of
 * __builtin_setjmp, which saves no registers: its use costs about a nanosecond. */
struct ft_guard {
    void *env[5];
    struct ft_guard *outer; /* that of an enclosing collective, or NULL */
    struct shmem_team *team;
    int waits, locks; /* of pgas_thread at the entry, like in_nb */
    bool in_nb, open;
    int size;              /* of an active set; 0: the team counts */
    struct ft_call *call;  /* the barrier with a uniform outcome that it is in, or NULL */
    struct ft_temp *temps; /* its temporary memory (ft_temp.h) */
    uint64_t departed_ns;  /* when ft_may_have_failed was first called; 0: not yet */
    int start, log_stride; /* of an active set */
    int status;            /* the error that the routine returns */
};

/* True if no failure is known that was not known when the status of the team was cached
 * as 0.  Only with SHMEM_FT=continue. */
ALWAYS_INLINE bool ft_team_intact(const struct shmem_team *team)
{
    uint64_t epoch = atomic_load_explicit(&pgas_self.ft->epoch, memory_order_acquire);

    return load_relaxed_u64(&team->ft_cache) == (epoch << 32 | FT_CACHED_INTACT);
}

/* Opens the guard for the team or, if size > 0, for an active set, which is intact.
 * Few stores: a barrier of 100 ns waits until they have left the store buffer. */
ALWAYS_INLINE void ft_guard_enter(struct ft_guard *g, struct shmem_team *team, int size)
{
    struct pgas_thread *t = &pgas_thread;

    g->outer = t->guard;
    g->team = team;
    g->waits = t->waits;
    g->locks = t->locks;
    g->in_nb = t->in_nb;
    g->open = true;
    g->size = size;
    g->call = NULL;
    g->temps = NULL;
    g->departed_ns = 0;
    t->guard = g;
}

/* Opens a guard for the team of the call, or for a team.  Nonzero if the team has failed
 * already: the routine must return that error.  0 without an open guard: the routine
 * reports the error of its arguments, or is shmem_team_destroy. */
int ft_guard_open(struct ft_guard *g, const struct check_call *call);
int ft_guard_open_changed(struct ft_guard *g, struct shmem_team *team);
ALWAYS_INLINE int ft_guard_open_team(struct ft_guard *g, struct shmem_team *team)
{
    if (unlikely(!ft_team_intact(team)))
        return ft_guard_open_changed(g, team);
    ft_guard_enter(g, team, 0);
    return 0;
}
/* For the team of a handle, a parameter of that kind (enum check_kind). */
int ft_guard_open_handle(struct ft_guard *g, shmem_team_t handle, int kind,
                         const char *fn);
/* Stores SHMEM_TEAM_INVALID at the address of a new team's handle; NULL: nothing. */
void ft_clear_team(uint64_t address);
/* The cleanup of a guard, at every return.  Inline: barriers take 100 ns. */
ALWAYS_INLINE void ft_guard_close(struct ft_guard *g)
{
    if (unlikely(!g->open))
        return;
    PGAS_ASSERT(pgas_thread.guard == g && g->temps == NULL);
    pgas_thread.guard = g->outer;
    g->open = false;
}

/* Declares a guard in a function; `open` is one of the functions above.  The function
 * returns `error` if the team has failed, or fails before the function returns. */
#define FT_GUARD(guard, open_call, error)                                                \
    __attribute__((cleanup(ft_guard_close))) struct ft_guard guard;                      \
    (guard).open = false;                                                                \
    if (unlikely(pgas_self.ft != NULL) &&                                                \
        ((open_call) != 0 || __builtin_setjmp((guard).env) != 0))                        \
    return error

/* Whether a wait of this thread ends: in a collective if its team has failed; in a
 * routine without a team, if there is an unacknowledged failure. */
enum ft_wait { FT_WAIT_ON, FT_WAIT_END, FT_WAIT_UNWIND };
enum ft_wait ft_wait_state(bool collective, bool alone);

/* This thread's collective waits for a PE that has entered shmem_finalize.  True for
 * TIMING_FT_DEPARTED: the PE may have died there, which is not an error of the program,
 * and not be known as failed yet.  False with SHMEM_FT=abort. */
bool ft_may_have_failed(void);

/* Leaves the collective of the open guard; see above.  Within a barrier with a uniform
 * outcome (ft_commit.h) the status of the guard becomes 0 if the outcome is success. */
_Noreturn void ft_unwind(void);

/* Called when operations on other PEs have completed: leaves the collective of this
 * thread if its team has failed, since a get from a failed PE has no data, which must be
 * neither passed on nor returned as the result. */
void ft_check_guard(void);
ALWAYS_INLINE void ft_operations_completed(void)
{
    if (unlikely(pgas_thread.guard != NULL))
        ft_check_guard();
}

#endif
