/* SPDX-License-Identifier: BSD-3-Clause */
/* rings_test.c - the bounded rings: full, empty, order, nothing lost or invented, with
 * positions that wrap and delays between the steps of an operation (threads_point.h). */
#include "config.h"

#include "tests/unit/threads_point.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>

#include "pgas/threads/mpsc.h"
#include "pgas/threads/spsc.h"

enum { CAPACITY = 4, PRODUCERS = 4, VALUES = 1000 };

#define FIRST (UINT64_MAX - VALUES) /* the positions wrap on the way */

/* ---- one thread -------------------------------------------------------------------- */

Test(spsc, holds_its_capacity)
{
    uint64_t cells[CAPACITY], value;
    struct spsc_ring r;

    spsc_init(&r, cells, CAPACITY, UINT64_MAX - 5);
    for (uint64_t turn = 0; turn < 5; turn++) {
        cr_expect(!spsc_pop(&r, &value));
        for (uint64_t i = 0; i < CAPACITY; i++)
            cr_expect(spsc_push(&r, turn * 10 + i));
        cr_expect(!spsc_push(&r, 99));
        for (uint64_t i = 0; i < CAPACITY; i++) {
            cr_assert(spsc_pop(&r, &value));
            cr_expect_eq(value, turn * 10 + i);
        }
    }
}

Test(mpsc, holds_its_capacity)
{
    struct mpsc_cell cells[CAPACITY];
    struct mpsc_ring r;
    uint64_t value;

    mpsc_init(&r, cells, CAPACITY, UINT64_MAX - 5);
    for (uint64_t turn = 0; turn < 5; turn++) {
        cr_expect(!mpsc_pop(&r, &value));
        for (uint64_t i = 0; i < CAPACITY; i++)
            cr_expect(mpsc_push(&r, turn * 10 + i));
        cr_expect(!mpsc_push(&r, 99));
        for (uint64_t i = 0; i < CAPACITY; i++) {
            cr_assert(mpsc_pop(&r, &value));
            cr_expect_eq(value, turn * 10 + i);
        }
    }
}

/* A producer that owns the oldest position and has not written it hides younger values,
 * which are then popped in order. */
Test(mpsc, a_late_producer_keeps_the_order)
{
    struct mpsc_cell cells[CAPACITY];
    struct mpsc_ring r;
    uint64_t value;

    mpsc_init(&r, cells, CAPACITY, 0);
    r.tail++; /* it has claimed position 0 */
    cr_expect(mpsc_push(&r, 1));
    cr_expect(!mpsc_pop(&r, &value));
    cells[0].value = 0;
    store_release_u64(&cells[0].turn, 1);
    for (uint64_t i = 0; i < 2; i++) {
        cr_assert(mpsc_pop(&r, &value));
        cr_expect_eq(value, i);
    }
}

/* ---- several threads ----------------------------------------------------------------
 */

static struct spsc_ring spsc;
static struct mpsc_ring mpsc;
static uint64_t spsc_cells[CAPACITY];
static struct mpsc_cell mpsc_cells[CAPACITY];
static uint64_t fulls, empties;

static void *produce_spsc(void *arg)
{
    for (uint64_t i = 0; i < 2 * VALUES; i++) {
        threads_test_delay();
        while (!spsc_push(&spsc, i)) {
            fetch_add_acq_rel_u64(&fulls, 1);
            sched_yield();
        }
    }
    return arg;
}

Test(spsc, in_order_between_two_threads, .timeout = 300)
{
    pthread_t producer;
    uint64_t value;

    spsc_init(&spsc, spsc_cells, CAPACITY, FIRST);
    cr_assert_eq(pthread_create(&producer, NULL, produce_spsc, NULL), 0);
    for (uint64_t i = 0; i < 2 * VALUES; i++) {
        threads_test_delay();
        for (; !spsc_pop(&spsc, &value); empties++)
            sched_yield();
        cr_assert_eq(value, i);
    }
    pthread_join(producer, NULL);
    cr_expect(!spsc_pop(&spsc, &value));
    cr_expect(fulls > 0 && empties > 0);
}

static void *produce_mpsc(void *arg)
{
    for (uint64_t i = 0; i < VALUES; i++)
        while (!mpsc_push(&mpsc, (uint64_t)(uintptr_t)arg << 32 | i)) {
            fetch_add_acq_rel_u64(&fulls, 1);
            sched_yield();
        }
    return NULL;
}

Test(mpsc, each_producer_in_order, .timeout = 300)
{
    pthread_t producers[PRODUCERS];
    uint64_t next[PRODUCERS] = {0}, value;

    mpsc_init(&mpsc, mpsc_cells, CAPACITY, FIRST);
    for (uintptr_t k = 0; k < PRODUCERS; k++)
        cr_assert_eq(pthread_create(&producers[k], NULL, produce_mpsc, (void *)k), 0);
    for (int i = 0; i < PRODUCERS * VALUES; i++) {
        for (; !mpsc_pop(&mpsc, &value); empties++)
            sched_yield();
        cr_assert_lt(value >> 32, PRODUCERS);
        cr_assert_eq((uint32_t)value, next[value >> 32]++);
    }
    for (int k = 0; k < PRODUCERS; k++)
        pthread_join(producers[k], NULL);
    cr_expect(!mpsc_pop(&mpsc, &value));
    cr_expect(fulls > 0 && empties > 0);
}
