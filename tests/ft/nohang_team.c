/* SPDX-License-Identifier: BSD-3-Clause */
/* nohang_team.c - cases: creation of teams, the symmetric heap, agreement, shrink,
 * revoke, two threads in collectives of different teams. */
#include "tests/ft/nohang.h"

#include <pthread.h>

/* ---- teams ------------------------------------------------------------------------ */

/* Destroys new teams if all live PEs have them: a failure may end the creation on some
 * PEs only, even of a team without a failed PE.  Equal on all survivors. */
static int team_settle(struct nohang_round *r, const shmem_team_t *team, int n, int rc)
{
    uint64_t all = rc == 0;
    int status = shmemx_team_agree(r->team, &all);

    for (int i = 0; i < n && all != 0; i++)
        shmem_team_destroy(team[i]);
    r->done = status != 0;
    return status;
}

static int team_split(struct nohang_round *r)
{
    static long undefined;
    shmem_team_t team[2] = {(shmem_team_t)&undefined, (shmem_team_t)&undefined};
    int n = 1 + nohang_draw(r, 11, 2), rc;

    if (n == 1)
        rc = shmem_team_split_strided(r->team, 0, 1, r->npes, NULL, 0, &team[0]);
    else
        rc = shmem_team_split_2d(r->team, (r->npes + 1) / 2, NULL, 0, &team[0], NULL, 0,
                                 &team[1]);
    for (int i = 0; i < n; i++)
        CHECK(team[i] != (shmem_team_t)&undefined);
    CHECK(rc == 0 || team[n - 1] == SHMEM_TEAM_INVALID);
    return team_settle(r, team, n, rc);
}

static int team_create(struct nohang_round *r)
{
    static long undefined;
    shmem_team_t team = (shmem_team_t)&undefined;
    int list[BOARD_PES];

    for (int i = 0; i < r->npes; i++)
        list[i] = r->npes - 1 - i;
    int rc = shmemx_team_create(r->team, list, r->npes, &team);
    CHECK((rc == 0) == (team != SHMEM_TEAM_INVALID));
    return team_settle(r, &team, 1, rc);
}

static void team_dup(struct nohang_round *r)
{
    CHECK_EQ(shmem_team_split_strided(r->team, 0, 1, r->npes, NULL, 0, &r->dup), 0);
}

static int team_destroy_dup(struct nohang_round *r)
{
    if (r->dup == SHMEM_TEAM_INVALID)
        check_sleep_us(50);
    else
        shmem_team_destroy(r->dup);
    r->dup = SHMEM_TEAM_INVALID;
    return 0;
}

/* ---- heap ------------------------------------------------------------------------- */

static int team_malloc(struct nohang_round *r)
{
    size_t n = (size_t)(1 + nohang_draw(r, 10, 5000));
    void *block;

    switch (nohang_draw(r, 11, 5)) {
    case 0:
        block = shmem_malloc(n);
        break;
    case 1:
        block = shmem_calloc(n, 2);
        break;
    case 2:
        block = shmem_align(256, n);
        break;
    case 3:
        block = shmem_malloc_with_hints(n, SHMEM_MALLOC_ATOMICS_REMOTE);
        break;
    default:
        block = shmem_malloc(n);
        if (block != NULL) {
            void *moved = shmem_realloc(block, 2 * n);
            block = moved != NULL ? moved : block;
        }
    }
    if (block != NULL && shmemx_team_status(SHMEM_TEAM_WORLD) == 0)
        shmem_free(block);
    return 0;
}

/* ---- agreement, revoke ------------------------------------------------------------ */

/* Equal on all survivors, so that all of them call it equally often. */
static int team_agree(struct nohang_round *r)
{
    uint64_t mine = ~((uint64_t)1 << r->me), flags = mine;
    int rc = shmemx_team_agree(r->team, &flags);

    CHECK((flags & ~mine) == 0);
    CHECK(rc == 0 || rc == SHMEMX_ERR_PE_FAILED);
    for (int i = 0; rc == 0 && i < r->npes; i++)
        CHECK_EQ(flags >> i & 1, 0);
    r->done = rc != 0;
    return rc;
}

