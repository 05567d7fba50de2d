/* SPDX-License-Identifier: BSD-3-Clause */
/* ticket_test.c - the ticket lock: exclusion with more threads than processors, order,
 * and tickets that wrap.  ticket.c is compiled with delays (threads_point.h). */
#include "config.h"

#include <criterion/criterion.h>
#include <pthread.h>

#include "pgas/threads/ticket.h"
#include "tests/unit/threads_run.h"

enum { THREADS = 8, INCREMENTS = 500 };

/* The tickets wrap during each test. */
static struct ticket_lock lock = {.next = UINT32_MAX - 3, .serving = UINT32_MAX - 3};
static uint64_t counter; /* not atomic */

static void *increment(void *arg)
{
    for (int i = 0; i < INCREMENTS; i++) {
        ticket_acquire(&lock);
        uint64_t seen = counter;
        if (i % 64 == 0)
            sched_yield(); /* others arrive, wait and sleep */
        counter = seen + 1;
        ticket_release(&lock);
    }
    return arg;
}

Test(ticket, one_owner_at_a_time, .timeout = 300)
{
    threads_run(THREADS, increment);
    cr_expect_eq(counter, (uint64_t)THREADS * INCREMENTS);
    cr_expect_eq(lock.next, UINT32_MAX - 3 + THREADS * INCREMENTS);
    cr_expect_eq(lock.serving, lock.next);
    cr_expect_eq(lock.sleepers, 0);
}

static int order[THREADS], granted;

static void *note_order(void *arg)
{
    ticket_acquire(&lock);
    order[granted++] = *(int *)arg;
    ticket_release(&lock);
    return NULL;
}

/* Waiters get the lock in the order in which they drew tickets, although all sleep. */
Test(ticket, first_come_first_served, .timeout = 300)
{
    pthread_t threads[THREADS];
    int number[THREADS];

    ticket_acquire(&lock);
    for (int i = 0; i < THREADS; i++) {
        uint32_t last = load_relaxed_u32(&lock.next);
        number[i] = i;
        cr_assert_eq(pthread_create(&threads[i], NULL, note_order, &number[i]), 0);
        while (load_relaxed_u32(&lock.next) == last)
            sched_yield();
    }
    while (load_relaxed_u32(&lock.sleepers) < THREADS)
        sched_yield();
    cr_expect_eq(granted, 0);
    ticket_release(&lock);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        cr_expect_eq(order[i], i);
}
