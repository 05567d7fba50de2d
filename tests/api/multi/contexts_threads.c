/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * contexts_threads.c - SHMEM_THREAD_MULTIPLE: threads concurrently create and use their
 * own contexts and one shared context, create contexts of one team from more threads than
 * num_contexts, and create and destroy teams of different parents.
 */
#include "config.h"

#include <pthread.h>

#include "tests/api/multi/teams.h"

enum {
    THREADS = 6,
    ROUNDS = 200,
    TEAMS = 60,
    CONTEXTS = 4,
    TRIES = 500
}; /* CONTEXTS < THREADS */

static int me, npes;
static long slot[THREADS], total, sums[THREADS], source[THREADS];
static shmem_ctx_t common;
static shmem_team_t shared;

struct job {
    int thread;
    uint64_t seed;
    shmem_team_t parent; /* of this thread's teams; used by no other thread */
};

/* Each thread uses its own word, since stores of other threads are not ordered with its
 * own. */
static void use_contexts(struct job *job)
{
    long *mine = &slot[job->thread];
    int to = (me + 1) % npes;
    for (long i = 1; i <= ROUNDS; i++) {
        shmem_ctx_t ctx;
        CHECK_EQ(shmem_ctx_create(i % 2 == 0 ? SHMEM_CTX_PRIVATE : 0, &ctx), 0);
        shmem_ctx_long_p(ctx, mine, i, to);
        shmem_ctx_quiet(ctx);
        CHECK_EQ(shmem_ctx_long_g(ctx, mine, to), i);
        shmem_ctx_long_atomic_inc(common, &total, 0);
        check_delay(&job->seed);
        shmem_ctx_destroy(ctx);
    }
}

static void compete(struct job *job)
{
    for (int i = 0; i < TRIES; i++) {
        shmem_ctx_t ctx;
        CHECK_EQ(shmem_team_create_ctx(shared, 0, &ctx), 0);
        check_delay(&job->seed);
        shmem_ctx_destroy(ctx);
    }
}

/* Thread k of each PE works with threads k of the others. */
static void make_teams(struct job *job)
{
    int k = job->thread;
    for (int i = 0; i < TEAMS; i++) {
        int start = i % npes, size = npes - start;
        shmem_team_t team;
        CHECK_EQ(shmem_team_split_strided(job->parent, start, 1, size, NULL, 0, &team),
                 0);
        check_delay(&job->seed);
        CHECK((team == SHMEM_TEAM_INVALID) == (me < start));
        if (team == SHMEM_TEAM_INVALID)
            continue;
        source[k] = me + 1;
        CHECK_EQ(shmem_long_sum_reduce(team, &sums[k], &source[k], 1), 0);
        CHECK_EQ(sums[k], (long)(start + 1 + npes) * size / 2);
        shmem_team_destroy(team);
    }
}

static void *run(void *arg)
{
    struct job *job = arg;
    use_contexts(job);
    compete(job);
    make_teams(job);
    return NULL;
}

int main(void)
{
    pthread_t thread[THREADS];
    struct job job[THREADS];
    shmem_team_config_t config = {.num_contexts = CONTEXTS};
    int provided;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    CHECK_EQ(provided, SHMEM_THREAD_MULTIPLE);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECK_EQ(shmem_ctx_create(0, &common), 0);
    CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, &config,
                                      SHMEM_TEAM_NUM_CONTEXTS, &shared),
             0);
    for (int k = 0; k < THREADS; k++) {
        job[k] = (struct job){.thread = k, .seed = check_seed(me * THREADS + k)};
        CHECK_EQ(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0,
                                          &job[k].parent),
                 0);
    }
    for (int k = 0; k < THREADS; k++)
        CHECK(pthread_create(&thread[k], NULL, run, &job[k]) == 0);
    for (int k = 0; k < THREADS; k++)
        CHECK(pthread_join(thread[k], NULL) == 0);
    shmem_barrier_all();
    CHECK_EQ(shmem_long_g(&total, 0), (long)npes * THREADS * ROUNDS);
    shmem_ctx_destroy(common);
    shmem_finalize();
    return 0;
}
