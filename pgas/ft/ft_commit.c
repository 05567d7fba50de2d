/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_commit.c - see ft_commit.h.  Uses: ft, ft_map, core/team, core/block. */
#include "config.h"

#include "include/shmemx.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/progress/block.h"
#include "pgas/ft/ft_commit.h"

static struct ft_calls *ft_commit_calls(void)
{
    return ft_map_calls(pgas_self.ft, (uint32_t)pgas_self.local_rank);
}

/* Two threads may assign lines at the same time. */
static void ft_commit_raise_used(struct ft_calls *calls, uint32_t used)
{
    uint32_t seen = atomic_load_explicit(&calls->used, memory_order_relaxed);

    while (seen < used)
        if (atomic_compare_exchange_weak_explicit(
                &calls->used, &seen, used, memory_order_release, memory_order_relaxed))
            return;
}

_Static_assert((int)FT_SLOT_WORLD == (int)SLOT_WORLD &&
                   (int)FT_SLOT_SHARED == (int)SLOT_SHARED &&
                   (int)FT_SLOTS_PREDEFINED == (int)SLOT_USER,
               "the slots of predefined teams");

/* The former team of the slot has ended on all its PEs, or belongs to a former
 * initialization of the library. */
void ft_commit_assign(struct shmem_team *team)
{
    uint32_t slot = team_slot(team);

    team->ft_call = NULL;
    if (pgas_self.ft == NULL)
        return;
    struct ft_team_slot *s =
        ft_map_slot(pgas_self.ft, (uint32_t)pgas_self.local_rank, slot);
    PGAS_ASSERT(s != NULL);
    atomic_store_explicit(&s->team, team->uid, memory_order_release);
    if (slot >= FT_TEAMS)
        return;
    struct ft_calls *calls = ft_commit_calls();
    struct ft_call *call = &calls->line[slot];
    atomic_store_explicit(&call->team, 0, memory_order_release);
    atomic_store_explicit(&call->begun, 0, memory_order_relaxed);
    atomic_store_explicit(&call->ended, 0, memory_order_relaxed);
    atomic_store_explicit(&call->asked, 0, memory_order_relaxed);
    atomic_store_explicit(&call->answered, 0, memory_order_relaxed);
    atomic_store_explicit(&call->team, team->uid, memory_order_release);
    ft_commit_raise_used(calls, slot + 1);
    team->ft_call = call;
}

void ft_commit_notify(void)
{
    ft_map_notify_agent(pgas_self.ft);
}

void ft_commit_recheck(struct shmem_team *team, struct ft_call *call)
{
    if (likely(ft_team_status(team) == 0))
        return;
    uint64_t number = atomic_load_explicit(&call->begun, memory_order_relaxed);
    atomic_store_explicit(&call->begun, number - 1, memory_order_release);
    ft_commit_notify(); /* the agent may wait for the end of the call */
    ft_unwind();
}

static bool ft_commit_answered(const void *arg)
{
    const struct ft_call *call = arg;
    struct ft_calls *calls = ft_commit_calls();
    uint32_t line = (uint32_t)(call - calls->line);
    uint64_t asking =
        atomic_load_explicit(&calls->asking[line / 64], memory_order_acquire);

    return (asking >> line % 64 & 1) == 0 &&
           atomic_load_explicit(&call->answered, memory_order_acquire) ==
               atomic_load_explicit(&call->asked, memory_order_relaxed);
}

/* What the agents of other nodes must know before they read the lines of their PEs. */
static uint32_t ft_commit_cause(const struct shmem_team *team, int status)
{
    for (int i = 0; i < team->npes && status != SHMEMX_ERR_REVOKED; i++)
        if (ft_pe_failed(team_world_pe(team, i)))
            return (uint32_t)team_world_pe(team, i);
    return FT_CAUSE_REVOKED;
}

bool ft_commit_ask(struct ft_guard *g, int status)
{
    struct ft_calls *calls = ft_commit_calls();
    struct ft_call *call = g->call;
    uint64_t number = atomic_load_explicit(&call->begun, memory_order_relaxed);
    uint32_t line = (uint32_t)(call - calls->line);

    PGAS_ASSERT(line < FT_TEAMS && pgas_thread.guard == NULL);
    call->cause = ft_commit_cause(g->team, status);
    atomic_store_explicit(&call->asked, number, memory_order_release);
    atomic_fetch_or_explicit(&calls->asking[line / 64], UINT64_C(1) << line % 64,
                             memory_order_release);
    ft_map_notify_agent(pgas_self.ft);
    block_until(&(struct block_wait){.ready = ft_commit_answered,
                                     .arg = call,
                                     .what = "the outcome of an interrupted collective"});
    if (call->success)
        atomic_store_explicit(&call->ended, number, memory_order_release);
    g->call = NULL;
    return call->success != 0;
}
