/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * amo_contended.c - all PEs access one word: every fetched value is returned once; a
 * counter kept by compare_swap; a token that swap passes around.  That no update is lost,
 * of any operation and type: tests/api/conform/amo.c.
 */
#include "config.h"

#include "tests/api/multi/check.h"

enum { CAS_ADDS = 500, TICKETS = 400, SWAPS = 500, PES_MAX = 64 };
static uint64_t seed;

/* fetch_add hands out every number exactly once, and in rising order to each PE. */
static long next_ticket;
static int taken[TICKETS * PES_MAX];

static void test_tickets(void)
{
    long all = (long)TICKETS * shmem_n_pes(), last = -1;
    for (int i = 0; i < TICKETS; i++) {
        long ticket = i % 2 != 0 ? shmem_long_atomic_fetch_inc(&next_ticket, 0)
                                 : shmem_long_atomic_fetch_add(&next_ticket, 1, 0);
        CHECK(ticket > last && ticket < all);
        last = ticket;
        shmem_int_atomic_inc(&taken[ticket], 0);
        check_delay(&seed);
    }
    shmem_barrier_all();
    for (long i = 0; shmem_my_pe() == 0 && i < all; i++)
        CHECK_NAMED(taken[i] == 1, "ticket %ld was taken %d times", i, taken[i]);
}

static int cas_word;
static unsigned long long cas_word_long;

static void test_compare_swap(void)
{
    for (int i = 0; i < CAS_ADDS; i++) {
        int seen = shmem_int_atomic_fetch(&cas_word, 0), was;
        while ((was = shmem_int_atomic_compare_swap(&cas_word, seen, seen + 1, 0)) !=
               seen)
            seen = was;
        unsigned long long v = 0, old;
        while ((old = shmem_ulonglong_atomic_compare_swap(&cas_word_long, v, v - 1, 0)) !=
               v)
            v = old;
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 0) {
        CHECK_EQ(cas_word, CAS_ADDS * shmem_n_pes());
        CHECK_EQ(cas_word_long, -(uint64_t)CAS_ADDS * (uint64_t)shmem_n_pes());
    }
    shmem_barrier_all();
}

/* Every PE swaps its own number in: each number except the last is fetched once. */
static long holder = -1, seen_sum;

static void test_swap(void)
{
    long me = shmem_my_pe(), n = shmem_n_pes(), sum = 0;
    for (int i = 0; i < SWAPS; i++) {
        sum += shmem_long_atomic_swap(&holder, me * SWAPS + i, 0);
        check_delay(&seed);
    }
    shmem_long_atomic_add(&seen_sum, sum, 0);
    shmem_barrier_all();
    long all = n * SWAPS * (n * SWAPS - 1) / 2 - 1; /* every number and the first -1 */
    if (me == 0)
        CHECK_EQ(seen_sum + holder, all);
}

int main(void)
{
    shmem_init();
    seed = check_seed(shmem_my_pe());
    CHECK(shmem_n_pes() <= PES_MAX);
    test_tickets();
    test_compare_swap();
    test_swap();
    shmem_finalize();
    return 0;
}
