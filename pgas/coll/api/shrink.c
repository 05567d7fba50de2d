/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shrink.c - see shrink.h.  Uses: ft/ft, core/team, core/slot, split, team_coll.
 *
 * A shrink consists of two or more agreements.  In the first ones each survivor proposes
 * its lowest free team slot, as in a split (split.c); they end when all proposals are
 * equal.  The last of them also decides who has failed.  Every survivor then makes the
 * new team and clears its sync area.  The final agreement is the barrier after which the
 * sync areas may be used, and makes the result equal: without memory on one PE the call
 * fails on all.
 *
 * A shrink of the world makes two teams of the same PEs: the one that it returns, and the
 * one on which the routines of the world run from then on (team_live).
 */
#include "config.h"

#include <stdlib.h>

#include "include/shmemx.h"
#include "pgas/coll/api/shrink.h"
#include "pgas/coll/api/split.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/base/log.h"
#include "pgas/core/progress/net.h"
#include "pgas/core/team/ctx.h"
#include "pgas/core/team/slot.h"
#include "pgas/ft/ft.h"
#include "pgas/ft/ft_types.h"

enum { TEAMS_MAX = 2 };

struct shrink {
    struct shmem_team *team;
    int n; /* teams to make */
    uint32_t slot[TEAMS_MAX];
    struct shmem_team *made[TEAMS_MAX];
    uint64_t *failed; /* a set of PEs */
    const char *fn;
};

/* ---- agreement -------------------------------------------------------------------- */

static uint64_t *shrink_new_set(const char *fn)
{
    uint64_t *set = calloc(ft_map_set_words(pgas_self.ft), sizeof *set);

    if (set == NULL)
        log_die("%s: no memory for a set of %u PEs", fn, pgas_self.npes);
    return set;
}

static bool shrink_any_failed(const struct shmem_team *team, const uint64_t *failed)
{
    for (int i = 0; i < team->npes; i++)
        if (ft_set_has(failed, (uint32_t)team_world_pe(team, i)))
            return true;
    return false;
}

int shrink_agree(struct shmem_team *team, uint64_t *flags, const char *fn)
{
    if (pgas_self.ft == NULL) {
        uint32_t low = split_and(team, (uint32_t)*flags, fn);
        *flags = (uint64_t)split_and(team, (uint32_t)(*flags >> 32), fn) << 32 | low;
        return 0;
    }
    struct ft_vote vote = {.ands = 1, .word = {*flags}, .failed = shrink_new_set(fn)};
    ft_agree(team, &vote, fn);
    *flags = vote.word[0];
    bool failed = shrink_any_failed(team, vote.failed);
    free(vote.failed);
    return failed ? SHMEMX_ERR_PE_FAILED : 0;
}

/* ---- slots ------------------------------------------------------------------------ */

/* Replaces the proposals by the lowest free slots that are not below the highest ones, in
 * ascending order.  The lowest slots that are free on all survivors are never exceeded.
 */
static void shrink_raise(struct shrink *s, const uint64_t *most)
{
    uint32_t from = SLOT_USER;

    for (int k = 0; k < s->n; k++)
        if (s->slot[k] != SLOT_NONE)
            slot_free(s->slot[k]);
    for (int k = 0; k < s->n; k++) {
        from = most[k] > from ? (uint32_t)most[k] : from;
        s->slot[k] = from == SLOT_NONE ? SLOT_NONE : slot_alloc(from);
        from = s->slot[k] == SLOT_NONE ? SLOT_NONE : s->slot[k] + 1;
    }
}

/* One round: words 0 .. n-1 are the maxima of the slots, n .. 2n-1 those of their
 * complements.  True if all proposals are equal. */
static bool shrink_propose(struct shrink *s)
{
    struct ft_vote vote = {.maxs = 2 * s->n, .failed = s->failed};
    bool equal = true;

    for (int k = 0; k < s->n; k++) {
        vote.word[k] = s->slot[k];
        vote.word[s->n + k] = ~(uint64_t)s->slot[k];
    }
    ft_agree(s->team, &vote, s->fn);
    for (int k = 0; k < s->n; k++)
        equal = equal && vote.word[k] == ~vote.word[s->n + k];
    if (!equal)
        shrink_raise(s, vote.word);
    return equal;
}

