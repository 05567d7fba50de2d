/* SPDX-License-Identifier: BSD-3-Clause */
/* rma.c - measures put and get: 8-byte latency, message rate, and bandwidth compared with
 * memcpy.  PE 0 is the initiator; its peer waits in a barrier.  Uses: bench.h. */
#include "bench.h"

#include <shmem.h>
#include <string.h>

/* Each call's argument depends on the previous call, as in a linked-list traversal. */
static void put(struct bench *b, long n)
{
    uint64_t *dest = (uint64_t *)(void *)b->dest;
    uint64_t value = 0;
    for (long i = 0; b->me == 0 && i < n; i++) {
        shmem_putmem(dest + value, &value, sizeof(value), b->peer);
        bench_barrier();
    }
}

static void put_quiet(struct bench *b, long n)
{
    uint64_t value = 0;
    for (long i = 0; b->me == 0 && i < n; i++) {
        shmem_putmem(b->dest + value, &value, sizeof(value), b->peer);
        shmem_quiet();
    }
}

/* The words of dest are 0, so the address is always dest, but it depends on the value
 * that was read. */
static void get(struct bench *b, long n)
{
    uint64_t *dest = (uint64_t *)(void *)b->dest;
    uint64_t value = 0;
    for (long i = 0; b->me == 0 && i < n; i++)
        shmem_getmem(&value, dest + value, sizeof(value), b->peer);
}

static void p(struct bench *b, long n)
{
    long *dest = (long *)(void *)b->dest;
    for (long i = 0; b->me == 0 && i < n; i++)
        shmem_long_p(dest, 0, b->peer);
}

static void g(struct bench *b, long n)
{
    const long *dest = (const long *)(const void *)b->dest;
    long value = 0;
    for (long i = 0; b->me == 0 && i < n; i++)
        value = shmem_long_g(dest + value, b->peer);
}

static void put_nbi(struct bench *b, long n)
{
    enum { WINDOW = 64 };
    const uint64_t *source = (const uint64_t *)(const void *)(b->source + 4096);
    uint64_t *dest = (uint64_t *)(void *)(b->dest + 4096);
    for (long i = 0; b->me == 0 && i < n; i++)
        shmem_putmem_nbi(dest + i % WINDOW, source + i % WINDOW, sizeof(*dest), b->peer);
    if (b->me == 0)
        shmem_quiet();
}

static void get_nbi(struct bench *b, long n)
{
    enum { WINDOW = 64 };
    uint64_t *to = (uint64_t *)(void *)(b->source + 8192);
    const uint64_t *from = (const uint64_t *)(const void *)(b->dest + 8192);
    for (long i = 0; b->me == 0 && i < n; i++)
        shmem_getmem_nbi(to + i % WINDOW, from + i % WINDOW, sizeof(*to), b->peer);
    if (b->me == 0)
        shmem_quiet();
}

static void store(struct bench *b, long n)
{
    volatile uint64_t *mapped = (volatile uint64_t *)(void *)b->mapped;
    for (long i = 0; b->me == 0 && i < n; i++)
        *mapped = 0;
}

static void load(struct bench *b, long n)
{
    volatile uint64_t *mapped = (volatile uint64_t *)(void *)b->mapped;
    uint64_t value = 0;
    for (long i = 0; b->me == 0 && i < n; i++)
        value = mapped[value];
}

static void put_size(struct bench *b, long n)
{
    for (long i = 0; b->me == 0 && i < n; i++)
        shmem_putmem(b->dest + b->dest_at, b->source + b->source_at, b->size, b->peer);
    if (b->me == 0)
        shmem_quiet();
}

static void get_size(struct bench *b, long n)
{
    for (long i = 0; b->me == 0 && i < n; i++)
        shmem_getmem(b->source + b->dest_at, b->dest + b->source_at, b->size, b->peer);
}

static void memcpy_to(struct bench *b, long n)
{
    for (long i = 0; b->me == 0 && i < n; i++) {
        memcpy(b->mapped + b->dest_at, b->source + b->source_at, b->size);
        bench_barrier();
    }
}

static void memcpy_from(struct bench *b, long n)
{
    for (long i = 0; b->me == 0 && i < n; i++) {
        memcpy(b->source + b->dest_at, b->mapped + b->source_at, b->size);
        bench_barrier();
    }
}

void bench_rma(struct bench *b)
{
    static const struct bench_row row[] = {
        {"put", "ns", put, 1},
        {"put_quiet", "ns", put_quiet, 1},
        {"get", "ns", get, 1},
        {"p", "ns", p, 1},
        {"g", "ns", g, 1},
        {"store_by_pointer", "ns", store, 1},
        {"load_by_pointer", "ns", load, 1},
        {"put_nbi_rate", "M/s", put_nbi, 1},
        {"get_nbi_rate", "M/s", get_nbi, 1},
    };
    memset(b->dest, 0, 2 * 4096);
    shmem_barrier_all();
    bench_points(b, "rma", row, sizeof(row) / sizeof(row[0]), sizeof(uint64_t));
}

void bench_bandwidth(struct bench *b)
{
    static const struct bench_row row[] = {
        {"bw_put", "GB/s", put_size, 1},
        {"bw_memcpy_to", "GB/s", memcpy_to, 1},
        {"bw_get", "GB/s", get_size, 1},
        {"bw_memcpy_from", "GB/s", memcpy_from, 1},
    };
    const size_t combinations = b->offsets ? (size_t)BENCH_OFFSETS * BENCH_OFFSETS : 1;

    for (size_t size = sizeof(uint64_t); size <= BENCH_SIZE_MAX; size *= 2)
        for (size_t x = 0; x < combinations; x++) {
            b->dest_at = bench_offsets[x / BENCH_OFFSETS];
            b->source_at = bench_offsets[x % BENCH_OFFSETS];
            bench_points(b, "bandwidth", row, sizeof(row) / sizeof(row[0]), size);
        }
}
