/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * split.c - see split.h.  Uses: core/team, core/ctx, core/slot, barrier, nb, allgather.
 *
 * The PEs of a new team must agree on a team slot (for its synchronisation area) that is
 * free on all of them.  In each round each PE publishes a proposal, its lowest free slot,
 * in the synchronisation area of the parent; after a barrier of the parent it reads the
 * proposals of its new team.  A PE below the maximum then proposes its lowest free slot
 * >= the maximum.  The agreement ends when all proposals of each new team are equal; as
 * slots are allocated from the lowest on, this usually takes one or two rounds.  A PE
 * without a free slot or without memory proposes SLOT_NONE, which is greater than all
 * slots, so all PEs converge to it and the creation fails on all of them.  Threads that
 * split several parents concurrently may raise each other's proposals up to the last slot
 * although lower slots have become free; then the agreement restarts, at most
 * RESTARTS_MAX times.
 *
 * Invariants.
 * - All PEs of the parent read the same proposals, so all execute the same number of
 *   rounds, including PEs that are in no new team.
 * - A proposal is unchanged until all PEs have read it: the next round uses another word
 *   (offers % 2), and a PE writes this word again only after the barrier of the next
 *   round, which no PE passes before it has read the proposals of this round.
 * - A proposed slot is allocated at once, so a concurrent thread that splits another
 *   parent proposes a different slot.
 * - A PE clears its synchronisation area before the last barrier of the creation, so no
 *   member of the new team reads stale values, or writes to the area before it is
 *   cleared.  PEs of a destroyed team in the same slot do not write either: see
 *   barrier_last.
 */
#include "config.h"

#include <stdlib.h>

#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/nonblocking/nb.h"
#include "pgas/coll/sync/allgather.h"
#include "pgas/coll/api/shrink.h"
#include "pgas/coll/api/split.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/team/ctx.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/pgas.h"
#include "pgas/ft/ft.h"
#include "pgas/threads/atomic.h"

enum { RESTARTS_MAX = 64 };
#define SLOT_RESTART (SLOT_NONE - 1) /* a proposal: restart the agreement */

/* One call, which creates one team or several disjoint teams. */
struct split {
    struct shmem_team *parent;
    struct team_set members;   /* of all new teams */
    int xrange;                /* > 0: row length of the 2D arrangement of the members */
    int axis;                  /* 0: one team per row, 1: one team per column */
    int me;                    /* this PE's index in members, -1 = not a member */
    struct descriptors offers; /* this round's proposals, if the parent spans nodes */
    uint32_t slot;             /* this PE's proposal */
    const char *fn;
};

/* Index of the first member of the new team of member i. */
static int split_first_of(const struct split *s, int i)
{
    if (s->xrange == 0)
        return 0;
    return s->axis == 0 ? i - i % s->xrange : i % s->xrange;
}

/* The word with the proposal of PE i of the parent in this round; PE i is local. */
static uint32_t *split_offer_of(const struct split *s, int i)
{
    return &team_words(s->parent, i)->split.offer[s->parent->coll->split.offers % 2];
}

static uint32_t split_offer_value(const struct split *s, int member)
{
    int i = team_set_at(&s->members, member);

    if (s->offers.team == NULL)
        return load_relaxed_u32(split_offer_of(s, i));
    return *(const uint32_t *)allgather_at(&s->offers, i);
}

/* True if the proposals within each new team are equal.  *most is the maximum of the
 * proposals of this PE's team. */
static bool split_compare(const struct split *s, uint32_t *most)
{
    bool equal = true;

    *most = 0;
    for (int i = 0; i < s->members.size; i++) {
        int first = split_first_of(s, i);
        uint32_t offer = split_offer_value(s, i);
        equal = equal && offer == split_offer_value(s, first) && offer != SLOT_RESTART;
        if (s->me >= 0 && first == split_first_of(s, s->me) && offer > *most)
            *most = offer;
    }
    return equal;
}

/* The next proposal, given the maximum of this round. */
static uint32_t split_next_offer(uint32_t mine, uint32_t most, int *restarts)
{
    if (mine == most && most != SLOT_RESTART)
        return mine;
    if (mine < SLOT_RESTART)
        slot_free(mine);
    if (most == SLOT_NONE)
        return SLOT_NONE;
    if (most == SLOT_RESTART)
        return ++*restarts < RESTARTS_MAX ? slot_alloc(SLOT_USER) : SLOT_NONE;
    uint32_t slot = slot_alloc(most);
    return slot != SLOT_NONE ? slot : SLOT_RESTART;
}

