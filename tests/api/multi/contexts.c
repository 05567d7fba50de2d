/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * contexts.c - put, get, atomics and signals through contexts of teams, with PE numbers
 * of the team; options; the number of contexts; sessions and shmem_pe_quiet; uses of
 * SHMEM_CTX_INVALID that the specification allows; teams destroyed with their contexts.
 */
#include "config.h"

#include <shmemx.h>

#include "tests/api/multi/teams.h"

enum { N = 8, CONTEXTS = 5 };

static int me, npes;
static long words[N], answer[N];
static int counter;
static uint64_t signal_word;

static shmem_ctx_t const garbage = (shmem_ctx_t)-1; /* must be overwritten */

/* A team with space for some contexts. */
static shmem_team_t split(shmem_team_t parent, int start, int stride, int size)
{
    shmem_team_config_t config = {.num_contexts = CONTEXTS};
    shmem_team_t team;
    CHECK_EQ(shmem_team_split_strided(parent, start, stride, size, &config,
                                      SHMEM_TEAM_NUM_CONTEXTS, &team),
             0);
    return team;
}

/* Each PE writes its number to the next one of the team, in several ways. */
static void use(shmem_ctx_t ctx, shmem_team_t team)
{
    int pe = shmem_team_my_pe(team), n = shmem_team_n_pes(team), to = (pe + 1) % n;
    int from = (pe + n - 1) % n,
        from_world = shmem_team_translate_pe(team, from, SHMEM_TEAM_WORLD);
    long values[N];
    for (int i = 0; i < N; i++) {
        values[i] = me * 100 + i;
        words[i] = -1;
    }
    counter = 0;
    signal_word = 0;
    CHECK_EQ(shmem_long_sum_reduce(team, answer, words, 1), 0); /* all are ready */
    shmem_ctx_long_put(ctx, words, values, 2, to);
    shmem_ctx_long_put_nbi(ctx, words + 2, values + 2, 1, to);
    shmem_ctx_long_p(ctx, words + 3, values[3], to);
    shmem_ctx_long_iput(ctx, words + 4, values + 4, 2, 2, 1, to);
    shmem_ctx_long_put_signal(ctx, words + 5, values + 5, 1, &signal_word, 1,
                              SHMEM_SIGNAL_ADD, to);
    shmem_ctx_fence(ctx);
    shmem_ctx_int_atomic_add(ctx, &counter, me + 1, to);
    shmem_ctx_quiet(ctx);
    CHECK_EQ(shmem_long_sum_reduce(team, answer, words, 1), 0);
    CHECK_EQ(words[0], from_world * 100);
    CHECK_EQ(words[1], from_world * 100 + 1);
    CHECK_EQ(words[2], from_world * 100 + 2);
    CHECK_EQ(words[3], from_world * 100 + 3);
    CHECK_EQ(words[4], from_world * 100 + 4);
    CHECK_EQ(words[5], from_world * 100 + 5);
    CHECK_EQ(counter, from_world + 1);
    CHECK_EQ(signal_word, 1);
    CHECK_EQ(shmem_ctx_long_g(ctx, words, to), me * 100);
    CHECK_EQ(shmem_ctx_int_atomic_fetch(ctx, &counter, to), me + 1);
    shmem_ctx_long_get(ctx, values, words, N, to);
    CHECK_EQ(values[3], me * 100 + 3);
    CHECK_EQ(shmem_long_sum_reduce(team, answer, words, 1), 0);
}

