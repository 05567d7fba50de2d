/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * teams.h - shared by the tests of teams: a model of a team, and checks of a handle
 * against it.  All PEs have the models of all teams, also of those they are not in.
 */
#ifndef TESTS_API_MULTI_TEAMS_H
#define TESTS_API_MULTI_TEAMS_H

#include "tests/api/multi/check.h"

enum { TEAMS_MAX_PES = 64 };

struct model {
    shmem_team_t team; /* SHMEM_TEAM_INVALID if this PE is not in it */
    int n;
    int pe[TEAMS_MAX_PES]; /* in the world */
};

static inline struct model model_world(void)
{
    struct model m = {.team = SHMEM_TEAM_WORLD, .n = shmem_n_pes()};
    for (int i = 0; i < m.n; i++)
        m.pe[i] = i;
    return m;
}

/* SHMEM_TEAM_SHARED: the PEs of this node. */
static inline struct model model_shared(void)
{
    struct check_pes node = check_node();
    struct model m = {.team = SHMEM_TEAM_SHARED, .n = node.size};
    for (int i = 0; i < m.n; i++)
        m.pe[i] = node.start + i * node.stride;
    return m;
}

/* The index in the model of a PE of the world, or -1. */
static inline int model_index(const struct model *m, int pe)
{
    for (int i = 0; i < m->n; i++)
        if (m->pe[i] == pe)
            return i;
    return -1;
}

static inline bool model_has_me(const struct model *m)
{
    return model_index(m, shmem_my_pe()) >= 0;
}

/* PEs start + i * stride of the parent. */
static inline struct model model_strided(const struct model *parent, int start,
                                         int stride, int size)
{
    struct model m = {.n = size};
    for (int i = 0; i < size; i++)
        m.pe[i] = parent->pe[start + i * stride];
    return m;
}

/* The handle must agree with the model on this PE. */
static inline void model_check(const struct model *m)
{
    int me = model_index(m, shmem_my_pe());
    CHECK((m->team != SHMEM_TEAM_INVALID) == (me >= 0));
    CHECK_EQ(shmem_team_my_pe(m->team), me);
    CHECK_EQ(shmem_team_n_pes(m->team), me >= 0 ? m->n : -1);
    for (int i = 0; i < m->n && me >= 0; i++)
        CHECK_EQ(shmem_team_translate_pe(m->team, i, SHMEM_TEAM_WORLD), m->pe[i]);
    for (int i = 0; i < shmem_n_pes(); i++)
        CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, i, m->team),
                 me >= 0 ? model_index(m, i) : -1);
}

/* Synchronizes the team by a reduction whose result identifies its members. */
static inline void model_barrier(const struct model *m)
{
    static long mine[2], sum[2];
    long me = shmem_my_pe(), all[2] = {0, 0};
    if (!model_has_me(m))
        return;
    mine[0] = me + 1;
    mine[1] = (me + 1) * (me + 1);
    for (int i = 0; i < m->n; i++) {
        all[0] += m->pe[i] + 1;
        all[1] += (m->pe[i] + 1L) * (m->pe[i] + 1L);
    }
    CHECK(shmem_long_sum_reduce(m->team, sum, mine, 2) == 0);
    CHECK_EQ(sum[0], all[0]);
    CHECK_EQ(sum[1], all[1]);
}

#endif
