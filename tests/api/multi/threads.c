/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads.c - SHMEM_THREAD_MULTIPLE: threads of each PE concurrently wait, put, add and
 * use a lock; each is woken by its own word while the others keep sleeping.
 */
#include "config.h"

#include "tests/api/multi/check.h"

#include <pthread.h>

enum { THREADS = 6, ROUNDS = 150, ADDS = 2000, LOCKS = 50 };
static long word[THREADS]; /* one for each thread */
static long crowd;         /* one for all threads */
static long sum, unsafe_sum, lock, locked_rounds;
static uint64_t signals[THREADS];

struct job {
    int thread;
    uint64_t seed;
};

/* Thread k of each PE passes a token around the ring of threads k. */
static void ring(const struct job *job)
{
    int me = shmem_my_pe(), npes = shmem_n_pes(), k = job->thread;
    uint64_t seed = job->seed;
    for (long round = 1; round <= ROUNDS; round++) {
        if (me != 0)
            shmem_long_wait_until(&word[k], SHMEM_CMP_EQ, round);
        check_delay(&seed);
        shmem_long_p(&word[k], round, (me + 1) % npes);
        if (me == 0)
            shmem_long_wait_until(&word[k], SHMEM_CMP_EQ, round);
    }
}

static void add(const struct job *job)
{
    uint64_t seed = job->seed;
    for (int i = 0; i < ADDS; i++) {
        shmem_long_atomic_add(&sum, 1, 0);
        shmem_signal_add(&signals[job->thread], 1, i % shmem_n_pes());
        check_delay(&seed);
    }
}

static void *run(void *arg)
{
    const struct job *job = arg;
    ring(job);
    add(job);
    /* All threads sleep on one word until the main thread of PE 0 stores it. */
    shmem_long_wait_until(&crowd, SHMEM_CMP_EQ, 1);
    return NULL;
}

static void test_all_threads(void)
{
    enum { NAP_US = 50000 };
    pthread_t thread[THREADS];
    struct job job[THREADS];
    for (int i = 0; i < THREADS; i++) {
        job[i] = (struct job){i, check_seed(shmem_my_pe() * THREADS + i)};
        CHECK(pthread_create(&thread[i], NULL, run, &job[i]) == 0);
    }
    if (shmem_my_pe() == 0) {
        long all = (long)THREADS * ADDS * shmem_n_pes();
        shmem_long_wait_until(&sum, SHMEM_CMP_EQ, all);
        check_sleep_us(NAP_US);
        for (int pe = shmem_n_pes() - 1; pe >= 0; pe--)
            shmem_long_p(&crowd, 1, pe);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(thread[i], NULL) == 0);
    shmem_barrier_all();
    long mine = 0; /* PE i % npes got the i-th add of each thread of each PE */
    for (int i = 0; i < ADDS; i++)
        mine += i % shmem_n_pes() == shmem_my_pe() ? shmem_n_pes() : 0;
    for (int i = 0; i < THREADS; i++)
        CHECK_EQ(signals[i], mine);
    shmem_barrier_all();
}

/* Polls while the main thread of the PE uses the lock. */
static void *disturb(void *arg)
{
    uint64_t seed = check_seed(shmem_my_pe());
    (void)arg;
    while (shmem_long_atomic_fetch(&locked_rounds, 0) < LOCKS * shmem_n_pes())
        check_delay(&seed);
    return NULL;
}

static void test_lock(void)
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, disturb, NULL) == 0);
    for (int i = 0; i < LOCKS; i++) {
        shmem_set_lock(&lock);
        shmem_long_p(&unsafe_sum, shmem_long_g(&unsafe_sum, 0) + 1, 0);
        shmem_clear_lock(&lock);
        shmem_long_atomic_inc(&locked_rounds, 0);
    }
    CHECK(pthread_join(thread, NULL) == 0);
    shmem_barrier_all();
    if (shmem_my_pe() == 0)
        CHECK_EQ(unsafe_sum, LOCKS * shmem_n_pes());
    shmem_barrier_all();
}

int main(void)
{
    int provided = -1, again = -1;
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0);
    shmem_query_thread(&again);
    CHECK_EQ(provided, SHMEM_THREAD_MULTIPLE);
    CHECK_EQ(again, provided);
    test_all_threads();
    test_lock();
    shmem_finalize();
    return 0;
}