static void test_world(void)
{
    const long options[] = {0, SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE, SHMEM_CTX_NOSTORE,
                            SHMEM_CTX_SERIALIZED | SHMEM_CTX_PRIVATE | SHMEM_CTX_NOSTORE};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        shmem_ctx_t ctx = garbage;
        shmem_team_t team = SHMEM_TEAM_INVALID;
        CHECK_EQ(shmem_ctx_create(options[i], &ctx), 0);
        CHECK(ctx != SHMEM_CTX_INVALID && ctx != SHMEM_CTX_DEFAULT && ctx != garbage);
        CHECK_EQ(shmem_ctx_get_team(ctx, &team), 0);
        CHECK(team == SHMEM_TEAM_WORLD);
        use(ctx, SHMEM_TEAM_WORLD);
        shmem_ctx_destroy(ctx);
    }
    shmem_team_t team = SHMEM_TEAM_INVALID;
    CHECK_EQ(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &team), 0);
    CHECK(team == SHMEM_TEAM_WORLD);
    use(SHMEM_CTX_DEFAULT, SHMEM_TEAM_WORLD);
}

static void use_team(shmem_team_t team)
{
    shmem_ctx_t ctx = garbage;
    shmem_team_t back = SHMEM_TEAM_INVALID;
    if (team == SHMEM_TEAM_INVALID)
        return;
    CHECK_EQ(shmem_team_create_ctx(team, 0, &ctx), 0);
    CHECK_EQ(shmem_ctx_get_team(ctx, &back), 0);
    CHECK(back == team);
    use(ctx, team);
    shmem_ctx_destroy(ctx);
}

static void test_teams(void)
{
    shmem_team_t back = split(SHMEM_TEAM_WORLD, npes - 1, -1, npes);
    shmem_team_t even = split(SHMEM_TEAM_WORLD, 0, 2, (npes + 1) / 2);
    shmem_team_t part = split(back, 0, 1, (npes + 1) / 2);
    use_team(SHMEM_TEAM_SHARED);
    use_team(back);
    use_team(even);
    use_team(part);
    shmem_team_destroy(back);
    shmem_team_destroy(even);
    shmem_team_destroy(part);
}

/* A team provides at least num_contexts contexts; the number of contexts of the world is
 * not limited. */
static void test_number(void)
{
    enum { MANY = 500 };
    static shmem_ctx_t many[MANY];
    shmem_team_t team = split(SHMEM_TEAM_WORLD, 0, 1, npes), none;
    shmem_ctx_t ctx[CONTEXTS], more;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < CONTEXTS; i++)
            CHECK_EQ(shmem_team_create_ctx(team, 0, &ctx[i]), 0);
        more = garbage; /* num_contexts is a reservation, no limit */
        CHECK_EQ(shmem_team_create_ctx(team, 0, &more), 0);
        use(more, team);
        shmem_ctx_destroy(more);
        shmem_ctx_destroy(ctx[2]);
        CHECK_EQ(shmem_team_create_ctx(team, 0, &ctx[2]), 0);
        use(ctx[2], team);
        for (int i = 0; i < CONTEXTS; i++)
            shmem_ctx_destroy(ctx[i]);
    }
    CHECK_EQ(shmem_team_split_strided(team, 0, 1, npes, NULL, 0, &none), 0);
    CHECK_EQ(shmem_team_create_ctx(none, 0, &more), 0);
    use(more, none);
    shmem_ctx_destroy(more);
    shmem_team_destroy(none);
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(shmem_ctx_create(i % 8, &many[i]), 0);
    for (int i = 0; i < MANY; i++)
        for (int k = 0; k < i; k++)
            CHECK(many[i] != many[k]);
    use(many[MANY - 1], SHMEM_TEAM_WORLD);
    for (int i = 0; i < MANY; i++)
        shmem_ctx_destroy(many[i]);
    shmem_team_destroy(team);
}

/* shmem_team_destroy destroys the shareable contexts of the team, not those of others. */
static void test_destroyed_with_team(void)
{
    shmem_ctx_t ctx[CONTEXTS], world;
    CHECK_EQ(shmem_ctx_create(0, &world), 0);
    for (int round = 0; round < 100; round++) {
        shmem_team_t team = split(SHMEM_TEAM_WORLD, 0, 1, npes);
        for (int i = 0; i < CONTEXTS; i++)
            CHECK_EQ(shmem_team_create_ctx(team, i % 2 == 0 ? 0 : SHMEM_CTX_SERIALIZED,
                                           &ctx[i]),
                     0);
        shmem_team_destroy(team);
    }
    use(world, SHMEM_TEAM_WORLD);
    shmem_ctx_destroy(world);
}

