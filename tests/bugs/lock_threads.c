/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock_threads.c - with SHMEM_THREAD_MULTIPLE a lock also excludes the threads of one PE
 * from each other: a counter that is incremented without atomics stays exact.
 */
#include "config.h"

#include <pthread.h>

#include "tests/api/multi/check.h"

enum { THREADS = 2, ROUNDS = 500 };
static long lock, counter;

static void *count_up(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        shmem_set_lock(&lock);
        shmem_long_p(&counter, shmem_long_g(&counter, 0) + 1, 0);
        shmem_clear_lock(&lock);
    }
    return arg;
}

int main(void)
{
    int provided = 0;
    pthread_t thread[THREADS];
    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0);
    CHECK_EQ(provided, SHMEM_THREAD_MULTIPLE);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread[i], NULL, count_up, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    shmem_barrier_all();
    CHECK_EQ(shmem_long_g(&counter, 0), THREADS * ROUNDS * shmem_n_pes());
    shmem_finalize();
    return 0;
}
