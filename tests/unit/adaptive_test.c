/* SPDX-License-Identifier: BSD-3-Clause */
/* adaptive_test.c - the adaptive lock: exclusion with more threads than processors, and
 * that no thread acquires it after a waiter has reserved it. */
#include "config.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "pgas/threads/adaptive.h"
#include "tests/unit/threads_run.h"

enum { THREADS = 8, INCREMENTS = 3000, HOGS = 2, WAITS = 50 };

static struct adaptive_lock lock;
static uint64_t counter; /* not atomic */

/* Injected delays: others arrive, spin, queue, sleep and reserve the lock meanwhile. */
static void delay(int i)
{
    if (i % 64 == 0)
        sched_yield();
    else if (i % 256 == 1)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

static void *increment(void *arg)
{
    for (int i = 0; i < INCREMENTS; i++) {
        adaptive_acquire(&lock);
        uint64_t seen = counter;
        delay(i);
        counter = seen + 1;
        adaptive_release(&lock);
        delay(i + 7);
    }
    return arg;
}

Test(adaptive, one_owner_at_a_time)
{
    threads_run(THREADS, increment);
    cr_expect_eq(counter, (uint64_t)THREADS * INCREMENTS);
    cr_expect_eq(lock.word, 0);
    cr_expect_eq(lock.queue.tail, 0);
}

static uint64_t turns, end, reserved, passed;

/* Holds the lock almost always.  If it was reserved at the release, another thread must
 * have had it before this one again. */
static void *hog(void *arg)
{
    bool was_reserved = false;
    uint64_t mine = 0;

    while (load_relaxed_u64(&end) == 0) {
        adaptive_acquire(&lock);
        passed += was_reserved && turns == mine;
        mine = ++turns;
        for (int i = 0; i < 50; i++)
            sched_yield();
        was_reserved = (load_relaxed_u32(&lock.word) & ADAPTIVE_RESERVED) != 0;
        reserved += was_reserved;
        adaptive_release(&lock);
    }
    return arg;
}

Test(adaptive, a_reserved_lock_is_not_passed_over, .timeout = 60)
{
    pthread_t threads[HOGS];

    for (int i = 0; i < HOGS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, hog, NULL), 0);
    for (int i = 0; i < WAITS || load_relaxed_u64(&reserved) == 0; i++) {
        adaptive_acquire(&lock);
        turns++;
        adaptive_release(&lock);
        sched_yield();
    }
    store_relaxed_u64(&end, 1);
    for (int i = 0; i < HOGS; i++)
        pthread_join(threads[i], NULL);
    cr_expect_gt(reserved, 0);
    cr_expect_eq(passed, 0, "%llu of %llu", (unsigned long long)passed,
                 (unsigned long long)reserved);
}
