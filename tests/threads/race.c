/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * race.c - the rings and the ticket lock of pgas/threads with random delays, for the
 * thread sanitizer: cells and the protected counter are plain memory.  Exit status 1 if a
 * value is lost, invented or out of order.  Run by race.sh.
 */
#include "config.h"

#include "tests/unit/threads_point.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "pgas/threads/mpsc.h"
#include "pgas/threads/spsc.h"
#include "pgas/threads/ticket.h"

enum { CAPACITY = 4, PRODUCERS = 3, VALUES = 1500, LOCKERS = 4, ROUNDS = 1000 };

#define FIRST (UINT64_MAX - VALUES) /* the positions wrap on the way */

_Noreturn void pgas_assert_failed(const char *condition, const char *file, int line,
                                  const char *function)
{
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, function, condition);
    abort();
}

static struct spsc_ring spsc;
static struct mpsc_ring mpsc;
static struct ticket_lock lock;
static uint64_t counter;

static void *spsc_producer(void *arg)
{
    (void)arg;
    for (uint64_t v = 1; v <= VALUES; v++)
        while (!spsc_push(&spsc, v))
            sched_yield();
    return NULL;
}

static void *mpsc_producer(void *arg)
{
    const uint64_t me = (uint64_t)(uintptr_t)arg;

    for (uint64_t v = 1; v <= VALUES; v++)
        while (!mpsc_push(&mpsc, me << 32 | v))
            sched_yield();
    return NULL;
}

static void *locker(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        ticket_acquire(&lock);
        counter++;
        ticket_release(&lock);
        threads_test_delay();
    }
    return NULL;
}

static pthread_t started(void *(*function)(void *), uintptr_t arg)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, function, (void *)arg) != 0)
        abort();
    return thread;
}

static int failed(const char *what)
{
    printf("FAIL: %s\n", what);
    return 1;
}

static int run_spsc(void)
{
    static uint64_t cells[CAPACITY];
    uint64_t value, wrong = 0;

    spsc_init(&spsc, cells, CAPACITY, FIRST);
    pthread_t producer = started(spsc_producer, 0);
    for (uint64_t v = 1; v <= VALUES; v++) {
        while (!spsc_pop(&spsc, &value))
            sched_yield();
        wrong += value != v;
    }
    pthread_join(producer, NULL);
    return wrong != 0 || spsc_pop(&spsc, &value) ? failed("spsc") : 0;
}

static int run_mpsc(void)
{
    static struct mpsc_cell cells[CAPACITY];
    uint64_t value, wrong = 0, last[PRODUCERS] = {0};
    pthread_t producers[PRODUCERS];

    mpsc_init(&mpsc, cells, CAPACITY, FIRST);
    for (uintptr_t p = 0; p < PRODUCERS; p++)
        producers[p] = started(mpsc_producer, p);
    for (int i = 0; i < PRODUCERS * VALUES; i++) {
        while (!mpsc_pop(&mpsc, &value))
            sched_yield();
        wrong += value >> 32 >= PRODUCERS ||
                 (uint32_t)value != ++last[value >> 32 < PRODUCERS ? value >> 32 : 0];
    }
    for (int p = 0; p < PRODUCERS; p++)
        pthread_join(producers[p], NULL);
    return wrong != 0 || mpsc_pop(&mpsc, &value) ? failed("mpsc") : 0;
}

static int run_ticket(void)
{
    pthread_t lockers[LOCKERS];

    for (int i = 0; i < LOCKERS; i++)
        lockers[i] = started(locker, 0);
    for (int i = 0; i < LOCKERS; i++)
        pthread_join(lockers[i], NULL);
    return counter != LOCKERS * ROUNDS ? failed("ticket") : 0;
}

int main(void)
{
    int status = run_spsc();

    status |= run_mpsc();
    return status | run_ticket();
}
