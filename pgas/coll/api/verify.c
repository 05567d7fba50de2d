/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * verify.c - see verify.h.  Uses: active, barrier, core/check, core/team, core/peer,
 * core/log, ft, rma.
 *
 * Each PE records its call in the team's synchronisation area (for an active set: in the
 * second half of pSync).  After a barrier it compares the record with that of team PE 0;
 * a second barrier precedes the reuse of the record.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pgas/coll/api/active.h"
#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/api/verify.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/check/check.h"
#include "pgas/core/base/log.h"
#include "pgas/core/memory/peer.h"
#include "pgas/ft/ft.h"
#include "pgas/rma/rma.h"

/* Index of the call record in pSync, after the words that the collectives use. */
#define PSYNC_CALL (SHMEM_SYNC_SIZE / 2)

_Static_assert(sizeof(struct verify_call) <=
                   (SHMEM_SYNC_SIZE - PSYNC_CALL) * sizeof(long),
               "a call record fits its half of a pSync array");
_Static_assert((int)CHECK_PARAMS_MAX <= (int)VERIFY_VALUES_MAX,
               "a call record holds all values");

/* Symmetric address of this PE's call record. */
static struct verify_call *verify_call_here(const struct shmem_team *team)
{
    if (team->psync == NULL)
        return &team_words(team, team->me)->call;
    return peer_at(team->psync + PSYNC_CALL, sizeof(struct verify_call), pgas_self.me,
                   "collective");
}

static struct shmem_team *verify_set_of_call(const struct check_call *c,
                                             struct shmem_team *set)
{
    *set = active_set((int)check_value(c, CHECK_SET_START, 0),
                      (int)check_value(c, CHECK_SET_STRIDE, 0),
                      (int)check_value(c, CHECK_SET_SIZE, 0),
                      (long *)(uintptr_t)check_value(c, CHECK_PSYNC, 0), c->fn);
    return set;
}

/* The team of the collective; NULL if there is none (SHMEM_TEAM_INVALID is permitted). */
static struct shmem_team *verify_team_of_call(const struct check_call *c,
                                              struct shmem_team *set)
{
    uint64_t team = check_team_value(c);

    if (c->scope == CHECK_BY_SET)
        return verify_set_of_call(c, set);
    if (c->scope == CHECK_BY_WORLD)
        return team_live();
    return team != 0 ? team_of((shmem_team_t)(uintptr_t)team, c->fn) : NULL;
}

/* For a routine with a length per PE (collect) whose length on this PE is 0: true for the
 * source array, which is the parameter before the length, and for any NULL. */
static bool verify_own_nothing(const struct check_call *c, int i)
{
    if (check_value(c, CHECK_COUNT_OWN, 1) != 0)
        return false;
    bool is_source = i + 1 < c->n && c->kind[i + 1] == CHECK_COUNT_OWN;
    return c->value[i] == 0 || is_source;
}

/* True if parameter i is compared; addresses of empty arrays are not. */
static bool verify_compared(const struct check_call *c, int i, uint64_t *value)
{
    bool empty = check_value(c, CHECK_COUNT, check_value(c, CHECK_COUNT_INT, 1)) == 0;

    return check_comparable(c, i, value) &&
           !(check_is_address(c, i) && (empty || verify_own_nothing(c, i)));
}

/* A value that is not compared is recorded as 0, which is not the address of an array. */
static void verify_record(const struct check_call *c, struct verify_call *mine)
{
    snprintf(mine->fn, sizeof mine->fn, "%s", c->fn);
    for (int i = 0; i < c->n; i++)
        if (!verify_compared(c, i, &mine->value[i]))
            mine->value[i] = 0;
}

static void verify_differ(const struct check_call *c, int i, uint64_t mine,
                          uint64_t theirs, int pe)
{
    if (check_is_address(c, i))
        log_misuse(
            "%s: argument %d '%s' = 0x%" PRIx64
            " is not the array that PE %d passes; all PEs of a collective must pass "
            "the same symmetric address, or the same list",
            c->fn, i + 1, c->name[i], c->value[i], pe);
    log_misuse("%s: argument %d '%s' = %" PRId64 ", but %" PRId64
               " on PE %d; all PEs of a collective must pass the same value",
               c->fn, i + 1, c->name[i], (int64_t)mine, (int64_t)theirs, pe);
}

/* shmem_barrier_all is the same collective as shmem_team_sync with the world (9.10). */
static const char *verify_collective_of(const char *fn)
{
    bool is_barrier = strcmp(fn, "shmem_barrier_all") == 0 ||
                      strcmp(fn, "shmem_sync_all") == 0 ||
                      strcmp(fn, "shmem_team_sync") == 0;

    return is_barrier ? "shmem_team_sync" : fn;
}

static void verify_compare(const struct check_call *c, const struct verify_call *mine,
                           const struct verify_call *first, int pe)
{
    uint64_t value;

    if (strcmp(verify_collective_of(mine->fn), verify_collective_of(first->fn)) != 0)
        log_misuse("%s: PE %d calls %s of the same team at this point; all PEs of a team "
                   "must call the same collectives in the same order",
                   c->fn, pe, first->fn);
    for (int i = 0; i < c->n; i++)
        if (verify_compared(c, i, &value) && value != first->value[i] &&
            !(first->value[i] == 0 && check_is_address(c, i)))
            verify_differ(c, i, value, first->value[i], pe);
}

static void verify_by_barriers(const struct check_call *c, struct shmem_team *team)
{
    barrier_enter(team, c->fn);
    struct verify_call *mine = verify_call_here(team), first;
    verify_record(c, mine);
    barrier_sync(team, c->fn);
    rma_get(CTX_LIBRARY, &first, mine, sizeof first, team_world_pe(team, 0), c->fn);
    verify_compare(c, mine, &first, team_world_pe(team, 0));
    barrier_sync(team, c->fn);
    memset(mine, 0, sizeof *mine);
    barrier_leave(team, c->fn);
}

/* shmem_team_destroy has no guard outside of its own barrier (ft_guard.c), and of a team
 * that has failed it waits for no PE. */
static __attribute__((noinline)) void verify_destruction(const struct check_call *c,
                                                         struct shmem_team *team)
{
    FT_GUARD(guard, ft_guard_open_team(&guard, team), );
    verify_by_barriers(c, team);
}

/* No call but a destruction may skip the barriers: its own ones could match them on other
 * PEs. */
static void verify_arguments(const struct check_call *c)
{
    struct shmem_team set, *team = verify_team_of_call(c, &set);

    if (team == NULL || team->npes == 1)
        return;
    if (check_value(c, CHECK_TEAM_DOOMED, 0) != 0)
        verify_destruction(c, team);
    else
        verify_by_barriers(c, team);
}

void verify_init(void)
{
    check_set_verify(verify_arguments);
}
