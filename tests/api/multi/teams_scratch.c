/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * teams_scratch.c - a team uses at most 40 KiB of SHMEM_TEAM_SIZE: 400 teams exist at
 * the same time in 16 MiB.  Then collectives of all sizes in some of them, which allocate
 * scratch memory at their first use.
 */
#include "config.h"

#include "tests/api/multi/teams.h"

enum { TEAMS = 400, USED = 8, MOST = 20000 };
static long source[MOST], dest[MOST];
static shmem_team_t team[TEAMS];

static void use(shmem_team_t t, int n)
{
    int me = shmem_team_my_pe(t), npes = shmem_team_n_pes(t);

    for (int e = 0; e < n; e++)
        source[e] = me + e;
    shmem_long_sum_reduce(t, dest, source, (size_t)n);
    for (int e = 0; e < n; e++)
        CHECK_EQ(dest[e], npes * (npes - 1) / 2 + (long)npes * e);
    shmem_team_sync(t);
    shmem_long_broadcast(t, dest, source, (size_t)n, npes - 1);
    for (int e = 0; e < n; e++)
        CHECK_EQ(dest[e], npes - 1 + e);
    shmem_team_sync(t);
}

int main(void)
{
    setenv("SHMEM_TEAM_SIZE", "16m", 1);
    shmem_init();
    int npes = shmem_n_pes();

    for (int i = 0; i < TEAMS; i++)
        CHECK_EQ(
            shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team[i]), 0);
    for (int k = 0; k < USED; k++)
        for (int n = 1; n <= MOST; n *= 10)
            use(team[k * (TEAMS / USED)], n);
    for (int i = 0; i < TEAMS; i++)
        shmem_team_destroy(team[i]);
    shmem_finalize();
    return 0;
}
