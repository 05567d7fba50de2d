/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * amo_contended.c - all PEs at one word: no update is lost, of any adding or bitwise
 * operation of any type; every fetched value is handed out once; a counter kept by
 * compare_swap; a token that swap passes around.
 */
#include "config.h"

#include "tests/api/multi/amo.h"

enum { ADDS = 200, CAS_ADDS = 500, TICKETS = 400, SWAPS = 500, PES_MAX = 64 };
static uint64_t word;
static uint64_t seed;

static uint64_t read_as(const struct amo *a)
{
    uint64_t v = 0;
    memcpy(&v, &word, a->size);
    return amo_narrow(a, v);
}

/* Adding: PE 0's word must hold the sum of what all added. */
static void test_adding(const struct amo *a)
{
    uint64_t each = a->op == AMO_INC || a->op == AMO_FINC ? 1 : (uint64_t)-3;
    word = 0;
    shmem_barrier_all();
    for (int i = 0; i < ADDS; i++) {
        a->fn(&word, each, 0, 0);
        if (i % 64 == 0)
            check_delay(&seed);
    }
    shmem_barrier_all();
    uint64_t all = (uint64_t)shmem_n_pes() * ADDS;
    uint64_t is = shmem_my_pe() == 0 ? read_as(a) : amo_narrow(a, all * each);
    CHECK_NAMED(is == amo_narrow(a, all * each), "%s by all PEs made %lld", a->name,
                (long long)is);
    shmem_barrier_all();
}

/* xor an odd number of times each with one's own bit; and / or of own bits. */
static void test_bits(const struct amo *a)
{
    unsigned bits = (unsigned)(8 * a->size), me = (unsigned)shmem_my_pe();
    uint64_t mine = me < bits ? (uint64_t)1 << me : 0, all = 0;
    bool is_and = a->op == AMO_AND || a->op == AMO_FAND;
    for (unsigned pe = 0; pe < (unsigned)shmem_n_pes() && pe < bits; pe++)
        all |= (uint64_t)1 << pe;
    word = is_and ? ~(uint64_t)0 : 0;
    shmem_barrier_all();
    for (int i = 0; i < ADDS + 1; i++)
        a->fn(&word, is_and ? ~mine : mine, 0, 0);
    shmem_barrier_all();
    uint64_t expected = amo_narrow(a, is_and ? ~all : all);
    uint64_t is = me == 0 ? read_as(a) : expected;
    CHECK_NAMED(is == expected, "%s by all PEs made %llx, should be %llx", a->name,
                (unsigned long long)is, (unsigned long long)expected);
    shmem_barrier_all();
}

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

/* Every PE swaps its own number in: each number comes out once, but for the last. */
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
    for (size_t i = 0; i < AMOS; i++) {
        const struct amo *a = &amos[i];
        if (a->op == AMO_INC || a->op == AMO_FINC || a->op == AMO_ADD ||
            a->op == AMO_FADD)
            test_adding(a);
        else if (a->op >= AMO_FAND)
            test_bits(a);
    }
    test_tickets();
    test_compare_swap();
    test_swap();
    shmem_finalize();
    return 0;
}