static void test_sessions(void)
{
    shmem_ctx_session_config_t config = {.total_ops = 1000};
    shmem_ctx_t ctx;
    CHECK_EQ(shmem_ctx_create(0, &ctx), 0);
    for (int k = 0; k < 2; k++) {
        shmem_ctx_t c = k == 0 ? ctx : SHMEM_CTX_DEFAULT;
        shmem_ctx_session_stop(c); /* no session is active: no effect */
        shmem_ctx_session_start(c, 0, NULL, 0);
        use(c, SHMEM_TEAM_WORLD);
        shmem_ctx_session_start(c, SHMEM_CTX_SESSION_BATCH, &config,
                                SHMEM_CTX_SESSION_TOTAL_OPS);
        use(c, SHMEM_TEAM_WORLD);
        shmem_ctx_session_stop(c);
        shmem_ctx_session_stop(c);
        use(c, SHMEM_TEAM_WORLD);
    }
    shmem_ctx_session_start(SHMEM_CTX_INVALID, SHMEM_CTX_SESSION_BATCH, &config,
                            SHMEM_CTX_SESSION_TOTAL_OPS);
    shmem_ctx_session_stop(SHMEM_CTX_INVALID);
    shmem_ctx_session_start(ctx, 0, NULL, 0);
    shmem_ctx_destroy(ctx); /* in a session */
}

/* Data put before shmem_pe_quiet are visible when a flag that is set after it is. */
static void test_pe_quiet(void)
{
    shmem_team_t back = split(SHMEM_TEAM_WORLD, npes - 1, -1, npes);
    shmem_ctx_t ctx;
    int to = (me + 1) % npes, to_back = npes - 1 - to;
    CHECK_EQ(shmem_team_create_ctx(back, 0, &ctx), 0);
    for (long round = 1; round <= 200; round++) {
        shmem_barrier_all();
        if (round % 2 == 0) {
            shmem_ctx_long_put_nbi(ctx, &words[1], &round, 1, to_back);
            shmem_ctx_pe_quiet(ctx, &to_back, 1);
        } else {
            shmem_long_put_nbi(&words[1], &round, 1, to);
            shmem_pe_quiet(&to, 1);
        }
        shmem_long_atomic_set(&words[0], round, to);
        shmem_long_wait_until(&words[0], SHMEM_CMP_EQ, round);
        CHECK_EQ(words[1], round);
    }
    shmem_pe_quiet(NULL, 0);
    shmem_ctx_pe_quiet(ctx, NULL, 0);
    shmem_ctx_destroy(ctx);
    shmem_team_destroy(back);
}

static void test_invalid(void)
{
    shmem_ctx_t ctx = garbage;
    shmem_team_t team = SHMEM_TEAM_WORLD;
    CHECK(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx) != 0);
    CHECK(ctx == SHMEM_CTX_INVALID);
    CHECK(shmem_ctx_get_team(SHMEM_CTX_INVALID, &team) != 0);
    CHECK(team == SHMEM_TEAM_INVALID);
    shmem_ctx_destroy(SHMEM_CTX_INVALID);
    shmem_ctx_quiet(SHMEM_CTX_INVALID);
    shmem_ctx_fence(SHMEM_CTX_INVALID);
}

int main(void)
{
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    test_world();
    test_teams();
    test_number();
    test_destroyed_with_team();
    test_sessions();
    test_pe_quiet();
    test_invalid();
    shmem_ctx_t left; /* for shmem_finalize */
    CHECK_EQ(shmem_ctx_create(0, &left), 0);
    shmem_finalize();
    return 0;
}
