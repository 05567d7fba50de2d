/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * profile_team.c - identifies a team by the same number on all of its PEs.  Uses:
 * core/team, core/check.
 *
 * The number is a hash of the parent's number, the sequence number of the parent's call
 * that created the team, the index among the teams of that call, and the first PE.  The
 * team's slot does not identify it: slots are reused, and differ between PEs.  An active
 * set is identified by its start, stride and size.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "pgas/profile/profile_int.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/pgas.h"

#define STATE PROFILE->teams

enum { KIND_TEAM = 1, KIND_SET = 2, GROW = 2, FIRST = 16 };

/* The 64-bit finalizer of MurmurHash3. */
uint64_t profile_mix(uint64_t a, uint64_t b)
{
    uint64_t x = a * 0x9e3779b97f4a7c15u + b;

    x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
    return (x ^ x >> 33) | 1;
}

struct profile_team *profile_team_at(size_t row)
{
    return &STATE.row[row];
}

size_t profile_teams(void)
{
    return STATE.rows;
}

void profile_team_fini(void)
{
    free(STATE.row);
    free(STATE.row_of_slot);
    STATE.row = NULL;
    STATE.row_of_slot = NULL;
    STATE.rows = STATE.capacity = STATE.slots = 0;
}

static int profile_team_add(const struct profile_team *team)
{
    if (STATE.rows == STATE.capacity) {
        size_t space = STATE.capacity > 0 ? GROW * STATE.capacity : FIRST;
        struct profile_team *more = realloc(STATE.row, space * sizeof *STATE.row);
        if (more == NULL)
            return -1;
        STATE.row = more;
        STATE.capacity = space;
    }
    STATE.row[STATE.rows] = *team;
    return (int)STATE.rows++;
}

static size_t profile_team_slot_of(const struct shmem_team *team)
{
    return team_slot(team);
}

static bool profile_team_has_slot(size_t slot)
{
    if (slot < STATE.slots)
        return true;
    size_t more = slot + FIRST;
    uint32_t *rows = realloc(STATE.row_of_slot, more * sizeof *rows);
    if (rows == NULL)
        return false;
    memset(rows + STATE.slots, 0, (more - STATE.slots) * sizeof *rows);
    STATE.row_of_slot = rows;
    STATE.slots = more;
    return true;
}

/* "WORLD", "PE 3", "PEs 0..6 by 2", or for a list "3 PEs, 0 .. 7". */
static void profile_team_name_team(const struct shmem_team *team, char *text, size_t size)
{
    int last = team_world_pe(team, team->npes - 1);

    if (team->name != NULL)
        snprintf(text, size, "%s", team->name);
    else if (team->npes == 1)
        snprintf(text, size, "PE %d", last);
    else if (team->list == NULL)
        snprintf(text, size, "PEs %d..%d by %d", team->start, last, team->stride);
    else
        snprintf(text, size, "%d PEs, %d .. %d", team->npes, team->list[0], last);
}

static int profile_team_add_team(const struct shmem_team *team, uint64_t id)
{
    struct profile_team row = {.id = id, .npes = (uint32_t)team->npes};

    profile_team_name_team(team, row.name, sizeof row.name);
    if (!profile_team_has_slot(profile_team_slot_of(team)))
        return -1;
    int i = profile_team_add(&row);
    STATE.row_of_slot[profile_team_slot_of(team)] = (uint32_t)(i + 1);
    return i;
}

/* Row of a team, which is added at the first use of a predefined team. */
static int profile_team_find_team(const struct shmem_team *team)
{
    size_t slot = profile_team_slot_of(team);

    if (slot < STATE.slots && STATE.row_of_slot[slot] != 0)
        return (int)STATE.row_of_slot[slot] - 1;
    return profile_team_add_team(team, profile_mix(profile_mix(KIND_TEAM, slot),
                                                   (uint64_t)team_world_pe(team, 0)));
}

static int profile_team_find_set(const struct check_call *call)
{
    uint64_t start = check_value(call, CHECK_SET_START, 0);
    uint64_t log_stride = check_value(call, CHECK_SET_STRIDE, 0);
    uint64_t size = check_value(call, CHECK_SET_SIZE, 0);
    uint64_t id = profile_mix(profile_mix(KIND_SET, start), log_stride << 32 | size);
    struct profile_team row = {.id = id, .npes = (uint32_t)size};

    for (size_t i = 0; i < STATE.rows; i++)
        if (STATE.row[i].id == id)
            return (int)i;
    snprintf(row.name, sizeof row.name, "set %d, 2^%d, %d", (int)start, (int)log_stride,
             (int)size);
    return profile_team_add(&row);
}

int profile_team_of(const struct check_call *call)
{
    uint64_t team = check_team_value(call);

    if (call->scope == CHECK_BY_SET)
        return profile_team_find_set(call);
    if (call->scope == CHECK_BY_WORLD)
        return profile_team_find_team(team_of(SHMEM_TEAM_WORLD, call->fn));
    return team != 0
               ? profile_team_find_team(team_of((shmem_team_t)(uintptr_t)team, call->fn))
               : -1;
}

void profile_team_created(const struct check_call *call, uint64_t id)
{
    for (int i = 0; i < call->n; i++) {
        if (call->kind[i] != CHECK_NEW_TEAM)
            continue;
        shmem_team_t made = *(const shmem_team_t *)(uintptr_t)call->value[i];
        if (made == SHMEM_TEAM_INVALID)
            continue;
        const struct shmem_team *team = team_of(made, call->fn);
        uint64_t first = (uint64_t)team_world_pe(team, 0);
        profile_team_add_team(team, profile_mix(profile_mix(id, (uint64_t)i), first));
    }
}

void profile_team_destroyed(const struct check_call *call)
{
    uint64_t handle = check_value(call, CHECK_TEAM_DOOMED, 0);

    if (handle == 0)
        return;
    size_t slot =
        profile_team_slot_of(team_of((shmem_team_t)(uintptr_t)handle, call->fn));
    if (slot < STATE.slots)
        STATE.row_of_slot[slot] = 0;
}
