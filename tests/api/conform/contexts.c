/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * contexts.c - contexts with every combination of options, of the world and of teams, and
 * many at a time: their team, operations on them, fence, quiet, pe_quiet, sessions; calls
 * with SHMEM_CTX_INVALID.
 */
#include "tests/api/conform/conform.h"

enum { OPTIONS = 8, WORDS = 16 };
static long words[WORDS];

static long options_of(int which)
{
    return (which & 1 ? SHMEM_CTX_SERIALIZED : 0) | (which & 2 ? SHMEM_CTX_PRIVATE : 0) |
           (which & 4 ? SHMEM_CTX_NOSTORE : 0);
}

static void verify_team(shmem_ctx_t ctx, shmem_team_t team)
{
    shmem_team_t is = SHMEM_TEAM_INVALID;
    int status = shmem_ctx_get_team(ctx, &is);

    cf_case("shmem_ctx_get_team");
    cf_check(status == 0, "returned %d", status);
    cf_check(shmem_team_n_pes(is) == shmem_team_n_pes(team) &&
                 shmem_team_my_pe(is) == shmem_team_my_pe(team),
             "not the team of the context");
    if (team == SHMEM_TEAM_WORLD)
        cf_check(is == SHMEM_TEAM_WORLD, "not the world's handle");
}

/* Data are visible at the neighbour once the flag is; an atomic and a nonblocking get
 * work. */
static void verify_traffic(shmem_ctx_t ctx, shmem_team_t team, const char *routine)
{
    int me = shmem_team_my_pe(team), n = shmem_team_n_pes(team), right = (me + 1) % n;
    long mine = 100 + me, from_left = 100 + (me + n - 1) % n, back = 0;

    memset(words, 0, sizeof(words));
    shmem_team_sync(team);
    shmem_ctx_long_put_nbi(ctx, &words[0], &mine, 1, right);
    shmem_ctx_fence(ctx);
    cf_case("shmem_ctx_fence");
    shmem_ctx_long_p(ctx, &words[1], 1, right);
    shmem_ctx_quiet(ctx);
    cf_case("shmem_ctx_quiet");
    shmem_long_wait_until(&words[1], SHMEM_CMP_EQ, 1);
    cf_check(words[0] == from_left, "%ld is visible with the flag, not %ld", words[0],
             from_left);
    shmem_ctx_long_atomic_add(ctx, &words[2], mine, right);
    shmem_ctx_quiet(ctx);
    shmem_team_sync(team);
    shmem_ctx_long_get_nbi(ctx, &back, &words[2], 1, right);
    shmem_ctx_quiet(ctx);
    cf_case(routine);
    cf_check(words[2] == from_left && back == mine, "added %ld, got %ld", words[2], back);
    shmem_team_sync(team);
}

static void run_own(void)
{
    shmem_ctx_t ctx;

    for (int i = 0; i < OPTIONS; i++) {
        ctx = SHMEM_CTX_INVALID;
        int status = shmem_ctx_create(options_of(i), &ctx);
        cf_case("shmem_ctx_create");
        cf_check(status == 0 && ctx != SHMEM_CTX_INVALID, "options %d: returned %d", i,
                 status);
        verify_team(ctx, SHMEM_TEAM_WORLD);
        verify_traffic(ctx, SHMEM_TEAM_WORLD, "shmem_ctx_create");
        shmem_ctx_destroy(ctx);
        cf_case("shmem_ctx_destroy");
    }
    verify_team(SHMEM_CTX_DEFAULT, SHMEM_TEAM_WORLD);
    verify_traffic(SHMEM_CTX_DEFAULT, SHMEM_TEAM_WORLD, "shmem_ctx_quiet");
}

