/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock.c - set_lock, test_lock and clear_lock: a counter that is updated without atomics
 * stays exact, in globals and in the heap, with several locks; no PE starves; test_lock
 * returns the right status; a sleeping waiter gets the lock.  Then the same with
 * SHMEM_DEBUG, whose checks of the lock words must not report an error.
 */
#include "config.h"

#include "tests/api/multi/check.h"

enum { ROUNDS = 200, LOCKS = 5, TRIES = 300 };
static long lock, counter, inside;
static uint64_t seed;

static void enter(void)
{
    CHECK_EQ(shmem_long_atomic_fetch_add(&inside, 1, 0), 0);
}

static void leave(void)
{
    CHECK_EQ(shmem_long_atomic_fetch_add(&inside, -1, 0), 1);
}

/* Read, delay, write: without mutual exclusion, updates are lost. */
static void count_up(long *where, int pe)
{
    long seen = shmem_long_g(where, pe);
    check_delay(&seed);
    shmem_long_p(where, seen + 1, pe); /* clear_lock completes it */
}

static void test_exclusion(long *the_lock, long *where)
{
    for (int i = 0; i < ROUNDS; i++) {
        shmem_set_lock(the_lock);
        enter();
        count_up(where, shmem_n_pes() - 1);
        leave();
        shmem_clear_lock(the_lock);
        check_delay(&seed);
    }
    shmem_barrier_all();
    CHECK_EQ(shmem_long_g(where, shmem_n_pes() - 1), ROUNDS * shmem_n_pes());
    shmem_barrier_all();
}

/* Puts made under the lock, also nonblocking ones, are visible to the next holder. */
static void test_completes(void)
{
    static long pair[2], source[2];
    pair[0] = pair[1] = 0;
    shmem_barrier_all();
    for (int i = 0; i < ROUNDS; i++) {
        shmem_set_lock(&lock);
        long a = shmem_long_g(&pair[0], 0), b = shmem_long_g(&pair[1], 0);
        CHECK_EQ(a, b);
        source[0] = source[1] = a + 1;
        shmem_long_put_nbi(&pair[0], &source[0], 1, 0);
        shmem_long_put_nbi(&pair[1], &source[1], 1, 0);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
    CHECK_EQ(shmem_long_g(&pair[0], 0), ROUNDS * shmem_n_pes());
    shmem_barrier_all();
}

static void test_try(void)
{
    int me = shmem_my_pe();
    if (me == 0)
        CHECK_EQ(shmem_test_lock(&lock), 0);
    shmem_barrier_all();
    if (me != 0)
        for (int i = 0; i < TRIES; i++)
            CHECK(shmem_test_lock(&lock) != 0);
    shmem_barrier_all();
    if (me == 0)
        shmem_clear_lock(&lock);
    shmem_barrier_all();
    /* All PEs try until each has held the lock once; enter() detects two holders. */
    long tries = 0;
    while (shmem_test_lock(&lock) != 0) {
        check_delay(&seed);
        CHECK(++tries < 100000000);
    }
    enter();
    count_up(&counter, 0);
    leave();
    shmem_clear_lock(&lock);
    shmem_barrier_all();
    CHECK_EQ(shmem_long_g(&counter, 0), shmem_n_pes());
    shmem_barrier_all();
}

static void test_several(void)
{
    static long locks[LOCKS], counts[LOCKS];
    memset(counts, 0, sizeof counts);
    long *heap_lock = shmem_calloc(2, sizeof(long));
    for (int i = 0; i < ROUNDS; i++) {
        int k = (int)(check_random(&seed) % LOCKS);
        shmem_set_lock(&locks[k]);
        count_up(&counts[k], 0);
        /* A nested lock, always acquired in the same order. */
        shmem_set_lock(&heap_lock[0]);
        count_up(&heap_lock[1], 0);
        shmem_clear_lock(&heap_lock[0]);
        shmem_clear_lock(&locks[k]);
    }
    shmem_barrier_all();
    long sum = 0;
    for (int k = 0; k < LOCKS; k++)
        sum += shmem_long_g(&counts[k], 0);
    CHECK_EQ(sum, ROUNDS * shmem_n_pes());
    CHECK_EQ(shmem_long_g(&heap_lock[1], 0), ROUNDS * shmem_n_pes());
    shmem_free(heap_lock);
}

/* All PEs acquire the lock in a loop for some time; each must get it at least once. */
static void test_fairness(void)
{
    static long turns[1];
    const double seconds = 0.3;
    turns[0] = 0;
    shmem_barrier_all();
    double end = check_now() + seconds;
    while (check_now() < end) {
        shmem_set_lock(&lock);
        turns[0]++;
        shmem_clear_lock(&lock);
    }
    CHECK_NAMED(turns[0] > 0, "PE %d never got the lock", shmem_my_pe());
    shmem_barrier_all();
}

static void test_sleeping_waiter(void)
{
    enum { NAP_US = 60000 };
    if (shmem_my_pe() == 0)
        shmem_set_lock(&lock);
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        check_sleep_us(NAP_US);
        shmem_clear_lock(&lock);
    } else {
        shmem_set_lock(&lock);
        shmem_clear_lock(&lock);
    }
    shmem_barrier_all();
}

static void test_all(void)
{
    static long where_global;
    shmem_init();
    seed = check_seed(shmem_my_pe());
    where_global = counter = 0;
    shmem_barrier_all();
    test_exclusion(&lock, &where_global);
    long *heap = shmem_calloc(64, sizeof(long));
    test_exclusion(&heap[7], &heap[40]);
    test_completes();
    test_try();
    test_several();
    test_fairness();
    test_sleeping_waiter();
    shmem_finalize();
}

int main(void)
{
    CHECK_EQ(setenv("SHMEM_DEBUG", "0", 1), 0);
    test_all();
    CHECK_EQ(setenv("SHMEM_DEBUG", "1", 1), 0);
    test_all();
    return 0;
}
