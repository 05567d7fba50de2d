/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wake.c - a sleeping waiter is woken soon by every operation that changes its word: put,
 * p, nonblocking put, atomics, signals, put of a large block; and, when its sleep times
 * out, by a plain store through shmem_ptr, which sends no wake-up.
 */
#include "config.h"

#include "tests/api/multi/check.h"
#include "tests/steady/steady.h"

static long word;
static uint64_t signal_word;
static int int_word;
static short short_word;
enum { BLOCK = 1 << 20 };
static unsigned char block[BLOCK] __attribute__((aligned(16)));
static uint64_t released_at; /* ns, written by the waker before it wakes */

enum { NAP_US = 60000, LATE_MS = 20000, WAYS = 13, PLAIN_STORE = 5 };

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void release_by_put(int way, int to)
{
    static long one = 1;
    static unsigned char source[BLOCK];
    switch (way) {
    case 0:
        shmem_long_p(&word, 1, to);
        break;
    case 1:
        shmem_putmem(&word, &one, sizeof(one), to);
        break;
    case 2:
        shmem_long_put_nbi(&word, &one, 1, to);
        shmem_quiet();
        break;
    case 3:
        source[BLOCK - 1] = 1;
        shmem_putmem(block, source, BLOCK, to);
        break;
    case 4:
        shmem_short_p(&short_word, 1, to);
        break;
    default:
        *(volatile long *)shmem_ptr(&word, to) = 1;
    }
}

static void release_by_atomic(int way, int to)
{
    unsigned char byte = 1;
    switch (way) {
    case 6:
        shmem_long_atomic_inc(&word, to);
        break;
    case 7:
        shmem_long_atomic_fetch_add(&word, 1, to);
        break;
    case 8:
        shmem_int_atomic_compare_swap(&int_word, 0, 1, to);
        break;
    case 9:
        shmem_long_atomic_set(&word, 1, to);
        break;
    case 10:
        shmem_signal_add(&signal_word, 1, to);
        break;
    case 11:
        shmem_signal_set(&signal_word, 1, to);
        break;
    default:
        shmem_putmem_signal(block, &byte, 1, &signal_word, 1, SHMEM_SIGNAL_SET, to);
    }
}

static void wait_for(int way)
{
    if (way == 3)
        shmem_int_wait_until((int *)(void *)&block[BLOCK - sizeof(int)], SHMEM_CMP_NE, 0);
    else if (way == 4)
        shmem_short_wait_until(&short_word, SHMEM_CMP_EQ, 1);
    else if (way == 8)
        shmem_int_wait_until(&int_word, SHMEM_CMP_GT, 0);
    else if (way >= 10)
        CHECK_EQ(shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 1), 1);
    else
        shmem_long_wait_until(&word, SHMEM_CMP_EQ, 1);
}

static void reset(void)
{
    word = 0;
    signal_word = 0;
    int_word = 0;
    short_word = 0;
    memset(block, 0, BLOCK);
}

/* PE `waker` sleeps, then wakes all PEs, which make no other calls.  Returns the wake-up
 * latency of this PE in ns. */
static uint64_t wake_once(int way, int waker, long nap_us)
{
    reset();
    shmem_barrier_all();
    if (shmem_my_pe() == waker) {
        check_sleep_us(nap_us);
        for (int pe = 0; pe < shmem_n_pes(); pe++) {
            shmem_uint64_p(&released_at, now_ns(), pe);
            shmem_fence();
            if (way <= 5)
                release_by_put(way, pe);
            else
                release_by_atomic(way, pe);
        }
    }
    wait_for(way);
    uint64_t late = now_ns() - *(volatile uint64_t *)&released_at;
    CHECK_NAMED(late < (uint64_t)LATE_MS * 1000000u, "way %d: woken after %llu us", way,
                (unsigned long long)late / 1000);
    shmem_barrier_all();
    return late;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The median latency of a few wake-ups by PE 0, and their sum. */
static uint64_t median_late(int way, uint64_t *seed, uint64_t *sum)
{
    enum { TRIES = 9, NAP_SPREAD_US = 20000 };
    uint64_t late[TRIES];
    for (int i = 0; i < TRIES; i++) {
        late[i] = wake_once(way, 0, NAP_US + (long)(check_random(seed) % NAP_SPREAD_US));
        *sum += late[i];
    }
    qsort(late, TRIES, sizeof(late[0]), compare);
    return late[TRIES / 2];
}

/*
 * A waiter's sleep has a time limit, which hides a lost wake-up: the waiter is then late
 * by half of that time on average.  A busy machine delays it too, but not in every round.
 */
static void test_soon(int way, uint64_t *seed)
{
    enum { SOON_US = 4000, ROUNDS = 25 };
    static long slow; /* decided by PE 1, so that both PEs take the same branch */
    uint64_t judged = 0;
    struct steady steady;
    steady_begin(&steady, getppid());
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t late = median_late(way, seed, &judged);
        if (shmem_my_pe() == 1)
            shmem_long_p(&slow, late > (uint64_t)SOON_US * 1000, 0);
        slow = shmem_my_pe() == 1 ? late > (uint64_t)SOON_US * 1000 : slow;
        shmem_barrier_all();
        if (slow == 0)
            return;
        shmem_barrier_all();
    }
    fprintf(stderr, "way %d: lost wake-up, the sleep timed out\n", way);
    if (shmem_my_pe() == 1)
        shmem_global_exit(steady_status(&steady, judged, "wake-up"));
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    int last = shmem_n_pes() - 1;
    bool one_node = check_node().size == shmem_n_pes();
    uint64_t seed = check_seed(0); /* the same on all PEs */
    for (int way = 0; way < WAYS; way++) {
        if (way == PLAIN_STORE && !one_node)
            continue;
        wake_once(way, 0, NAP_US);
        wake_once(way, last, NAP_US);
        if (shmem_n_pes() == 2 && way != PLAIN_STORE)
            test_soon(way, &seed);
    }
    shmem_finalize();
    return 0;
}
