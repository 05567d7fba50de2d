/* SPDX-License-Identifier: BSD-3-Clause */
/* api_team.c - API entry points of teams (9.4, 9.1.10).  Uses: core/team, core/peer,
 * split. */
#include "config.h"

#include "include/shmemx.h"
#include "pgas/coll/api/split.h"
#include "pgas/core/memory/peer.h"
#include "pgas/rma/api.h"

/* ---- queries -------------------------------------------------------------------------
 */

static int api_team_translate(shmem_team_t from, int pe, shmem_team_t to, const char *fn)
{
    if (from == SHMEM_TEAM_INVALID || to == SHMEM_TEAM_INVALID)
        return -1;
    const struct shmem_team *source = team_of(from, fn), *dest = team_of(to, fn);
    if (pe < 0 || pe >= source->npes)
        return -1;
    return team_index(dest, team_world_pe(source, pe));
}

static int api_team_get_config(shmem_team_t team, long mask, shmem_team_config_t *config,
                               const char *fn)
{
    if (team == SHMEM_TEAM_INVALID)
        return -1;
    const struct shmem_team *t = team_of(team, fn);
    if ((mask & SHMEM_TEAM_NUM_CONTEXTS) != 0)
        config->num_contexts = t->num_contexts;
    return 0;
}

static void *api_team_address(shmem_team_t team, const void *dest, int pe, const char *fn)
{
    if (team == SHMEM_TEAM_INVALID)
        return NULL;
    const struct shmem_team *t = team_of(team, fn);
    return pe >= 0 && pe < t->npes ? peer_find(dest, 1, team_world_pe(t, pe)) : NULL;
}

/* clang-format off */

ROUTINE(int, shmem_team_my_pe, 0, ALONE, (shmem_team_t, team, TEAM_OR_NONE))
{ return team == SHMEM_TEAM_INVALID ? -1 : team_of(team, fn)->me; }

ROUTINE(int, shmem_team_n_pes, 0, ALONE, (shmem_team_t, team, TEAM_OR_NONE))
{ return team == SHMEM_TEAM_INVALID ? -1 : team_of(team, fn)->npes; }

ROUTINE(int, shmem_team_get_config, 0, ALONE, (shmem_team_t, team, TEAM_OR_NONE),
        (long, config_mask, CONFIG_WANTED), (shmem_team_config_t *, config, CONFIG_OUT))
{ return api_team_get_config(team, config_mask, config, fn); }

/* Any src_pe is valid: a PE that is not in the team translates to -1. */
ROUTINE(int, shmem_team_translate_pe, 0, ALONE, (shmem_team_t, src_team, TEAM_OR_NONE),
        (int, src_pe, ANY), (shmem_team_t, dest_team, TEAM_OR_NONE))
{ return api_team_translate(src_team, src_pe, dest_team, fn); }

ROUTINE(void *, shmem_team_ptr, 1, ALONE, (shmem_team_t, team, TEAM_OR_NONE),
        (const void *, dest, ANY), (int, pe, TEAM_PE))
{ return api_team_address(team, dest, pe, fn); }

/* ---- creation and destruction ------------------------------------------------------ */

ROUTINE(int, shmem_team_split_strided, 0, BY_TEAM,
        (shmem_team_t, parent_team, TEAM_OR_NONE),
        (int, start, SAME), (int, stride, SAME), (int, size, SAME),
        (const shmem_team_config_t *, config, OPTIONAL), (long, config_mask, CONFIG_MASK),
        (shmem_team_t *, new_team, NEW_TEAM))
{
    const struct team_set set = {.size = size, .start = start, .stride = stride};

    return split_set(parent_team, &set, split_config(config, config_mask), new_team, fn);
}

ROUTINE(int, shmem_team_split_2d, 0, BY_TEAM,
        (shmem_team_t, parent_team, TEAM_OR_NONE), (int, xrange, SAME),
        (const shmem_team_config_t *, xaxis_config, OPTIONAL),
        (long, xaxis_mask, CONFIG_MASK), (shmem_team_t *, xaxis_team, NEW_TEAM),
        (const shmem_team_config_t *, yaxis_config, OPTIONAL),
        (long, yaxis_mask, CONFIG_MASK), (shmem_team_t *, yaxis_team, NEW_TEAM))
{
    const int num_contexts[] = {split_config(xaxis_config, xaxis_mask),
                                split_config(yaxis_config, yaxis_mask)};

    return split_axes(parent_team, xrange, num_contexts, xaxis_team, yaxis_team, fn);
}

ROUTINE(int, shmemx_team_create, sizeof(int), BY_TEAM,
        (shmem_team_t, parent, TEAM_OR_NONE), (const int *, list, MEMBERS),
        (int, n, COUNT_INT), (shmem_team_t *, new_team, NEW_TEAM))
{
    const struct team_set set = {.size = list != NULL ? n : 0, .list = list};

    return split_set(parent, &set, 0, new_team, fn);
}

ROUTINE(void, shmem_team_destroy, 0, BY_TEAM, (shmem_team_t, team, TEAM_DOOMED))
{ split_destroy(team, fn); }

/* clang-format on */