/* ---- the new teams ---------------------------------------------------------------- */

static int shrink_survivors(const struct shrink *s, int *list)
{
    int n = 0;

    for (int i = 0; i < s->team->npes; i++)
        if (!ft_set_has(s->failed, (uint32_t)team_world_pe(s->team, i)))
            list[n++] = i;
    return n;
}

static bool shrink_make(struct shrink *s)
{
    int *list = malloc((size_t)s->team->npes * sizeof *list);
    bool made = list != NULL;

    for (int k = 0; made && k < s->n; k++) {
        struct team_set set = {.size = shrink_survivors(s, list), .list = list};
        s->made[k] = team_coll_new(s->team, &set);
        made = s->made[k] != NULL;
    }
    free(list);
    for (int k = 0; made && k < s->n; k++) {
        s->made[k]->num_contexts = s->team->num_contexts;
        team_set_uid(s->made[k], s->team,
                     (uint64_t)s->team->agreements << 32 | s->slot[k]);
        team_coll_begin(s->made[k], s->slot[k]);
    }
    return made;
}

static void shrink_undo(struct shrink *s)
{
    for (int k = 0; k < s->n; k++) {
        bool owns_slot = s->made[k] != NULL && s->made[k]->words_offset != 0;
        if (s->made[k] != NULL)
            team_coll_free(s->made[k]);
        if (!owns_slot && s->slot[k] != SLOT_NONE)
            slot_free(s->slot[k]);
    }
}

/* Equal on all survivors: every PE has made its teams. */
static bool shrink_all_made(struct shrink *s, bool made)
{
    struct ft_vote vote = {.ands = 1, .word = {made}};

    ft_agree(s->team, &vote, s->fn);
    return vote.word[0] != 0;
}

/* Acknowledges the failed PEs of the team; the agreed set contains others, too. */
static void shrink_acknowledge(struct shrink *s)
{
    uint64_t *members = shrink_new_set(s->fn);

    for (int i = 0; i < s->team->npes; i++) {
        uint32_t pe = (uint32_t)team_world_pe(s->team, i);
        if (ft_set_has(s->failed, pe))
            ft_set_add(members, pe);
    }
    ft_acknowledge(members);
    free(members);
}

static int shrink_run(struct shrink *s)
{
    for (int k = 0; k < s->n; k++)
        s->slot[k] = slot_alloc(SLOT_USER);
    while (!shrink_propose(s)) {
    }
    bool slots = true;
    for (int k = 0; k < s->n; k++)
        slots = slots && s->slot[k] != SLOT_NONE;
    bool made = slots && shrink_make(s);
    if (!shrink_all_made(s, made)) {
        shrink_undo(s);
        return -1;
    }
    shrink_acknowledge(s);
    if (s->n == TEAMS_MAX)
        team_set_live(s->made[1]);
    return 0;
}

int shrink_team(struct shmem_team *team, shmem_team_t *survivors, const char *fn)
{
    *survivors = SHMEM_TEAM_INVALID;
    if (pgas_self.ft == NULL) {
        struct team_set all = {.size = team->npes, .stride = 1};
        return split_team(team, &all, survivors, fn);
    }
    if (pgas_self.net != NULL) {
        net_pool_quiet(fn);
        net_quiet_all(net_ctx_0(), fn);
    }
    struct shrink s = {.team = team,
                       .n = team == team_world() ? TEAMS_MAX : 1,
                       .failed = shrink_new_set(fn),
                       .fn = fn};
    int rc = shrink_run(&s);
    free(s.failed);
    if (rc == 0)
        *survivors = s.made[0];
    else
        log_debug("%s: no free team slot (set SHMEM_TEAM_SIZE to a larger size), or no "
                  "memory on some PE",
                  fn);
    return rc;
}

void shrink_abandon(struct shmem_team *team)
{
    ctx_destroy_all(team);
    team_coll_abandon(team);
}
