/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_guard.c - how a collective ends because of a failure; see ft.h.  Uses: core/team,
 * core/net, core/check. */
#include "config.h"

#include "include/shmemx.h"
#include "pgas/core/base/clock.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/base/timing.h"
#include "pgas/core/check/check.h"
#include "pgas/core/progress/net.h"
#include "pgas/core/team/team.h"
#include "pgas/ft/ft.h"
#include "pgas/ft/ft_commit.h"
#include "pgas/ft/ft_temp.h"

/* Tells the address sanitizer that the functions between here and the guard do not
 * return; without it, does nothing. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
static void ft_no_return(void)
{
    __asan_handle_no_return();
}
#else
static void ft_no_return(void) {}
#endif

/* True if a PE of the active set has failed. */
static bool ft_guard_set_failed(const struct ft_guard *g)
{
    for (int i = 0; i < g->size; i++)
        if (ft_pe_failed(g->start + (i << g->log_stride)))
            return true;
    return false;
}

/* Why the collective cannot complete; 0: no reason is known. */
static int ft_guard_status(const struct ft_guard *g)
{
    if (unlikely(g->size > 0))
        return ft_guard_set_failed(g) ? SHMEMX_ERR_PE_FAILED : 0;
    return ft_team_status(g->team);
}

static int ft_guard_refuse(struct ft_guard *g, int status)
{
    ft_process();
    g->status = status;
    return status;
}

int ft_guard_open_changed(struct ft_guard *g, struct shmem_team *team)
{
    int status = ft_team_status(team);

    if (status != 0)
        return ft_guard_refuse(g, status);
    ft_guard_enter(g, team, 0);
    return 0;
}

/* An invalid set is reported by the routine. */
static int ft_guard_open_set(struct ft_guard *g, const struct check_call *call)
{
    int64_t start = (int)check_value(call, CHECK_SET_START, 0);
    int log_stride = (int)check_value(call, CHECK_SET_STRIDE, 0);
    int64_t size = (int)check_value(call, CHECK_SET_SIZE, 0);

    if (start < 0 || log_stride < 0 || log_stride > 30 || size <= 0 ||
        start + ((size - 1) << log_stride) >= pgas_self.npes)
        return 0;
    g->start = (int)start;
    g->log_stride = log_stride;
    g->size = (int)size;
    int status = ft_guard_status(g);
    if (status != 0)
        return ft_guard_refuse(g, status);
    ft_guard_enter(g, team_world(), (int)size);
    return 0;
}

/* Once the world has been reduced, only its own routines run over the survivors, not
 * other collectives with its handle.  shmem_team_destroy releases this PE's part of the
 * team in any case, and has a guard for its barrier only. */
int ft_guard_open_handle(struct ft_guard *g, shmem_team_t handle, int kind,
                         const char *fn)
{
    if (handle == SHMEM_TEAM_INVALID || kind == CHECK_TEAM_DOOMED)
        return 0; /* an error of the routine, or a destruction */
    struct shmem_team *team = team_of(handle, fn);
    if (team == team_world() && team_live() != team)
        return ft_guard_refuse(g, SHMEMX_ERR_PE_FAILED);
    return ft_guard_open_team(g, team);
}

void ft_clear_team(uint64_t address)
{
    shmem_team_t *team = (shmem_team_t *)(uintptr_t)address;

    if (team != NULL)
        *team = SHMEM_TEAM_INVALID;
}

int ft_guard_open(struct ft_guard *g, const struct check_call *call)
{
    for (int i = 0; i < call->n; i++)
        if (call->kind[i] == CHECK_NEW_TEAM)
            ft_clear_team(call->value[i]);
    if (call->scope == CHECK_BY_TEAM)
        return ft_guard_open_handle(g, (shmem_team_t)(uintptr_t)call->value[0],
                                    call->kind[0], call->fn);
    if (call->scope == CHECK_BY_SET)
        return ft_guard_open_set(g, call);
    return ft_guard_open_team(g, team_live());
}

enum ft_wait ft_wait_state(bool collective, bool alone)
{
    struct ft_guard *g = pgas_thread.guard;

    if (collective && g != NULL && ft_guard_status(g) != 0)
        return FT_WAIT_UNWIND;
    return alone && ft_unacknowledged() ? FT_WAIT_END : FT_WAIT_ON;
}

bool ft_may_have_failed(void)
{
    struct ft_guard *g = pgas_thread.guard;

    if (g == NULL)
        return false;
    if (g->departed_ns == 0)
        g->departed_ns = clock_ns();
    return clock_ns() - g->departed_ns < TIMING_FT_DEPARTED;
}

/* The stack of the functions that are left is still valid while this PE's operations
 * complete: those to failed PEs are dropped, and the others' targets are alive. */
void ft_unwind(void)
{
    struct ft_guard *g = pgas_thread.guard;

    PGAS_ASSERT(g != NULL && g->open);
    g->status = ft_guard_status(g);
    ft_process();
    pgas_thread.guard = NULL; /* against recursion */
    if (pgas_self.net != NULL)
        net_quiet_all(net_ctx_0(), "a collective of a team with a failed PE");
    ft_temp_free_all(g);
    if (g->call != NULL && ft_commit_ask(g, g->status))
        g->status = 0;
    pgas_thread.guard = g;
    pgas_thread.waits = g->waits;
    pgas_thread.locks = g->locks;
    pgas_thread.in_nb = g->in_nb;
    ft_no_return();
    __builtin_longjmp(g->env, 1);
}

/* Within a wait (of a block_ready function, or of nonblocking operations) the thread
 * stays in the collective; the wait itself will end it. */
void ft_check_guard(void)
{
    const struct ft_guard *g = pgas_thread.guard;

    if (pgas_thread.waits == g->waits && pgas_thread.locks == g->locks &&
        ft_guard_status(g) != 0)
        ft_unwind();
}
