/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll_sync.c - synchronization: no PE leaves barrier_all, sync_all or team_sync before
 * the last has entered, and a barrier completes puts.  Then a random sequence of
 * collectives over random overlapping teams, back to back on the same buffers where the
 * specification allows it, with random delays.
 */
#include "tests/api/conform/conform.h"

enum { TEAM_MAX = 64, ROUNDS = 60, STEPS = 3200, BLOCK = 33 };
static long arrived[TEAM_MAX]; /* by PE of the world: the last round it has entered */
static long data[BLOCK];

/* Each PE announces to all members that it enters the round. */
static void announce(const struct cf_team *t, long round)
{
    for (int i = 0; i < t->size; i++)
        shmem_long_atomic_set(&arrived[cf_me], round, cf_world(t, i));
    shmem_quiet();
}

static void verify_all_arrived(const struct cf_team *t, long round, const char *routine)
{
    cf_case(routine);
    for (int i = 0; i < t->size; i++) {
        int pe = cf_world(t, i);
        long count = shmem_long_atomic_fetch(&arrived[pe], cf_me);
        cf_check(count >= round, "team %s, round %ld: PE %d is only in round %ld",
                 t->name, round, pe, count);
    }
}

static void run_sync(const struct cf_team *t, uint64_t *seed)
{
    static long round;

    for (int i = 0; i < ROUNDS; i++) {
        round++;
        if (cf_rank(t) < 0)
            continue;
        check_delay(seed);
        announce(t, round);
        cf_check(shmem_team_sync(t->team) == 0, "team %s: failed", t->name);
        verify_all_arrived(t, round, "shmem_team_sync");
    }
}

static void run_world(uint64_t *seed)
{
    const struct cf_team *world = &cf_teams[0];
    long block[BLOCK];

    for (long i = 1; i <= ROUNDS; i++) {
        check_delay(seed);
        announce(world, 1000000 + 2 * i);
        shmem_sync_all();
        verify_all_arrived(world, 1000000 + 2 * i, "shmem_sync_all");
        announce(world, 1000001 + 2 * i);
        check_fill(block, sizeof(block), (uint64_t)(i * 100 + cf_me));
        shmem_putmem_nbi(data, block, sizeof(block), cf_target(CF_RIGHT));
        shmem_barrier_all();
        verify_all_arrived(world, 1000001 + 2 * i, "shmem_barrier_all");
        cf_case("shmem_barrier_all");
        cf_check(check_find_wrong(data, sizeof(data),
                                  (uint64_t)(i * 100 + cf_target(CF_LEFT))) ==
                     sizeof(data),
                 "round %ld: did not complete a put", i);
        shmem_sync_all();
    }
}

/* -- random sequences: every PE draws the same numbers ------------------------------- */
static uint64_t *to, *from;

static uint64_t input(int pe, int step, size_t i)
{
    return (uint64_t)pe * 1000003u + (uint64_t)step * 7919u + i;
}

static uint64_t sum_of(const struct cf_team *t, int step, size_t i, int last)
{
    uint64_t sum = 0;

    for (int k = 0; k <= last; k++)
        sum += input(cf_world(t, k), step, i);
    return sum;
}

static void verify_step(const struct cf_team *t, int step, int what, const uint64_t *at,
                        size_t n, int root)
{
    static const char *const names[] = {
        "shmem_uint64_broadcast", "shmem_uint64_sum_reduce", "shmem_uint64_fcollect",
        "shmem_uint64_alltoall",  "shmem_uint64_sum_inscan", "shmem_team_sync"};
    int me = cf_rank(t);
    bool wide = what == 2 || what == 3;

    cf_case(names[what]);
    for (size_t i = 0; what < 5 && i < (wide ? n * (size_t)t->size : n); i++) {
        int k = wide ? (int)(i / n) : 0;
        uint64_t should = what == 0   ? input(cf_world(t, root), step, i)
                          : what == 1 ? sum_of(t, step, i, t->size - 1)
                          : what == 2 ? input(cf_world(t, k), step, i % n)
                          : what == 3
                              ? input(cf_world(t, k), step, (size_t)me * n + i % n)
                              : sum_of(t, step, i, me);
        cf_check(at[i] == should, "step %d, team %s, %zu elements: element %zu is wrong",
                 step, t->name, n, i);
    }
}

struct step {
    const struct cf_team *team;
    int number, what, root;
    size_t n;
};

static void run_step(const struct step *p, uint64_t *seed)
{
    const struct cf_team *t = p->team;
    size_t half = (size_t)cf_npes * BLOCK, n = p->n;
    uint64_t *d = to + (size_t)(p->number % 2) * half;
    uint64_t *s = from; /* always the same: reusable when a call returns */
    int what = p->what;

    check_delay(seed);
    for (size_t i = 0; i < n * (size_t)t->size; i++)
        s[i] = input(cf_me, p->number, i);
    int status = what == 0   ? shmem_uint64_broadcast(t->team, d, s, n, p->root)
                 : what == 1 ? shmem_uint64_sum_reduce(t->team, d, s, n)
                 : what == 2 ? shmem_uint64_fcollect(t->team, d, s, n)
                 : what == 3 ? shmem_uint64_alltoall(t->team, d, s, n)
                 : what == 4 ? shmem_uint64_sum_inscan(t->team, d, s, n)
                             : shmem_team_sync(t->team);
    check_delay(seed);
    cf_check(status == 0, "step %d: returned %d", p->number, status);
    verify_step(t, p->number, what, d, n, p->root);
}

/* Runs of steps, each run on one team.  No PE leaves a reduction, fcollect or alltoall
 * before all have entered, so two halves of the destination suffice for back-to-back
 * calls (`tight`); other routines need a synchronization before the destination may be
 * written again. */
static void run_random(uint64_t *seed)
{
    enum { RUN = 16 };
    uint64_t draw = 12345;

    for (int first = 0; first < STEPS; first += RUN) {
        const struct cf_team *t = &cf_teams[check_random(&draw) % (uint64_t)cf_nteams];
        bool tight = check_random(&draw) % 3 != 0;
        for (int i = first; i < first + RUN; i++) {
            struct step p = {t, i, 0, 0, 1 + check_random(&draw) % (BLOCK - 1)};
            p.what = (int)((check_random(&draw) >> 33) % 6);
            if (tight)
                p.what = 1 + p.what % 3;
            p.root = (int)(check_random(&draw) % (uint64_t)t->size);
            if (cf_rank(t) >= 0)
                run_step(&p, seed);
            if (!tight)
                shmem_sync_all();
        }
        shmem_sync_all();
    }
}

int main(void)
{
    cf_start("coll_sync");
    CHECK(cf_npes <= TEAM_MAX);
    to = check_alloc(2 * sizeof(uint64_t) * BLOCK * (size_t)cf_npes);
    from = check_alloc(sizeof(uint64_t) * BLOCK * (size_t)cf_npes);
    uint64_t seed = check_seed(cf_me);
    cf_teams_open();
    for (int i = 0; i < cf_nteams; i++)
        run_sync(&cf_teams[i], &seed);
    shmem_barrier_all();
    run_world(&seed);
    run_random(&seed);
    cf_teams_close();
    shmem_free(from);
    shmem_free(to);
    return cf_finish();
}
