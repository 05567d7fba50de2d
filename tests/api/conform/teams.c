/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * teams.c - splits against a model of their members: strided (ascending, descending,
 * stride 0, nested, overlapping), two-dimensional, invalid; translation of PE numbers
 * between pairs of teams; configurations; many teams at a time and in sequence.
 */
#include <shmemx.h>

#include "tests/api/conform/conform.h"

enum { MEMBERS_MAX = 64, KEPT_MAX = 24 };

/* A team and its expected members, as PE numbers in the world. */
struct model {
    shmem_team_t team;
    int size;
    int pe[MEMBERS_MAX];
};

static int rank_in(const struct model *m, int pe)
{
    for (int i = 0; i < m->size; i++)
        if (m->pe[i] == pe)
            return i;
    return -1;
}

static struct model world(shmem_team_t team)
{
    struct model m = {.team = team, .size = cf_npes};

    for (int i = 0; i < cf_npes; i++)
        m.pe[i] = i;
    return m;
}

static struct model node(void)
{
    struct check_pes here = check_node();
    struct model m = {.team = SHMEM_TEAM_SHARED, .size = here.size};

    for (int i = 0; i < here.size; i++)
        m.pe[i] = here.start + i * here.stride;
    return m;
}

/* The handle is valid exactly on members; size and rank must agree with the model. */
static void verify_team(const struct model *m)
{
    int rank = rank_in(m, cf_me);

    cf_check((m->team == SHMEM_TEAM_INVALID) == (rank < 0), "handle %p, expected rank %d",
             (void *)m->team, rank);
    cf_case("shmem_team_my_pe");
    cf_check(shmem_team_my_pe(m->team) == rank, "%d, not %d", shmem_team_my_pe(m->team),
             rank);
    cf_case("shmem_team_n_pes");
    cf_check(shmem_team_n_pes(m->team) == (rank < 0 ? -1 : m->size), "%d, not %d",
             shmem_team_n_pes(m->team), m->size);
    if (rank < 0)
        return;
    cf_case("shmem_team_sync");
    cf_check(shmem_team_sync(m->team) == 0, "failed");
}

static void verify_translation(const struct model *a, const struct model *b)
{
    bool valid = rank_in(a, cf_me) >= 0 && rank_in(b, cf_me) >= 0;

    for (int i = -1; i <= a->size; i++) {
        int is = shmem_team_translate_pe(a->team, i, b->team);
        int should = valid && i >= 0 && i < a->size ? rank_in(b, a->pe[i]) : -1;
        cf_case("shmem_team_translate_pe");
        cf_check(is == should, "%d of a team of %d in one of %d: %d, not %d", i, a->size,
                 b->size, is, should);
    }
}

static struct model split(const struct model *parent, int start, int stride, int size)
{
    struct model m = {.size = size};
    shmem_team_t team = SHMEM_TEAM_WORLD; /* must be overwritten */

    for (int i = 0; i < size; i++)
        m.pe[i] = parent->pe[start + i * stride];
    int status =
        shmem_team_split_strided(parent->team, start, stride, size, NULL, 0, &team);
    m.team = team;
    cf_case("shmem_team_split_strided");
    cf_check(status == 0, "(%d, %d, %d) of %d: returned %d", start, stride, size,
             parent->size, status);
    verify_team(&m);
    return m;
}

/* -- strided splits ------------------------------------------------------------------ */
static void run_strided(const struct model *parent, int depth)
{
    struct model kept[KEPT_MAX];
    int n = parent->size, count = 0;

    for (int stride = -3; stride <= 3; stride++)
        for (int start = 0; start < n; start += 1 + n / 3) {
            int space = stride > 0   ? (n - 1 - start) / stride
                        : stride < 0 ? start / -stride
                                     : 0;
            if (count < KEPT_MAX)
                kept[count++] = split(parent, start, stride, space + 1);
        }
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k += 1 + count / 7)
            verify_translation(&kept[i], &kept[k]);
    for (int i = 0; i < count; i++) {
        verify_translation(parent, &kept[i]);
        verify_translation(&kept[i], parent);
        if (depth > 0 && kept[i].team != SHMEM_TEAM_INVALID && i % 3 == 0)
            run_strided(&kept[i], depth - 1);
    }
    for (int i = count - 1; i >= 0; i--)
        if (kept[i].team != SHMEM_TEAM_INVALID) {
            shmem_team_destroy(kept[i].team);
            cf_case("shmem_team_destroy");
        }
}

/* A triplet with PEs outside the parent: nonzero status and SHMEM_TEAM_INVALID on all
 * PEs.
 */
