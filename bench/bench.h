/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench.h - the framework of shmem_bench: it measures a data point and prints it.
 * This file uses OpenSHMEM 1.4 only, so that it compiles with any implementation.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    BENCH_SIZE_MAX = 16 << 20,
    BENCH_LINE = 64,
    BENCH_OFFSETS = 4,
    BENCH_ROWS_MAX = 24
};

/* The argument of all bodies.  The symmetric buffers are the same on all PEs. */
struct bench {
    int me, npes;
    int peer;            /* PE 0's partner: PE 1, or PE 0 in a job of one */
    double seconds;      /* time for one point */
    unsigned char *dest; /* symmetric, BENCH_SIZE_MAX bytes */
    unsigned char *source;
    unsigned char *mapped; /* shmem_ptr of the peer's dest, or this PE's dest if NULL */
    uint64_t *word;        /* symmetric, WORDS cache lines */
    uint64_t *mapped_word; /* shmem_ptr of the peer's word, or NULL */
    size_t size;           /* of the point being measured */
    bool offsets;          /* option -o */
    size_t dest_at;        /* bytes from a cache line to the target of a put or get, */
    size_t source_at;      /* and to its source */
};

/* One batch of iterations; every PE calls it. */
typedef void (*bench_body)(struct bench *b, long iterations);

/* A line of the tables of benchmarks. */
struct bench_row {
    const char *name;
    const char *unit; /* ns, us: time for one iteration; GB/s, MB/s, M/s: rate */
    bench_body body;
    double per; /* operations per iteration (2 for a ping-pong: half round trips) */
};

/* Measure those of rows[0..n) that the command line selects, by name or by group, and
 * print the medians.  Batches of the rows alternate, so that the results of one call are
 * comparable even if the speed of the machine varies.  All PEs call it. */
void bench_points(struct bench *b, const char *group, const struct bench_row *rows,
                  size_t n, size_t size);

/* Words of b->word, each in a cache line of its own. */
enum { WORD_PING, WORD_PONG, WORD_ATOMIC, WORD_SHARED, WORD_STOP, WORDS };
static inline uint64_t *bench_word(uint64_t *base, int which)
{
    return base + (size_t)which * (BENCH_LINE / sizeof(*base));
}

/* Option -o: offsets of the operands of bandwidth rows from a cache line */
static const size_t bench_offsets[BENCH_OFFSETS] = {0, 8, 16, 48};

/* For spin loops: a pause instruction, and sched_yield after many spins. */
void bench_relax(long spins);

/* Keep the compiler from moving or dropping memory accesses. */
static inline void bench_barrier(void)
{
    __asm__ __volatile__("" ::: "memory");
}

/* The groups, one file each. */
void bench_rma(struct bench *b);
void bench_bandwidth(struct bench *b);
void bench_amo(struct bench *b);
void bench_sync(struct bench *b);
void bench_signal(struct bench *b);
void bench_busy(struct bench *b);
void bench_network(struct bench *b);

#endif
