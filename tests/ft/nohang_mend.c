/* SPDX-License-Identifier: BSD-3-Clause */
/* nohang_mend.c - the survivors make a team of themselves and verify that the routines of
 * the team and of the world work.  A further PE may be killed meanwhile. */
#include "tests/ft/nohang.h"

enum { MEND_TRIES = 12 };

static long mend_in[1], mend_sum[1], mend_all[BOARD_PES];
static long mend_counter[BOARD_ROUNDS][MEND_TRIES];
static long mend_lock;
static char *mend_base; /* the first block of the heap */

void nohang_mend_begin(void)
{
    mend_base = check_alloc(1);
}

static void mend_vote(const struct nohang_round *r, int i, int status, uint64_t value)
{
    struct board_vote *v = &nohang_me->vote[r->number][i];

    v->status = status;
    v->value = value;
    atomic_store(&v->written, 1);
}

static uint64_t mend_members(shmem_team_t team)
{
    uint64_t set = 0;
    int last = -1;

    for (int i = 0; i < shmem_team_n_pes(team); i++) {
        int pe = shmem_team_translate_pe(team, i, SHMEM_TEAM_WORLD);
        CHECK_NAMED(pe > last, "PE %d of the new team is PE %d, before it PE %d", i, pe,
                    last);
        set |= (uint64_t)1 << pe;
        last = pe;
    }
    return set;
}

static bool mend_failed(const char *routine, int rc)
{
    CHECK_NAMED(rc == 0 || rc == SHMEMX_ERR_PE_FAILED, "%s on the new team returned %d",
                routine, rc);
    return rc != 0;
}

static bool mend_world_failed(void)
{
    return mend_failed("a routine of the world", shmemx_team_status(SHMEM_TEAM_WORLD));
}

/* False if a PE has failed meanwhile. */
static bool mend_collectives(shmem_team_t team, uint64_t set)
{
    long expected = 0;
    int n = 0;

    mend_in[0] = shmem_my_pe() + 1;
    if (mend_failed("shmem_team_sync", shmem_team_sync(team)) ||
        mend_failed("reduce", shmem_long_sum_reduce(team, mend_sum, mend_in, 1)) ||
        mend_failed("fcollect", shmem_long_fcollect(team, mend_all, mend_in, 1)))
        return false;
    for (int pe = 0; pe < BOARD_PES; pe++)
        if (nohang_has(set, pe)) {
            CHECK_EQ(mend_all[n++], pe + 1);
            expected += pe + 1;
        }
    CHECK_EQ(n, shmem_team_n_pes(team));
    CHECK_EQ(mend_sum[0], expected);
    return true;
}

static bool mend_heap(shmem_team_t team, int round)
{
    char *block = shmem_malloc(64 + (size_t)round * 40);

    if (mend_world_failed())
        return false;
    CHECK(block != NULL);
    mend_in[0] = block - mend_base;
    if (mend_failed("fcollect", shmem_long_fcollect(team, mend_all, mend_in, 1)))
        return false;
    for (int i = 0; i < shmem_team_n_pes(team); i++)
        CHECK_NAMED(mend_all[i] == mend_in[0],
                    "shmem_malloc returned offset %ld on this PE and %ld on PE %d of the "
                    "team",
                    mend_in[0], mend_all[i], i);
    shmem_free(block);
    return !mend_world_failed();
}

static bool mend_locks(shmem_team_t team, uint64_t set, long *counter)
{
    int home = __builtin_ctzll(set);

    shmem_set_lock(&mend_lock);
    shmem_long_p(counter, shmem_long_g(counter, home) + 1, home);
    shmem_quiet();
    shmem_clear_lock(&mend_lock); /* also after a failure: the others wait for it */
    shmem_barrier_all();
    if (mend_world_failed())
        return false;
    long count = shmem_long_g(counter, home);
    bool failed = mend_world_failed();
    CHECK_NAMED(failed || count == shmem_team_n_pes(team),
                "%ld of %d PEs have added 1 under the lock", count,
                shmem_team_n_pes(team));
    return !failed;
}

static bool mend_verify(struct nohang_round *r, shmem_team_t team, uint64_t set, int i)
{
    board_says(nohang_me, "round %d, try %d: collectives", r->number, i);
    if (!mend_collectives(team, set))
        return false;
    shmem_barrier_all();
    board_says(nohang_me, "round %d, try %d: heap", r->number, i);
    if (mend_world_failed() || !mend_heap(team, r->number))
        return false;
    shmem_sync_all();
    board_says(nohang_me, "round %d, try %d: lock", r->number, i);
    return !mend_world_failed() && mend_locks(team, set, &mend_counter[r->number][i]);
}

shmem_team_t nohang_mend(struct nohang_round *r)
{
    uint64_t dead = r->victims;

    if (r->second >= 0)
        dead |= (uint64_t)1 << r->second;
    for (int i = 0; i < MEND_TRIES; i++) {
        shmem_team_t team;
        board_says(nohang_me, "round %d, try %d: shrink", r->number, i);
        int rc = shmemx_team_shrink(SHMEM_TEAM_WORLD, &team);
        CHECK_NAMED(rc == 0, "shmemx_team_shrink returned %d", rc);
        uint64_t set = mend_members(team);
        mend_vote(r, 2 * i, rc, set);
        CHECK_NAMED((set & ~nohang_alive) == 0, "a failed PE is in the new team");
        uint64_t flags = mend_verify(r, team, set, i) && (set & dead) == 0;
        board_says(nohang_me, "round %d, try %d: agree", r->number, i);
        rc = shmemx_team_agree(team, &flags);
        mend_vote(r, 2 * i + 1, rc, flags);
        if (rc == 0 && flags == 1) {
            nohang_alive = set;
            if (r->team != SHMEM_TEAM_WORLD)
                shmem_team_destroy(r->team);
            return team;
        }
        shmem_team_destroy(team);
        check_sleep_us(i * 2000L); /* the second victim still lives */
    }
    check_fail(__FILE__, __LINE__, "the world is not mended after several shrinks");
    return SHMEM_TEAM_INVALID;
}
