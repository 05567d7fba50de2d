/* SPDX-License-Identifier: BSD-3-Clause */
/* mcs_test.c - the MCS lock: exclusion with more threads than processors, and fairness.
 */
#include "config.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>

#include "pgas/threads/mcs.h"
#include "tests/unit/threads_run.h"

enum { THREADS = 8, INCREMENTS = 3000 };

static struct mcs_lock lock;
static uint64_t counter; /* not atomic */

static void *increment(void *arg)
{
    for (int i = 0; i < INCREMENTS; i++) {
        struct mcs_waiter w;
        mcs_acquire(&lock, &w);
        uint64_t seen = counter;
        if (i % 64 == 0)
            sched_yield(); /* others arrive, wait and sleep */
        counter = seen + 1;
        mcs_release(&lock, &w);
    }
    return arg;
}

Test(mcs, one_owner_at_a_time)
{
    threads_run(THREADS, increment);
    cr_expect_eq(counter, (uint64_t)THREADS * INCREMENTS);
    cr_expect_eq(lock.tail, 0);
}

static int order[THREADS], granted;

static void *note_order(void *arg)
{
    struct mcs_waiter w;

    mcs_acquire(&lock, &w);
    order[granted++] = *(int *)arg;
    mcs_release(&lock, &w);
    return NULL;
}

/* Waiters get the lock in the order in which they came, asleep or not. */
Test(mcs, first_come_first_served)
{
    pthread_t threads[THREADS];
    struct mcs_waiter w;
    int number[THREADS];

    mcs_acquire(&lock, &w);
    for (int i = 0; i < THREADS; i++) {
        uint64_t last = load_acquire_u64(&lock.tail);
        number[i] = i;
        cr_assert_eq(pthread_create(&threads[i], NULL, note_order, &number[i]), 0);
        while (load_acquire_u64(&lock.tail) == last)
            sched_yield();
    }
    cr_expect_eq(granted, 0);
    mcs_release(&lock, &w);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        cr_expect_eq(order[i], i);
}
