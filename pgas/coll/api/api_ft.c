/* SPDX-License-Identifier: BSD-3-Clause */
/* api_ft.c - API entry points for failures (shmemx_ft).  Uses: ft/ft, shrink. */
#include "config.h"

#include "include/shmemx.h"
#include "pgas/coll/api/shrink.h"
#include "pgas/ft/ft.h"
#include "pgas/rma/api.h"

static int api_ft_pe_failed(int pe)
{
    return pe >= 0 && pe < (int)pgas_self.npes && ft_pe_failed(pe);
}

/* After a failure, the world's routines run on a team of its survivors. */
static struct shmem_team *api_ft_live(struct shmem_team *team)
{
    return team == team_world() ? team_live() : team;
}

static int api_ft_revoke(struct shmem_team *team, const char *fn)
{
    if (pgas_self.ft == NULL)
        return -1;
    ft_revoke(team, fn);
    return 0;
}

/* clang-format off */

ROUTINE(int, shmemx_pe_failed, 0, ALONE, (int, pe, PE))
{ (void)fn; return api_ft_pe_failed(pe); }

ROUTINE(int, shmemx_team_failed, sizeof(int), ALONE, (shmem_team_t, team, TEAM),
        (int *, pes, OPTIONAL), (int, max, COUNT_INT))
{ return ft_team_failed(team_of(team, fn), pes, max); }

ROUTINE(int, shmemx_team_status, 0, ALONE, (shmem_team_t, team, TEAM))
{ return ft_team_status_now(api_ft_live(team_of(team, fn))); }

typedef void (*handler_t)(const int *pes, int n, void *arg);
ROUTINE(int, shmemx_failure_handler, 0, ALONE, (handler_t, handler, OPTIONAL),
        (void *, arg, OPTIONAL))
{ (void)fn; return ft_set_handler(handler, arg); }

ROUTINE(int, shmemx_team_revoke, 0, ALONE, (shmem_team_t, team, TEAM))
{ return api_ft_revoke(api_ft_live(team_of(team, fn)), fn); }

ROUTINE(int, shmemx_team_agree, 0, ALONE, (shmem_team_t, team, TEAM),
        (uint64_t *, flags, POINTER))
{ return shrink_agree(team_of(team, fn), flags, fn); }

ROUTINE(int, shmemx_team_shrink, 0, ALONE, (shmem_team_t, team, TEAM),
        (shmem_team_t *, survivors, NEW_TEAM))
{ return shrink_team(team_of(team, fn), survivors, fn); }

/* clang-format on */