static void run_team(int start, int stride, int size)
{
    shmem_team_config_t config = {.num_contexts = 4};
    shmem_team_t team;
    shmem_ctx_t ctx[4];

    if (start < 0 || size < 1)
        return;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, size, &config,
                                   SHMEM_TEAM_NUM_CONTEXTS, &team) == 0);
    if (team == SHMEM_TEAM_INVALID)
        return;
    for (int i = 0; i < 4; i++) {
        int status = shmem_team_create_ctx(team, options_of(2 * i), &ctx[i]);
        cf_case("shmem_team_create_ctx");
        cf_check(status == 0, "context %d of 4: returned %d", i, status);
    }
    for (int i = 0; i < 4; i++) {
        verify_team(ctx[i], team);
        verify_traffic(ctx[i], team, "shmem_team_create_ctx");
    }
    for (int i = 0; i < 4; i++)
        shmem_ctx_destroy(ctx[i]);
    cf_case("shmem_ctx_destroy");
    shmem_team_destroy(team);
}

static void run_many(void)
{
    enum { AT_ONCE = 40, CYCLES = 300 };
    shmem_ctx_t ctx[AT_ONCE], one;

    shmem_barrier_all(); /* all PEs have finished the cases with teams */
    for (int i = 0; i < AT_ONCE; i++) {
        int status = shmem_ctx_create(options_of(i % OPTIONS), &ctx[i]);
        cf_case("shmem_ctx_create");
        cf_check(status == 0, "context %d: returned %d", i, status);
        shmem_ctx_long_p(ctx[i], &words[i % WORDS], i, cf_target(CF_RIGHT));
    }
    for (int i = 0; i < AT_ONCE; i++) {
        for (int k = 0; k < i; k++)
            cf_check(ctx[i] != ctx[k], "two contexts have one handle");
        cf_check(ctx[i] != SHMEM_CTX_DEFAULT, "a new context has the default's handle");
    }
    for (int i = 0; i < AT_ONCE; i++)
        shmem_ctx_destroy(ctx[i * 7 % AT_ONCE]);
    for (int i = 0; i < CYCLES; i++) {
        CHECK(shmem_ctx_create(0, &one) == 0);
        shmem_ctx_destroy(one);
        cf_case("shmem_ctx_destroy");
    }
    shmem_barrier_all();
}

/* Calls with SHMEM_CTX_INVALID have no effect or fail; so does creating a context of
 * SHMEM_TEAM_INVALID. */
static void run_invalid(void)
{
    shmem_team_t team = SHMEM_TEAM_WORLD;
    shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;
    int pe = 0;

    cf_case("shmem_ctx_get_team");
    cf_check(shmem_ctx_get_team(SHMEM_CTX_INVALID, &team) != 0 &&
                 team == SHMEM_TEAM_INVALID,
             "of no context: not refused");
    cf_case("shmem_team_create_ctx");
    cf_check(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx) != 0 &&
                 ctx == SHMEM_CTX_INVALID,
             "of no team: not refused");
    shmem_ctx_destroy(SHMEM_CTX_INVALID);
    cf_case("shmem_ctx_destroy");
    shmem_ctx_fence(SHMEM_CTX_INVALID);
    cf_case("shmem_ctx_fence");
    shmem_ctx_quiet(SHMEM_CTX_INVALID);
    cf_case("shmem_ctx_quiet");
    shmem_ctx_pe_quiet(SHMEM_CTX_INVALID, &pe, 1);
    cf_case("shmem_ctx_pe_quiet");
    shmem_pe_quiet(NULL, 0);
    cf_case("shmem_pe_quiet");
    shmem_ctx_session_start(SHMEM_CTX_INVALID, SHMEM_CTX_SESSION_BATCH, NULL, 0);
    cf_case("shmem_ctx_session_start");
    shmem_ctx_session_stop(SHMEM_CTX_INVALID);
    cf_case("shmem_ctx_session_stop");
}

