/* SPDX-License-Identifier: BSD-3-Clause */
/* sync.c - measures a ping-pong with put and wait_until, compared with the round trip of
 * a cache line, and barriers of all PEs.  Uses: bench.h. */
#include "bench.h"

#include <shmem.h>

/* Counts across batches, so that the flag need not be reset. */
static long ping_round, raw_round;

static void ping(struct bench *b, long n)
{
    long *flag = (long *)(void *)bench_word(b->word, WORD_PING);
    for (long i = 0; b->me <= 1 && i < n; i++) {
        long turn = ++ping_round;
        if (b->me == 0)
            shmem_putmem(flag, &turn, sizeof(turn), 1);
        shmem_long_wait_until(flag, SHMEM_CMP_EQ, turn);
        if (b->me == 1)
            shmem_putmem(flag, &turn, sizeof(turn), 0);
    }
}

static void wait_for(volatile uint64_t *flag, uint64_t turn)
{
    for (long spins = 0; *flag != turn; spins++)
        bench_relax(spins);
}

/* The same with plain loads and stores: the limit. */
static void raw_ping(struct bench *b, long n)
{
    volatile uint64_t *mine = bench_word(b->word, WORD_PONG);
    volatile uint64_t *theirs = bench_word(b->mapped_word, WORD_PONG);
    for (long i = 0; b->me <= 1 && i < n; i++) {
        uint64_t turn = (uint64_t)++raw_round;
        if (b->me == 0)
            *theirs = turn;
        wait_for(mine, turn);
        if (b->me == 1)
            *theirs = turn;
    }
}

static void barrier_all(struct bench *b, long n)
{
    (void)b;
    for (long i = 0; i < n; i++)
        shmem_barrier_all();
}

static void sync_all(struct bench *b, long n)
{
    (void)b;
    for (long i = 0; i < n; i++)
        shmem_sync_all();
}

/* The raw rows are last because they need the mapped memory of the peer. */
void bench_sync(struct bench *b)
{
    static const struct bench_row pair[] = {
        {"pingpong", "ns", ping, 1},
        {"pingpong_half", "ns", ping, 2},
        {"raw_pingpong", "ns", raw_ping, 1},
        {"raw_pingpong_half", "ns", raw_ping, 2},
    };
    static const struct bench_row all[] = {
        {"barrier_all", "us", barrier_all, 1},
        {"sync_all", "us", sync_all, 1},
    };
    if (b->npes > 1)
        bench_points(b, "sync", pair, b->mapped_word != NULL ? 4 : 2, sizeof(uint64_t));
    bench_points(b, "sync", all, 2, (size_t)b->npes); /* size: number of PEs */
}
