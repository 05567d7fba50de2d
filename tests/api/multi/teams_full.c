/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * teams_full.c - with little space for teams: a split without space fails on all PEs,
 * existing teams still work, and destroying one makes space for another.  Also with
 * different numbers of free team slots per PE, so that only some PEs lack space.
 */
#include "config.h"

#include "tests/api/multi/teams.h"

enum { MAX = 64, ROUNDS = 3 };

static int me, npes;

/* Create teams of PEs 0..size-1 until a split fails; returns how many. */
static int fill(struct model *m, int size)
{
    struct model world = model_world();
    int n = 0;
    for (;;) {
        shmem_team_t team = SHMEM_TEAM_WORLD;
        CHECK(n < MAX);
        int status =
            shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, size, NULL, 0, &team);
        if (status != 0) {
            CHECK(team == SHMEM_TEAM_INVALID);
            return n;
        }
        m[n] = model_strided(&world, 0, 1, size);
        m[n].team = team;
        model_check(&m[n++]);
    }
}

static void test_full(void)
{
    struct model all[MAX], some[MAX];
    int first = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int n = fill(all, npes);
        CHECK(n > 1);
        if (round == 0)
            first = n;
        CHECK_EQ(n, first); /* no space was leaked */
        for (int i = 0; i < n; i++)
            model_barrier(&all[i]);
        shmem_team_destroy(all[n / 2].team);
        int again = fill(some, npes);
        CHECK_EQ(again, 1);
        model_barrier(&some[0]);
        all[n / 2] = some[0];
        for (int i = 0; i < n; i++)
            shmem_team_destroy(all[i].team);
    }
}

/* PE npes - 1 has free slots when the others have none; a team of all PEs needs a slot on
 * each. */
static void test_uneven(void)
{
    struct model some[MAX], last[MAX], world = model_world();
    shmem_team_t x, y, team;
    if (npes == 1)
        return;
    int n = fill(some, npes - 1);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID);
    /* A 2D split into x teams of one PE each: the last PE has space for its x team, but
     * the split must fail as a whole. */
    int status = shmem_team_split_2d(SHMEM_TEAM_WORLD, 1, NULL, 0, &x, NULL, 0, &y);
    CHECK(status != 0); /* y is the team of all */
    CHECK(x == SHMEM_TEAM_INVALID);
    CHECK(y == SHMEM_TEAM_INVALID);
    last[0] = model_strided(&world, npes - 1, 1, 1);
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, 1, 1, NULL, 0,
                                      &last[0].team),
             0);
    model_check(&last[0]);
    for (int i = 0; i < n; i++)
        model_barrier(&some[i]);
    for (int i = 0; i < n; i++)
        shmem_team_destroy(some[i].team);
    int left = fill(some, npes);
    CHECK_EQ(left, n - 1); /* one slot of the last PE is still in use */
    shmem_team_destroy(last[0].team);
    for (int i = 0; i < left; i++)
        shmem_team_destroy(some[i].team);
}

int main(void)
{
    CHECK(setenv("SHMEM_TEAM_SIZE", "800k", 1) == 0);
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    test_full();
    test_uneven();
    shmem_finalize();
    return 0;
}
