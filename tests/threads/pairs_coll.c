/* SPDX-License-Identifier: BSD-3-Clause */
/* pairs_coll.c - cases: barriers, collectives of teams and active sets, creation of
 * teams, the symmetric heap. */
#include "tests/threads/pairs.h"

enum { MOST = 20000, CELLS = MOST * 2, SHARED_BYTES = 16384 };

/* One row for each side. */
static long coll_in[PAIRS_SIDES][CELLS], coll_out[PAIRS_SIDES][CELLS * 2];
static long coll_psync[PAIRS_SIDES][SHMEM_COLLECT_SYNC_SIZE + SHMEM_REDUCE_SYNC_SIZE];

static size_t coll_elements(const struct pairs_side *s)
{
    static const size_t n[] = {1, 8, 100, 2000, MOST};

    return n[pairs_choose(s, 0, 5)];
}

/* The index of this PE in the team of the side. */
static int coll_me(void)
{
    return shmem_my_pe() == 0 ? 0 : 1;
}

/* The input of member i */
static long coll_value(const struct pairs_side *s, int i)
{
    return (long)s->serial * 10 + i;
}

static void coll_begin(struct pairs_side *s, size_t n)
{
    coll_in[s->k][0] = coll_in[s->k][n - 1] = coll_value(s, coll_me());
}

/* ---- barriers --------------------------------------------------------------------- */

static void coll_barrier_all(struct pairs_side *s)
{
    (void)s;
    shmem_barrier_all();
}

static void coll_sync_all(struct pairs_side *s)
{
    (void)s;
    shmem_sync_all();
}

static void coll_team_sync(struct pairs_side *s)
{
    CHECK_EQ(shmem_team_sync(s->team), 0);
}

/* ---- teams ------------------------------------------------------------------------ */

static void coll_broadcast(struct pairs_side *s)
{
    size_t n = coll_elements(s);
    int root = pairs_choose(s, 1, 2);

    coll_begin(s, n);
    CHECK_EQ(shmem_long_broadcast(s->team, coll_out[s->k], coll_in[s->k], n, root), 0);
    CHECK_EQ(coll_out[s->k][n - 1], coll_value(s, root));
}

static void coll_check_blocks(struct pairs_side *s, size_t n)
{
    CHECK_EQ(coll_out[s->k][0], coll_value(s, 0));
    CHECK_EQ(coll_out[s->k][n], coll_value(s, 1));
}

static void coll_collect(struct pairs_side *s)
{
    size_t n = coll_elements(s);

    coll_begin(s, n);
    CHECK_EQ(shmem_long_collect(s->team, coll_out[s->k], coll_in[s->k], n), 0);
    coll_check_blocks(s, n);
}

static void coll_fcollect(struct pairs_side *s)
{
    size_t n = coll_elements(s);

    coll_begin(s, n);
    CHECK_EQ(shmem_long_fcollect(s->team, coll_out[s->k], coll_in[s->k], n), 0);
    coll_check_blocks(s, n);
}

static void coll_alltoall(struct pairs_side *s)
{
    size_t n = coll_elements(s);

    coll_begin(s, n);
    coll_in[s->k][n] = coll_in[s->k][0];
    CHECK_EQ(shmem_long_alltoall(s->team, coll_out[s->k], coll_in[s->k], n), 0);
    coll_check_blocks(s, n);
}

static void coll_alltoalls(struct pairs_side *s)
{
    coll_begin(s, 1);
    coll_in[s->k][1] = coll_in[s->k][0];
    CHECK_EQ(shmem_long_alltoalls(s->team, coll_out[s->k], coll_in[s->k], 1, 1, 1), 0);
    coll_check_blocks(s, 1);
}

static void coll_reduce(struct pairs_side *s)
{
    size_t n = coll_elements(s);

    coll_begin(s, n);
    CHECK_EQ(shmem_long_sum_reduce(s->team, coll_out[s->k], coll_in[s->k], n), 0);
    CHECK_EQ(coll_out[s->k][n - 1], coll_value(s, 0) + coll_value(s, 1));
}

static void coll_scan(struct pairs_side *s)
{
    size_t n = coll_elements(s);

    coll_begin(s, n);
    CHECK_EQ(shmem_long_sum_inscan(s->team, coll_out[s->k], coll_in[s->k], n), 0);
    CHECK_EQ(coll_out[s->k][n - 1],
             coll_value(s, 0) + (coll_me() == 1 ? coll_value(s, 1) : 0));
}

/* ---- active sets: PE 0 and the partner -------------------------------------------- */

