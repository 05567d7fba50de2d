/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock.c - set_lock, test_lock and clear_lock: mutual exclusion with several contended
 * locks in globals and in the heap; test_lock of held and of free locks.
 */
#include "tests/api/conform/conform.h"

enum { LOCKS = 5, ROUNDS = 40 };
static long global_locks[LOCKS], inside[LOCKS], total[LOCKS];

/* With the lock held: read a counter on PE 0, delay, write it; then clear the lock. */
static void enter(long *lock, int which, const char *routine, uint64_t *seed)
{
    cf_case(routine);
    cf_check(shmem_long_atomic_fetch_inc(&inside[which], 0) == 0,
             "two PEs hold the lock");
    long count = shmem_long_g(&total[which], 0);
    check_delay(seed);
    shmem_long_atomic_add(&inside[which], -1, 0);
    long next = count + 1;
    shmem_long_put_nbi(&total[which], &next, 1, 0);
    shmem_clear_lock(lock); /* completes the put */
    cf_case("shmem_clear_lock");
}

static void run_locks(long *locks, uint64_t *seed)
{
    memset(locks, 0, LOCKS * sizeof(long));
    memset(total, 0, sizeof(total));
    shmem_barrier_all();
    for (int i = 0; i < ROUNDS; i++) {
        int which = (i + cf_me) % LOCKS;
        if (i % 3 != 0) {
            shmem_set_lock(&locks[which]);
            enter(&locks[which], which, "shmem_set_lock", seed);
            continue;
        }
        while (shmem_test_lock(&locks[which]) != 0)
            sched_yield();
        enter(&locks[which], which, "shmem_test_lock", seed);
    }
    shmem_barrier_all();
    long sum = 0;
    for (int i = 0; i < LOCKS; i++)
        sum += shmem_long_g(&total[i], 0);
    cf_case("shmem_set_lock");
    cf_check(sum == (long)ROUNDS * cf_npes, "%ld of %d entries were counted", sum,
             ROUNDS * cf_npes);
    shmem_barrier_all();
}

/* No PE gets a lock that another holds; a PE may hold several locks. */
static void run_held(long *locks)
{
    for (int owner = 0; owner < cf_npes; owner++) {
        if (cf_me == owner) {
            shmem_set_lock(&locks[0]);
            shmem_set_lock(&locks[1]);
        }
        shmem_barrier_all();
        cf_case("shmem_test_lock");
        if (cf_me != owner)
            cf_check(shmem_test_lock(&locks[0]) == 1, "got the lock, but PE %d holds it",
                     owner);
        shmem_barrier_all();
        if (cf_me == owner) {
            shmem_clear_lock(&locks[0]);
            shmem_clear_lock(&locks[1]);
        }
        shmem_barrier_all();
        cf_case("shmem_test_lock");
        if (cf_me == owner) {
            cf_check(shmem_test_lock(&locks[0]) == 0, "did not get a free lock");
            shmem_clear_lock(&locks[0]);
        }
        shmem_barrier_all();
    }
}

int main(void)
{
    cf_start("lock");
    long *heap_locks = check_alloc(LOCKS * sizeof(long));
    uint64_t seed = check_seed(cf_me);

    run_locks(heap_locks, &seed);
    run_locks(global_locks, &seed);
    run_held(heap_locks);
    run_held(global_locks);
    shmem_free(heap_locks);
    return cf_finish();
}
