/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * revoked.c - no revocation is forgotten, however many teams are revoked while a PE
 * computes, and none applies to a later team.
 */
#include "tests/api/multi/check.h"

#include <shmemx.h>

enum { TEAMS = 300, ROUNDS = 40 };

static long revoked;
static int me, npes;

static shmem_team_t new_team(void)
{
    shmem_team_t team = SHMEM_TEAM_INVALID;

    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team), 0);
    CHECK(team != SHMEM_TEAM_INVALID);
    return team;
}

/* PE 0 learns of all revocations after the last one, and begins with the first team. */
static void check_many(void)
{
    static shmem_team_t team[TEAMS];

    for (int i = 0; i < TEAMS; i++)
        team[i] = new_team();
    shmem_barrier_all();
    for (int i = 0; me == 1 && i < TEAMS; i++)
        CHECK_EQ(shmemx_team_revoke(team[i]), 0);
    if (me == 1)
        shmem_long_p(&revoked, 1, 0);
    if (me == 0)
        shmem_long_wait_until(&revoked, SHMEM_CMP_EQ, 1);
    for (int i = 0; i < TEAMS; i++) {
        int status;
        while ((status = shmem_team_sync(team[i])) == 0)
            continue;
        CHECK_EQ(status, SHMEMX_ERR_REVOKED);
        CHECK_EQ(shmemx_team_status(team[i]), SHMEMX_ERR_REVOKED);
        shmem_team_destroy(team[i]);
    }
}

/* Some PEs destroy the team before they learn that it is revoked. */
static void check_later(void)
{
    for (int round = 0; round < ROUNDS; round++) {
        shmem_team_t team = new_team();
        if (me == round % npes)
            CHECK_EQ(shmemx_team_revoke(team), 0);
        shmem_team_destroy(team);
        team = new_team();
        for (int i = 0; i < 3; i++)
            CHECK_EQ(shmem_team_sync(team), 0);
        CHECK_EQ(shmemx_team_status(team), 0);
        shmem_team_destroy(team);
    }
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    check_many();
    shmem_barrier_all();
    check_later();
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