static void coll_active(struct pairs_side *s)
{
    size_t n = coll_elements(s);
    int stride = s->partner == 2; /* logarithm */
    long *psync = coll_psync[s->k];

    coll_begin(s, n);
    if (pairs_choose(s, 1, 3) == 0) {
        shmem_barrier(0, stride, 2, psync);
    } else if (pairs_choose(s, 1, 3) == 1) {
        shmem_sync(0, stride, 2, psync);
    } else {
        shmem_fcollect64(coll_out[s->k], coll_in[s->k], n, 0, stride, 2, psync);
        coll_check_blocks(s, n);
    }
}

/* ---- node-shared results ---------------------------------------------------------- */

static void coll_shared(struct pairs_side *s)
{
    coll_begin(s, 1);
    CHECK_EQ(shmemx_shared_fcollect(s->shared, coll_in[s->k], sizeof(long)), 0);
    CHECK_EQ(((const long *)shmemx_shared_ptr(s->shared))[1], coll_value(s, 1));
}

static void coll_shared_create(struct pairs_side *s)
{
    shmemx_shared_t shared;

    CHECK_EQ(shmemx_shared_create(s->team, SHARED_BYTES, &shared), 0);
    shmemx_shared_destroy(&shared);
}

/* ---- creation of teams, memory ---------------------------------------------------- */

static void coll_team_split(struct pairs_side *s)
{
    shmem_team_t team, other = SHMEM_TEAM_INVALID;

    if (pairs_choose(s, 1, 2) == 0)
        CHECK_EQ(shmem_team_split_strided(s->team, 0, 1, 2, NULL, 0, &team), 0);
    else
        CHECK_EQ(shmem_team_split_2d(s->team, 2, NULL, 0, &team, NULL, 0, &other), 0);
    shmem_team_destroy(team);
    if (other != SHMEM_TEAM_INVALID)
        shmem_team_destroy(other);
}

static void coll_team_create(struct pairs_side *s)
{
    const int list[] = {1, 0};
    shmem_team_t team;

    CHECK_EQ(shmemx_team_create(s->team, list, 2, &team), 0);
    CHECK_EQ(shmem_team_my_pe(team), 1 - coll_me());
    shmem_team_destroy(team);
}

static void coll_malloc(struct pairs_side *s)
{
    long *block = check_alloc((size_t)pairs_choose(s, 1, 5000) + sizeof(long));

    block = shmem_realloc(block, 10000);
    CHECK(block != NULL);
    shmem_free(block);
}

#define COLLECTIVE(NAME, KIND)                                                           \
    {                                                                                    \
        .name = #NAME, .kind = (KIND), .call = coll_##NAME, .release = coll_##NAME       \
    }
const struct pairs_case pairs_coll[] = {
    COLLECTIVE(barrier_all, PAIRS_WORLD | PAIRS_QUIETS_DEFAULT),
    COLLECTIVE(sync_all, PAIRS_WORLD),
    COLLECTIVE(team_sync, PAIRS_MEMBERS),
    COLLECTIVE(active, PAIRS_MEMBERS | PAIRS_QUIETS_DEFAULT),
    COLLECTIVE(broadcast, PAIRS_MEMBERS),
    COLLECTIVE(collect, PAIRS_MEMBERS),
    COLLECTIVE(fcollect, PAIRS_MEMBERS),
    COLLECTIVE(alltoall, PAIRS_MEMBERS),
    COLLECTIVE(alltoalls, PAIRS_MEMBERS),
    COLLECTIVE(reduce, PAIRS_MEMBERS),
    COLLECTIVE(scan, PAIRS_MEMBERS),
    COLLECTIVE(shared, PAIRS_MEMBERS | PAIRS_QUIETS_DEFAULT),
    COLLECTIVE(shared_create, PAIRS_MEMBERS | PAIRS_QUIETS_DEFAULT),
    COLLECTIVE(team_split, PAIRS_MEMBERS | PAIRS_QUIETS_DEFAULT),
    COLLECTIVE(team_create, PAIRS_MEMBERS | PAIRS_QUIETS_DEFAULT),
    {.name = "team_destroy",
     .kind = PAIRS_MEMBERS | PAIRS_QUIETS_DEFAULT,
     .call = coll_team_split,
     .release = coll_team_split},
    COLLECTIVE(malloc, PAIRS_WORLD | PAIRS_QUIETS_DEFAULT),
};
const int pairs_coll_count = sizeof pairs_coll / sizeof *pairs_coll;