static int team_revoke(struct nohang_round *r)
{
    int revoker = (r->victim_index + 1) % r->npes;

    if (shmemx_team_status(r->dup) != 0)
        check_sleep_us(100);
    else if (r->me == revoker) {
        check_sleep_us(nohang_draw(r, 13, 300));
        CHECK_EQ(shmemx_team_revoke(r->dup), 0);
    }
    while (shmem_team_sync(r->dup) == 0)
        ;
    int status = shmemx_team_status(r->dup);
    CHECK(status == SHMEMX_ERR_REVOKED || status == SHMEMX_ERR_PE_FAILED);
    return 0;
}

static void team_end_dup(struct nohang_round *r)
{
    if (r->dup != SHMEM_TEAM_INVALID)
        shmem_team_destroy(r->dup);
}

/* ---- threads ---------------------------------------------------------------------- */

enum { THREAD_CALLS = 40 };
static long team_in[2][64], team_out[2][64 * BOARD_PES];
static shmem_team_t team_others; /* all but the victims */

static void team_threads_begin(struct nohang_round *r)
{
    int list[BOARD_PES], n = 0;

    team_dup(r);
    for (int i = 0; i < r->npes; i++)
        if (!nohang_has(r->victims,
                        shmem_team_translate_pe(r->team, i, SHMEM_TEAM_WORLD)))
            list[n++] = i;
    CHECK_EQ(shmemx_team_create(r->team, list, n, &team_others), 0);
}

/* Collectives of a team without the victims are not disturbed. */
static void *team_thread(void *arg)
{
    (void)arg;
    for (int i = 0; i < THREAD_CALLS; i++) {
        team_in[1][0] = i;
        int rc = shmem_long_max_reduce(team_others, team_out[1], team_in[1], 1);
        CHECK_NAMED(rc == 0, "a team without the victim: status %d", rc);
        CHECK_EQ(team_out[1][0], i);
        rc = shmem_long_fcollect(team_others, team_out[1], team_in[1], 64);
        CHECK_NAMED(rc == 0, "a team without the victim: status %d", rc);
    }
    return NULL;
}

static int team_threads(struct nohang_round *r)
{
    pthread_t thread;
    bool second = team_others != SHMEM_TEAM_INVALID && !r->done;

    if (second && !nohang_threads)
        team_thread(NULL);
    else if (second)
        CHECK_EQ(pthread_create(&thread, NULL, team_thread, NULL), 0);
    while (shmem_long_fcollect(r->dup, team_out[0], team_in[0], 64) == 0)
        ;
    if (second && nohang_threads)
        pthread_join(thread, NULL);
    r->done = true;
    return SHMEMX_ERR_PE_FAILED;
}

static void team_threads_end(struct nohang_round *r)
{
    team_end_dup(r);
    if (team_others != SHMEM_TEAM_INVALID)
        shmem_team_destroy(team_others);
}

const struct nohang_case nohang_team[] = {
    {.name = "team_split", .call = team_split, .result = TEAM_RESULT, .uniform = true},
    {.name = "team_create", .call = team_create, .result = TEAM_RESULT, .uniform = true},
    {.name = "team_destroy", .call = team_destroy_dup, .begin = team_dup},
    {.name = "malloc", .call = team_malloc, .result = WORLD_RESULT},
    {.name = "agree", .call = team_agree, .result = TEAM_RESULT, .uniform = true},
    {.name = "shrink"},
    {.name = "revoke", .call = team_revoke, .begin = team_dup, .end = team_end_dup},
    {.name = "threads",
     .call = team_threads,
     .result = TEAM_RESULT,
     .begin = team_threads_begin,
     .end = team_threads_end},
};
const int nohang_team_count = sizeof nohang_team / sizeof *nohang_team;