/* Barrier of the parent; the proposals of all its PEs are readable afterwards. */
static void split_exchange_offers(struct split *s)
{
    if (s->parent->remote)
        s->offers = allgather_open(s->parent, split_offer_of(s, s->parent->me),
                                   sizeof(uint32_t), s->fn);
    else
        barrier_sync(s->parent, s->fn);
}

/* True if all new teams have a slot; the result is equal on all PEs of the parent. */
static bool split_all_agreed(const struct split *s)
{
    for (int i = 0; i < s->members.size; i++)
        if (split_offer_value(s, i) == SLOT_NONE)
            return false;
    return true;
}

/* Agree on s->slot for this PE's new team; the value is meaningless on a PE in no new
 * team.  *good is set if all new teams have a slot.  Nonzero: a failure has interrupted
 * the agreement. */
static __attribute__((noinline)) int split_agree(struct split *s, bool able, bool *good)
{
    uint32_t most;
    int restarts = 0;

    s->slot = able ? slot_alloc(SLOT_USER) : SLOT_NONE;
    FT_GUARD(guard, ft_guard_open_team(&guard, s->parent), guard.status);
    for (;;) {
        s->parent->coll->split.offers++;
        if (s->me >= 0)
            store_relaxed_u32(split_offer_of(s, s->parent->me), s->slot);
        split_exchange_offers(s);
        bool done = split_compare(s, &most);
        *good = done && split_all_agreed(s);
        allgather_close(&s->offers);
        if (done)
            return 0;
        if (s->me >= 0)
            s->slot = split_next_offer(s->slot, most, &restarts);
    }
}

/* The members of this PE's new team, as PE numbers of the parent. */
static struct team_set split_own_set(const struct split *s)
{
    struct team_set set = s->members;
    int n = s->members.size, first = s->me >= 0 ? split_first_of(s, s->me) : 0;

    if (s->xrange == 0)
        return set;
    set.start = first;
    set.stride = s->axis == 0 ? 1 : s->xrange;
    set.size = s->axis == 0 ? s->xrange : (n - first + s->xrange - 1) / s->xrange;
    if (s->axis == 0 && set.size > n - first)
        set.size = n - first; /* the last row */
    return set;
}

static int split_create(struct split *s, int num_contexts, shmem_team_t *out)
{
    struct team_set set = split_own_set(s);
    struct shmem_team *team =
        s->me >= 0 && num_contexts >= 0 ? team_coll_new(s->parent, &set) : NULL;
    bool good = false;
    int failure = split_agree(s, team != NULL, &good);
    bool owns_slot = team != NULL && good && failure == 0;

    if (owns_slot) {
        team->num_contexts = num_contexts;
        team_set_uid(team, s->parent, s->parent->coll->split.offers);
        team_coll_begin(team, s->slot);
    }
    if (failure == 0) /* all sync areas are cleared, or no PE will use the new team */
        failure = barrier_commit_guarded(s->parent, s->fn);
    good = good && failure == 0;
    if (team != NULL && good)
        *out = team;
    else if (team != NULL)
        team_coll_free(team); /* and the slot that it owns */
    if (s->me >= 0 && !good && !owns_slot && s->slot < SLOT_RESTART)
        slot_free(s->slot);
    if (!good)
        log_debug(
            "%s: no free team slot (set SHMEM_TEAM_SIZE to a larger size), no memory, a "
            "negative num_contexts on some PE, or the failure of a PE",
            s->fn);
    return failure != 0 ? failure : good ? 0 : -1;
}

int split_team(struct shmem_team *parent, const struct team_set *set, shmem_team_t *team,
               const char *fn)
{
    struct split s = {.parent = parent, .members = *set, .me = parent->me, .fn = fn};

    return split_create(&s, 0, team);
}

uint32_t split_and(struct shmem_team *team, uint32_t value, const char *fn)
{
    struct split s = {.parent = team, .fn = fn};
    uint32_t all = UINT32_MAX;

    s.members = (struct team_set){.size = team->npes, .stride = 1};
    team->coll->split.offers++;
    store_relaxed_u32(split_offer_of(&s, team->me), value);
    split_exchange_offers(&s);
    for (int i = 0; i < team->npes; i++)
        all &= split_offer_value(&s, i);
    allgather_close(&s.offers);
    return all;
}

int split_config(const shmem_team_config_t *config, long mask)
{
    return (mask & SHMEM_TEAM_NUM_CONTEXTS) != 0 ? config->num_contexts : 0;
}