static void run_invalid(void)
{
    const int triplets[][3] = {{cf_npes, 1, 1},
                               {-1, 1, 1},
                               {0, 1, cf_npes + 1},
                               {0, cf_npes + 1, 2},
                               {0, -1, 2},
                               {0, 1, 0},
                               {cf_npes - 1, -1, cf_npes + 1},
                               {0, 1, -1}};
    shmem_team_t team, x, y;

    for (size_t i = 0; i < CF_COUNT(triplets); i++) {
        const int *t = triplets[i];
        team = SHMEM_TEAM_WORLD;
        cf_case("shmem_team_split_strided");
        int status =
            shmem_team_split_strided(SHMEM_TEAM_WORLD, t[0], t[1], t[2], NULL, 0, &team);
        cf_check(status != 0 && team == SHMEM_TEAM_INVALID,
                 "(%d, %d, %d): returned %d and handle %p", t[0], t[1], t[2], status,
                 (void *)team);
    }
    team = x = y = SHMEM_TEAM_WORLD;
    cf_case("shmem_team_split_strided");
    int status = shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, NULL, 0, &team);
    cf_check(status != 0 && team == SHMEM_TEAM_INVALID,
             "of SHMEM_TEAM_INVALID: returned %d", status);
    cf_case("shmem_team_split_2d");
    status = shmem_team_split_2d(SHMEM_TEAM_INVALID, 1, NULL, 0, &x, NULL, 0, &y);
    cf_check(status != 0 && x == SHMEM_TEAM_INVALID && y == SHMEM_TEAM_INVALID,
             "of SHMEM_TEAM_INVALID: returned %d", status);
    cf_case("shmem_team_my_pe");
    cf_check(shmem_team_my_pe(SHMEM_TEAM_INVALID) == -1,
             "of SHMEM_TEAM_INVALID is not -1");
    cf_case("shmem_team_n_pes");
    cf_check(shmem_team_n_pes(SHMEM_TEAM_INVALID) == -1,
             "of SHMEM_TEAM_INVALID is not -1");
    cf_case("shmem_team_translate_pe");
    cf_check(shmem_team_translate_pe(SHMEM_TEAM_INVALID, 0, SHMEM_TEAM_WORLD) == -1 &&
                 shmem_team_translate_pe(SHMEM_TEAM_WORLD, 0, SHMEM_TEAM_INVALID) == -1,
             "with no team is not -1");
    shmem_team_destroy(SHMEM_TEAM_INVALID); /* no operation */
    cf_case("shmem_team_destroy");
}

/* The extension shmemx_team_create: a list in any order, also of a team made by a list.
 */
static struct model listed(const struct model *parent, const int *list, int n)
{
    struct model m = {.team = SHMEM_TEAM_WORLD, .size = n};

    for (int i = 0; i < n; i++)
        m.pe[i] = parent->pe[list[i]];
    int status = shmemx_team_create(parent->team, list, n, &m.team);
    cf_case("shmemx_team_create");
    cf_check(status == 0, "%d of %d: returned %d", n, parent->size, status);
    verify_team(&m);
    return m;
}

static void run_lists(const struct model *all)
{
    int list[MEMBERS_MAX], n = cf_npes;
    struct model kept[8];

    for (int round = 0; round < 8; round++) {
        uint64_t draw = (uint64_t)round + 77;
        for (int i = 0; i < n; i++)
            list[i] = i;
        for (int i = n - 1; i > 0; i--) { /* shuffled alike on all PEs */
            int k = (int)(check_random(&draw) % (uint64_t)(i + 1)), last = list[i];
            list[i] = list[k];
            list[k] = last;
        }
        kept[round] = listed(all, list, 1 + (n - 1) * (round + 1) / 8);
        verify_translation(&kept[round], all);
        verify_translation(&kept[round], &kept[0]);
    }
    for (int round = 0; round < 8; round++)
        if (kept[round].team != SHMEM_TEAM_INVALID) {
            int back[] = {kept[round].size - 1, 0};
            struct model sub = listed(&kept[round], back, kept[round].size > 1 ? 2 : 1);
            verify_translation(&sub, &kept[round]);
            shmem_team_destroy(sub.team);
            shmem_team_destroy(kept[round].team);
        }
}

/* -- two dimensions ------------------------------------------------------------------ */
static void run_2d(const struct model *parent, int xrange)
{
    struct model x = {.size = 0}, y = {.size = 0};
    int me = rank_in(parent, cf_me);

    for (int i = 0; i < parent->size; i++) {
        if (i / xrange == me / xrange)
            x.pe[x.size++] = parent->pe[i];
        if (i % xrange == me % xrange)
            y.pe[y.size++] = parent->pe[i];
    }
    int status =
        shmem_team_split_2d(parent->team, xrange, NULL, 0, &x.team, NULL, 0, &y.team);
    cf_case("shmem_team_split_2d");
    cf_check(status == 0, "of %d by %d: returned %d", parent->size, xrange, status);
    verify_team(&x);
    verify_team(&y);
    verify_translation(&x, &y);
    verify_translation(&x, parent);
    verify_translation(parent, &y);
    shmem_team_destroy(y.team);
    shmem_team_destroy(x.team);
}

