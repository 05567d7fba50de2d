/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll.h - shared by the tests of the collectives: several teams, and checks of buffers
 * with guard bytes.
 */
#ifndef TESTS_API_MULTI_COLL_H
#define TESTS_API_MULTI_COLL_H

#include "tests/api/multi/check.h"

/* A team of which this PE is a member: PEs start + i * stride of the world.  The members
 * of SHARED, and their number, differ between nodes. */
struct group {
    const char *name;
    shmem_team_t team;
    int id, npes, me, start, stride; /* id: the same on all PEs */
};

enum { GROUPS_MAX = 12, GUARD = 64, GUARD_BYTE = 0x66 };
static struct group groups[GROUPS_MAX];
static int ngroups;

/* A team of npes >= 1 PEs; me = -1 if this PE is not a member.  Collective over the
 * world. */
static inline struct group group_split(const char *name, int id, int start, int stride,
                                       int npes)
{
    shmem_team_t team;
    CHECK_EQ(
        shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, npes, NULL, 0, &team),
        0);
    int me = team != SHMEM_TEAM_INVALID ? shmem_team_my_pe(team) : -1;
    return (struct group){name, team, id, npes, me, start, stride};
}

/* Adds a team to groups[] if this PE is a member.  Collective over the world. */
static inline void group_add(const char *name, int start, int stride, int npes)
{
    static int id = 2;
    id++;
    if (npes < 1)
        return;
    struct group g = group_split(name, id, start, stride, npes);
    if (g.me >= 0)
        groups[ngroups++] = g;
}

static inline void groups_init(void)
{
    int me = shmem_my_pe(), n = shmem_n_pes();
    struct check_pes node = check_node();
    groups[ngroups++] = (struct group){"WORLD", SHMEM_TEAM_WORLD, 1, n, me, 0, 1};
    groups[ngroups++] = (struct group){
        "SHARED",   SHMEM_TEAM_SHARED, 2, node.size, (me - node.start) / node.stride,
        node.start, node.stride};
    group_add("even PEs", 0, 2, (n + 1) / 2);
    group_add("odd PEs", 1, 2, n / 2);
    group_add("all but PE 0", 1, 1, n - 1);
    group_add("backwards", n - 1, -1, n);
    group_add("last PE", n - 1, 1, 1);
}

/* Calls shmem_init, fills groups[] and allocates two symmetric buffers of `bytes` each;
 * returns the random seed of this PE. */
static inline uint64_t coll_init(unsigned char **dest, unsigned char **source,
                                 size_t bytes)
{
    shmem_init();
    groups_init();
    *dest = check_alloc(bytes);
    *source = check_alloc(bytes);
    return check_seed(shmem_my_pe());
}

static inline int group_world(const struct group *g, int i)
{
    return g->start + i * g->stride;
}

/* The n bytes at `at` must be the pattern of `salt`. */
static inline void check_block(const unsigned char *at, size_t n, uint64_t salt,
                               const char *what, const struct group *g)
{
    size_t wrong = check_find_wrong(at, n, salt);
    CHECK_NAMED(wrong == n, "%s of %s: byte %zu of %zu is wrong", what, g->name, wrong,
                n);
}

static inline void check_guard(const unsigned char *at, const char *what,
                               const struct group *g)
{
    CHECK_NAMED(check_find_other(at, GUARD, GUARD_BYTE) == GUARD,
                "%s of %s wrote beyond its end", what, g->name);
}

#endif