/* True if the list is not empty and has no invalid or duplicate PE. */
static bool split_valid_list(const struct shmem_team *team, const struct team_set *set)
{
    uint64_t *seen = calloc((size_t)team->npes / 64 + 1, sizeof *seen); /* a bit per PE */
    bool valid = set->size > 0;

    if (seen == NULL)
        log_die("no memory to check a list of %d PEs", set->size);
    for (int i = 0; valid && i < set->size; i++) {
        int pe = set->list[i];
        valid = pe >= 0 && pe < team->npes && (seen[pe / 64] >> pe % 64 & 1) == 0;
        if (valid)
            seen[pe / 64] |= UINT64_C(1) << pe % 64;
    }
    free(seen);
    return valid;
}

static bool split_valid(const struct shmem_team *team, const struct team_set *set)
{
    if (set->list != NULL)
        return split_valid_list(team, set);
    int64_t last = set->start + (int64_t)set->stride * ((int64_t)set->size - 1);
    return set->size > 0 && (set->size == 1 || set->stride != 0) && set->start >= 0 &&
           set->start < team->npes && last >= 0 && last < team->npes;
}

/* Index in the set of a PE of the parent, -1 = not in it. */
static int split_index_in(const struct team_set *set, int pe)
{
    for (int i = 0; i < set->size; i++)
        if (team_set_at(set, i) == pe)
            return i;
    return -1;
}

int split_set(shmem_team_t parent, const struct team_set *set, int num_contexts,
              shmem_team_t *team, const char *fn)
{
    *team = SHMEM_TEAM_INVALID;
    if (parent == SHMEM_TEAM_INVALID)
        return -1;
    struct split s = {.parent = team_of(parent, fn), .members = *set, .fn = fn};
    if (!split_valid(s.parent, set)) {
        log_debug("%s: not a valid set of PEs of the parent team, which has PEs 0..%d",
                  fn, s.parent->npes - 1);
        return -1;
    }
    s.me = split_index_in(set, s.parent->me);
    return split_create(&s, num_contexts, team);
}

static int split_axis(shmem_team_t parent, int xrange, int axis, int num_contexts,
                      shmem_team_t *team, const char *fn)
{
    *team = SHMEM_TEAM_INVALID;
    if (parent == SHMEM_TEAM_INVALID || xrange <= 0)
        return -1;
    struct split s = {.parent = team_of(parent, fn), .axis = axis, .fn = fn};
    s.members = (struct team_set){.size = s.parent->npes, .stride = 1};
    s.xrange = xrange < s.parent->npes ? xrange : s.parent->npes;
    s.me = s.parent->me;
    return split_create(&s, num_contexts, team);
}

/* All live PEs get 0, all get -1, or all get an error code, so that all undo the first
 * axis in the same way. */
int split_axes(shmem_team_t parent, int xrange, const int num_contexts[2],
               shmem_team_t *xaxis, shmem_team_t *yaxis, const char *fn)
{
    *yaxis = SHMEM_TEAM_INVALID;
    int rc = split_axis(parent, xrange, 0, num_contexts[0], xaxis, fn);
    if (rc != 0)
        return rc;
    rc = split_axis(parent, xrange, 1, num_contexts[1], yaxis, fn);
    if (rc == 0)
        return 0;
    if (rc == -1)
        split_destroy(*xaxis, fn);
    else
        shrink_abandon(team_of(*xaxis, fn)); /* after a failure: without a barrier */
    *xaxis = *yaxis = SHMEM_TEAM_INVALID;
    return rc;
}

/* False: a failure has interrupted the barrier. */
static __attribute__((noinline)) bool split_last_barrier(struct shmem_team *team,
                                                         const char *fn)
{
    FT_GUARD(guard, ft_guard_open_team(&guard, team), false);
    barrier_last(team, fn);
    return true;
}

/* A failure does not change the outcome: this PE releases what it has of the team.  The
 * contexts are closed outside of a guard: ft_unwind would leave them half closed. */
void split_destroy(shmem_team_t handle, const char *fn)
{
    if (handle == SHMEM_TEAM_INVALID)
        return;
    struct shmem_team *team = team_of(handle, fn);
    if (team->name != NULL)
        log_misuse("%s: argument 'team' is SHMEM_TEAM_%s, which cannot be destroyed", fn,
                   team->name);
    if (ft_team_status(team) != 0) {
        shrink_abandon(team);
        return;
    }
    nb_check_ended(team, fn);
    ctx_destroy_all(team);
    if (split_last_barrier(team, fn))
        team_coll_free(team);
    else
        shrink_abandon(team);
}
