/* SPDX-License-Identifier: BSD-3-Clause */
/* busy.c - measures put, get and fetch_add while the target computes and calls no SHMEM
 * routine; in the rows `wait_` the target waits in a barrier instead.
 * Uses: bench.h. */
#include "bench.h"

#include <shmem.h>

enum { SLICE = 1000, SLICES_MAX = 50 * 1000 * 1000 };

/* The target: arithmetic until PE 0 stores the word, for at most SLICES_MAX slices. */
static void compute(struct bench *b)
{
    volatile uint64_t *stop = bench_word(b->word, WORD_STOP);
    uint64_t x = 1;
    for (long slice = 0; *stop == 0 && slice < SLICES_MAX; slice++)
        for (int i = 0; i < SLICE; i++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            __asm__ __volatile__("" : "+r"(x));
        }
    *stop = 0;
}

static void finish(struct bench *b)
{
    long *stop = (long *)(void *)bench_word(b->word, WORD_STOP);
    shmem_long_p(stop, 1, b->peer);
    shmem_quiet();
}

static void put_loop(struct bench *b, long n)
{
    uint64_t *dest = (uint64_t *)(void *)b->dest;
    uint64_t value = 0;
    for (long i = 0; i < n; i++) {
        shmem_putmem(dest + value, &value, sizeof(value), b->peer);
        bench_barrier();
    }
}

static void get_loop(struct bench *b, long n)
{
    uint64_t *dest = (uint64_t *)(void *)b->dest;
    uint64_t value = 0;
    for (long i = 0; i < n; i++)
        shmem_getmem(&value, dest + value, sizeof(value), b->peer);
}

static void add_loop(struct bench *b, long n)
{
    unsigned long *w = (unsigned long *)(void *)bench_word(b->word, WORD_ATOMIC);
    for (long i = 0; i < n; i++)
        shmem_ulong_atomic_fetch_add(w, 3, b->peer);
}

static void against_busy(struct bench *b, long n, bench_body loop)
{
    if (b->me == 0) {
        loop(b, n);
        finish(b);
    } else if (b->me == b->peer) {
        compute(b);
    }
}

static void wait_put(struct bench *b, long n)
{
    if (b->me == 0)
        put_loop(b, n);
}

static void busy_put(struct bench *b, long n)
{
    against_busy(b, n, put_loop);
}

static void wait_get(struct bench *b, long n)
{
    if (b->me == 0)
        get_loop(b, n);
}

static void busy_get(struct bench *b, long n)
{
    against_busy(b, n, get_loop);
}

static void wait_fetch_add(struct bench *b, long n)
{
    if (b->me == 0)
        add_loop(b, n);
}

static void busy_fetch_add(struct bench *b, long n)
{
    against_busy(b, n, add_loop);
}

void bench_busy(struct bench *b)
{
    static const struct bench_row row[] = {
        {"busy_put", "ns", busy_put, 1},
        {"wait_put", "ns", wait_put, 1},
        {"busy_get", "ns", busy_get, 1},
        {"wait_get", "ns", wait_get, 1},
        {"busy_fetch_add", "ns", busy_fetch_add, 1},
        {"wait_fetch_add", "ns", wait_fetch_add, 1},
    };
    if (b->npes > 1)
        bench_points(b, "busy", row, sizeof(row) / sizeof(row[0]), sizeof(uint64_t));
}
