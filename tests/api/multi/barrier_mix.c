/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier_mix.c - all collectives in sequence on the same buffers, without
 * synchronization between them and with random delays: on one team after the other, on a
 * different team in each round, and by several threads concurrently, each on its own
 * team.
 */
#include "config.h"

#include "tests/api/multi/coll.h"

#include <pthread.h>

enum { N = 40, PES_MAX = 16, ROUNDS = 700, THREADS = 3 };

/* The state of one thread, or of the only one. */
struct mix {
    struct group group;
    long *source, *dest; /* N * PES_MAX */
    uint64_t seed;
};

static long value(long round, int pe, size_t i)
{
    return round * 1000 + pe * 7 + (long)i;
}

static long sum_to(long round, int pes, size_t i)
{
    return pes * value(round, 0, i) + 7L * pes * (pes - 1) / 2;
}

static void check_value(const struct mix *m, long is, long should, long round)
{
    CHECK_NAMED(is == should, "round %ld of %s: %ld, should be %ld", round, m->group.name,
                is, should);
}

/* at[0..n-1] must be the first n elements of PE i. */
static void check_part(const struct mix *m, const long *at, long round, int i, size_t n)
{
    for (size_t k = 0; k < n; k++)
        check_value(m, at[k], value(round, i, k), round);
}

static void move(const struct mix *m, long round, size_t n)
{
    const struct group *g = &m->group;
    int root = (int)(round % g->npes);
    switch (round / 2 % 4) {
    case 0:
        CHECK_EQ(shmem_long_broadcast(g->team, m->dest, m->source, n, root), 0);
        check_part(m, m->dest, round, root, n);
        break;
    case 1:
        CHECK_EQ(shmem_long_fcollect(g->team, m->dest, m->source, n), 0);
        for (int i = 0; i < g->npes; i++)
            check_part(m, m->dest + (size_t)i * n, round, i, n);
        break;
    case 2:
        CHECK_EQ(shmem_long_collect(g->team, m->dest, m->source, (size_t)g->me), 0);
        for (int i = 0; i < g->npes; i++)
            check_part(m, m->dest + i * (i - 1) / 2, round, i, (size_t)i);
        break;
    default:
        CHECK_EQ(shmem_long_alltoall(g->team, m->dest, m->source, 1), 0);
        for (int i = 0; i < g->npes; i++)
            check_value(m, m->dest[i], value(round, i, (size_t)g->me), round);
    }
}

static void combine(const struct mix *m, long round, size_t n)
{
    const struct group *g = &m->group;
    int pes = g->npes;
    switch (round / 2 % 4) {
    case 0:
        CHECK_EQ(shmem_long_sum_reduce(g->team, m->dest, m->source, n), 0);
        break;
    case 1:
        CHECK_EQ(shmem_long_sum_inscan(g->team, m->dest, m->source, n), 0);
        pes = g->me + 1;
        break;
    case 2:
        CHECK_EQ(shmem_long_sum_exscan(g->team, m->dest, m->source, n), 0);
        pes = g->me;
        break;
    default:
        CHECK_EQ(shmem_team_sync(g->team), 0);
        return;
    }
    for (size_t i = 0; i < n; i++)
        check_value(m, m->dest[i], sum_to(round, pes, i), round);
}

static void one_round(struct mix *m, long round)
{
    size_t n = (size_t)(round * 13 % (N + 1));
    for (size_t i = 0; i < N; i++)
        m->source[i] = value(round, m->group.me, i);
    check_delay(&m->seed);
    if (round % 2 == 0)
        move(m, round, n);
    else
        combine(m, round, n);
}

static void *run(void *arg)
{
    struct mix *m = arg;
    for (long round = 0; round < ROUNDS; round++)
        one_round(m, round);
    return NULL;
}

static struct mix mix_of(const struct group *g, uint64_t salt)
{
    return (struct mix){*g, check_alloc(N * PES_MAX * sizeof(long)),
                        check_alloc(N * PES_MAX * sizeof(long)),
                        check_seed(shmem_my_pe()) + salt};
}

static void test_teams(void)
{
    struct mix m = mix_of(&groups[0], 1);
    for (int g = 0; g < ngroups; g++) {
        m.group = groups[g];
        run(&m);
    }
    /* Another team each round; the order is the same on all PEs. */
    for (long round = 0; round < ROUNDS; round++)
        for (int g = 0; g < ngroups; g++) {
            m.group = groups[g];
            one_round(&m, round);
        }
}

static void test_threads(void)
{
    pthread_t thread[THREADS];
    struct mix mix[THREADS];
    int first = ngroups;
    for (int i = 0; i < THREADS; i++)
        group_add("a thread's team", i % 2 == 0 ? 0 : shmem_n_pes() - 1,
                  i % 2 == 0 ? 1 : -1, shmem_n_pes());
    for (int i = 0; i < THREADS; i++)
        mix[i] = mix_of(&groups[first + i], (uint64_t)i + 2);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread[i], NULL, run, &mix[i]) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
}

int main(void)
{
    int level;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level);
    CHECK(shmem_n_pes() <= PES_MAX);
    groups_init();
    test_teams();
    shmem_barrier_all();
    test_threads();
    shmem_finalize();
    return 0;
}