static void run_session(const struct cf_ctx *c)
{
    shmem_ctx_session_config_t config = {.total_ops = WORDS};
    int right = cf_pe_in(c, cf_target(CF_RIGHT)), left = cf_target(CF_LEFT);

    for (int round = 0; round < 4; round++) {
        memset(words, 0, sizeof(words));
        shmem_barrier_all();
        shmem_ctx_session_start(c->ctx, round & 1 ? SHMEM_CTX_SESSION_BATCH : 0, &config,
                                round & 2 ? SHMEM_CTX_SESSION_TOTAL_OPS : 0);
        if (round == 3) /* a second start in an active session is allowed */
            shmem_ctx_session_start(c->ctx, SHMEM_CTX_SESSION_BATCH, NULL, 0);
        for (int i = 0; i < WORDS; i++)
            shmem_ctx_long_p(c->ctx, &words[i], 10 * cf_me + i + 1, right);
        shmem_ctx_session_stop(c->ctx);
        shmem_ctx_quiet(c->ctx);
        shmem_barrier_all();
        cf_case("shmem_ctx_session_start");
        cf_case("shmem_ctx_session_stop");
        for (int i = 0; i < WORDS; i++)
            cf_check(words[i] == 10 * left + i + 1, "%s, round %d: word %d is %ld",
                     c->name, round, i, words[i]);
        shmem_barrier_all();
    }
}

/* pe_quiet: data put to these PEs before it are visible once a flag set after it is. */
static void run_pe_quiet(const struct cf_ctx *c)
{
    int right = cf_target(CF_RIGHT), left = cf_target(CF_LEFT);
    int to = cf_pe_in(c, right), both[2] = {to, cf_pe_in(c, cf_me)};

    for (size_t n = 0; n <= 2; n++) {
        long block[8], expected[8];
        memset(words, 0, sizeof(words));
        check_fill(block, sizeof(block), (uint64_t)cf_me);
        check_fill(expected, sizeof(expected), (uint64_t)left);
        shmem_barrier_all();
        shmem_ctx_long_put_nbi(c->ctx, words, block, 8, to);
        if (c->ctx == SHMEM_CTX_DEFAULT && n > 0)
            shmem_pe_quiet(both, n);
        else
            shmem_ctx_pe_quiet(c->ctx, both, n > 0 ? n : 0);
        if (n == 0)
            shmem_ctx_quiet(c->ctx);
        shmem_ctx_long_atomic_set(c->ctx, &words[8], 1, to);
        shmem_long_wait_until(&words[8], SHMEM_CMP_EQ, 1);
        cf_case(c->ctx == SHMEM_CTX_DEFAULT && n > 0 ? "shmem_pe_quiet"
                                                     : "shmem_ctx_pe_quiet");
        cf_check(memcmp(words, expected, sizeof(expected)) == 0,
                 "%s, %zu PEs: the flag is visible before the data", c->name, n);
        shmem_barrier_all();
    }
}

/* The routines without a context argument order and complete operations on the default
 * context. */
static void run_default(void)
{
    long mine = 7 + cf_me;

    memset(words, 0, sizeof(words));
    shmem_barrier_all();
    shmem_long_put_nbi(&words[0], &mine, 1, cf_target(CF_RIGHT));
    shmem_fence();
    cf_case("shmem_fence");
    shmem_long_p(&words[1], 1, cf_target(CF_RIGHT));
    shmem_long_wait_until(&words[1], SHMEM_CMP_EQ, 1);
    cf_check(words[0] == 7 + cf_target(CF_LEFT), "%ld is visible with the flag",
             words[0]);
    shmem_barrier_all();
    shmem_long_put_nbi(&words[2], &mine, 1, cf_target(CF_LEFT));
    shmem_quiet();
    cf_case("shmem_quiet");
    shmem_long_atomic_set(&words[3], 1, cf_target(CF_LEFT));
    shmem_long_wait_until(&words[3], SHMEM_CMP_EQ, 1);
    cf_check(words[2] == 7 + cf_target(CF_RIGHT), "%ld is visible with the flag",
             words[2]);
    shmem_barrier_all();
}

int main(void)
{
    cf_start("contexts");
    int n = cf_npes;
    run_own();
    run_default();
    run_team(0, 1, n);
    run_team(n - 1, -1, n);
    run_team(0, 2, (n + 1) / 2);
    run_team(n - 1, -2, n / 2);
    run_team(n / 2, 0, 1);
    run_many();
    run_invalid();
    cf_ctxs_open();
    for (int c = 0; c < CF_CTXS; c++) {
        run_session(&cf_ctxs[c]);
        run_pe_quiet(&cf_ctxs[c]);
    }
    cf_ctxs_close();
    return cf_finish();
}
