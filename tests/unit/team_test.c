/* SPDX-License-Identifier: BSD-3-Clause */
/* team_test.c - members of teams: the index of each PE, in teams of all shapes. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "pgas/core/base/pgas.h"
#include "pgas/core/team/team.h"

/* A linear search in team_index would need minutes for the largest test. */
enum { PES = 400000, SECONDS = 20 };

static struct shmem_team parent = {.npes = PES, .stride = 1};

static void world(void)
{
    pgas_self.npes = PES;
    pgas_self.life = LIFE_UP;
}

/* Make a team of list[0..n), check the index of each PE of the world, free it. */
static void check_team(const int *list, int n)
{
    struct team_set set = {.size = n, .list = list};
    int *index = malloc(PES * sizeof *index);

    for (int pe = 0; pe < PES; pe++)
        index[pe] = -1;
    for (int i = 0; i < n; i++)
        index[list[i]] = i;
    pgas_self.me = list[n - 1];
    struct shmem_team *team = team_new(&parent, &set);
    cr_assert_not_null(team);
    cr_assert_eq(team->me, n - 1);
    cr_assert_eq(team_count_remote(team), 0);
    for (int pe = 0; pe < PES; pe++)
        if (team_index(team, pe) != index[pe])
            cr_assert_fail("PE %d has index %d", pe, team_index(team, pe));
    cr_assert_eq(team_index(team, PES), -1);
    team_free(team);
    free(index);
}

Test(team, small_lists_of_all_shapes, .init = world, .timeout = SECONDS)
{
    check_team((int[]){7}, 1);
    check_team((int[]){7, 5, 3}, 3);
    check_team((int[]){0, 1, 3, 4, 9}, 5);
    check_team((int[]){9, 4, 3, 1, 0}, 5);
    check_team((int[]){4, PES - 1, 0, 7}, 4);
}

/* Multiplication by a number that has no common factor with PES permutes 0..PES-1. */
Test(team, a_large_permutation, .init = world, .timeout = SECONDS)
{
    int *list = malloc(PES * sizeof *list);

    for (int64_t i = 0; i < PES; i++)
        list[i] = (int)(i * 123457 % PES);
    list[0] = list[1];
    list[1] = 0;
    check_team(list, PES);
    free(list);
}

Test(team, a_large_ascending_list, .init = world, .timeout = SECONDS)
{
    int *list = malloc(PES * sizeof *list), n = 0;

    for (int pe = 0; pe < PES; pe++)
        if (pe % 3 != 1)
            list[n++] = pe;
    check_team(list, n);
    free(list);
}
