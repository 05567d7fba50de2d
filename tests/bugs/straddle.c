/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * straddle.c - a put that starts in one cache line and ends in the next wakes a PE that
 * sleeps on a word in the second line; likewise across a page boundary.
 */
#include "config.h"

#include "tests/api/multi/check.h"

enum { PAGE = 4096, LINE = 64, HALF = sizeof(uint32_t), ROUNDS = 20, NAP_US = 20000 };
static unsigned char block[2 * PAGE] __attribute__((aligned(PAGE)));
static double released_at;
static const double soon_s = 5e-3;

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Puts 8 bytes around `border`; the last 4 are the word that the last PE waits for. */
static void release(size_t border, uint32_t value, int to)
{
    uint32_t both[2] = {~value, value};
    check_sleep_us(NAP_US);
    shmem_double_p(&released_at, check_now(), to);
    shmem_fence();
    shmem_putmem(block + border - HALF, both, sizeof(both), to);
}

static double wait_for(size_t border, uint32_t value)
{
    shmem_uint32_wait_until((uint32_t *)(void *)(block + border), SHMEM_CMP_EQ, value);
    return check_now() - *(volatile double *)&released_at;
}

static void test_border(size_t border)
{
    int me = shmem_my_pe(), last = shmem_n_pes() - 1;
    double late[ROUNDS] = {0};
    for (int i = 0; i < ROUNDS; i++) {
        shmem_barrier_all();
        if (me == 0)
            release(border, (uint32_t)i + 1, last);
        else if (me == last)
            late[i] = wait_for(border, (uint32_t)i + 1);
    }
    qsort(late, ROUNDS, sizeof(late[0]), compare);
    CHECK_NAMED(late[ROUNDS / 2] < soon_s, "offset %zu: median wake-up latency %.1f ms",
                border, late[ROUNDS / 2] * 1e3);
    shmem_barrier_all();
}

int main(void)
{
    setenv("SHMEM_SLEEP_NS", "2000000000", 1); /* a lost wake-up takes 2 s */
    shmem_init();
    if (shmem_n_pes() == 1)
        return CHECK_SKIP;
    test_border(LINE);
    test_border(PAGE);
    shmem_finalize();
    return 0;
}
