/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * teams.c - the predefined teams; strided and two-dimensional splits and teams from
 * lists, nested and overlapping; translation between all pairs of teams; configurations;
 * SHMEM_TEAM_INVALID and invalid triplets, as specified.
 */
#include "config.h"

#include <limits.h>
#include <shmemx.h>

#include "tests/api/multi/teams.h"

static int me, npes;

static shmem_team_t const garbage = (shmem_team_t)-1; /* must be overwritten */

static struct model split(const struct model *parent, int start, int stride, int size)
{
    struct model m = model_strided(parent, start, stride, size);
    m.team = garbage;
    CHECK_EQ(
        shmem_team_split_strided(parent->team, start, stride, size, NULL, 0, &m.team), 0);
    model_check(&m);
    model_barrier(&m);
    return m;
}

static void test_predefined(void)
{
    struct model world = model_world(), node = model_shared();
    model_check(&world);
    model_check(&node);
    model_barrier(&world);
    model_barrier(&node);
    CHECK(SHMEM_TEAM_WORLD != SHMEM_TEAM_SHARED);
    CHECK(SHMEM_TEAM_WORLD != SHMEM_TEAM_INVALID);
    CHECK(SHMEM_TEAM_SHARED != SHMEM_TEAM_INVALID);
}

/* Every valid triplet of the world, and of a team in reverse order. */
static void test_strided(void)
{
    struct model world = model_world(), back = split(&world, npes - 1, -1, npes);
    for (int k = 0; k < 2; k++) {
        const struct model *parent = k == 0 ? &world : &back;
        for (int start = 0; start < npes; start++) {
            for (int stride = -npes; stride <= npes; stride++) {
                int space = stride > 0   ? (npes - 1 - start) / stride + 1
                            : stride < 0 ? start / -stride + 1
                                         : 1;
                struct model m = split(parent, start, stride, space);
                if (m.team != SHMEM_TEAM_INVALID)
                    shmem_team_destroy(m.team);
            }
        }
    }
    if (back.team != SHMEM_TEAM_INVALID)
        shmem_team_destroy(back.team);
}

/* Each split fails on all PEs and leaves the parent usable. */
static void test_bad_triplets(void)
{
    const int bad[][3] = {
        {0, 1, 0},
        {0, 1, -1},
        {0, 1, npes + 1},
        {-1, 1, 1},
        {npes, 1, 1},
        {0, -1, 2},
        {npes - 1, 1, 2},
        {0, npes, 2},
        {0, 0, 2},
        {INT_MAX, 1, 1},
        {INT_MIN, 1, 1},
        {0, INT_MAX, 3},
        {0, INT_MIN, 2},
        {0, 1, INT_MAX},
        {1, INT_MAX, INT_MAX},
        {0, 1, INT_MIN},
        {npes - 1, -1, npes + 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        shmem_team_t team = garbage;
        int status = shmem_team_split_strided(SHMEM_TEAM_WORLD, bad[i][0], bad[i][1],
                                              bad[i][2], NULL, 0, &team);
        CHECK_NAMED(status != 0 && team == SHMEM_TEAM_INVALID,
                    "split of (%d, %d, %d): status %d, team %p", bad[i][0], bad[i][1],
                    bad[i][2], status, (void *)team);
    }
    /* With one PE the stride is ignored. */
    struct model world = model_world();
    struct model one = split(&world, npes - 1, INT_MIN, 1);
    shmem_team_destroy(one.team);
}

static void test_2d_of(const struct model *parent, int xrange)
{
    shmem_team_config_t config = {.num_contexts = 3};
    int n = parent->n, x = xrange < n ? xrange : n, pe = model_index(parent, me);
    if (pe < 0)
        return;
    int row = pe / x, column = pe % x;
    int length = n - row * x < x ? n - row * x : x;
    struct model xs = model_strided(parent, row * x, 1, length);
    struct model ys = model_strided(parent, column, x, (n - column + x - 1) / x);
    xs.team = ys.team = garbage;
    CHECK_EQ(shmem_team_split_2d(parent->team, xrange, &config, 0, &xs.team, &config,
                                 SHMEM_TEAM_NUM_CONTEXTS, &ys.team),
             0);
    model_check(&xs);
    model_check(&ys);
    CHECK_EQ(shmem_team_my_pe(xs.team), column);
    CHECK_EQ(shmem_team_my_pe(ys.team), row);
    model_barrier(&ys);
    model_barrier(&xs);
    CHECK_EQ(shmem_team_get_config(xs.team, SHMEM_TEAM_NUM_CONTEXTS, &config), 0);
    CHECK_EQ(config.num_contexts, 0);
    CHECK_EQ(shmem_team_get_config(ys.team, SHMEM_TEAM_NUM_CONTEXTS, &config), 0);
    CHECK_EQ(config.num_contexts, 3);
    shmem_team_destroy(xs.team);
    shmem_team_destroy(ys.team);
}

static void test_2d(void)
{
    struct model world = model_world();
    for (int x = 1; x <= npes + 1; x++)
        test_2d_of(&world, x);
    test_2d_of(&world, INT_MAX);
    struct model odd = split(&world, 0, 2, (npes + 1) / 2);
    test_2d_of(&odd, 2);
    if (odd.team != SHMEM_TEAM_INVALID)
        shmem_team_destroy(odd.team);
    const int bad[] = {0, -1, INT_MIN};
    for (int i = 0; i < 3; i++) {
        shmem_team_t x = garbage, y = garbage;
        CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, bad[i], NULL, 0, &x, NULL, 0, &y) !=
              0);
        CHECK(x == SHMEM_TEAM_INVALID && y == SHMEM_TEAM_INVALID);
    }
}

