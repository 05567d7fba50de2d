/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * teams_leave.c - errors in the use of teams, selected by the argument; teams_leave.sh
 * checks how the job ends.
 *   finalize, destroy, split, exit   the last PE finalizes while the others wait in a
 *       reduction, the destruction or a split of a team; exit: it calls exit(0)
 *   stay       PEs finalize without destroying teams: no error
 *   world, shared, default-ctx   destroy a predefined team or context
 *   stale, stale-ctx, garbage    use a handle after its destruction, or an invalid one
 *   outside, none  a PE number outside the context's team; SHMEM_CTX_INVALID in a put
 */
#include "config.h"

#include "tests/api/multi/teams.h"

enum { TEAMS = 20 };

static long word, sum;
static int me, npes;

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static shmem_team_t whole(int stride)
{
    shmem_team_config_t config = {.num_contexts = 1};
    shmem_team_t team;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, stride > 0 ? 0 : npes - 1, stride,
                                      npes, &config, SHMEM_TEAM_NUM_CONTEXTS, &team),
             0);
    return team;
}

static void wait_for_leaver(const char *how, shmem_team_t team)
{
    shmem_team_t part;
    if (me == npes - 1 && is(how, "exit"))
        exit(0);
    if (me == npes - 1)
        return;
    if (is(how, "destroy"))
        shmem_team_destroy(team);
    else if (is(how, "split"))
        shmem_team_split_strided(team, 0, 1, 1, NULL, 0, &part);
    else
        shmem_long_sum_reduce(team, &sum, &word, 1);
}

static void misuse(const char *how, shmem_team_t team)
{
    shmem_ctx_t ctx = SHMEM_CTX_INVALID;
    if (is(how, "world"))
        shmem_team_destroy(SHMEM_TEAM_WORLD);
    if (is(how, "shared"))
        shmem_team_destroy(SHMEM_TEAM_SHARED);
    if (is(how, "default-ctx"))
        shmem_ctx_destroy(SHMEM_CTX_DEFAULT);
    if (is(how, "garbage"))
        shmem_team_n_pes((shmem_team_t)&word);
    if (is(how, "none"))
        shmem_ctx_long_p(ctx, &word, 1, 0);
    CHECK_EQ(shmem_team_create_ctx(team, 0, &ctx), 0);
    if (is(how, "outside"))
        shmem_ctx_long_p(ctx, &word, 1, npes);
    shmem_team_destroy(team);
    if (is(how, "stale"))
        shmem_long_sum_reduce(team, &sum, &word, 1);
    if (is(how, "stale-ctx"))
        shmem_ctx_long_p(ctx, &word, 1, 0);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    shmem_team_t team = whole(-1);
    for (int i = 0; i < TEAMS; i++)
        whole(1); /* left to shmem_finalize */
    for (int i = 0; i <= TEAMS; i++)
        CHECK_EQ(shmem_long_sum_reduce(team, &sum, &word, 1), 0);
    if (is(how, "finalize") || is(how, "exit") || is(how, "destroy") || is(how, "split"))
        wait_for_leaver(how, team);
    else if (!is(how, "stay"))
        misuse(how, team);
    shmem_finalize();
    return 0;
}
