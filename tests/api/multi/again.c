/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * again.c - the library is finalized and initialized again many times (OpenSHMEM 1.6,
 * shmem_init): each time the heap is new, globals keep their values, and teams, contexts
 * and locks work; every other time with SHMEM_THREAD_MULTIPLE, and with threads that are
 * older than the initialization.
 *   again [NUMBER]
 */
#include <pthread.h>

#include "check.h"

enum { BYTES = 100000, THREADS = 4 };

static int generations = 30; /* or the argument */

static long total;
static long lock;
static long stored[THREADS], added[THREADS];
static pthread_barrier_t threads;

static void use_heap(int generation, int me, int npes)
{
    long *block = check_alloc(BYTES);
    int next = (me + 1) % npes, before = (me + npes - 1) % npes;

    block[0] = -1;
    shmem_barrier_all();
    shmem_long_p(block, generation * npes + me, next);
    shmem_long_atomic_inc(&total, next);
    shmem_barrier_all();
    CHECK_EQ(block[0], generation * npes + before);
    CHECK_EQ(total, generation + 1);
    /* Not freed: shmem_finalize releases the heap. */
}

static void use_team(int npes)
{
    shmem_team_t team;
    shmem_team_config_t config = {.num_contexts = 1};
    shmem_ctx_t ctx;
    long one = 1, *sum = check_alloc(2 * sizeof *sum);

    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, npes - 1, -1, npes, &config,
                                      SHMEM_TEAM_NUM_CONTEXTS, &team),
             0);
    CHECK_EQ(shmem_team_create_ctx(team, 0, &ctx), 0);
    shmem_ctx_long_p(ctx, &sum[1], one, shmem_team_my_pe(team));
    shmem_ctx_quiet(ctx);
    CHECK_EQ(shmem_long_sum_reduce(team, sum, &sum[1], 1), 0);
    CHECK_EQ(sum[0], npes);
    /* shmem_finalize releases the team and the context too. */
}

static void use_lock(void)
{
    static long count;

    shmem_set_lock(&lock);
    shmem_long_p(&count, shmem_long_g(&count, 0) + 1, 0);
    shmem_clear_lock(&lock);
    shmem_barrier_all();
}

/* Each thread uses the default context. */
static void use_thread(int thread, long generation)
{
    int next = (shmem_my_pe() + 1) % shmem_n_pes();

    shmem_long_put_nbi(&stored[thread], &generation, 1, next);
    shmem_long_atomic_add(&added[thread], 1, next);
    shmem_quiet();
    CHECK_EQ(shmem_long_g(&stored[thread], next), generation);
}

static void *run_thread(void *arg)
{
    for (int g = 1; g < generations; g += 2) {
        pthread_barrier_wait(&threads); /* initialized */
        use_thread((int)(intptr_t)arg, g);
        pthread_barrier_wait(&threads);
    }
    return NULL;
}

static void use_threads(int generation)
{
    pthread_barrier_wait(&threads);
    use_thread(0, generation);
    pthread_barrier_wait(&threads);
    shmem_barrier_all();
    for (int t = 0; t < THREADS; t++) {
        CHECK_EQ(stored[t], generation);
        CHECK_EQ(added[t], generation / 2 + 1);
    }
}

int main(int argc, char **argv)
{
    pthread_t thread[THREADS];
    uint64_t random = 1;

    if (argc > 1)
        generations = atoi(argv[1]);
    if (pthread_barrier_init(&threads, NULL, THREADS) != 0)
        return 1;
    for (int t = 1; t < THREADS; t++)
        if (pthread_create(&thread[t], NULL, run_thread, (void *)(intptr_t)t) != 0)
            return 1;
    for (int g = 0; g < generations; g++) {
        int is_up;
        shmem_query_initialized(&is_up);
        if (is_up)
            return 1;
        if (g % 2 == 0)
            shmem_init();
        else if (shmem_init_thread(SHMEM_THREAD_MULTIPLE, &is_up) != 0)
            return 1;
        int me = shmem_my_pe(), npes = shmem_n_pes();
        random += (uint64_t)me;
        check_delay(&random);
        use_heap(g, me, npes);
        use_team(npes);
        use_lock();
        if (g % 2 != 0)
            use_threads(g);
        check_delay(&random);
        shmem_finalize();
        check_delay(&random);
    }
    for (int t = 1; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    return 0;
}