/* Teams from lists in any order, and splits of them. */
static void test_list(void)
{
    uint64_t seed = 77;
    struct model m = model_world();
    for (int n = 1; n <= npes; n++) {
        int list[TEAMS_MAX_PES];
        for (int i = npes - 1; i > 0; i--) {
            int k = (int)(check_random(&seed) % (uint64_t)(i + 1)), other = m.pe[k];
            m.pe[k] = m.pe[i];
            m.pe[i] = other;
        }
        m.n = n;
        m.team = garbage;
        memcpy(list, m.pe, sizeof list);
        CHECK_EQ(shmemx_team_create(SHMEM_TEAM_WORLD, list, n, &m.team), 0);
        memset(list, 0, sizeof list); /* the library has copied it */
        model_check(&m);
        model_barrier(&m);
        if (m.team == SHMEM_TEAM_INVALID)
            continue;
        struct model part =
            n > 2 ? split(&m, n - 1, -2, (n + 1) / 2) : split(&m, n - 1, -1, n);
        test_2d_of(&m, 2);
        shmem_team_destroy(m.team); /* before the team split from it */
        model_check(&part);
        model_barrier(&part);
        if (part.team != SHMEM_TEAM_INVALID)
            shmem_team_destroy(part.team);
    }
}

/* Each call fails on all PEs; with SHMEM_DEBUG it would end the job. */
static void test_bad_lists(void)
{
    int twice[] = {0, 0}, above[] = {npes}, below[] = {-1};
    shmem_team_t team = garbage;
    if (getenv("SHMEM_DEBUG") != NULL)
        return;
    CHECK(shmemx_team_create(SHMEM_TEAM_WORLD, twice, 2, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID);
    CHECK(shmemx_team_create(SHMEM_TEAM_WORLD, above, 1, &team) != 0);
    CHECK(shmemx_team_create(SHMEM_TEAM_WORLD, below, 1, &team) != 0);
    CHECK(shmemx_team_create(SHMEM_TEAM_WORLD, twice, 0, &team) != 0);
    CHECK(shmemx_team_create(SHMEM_TEAM_WORLD, twice, -1, &team) != 0);
    CHECK(shmemx_team_create(SHMEM_TEAM_INVALID, twice, 1, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID);
}

/* Between all pairs of teams, also PE numbers out of range. */
static void test_translation(void)
{
    enum { TEAMS = 6 };
    struct model world = model_world(), m[TEAMS];
    m[0] = world;
    m[1] = model_shared();
    m[2] = split(&world, 0, 2, (npes + 1) / 2);
    m[3] = split(&world, npes - 1, -1, npes);
    m[4] = split(&world, npes / 2, 1, npes - npes / 2);
    m[5] = split(&m[3], 0, 3, (npes + 2) / 3);
    for (int a = 0; a < TEAMS; a++) {
        for (int b = 0; b < TEAMS; b++) {
            bool in_both = model_has_me(&m[a]) && model_has_me(&m[b]);
            for (int pe = -2; pe < npes + 2; pe++) {
                bool there = in_both && pe >= 0 && pe < m[a].n;
                CHECK_EQ(shmem_team_translate_pe(m[a].team, pe, m[b].team),
                         there ? model_index(&m[b], m[a].pe[pe]) : -1);
            }
            CHECK_EQ(shmem_team_translate_pe(m[a].team, INT_MIN, m[b].team), -1);
            CHECK_EQ(shmem_team_translate_pe(m[a].team, INT_MAX, m[b].team), -1);
        }
    }
    for (int i = 2; i < TEAMS; i++)
        shmem_team_destroy(m[i].team); /* SHMEM_TEAM_INVALID too */
}

static void test_pointers(void)
{
    static long word;
    int local;
    struct model world = model_world(), back = split(&world, npes - 1, -1, npes);
    struct model node = model_shared();
    word = me;
    shmem_barrier_all();
    for (int i = 0; i < npes; i++) {
        long *there = shmem_team_ptr(back.team, &word, i);
        CHECK(there == shmem_ptr(&word, npes - 1 - i));
        CHECK((there != NULL) == (model_index(&node, npes - 1 - i) >= 0));
        CHECK_EQ(there != NULL ? *there : npes - 1 - i, npes - 1 - i);
    }
    CHECK(shmem_team_ptr(SHMEM_TEAM_INVALID, &word, 0) == NULL);
    CHECK(shmem_team_ptr(back.team, &local, 0) == NULL);
    shmem_barrier_all();
    shmem_team_destroy(back.team);
}

static void test_config(void)
{
    shmem_team_config_t config = {.num_contexts = 5}, out = {.num_contexts = -7};
    shmem_team_t team, other;
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, &config,
                                      SHMEM_TEAM_NUM_CONTEXTS, &team),
             0);
    CHECK_EQ(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &out), 0);
    CHECK_EQ(out.num_contexts, 5);
    /* Fields that are not in the mask are neither read nor written. */
    CHECK_EQ(shmem_team_split_strided(team, 0, 1, npes, &config, 0, &other), 0);
    CHECK_EQ(shmem_team_get_config(other, SHMEM_TEAM_NUM_CONTEXTS, &out), 0);
    CHECK_EQ(out.num_contexts, 0);
    out.num_contexts = -7;
    CHECK_EQ(shmem_team_get_config(team, 0, &out), 0);
    CHECK_EQ(out.num_contexts, -7);
    CHECK_EQ(shmem_team_get_config(team, 0, NULL), 0);
    CHECK(shmem_team_get_config(SHMEM_TEAM_INVALID, SHMEM_TEAM_NUM_CONTEXTS, &out) != 0);
    CHECK_EQ(out.num_contexts, -7);
    CHECK_EQ(shmem_team_get_config(SHMEM_TEAM_WORLD, SHMEM_TEAM_NUM_CONTEXTS, &out), 0);
    CHECK(out.num_contexts >= 0);
    shmem_team_destroy(team);
    shmem_team_destroy(other);
    /* A negative number of contexts on one PE: the split fails on all PEs. */
    config.num_contexts = me == npes - 1 ? -1 : 2;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, &config,
                                   SHMEM_TEAM_NUM_CONTEXTS, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID);
}

static void test_invalid(void)
{
    shmem_team_t x = garbage, y = garbage, team = garbage;
    CHECK_EQ(shmem_team_my_pe(SHMEM_TEAM_INVALID), -1);
    CHECK_EQ(shmem_team_n_pes(SHMEM_TEAM_INVALID), -1);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID);
    CHECK(shmem_team_split_2d(SHMEM_TEAM_INVALID, 1, NULL, 0, &x, NULL, 0, &y) != 0);
    CHECK(x == SHMEM_TEAM_INVALID && y == SHMEM_TEAM_INVALID);
    shmem_team_destroy(SHMEM_TEAM_INVALID);
    CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, SHMEM_TEAM_WORLD), -1);
    CHECK_EQ(shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, SHMEM_TEAM_INVALID), -1);
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    test_predefined();
    test_strided();
    test_bad_triplets();
    test_2d();
    test_list();
    test_bad_lists();
    test_translation();
    test_pointers();
    test_config();
    test_invalid();
    shmem_finalize(); /* with no team left */
    return 0;
}