/* -- configurations, numbers of teams ------------------------------------------------ */
static void run_config(void)
{
    shmem_team_config_t config = {.num_contexts = 3}, is = {.num_contexts = -5};
    shmem_team_t team, plain;

    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, cf_npes, &config,
                                   SHMEM_TEAM_NUM_CONTEXTS, &team) == 0);
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, cf_npes, &config, 0, &plain) ==
          0);
    cf_case("shmem_team_get_config");
    int status = shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &is);
    cf_check(status == 0 && is.num_contexts == 3, "returned %d and %d contexts", status,
             is.num_contexts);
    is.num_contexts = -5;
    status = shmem_team_get_config(plain, SHMEM_TEAM_NUM_CONTEXTS, &is);
    cf_case("shmem_team_get_config");
    cf_check(status == 0 && is.num_contexts == 0,
             "mask 0 at the split: returned %d and %d contexts", status, is.num_contexts);
    is.num_contexts = -5;
    status = shmem_team_get_config(team, 0, &is);
    cf_case("shmem_team_get_config");
    cf_check(status == 0 && is.num_contexts == -5, "mask 0: returned %d and %d contexts",
             status, is.num_contexts);
    status = shmem_team_get_config(SHMEM_TEAM_WORLD, SHMEM_TEAM_NUM_CONTEXTS, &is);
    cf_case("shmem_team_get_config");
    cf_check(status == 0, "of the world: returned %d", status);
    status = shmem_team_get_config(SHMEM_TEAM_INVALID, SHMEM_TEAM_NUM_CONTEXTS, &is);
    cf_case("shmem_team_get_config");
    cf_check(status != 0, "of SHMEM_TEAM_INVALID: returned 0");
    shmem_team_destroy(team);
    shmem_team_destroy(plain);
}

static void run_many(void)
{
    enum { AT_ONCE = 24, CYCLES = 200 };
    struct model all = world(SHMEM_TEAM_WORLD), kept[AT_ONCE];

    for (int i = 0; i < AT_ONCE; i++)
        kept[i] = split(&all, i % cf_npes, -1, i % cf_npes + 1);
    for (int i = 0; i < AT_ONCE; i++)
        verify_team(&kept[i]);
    for (int i = 0; i < AT_ONCE; i++) /* in a different order than created */
        if (kept[i * 7 % AT_ONCE].team != SHMEM_TEAM_INVALID)
            shmem_team_destroy(kept[i * 7 % AT_ONCE].team);
    for (int i = 0; i < CYCLES; i++) {
        struct model one = split(&all, 0, 1, i % cf_npes + 1);
        if (one.team != SHMEM_TEAM_INVALID)
            shmem_team_destroy(one.team);
    }
}

/* shmem_team_ptr with PE numbers of the team. */
static void run_ptr(const struct model *m)
{
    static int word;

    word = 1000 + cf_me;
    shmem_barrier_all();
    for (int i = 0; m->team != SHMEM_TEAM_INVALID && i < m->size; i++) {
        const int *at = shmem_team_ptr(m->team, &word, i);
        cf_case("shmem_team_ptr");
        cf_check(at == NULL || *at == 1000 + m->pe[i], "PE %d holds %d, not %d", i, *at,
                 1000 + m->pe[i]);
    }
    cf_case("shmem_team_ptr");
    cf_check(shmem_team_ptr(SHMEM_TEAM_INVALID, &word, 0) == NULL, "of no team");
    shmem_barrier_all();
}

int main(void)
{
    cf_start("teams");
    struct model all = world(SHMEM_TEAM_WORLD), shared = node();

    CHECK(cf_npes <= MEMBERS_MAX);
    verify_team(&all);
    verify_team(&shared);
    verify_translation(&all, &shared);
    run_strided(&all, 1);
    run_lists(&all);
    run_invalid();
    for (int xrange = 1; xrange <= cf_npes + 2; xrange++)
        run_2d(&all, xrange);
    struct model back = split(&all, cf_npes - 1, -1, cf_npes);
    for (int xrange = 1; xrange <= cf_npes; xrange++)
        run_2d(&back, xrange);
    run_ptr(&all);
    run_ptr(&back);
    shmem_team_destroy(back.team);
    run_config();
    run_many();
    return cf_finish();
}
