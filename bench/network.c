/* SPDX-License-Identifier: BSD-3-Clause */
/* network.c - shmem_bench -n: measures the rows of bench/net, as fi_raw.c and ucp_raw.c
 * do.  PE 0 accesses the last PE, which waits in a barrier; all PEs take part in
 * collectives.  Uses: bench.h, net.h. */
#include "bench.h"
#include "net.h"

#include <shmem.h>
#include <stddef.h>
#include <stdio.h>

/* ---- one-sided ------------------------------------------------------------------- */

static void put_lat(struct bench *b, long n)
{
    for (long i = 0; b->me == 0 && i < n; i++) {
        shmem_putmem(b->dest, b->source, b->size, b->peer);
        shmem_quiet();
    }
}

static void get_lat(struct bench *b, long n)
{
    for (long i = 0; b->me == 0 && i < n; i++)
        shmem_getmem(b->source, b->dest, b->size, b->peer);
}

static void fetch_add(struct bench *b, long n)
{
    unsigned long *w = (unsigned long *)(void *)bench_word(b->word, WORD_ATOMIC);
    for (long i = 0; b->me == 0 && i < n; i++)
        shmem_ulong_atomic_fetch_add(w, 1, b->peer);
}

/* Counts across batches, so that the flag need not be reset. */
static long turn;

static void pingpong(struct bench *b, long n)
{
    long *flag = (long *)(void *)bench_word(b->word, WORD_PING);
    bool plays = b->me == 0 || b->me == b->peer;
    for (long i = 0; plays && i < n; i++) {
        turn++;
        if (b->me == 0)
            shmem_long_p(flag, turn, b->peer);
        shmem_long_wait_until(flag, SHMEM_CMP_EQ, turn);
        if (b->me == b->peer)
            shmem_long_p(flag, turn, 0);
    }
}

static void put_rate(struct bench *b, long n)
{
    const uint64_t *from = (const uint64_t *)(const void *)b->source;
    uint64_t *to = (uint64_t *)(void *)b->dest;
    for (long i = 0; b->me == 0 && i < n; i++)
        shmem_putmem_nbi(to + i % NET_WORDS, from + i % NET_WORDS, sizeof(*to), b->peer);
    if (b->me == 0)
        shmem_quiet();
}

static void add_rate(struct bench *b, long n)
{
    unsigned long *w = (unsigned long *)(void *)bench_word(b->word, WORD_ATOMIC);
    for (long i = 0; b->me == 0 && i < n; i++)
        shmem_ulong_atomic_add(w, 1, b->peer);
    if (b->me == 0)
        shmem_quiet();
}

static void put_bw(struct bench *b, long n)
{
    for (long i = 0; b->me == 0 && i < n * NET_BURST; i++)
        shmem_putmem_nbi(b->dest, b->source, b->size, b->peer);
    if (b->me == 0)
        shmem_quiet();
}

static void get_bw(struct bench *b, long n)
{
    for (long i = 0; b->me == 0 && i < n * NET_BURST; i++)
        shmem_getmem_nbi(b->source, b->dest, b->size, b->peer);
    if (b->me == 0)
        shmem_quiet();
}

/* ---- strided: doubles, with the same stride on both sides ---------------------------
 */

static void iput(struct bench *b, long n, ptrdiff_t stride)
{
    double *to = (double *)(void *)b->dest, *from = (double *)(void *)b->source;
    for (long i = 0; b->me == 0 && i < n; i++) {
        shmem_double_iput(to, from, stride, stride, b->size / sizeof(double), b->peer);
        shmem_quiet();
    }
}

static void iget(struct bench *b, long n, ptrdiff_t stride)
{
    double *to = (double *)(void *)b->source, *from = (double *)(void *)b->dest;
    for (long i = 0; b->me == 0 && i < n; i++)
        shmem_double_iget(to, from, stride, stride, b->size / sizeof(double), b->peer);
}

static void iput_2(struct bench *b, long n)
{
    iput(b, n, 2);
}

static void iput_16(struct bench *b, long n)
{
    iput(b, n, 16);
}

static void iget_2(struct bench *b, long n)
{
    iget(b, n, 2);
}

static void iget_16(struct bench *b, long n)
{
    iget(b, n, 16);
}

/* ---- barriers ---------------------------------------------------------------------- */

static void barrier(struct bench *b, long n)
{
    (void)b;
    for (long i = 0; i < n; i++)
        shmem_barrier_all();
}

/* ---- routines that OpenSHMEM 1.4 lacks -------------------------------------------- */

#if SHMEM_MAJOR_VERSION > 1 || SHMEM_MINOR_VERSION >= 5
static void fadd_rate(struct bench *b, long n)
{
    unsigned long *w = (unsigned long *)(void *)bench_word(b->word, WORD_ATOMIC);
    unsigned long *old = (unsigned long *)(void *)b->source;
    for (long i = 0; b->me == 0 && i < n; i++)
        shmem_ulong_atomic_fetch_add_nbi(old + i % NET_WORDS, w, 1, b->peer);
    if (b->me == 0)
        shmem_quiet();
}

static void allreduce(struct bench *b, long n)
{
    const long *from = (const long *)(const void *)b->source;
    for (long i = 0; i < n; i++)
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, (long *)(void *)b->dest, from,
                              b->size / sizeof(long));
}

static void open_reduction(size_t bytes)
{
    (void)bytes;
}

static void close_reduction(void) {}

enum { HAVE_FADD_NBI = 1 };
#else
static void fadd_rate(struct bench *b, long n)
{
    (void)b;
    (void)n;
}

/* Calls alternate between two sets of work arrays, because an array must not be reused
 * before all PEs have left the call. */
enum { SETS = 2 };
static long *sync_words, *work;
static int work_words;

static void allreduce(struct bench *b, long n)
{
    for (long i = 0; i < n; i++) {
        long set = i % SETS;
        shmem_long_sum_to_all((long *)(void *)b->dest, (long *)(void *)b->source,
                              (int)(b->size / sizeof(long)), 0, 0, b->npes,
                              work + set * work_words,
                              sync_words + set * SHMEM_REDUCE_SYNC_SIZE);
    }
    shmem_barrier_all();
}

static void open_reduction(size_t bytes)
{
    int half = (int)(bytes / sizeof(long) / 2) + 1;
    work_words =
        half > SHMEM_REDUCE_MIN_WRKDATA_SIZE ? half : SHMEM_REDUCE_MIN_WRKDATA_SIZE;
    work = shmem_malloc((size_t)work_words * SETS * sizeof(*work));
    sync_words = shmem_malloc(SHMEM_REDUCE_SYNC_SIZE * SETS * sizeof(*sync_words));
    if (work == NULL || sync_words == NULL) {
        fputs("shmem_bench: no symmetric memory for reductions\n", stderr);
        shmem_global_exit(1);
    }
    for (long i = 0; i < SHMEM_REDUCE_SYNC_SIZE * SETS; i++)
        sync_words[i] = SHMEM_SYNC_VALUE;
    shmem_barrier_all();
}

static void close_reduction(void)
{
    shmem_barrier_all();
    shmem_free(sync_words);
    shmem_free(work);
}

enum { HAVE_FADD_NBI = 0 };
#endif

/* ---- tables ---------------------------------------------------------------------- */

static void bench_words(struct bench *b)
{
    static const struct bench_row row[] = {
        {"pingpong", "us", pingpong, 2},    {"fetch_add", "us", fetch_add, 1},
        {"put_rate", "M/s", put_rate, 1},   {"add_rate", "M/s", add_rate, 1},
        {"fadd_rate", "M/s", fadd_rate, 1},
    };
    size_t rows = sizeof(row) / sizeof(row[0]);
    bench_points(b, "words", row, HAVE_FADD_NBI ? rows : rows - 1, sizeof(uint64_t));
}

static void bench_sizes(struct bench *b)
{
    static const struct bench_row row[] = {
        {"put_lat", "us", put_lat, 1},
        {"get_lat", "us", get_lat, 1},
        {"put_bw", "MB/s", put_bw, NET_BURST},
        {"get_bw", "MB/s", get_bw, NET_BURST},
    };
    for (size_t s = 0; s < NET_SIZES; s++)
        bench_points(b, "sizes", row, sizeof(row) / sizeof(row[0]), net_size[s]);
}

/* 16 to 65536 doubles, beside a contiguous put of the same bytes. */
static void bench_strided(struct bench *b)
{
    static const size_t doubles[] = {16, 256, 1024, 4096, 16384, 65536};
    static const struct bench_row row[] = {
        {"put_same", "us", put_lat, 1}, {"iput_2", "us", iput_2, 1},
        {"iput_16", "us", iput_16, 1},  {"iget_2", "us", iget_2, 1},
        {"iget_16", "us", iget_16, 1},
    };
    for (size_t s = 0; s < sizeof(doubles) / sizeof(doubles[0]); s++)
        bench_points(b, "strided", row, sizeof(row) / sizeof(row[0]),
                     doubles[s] * sizeof(double));
}

static void bench_collectives(struct bench *b)
{
    static const size_t bytes[] = {8, 1024, 64 * 1024, 1 << 20};
    static const struct bench_row barriers = {"barrier", "us", barrier, 1};
    static const struct bench_row reduce = {"allreduce", "us", allreduce, 1};
    enum { N = sizeof(bytes) / sizeof(bytes[0]) };
    bench_points(b, "collectives", &barriers, 1, (size_t)b->npes);
    open_reduction(bytes[N - 1]);
    for (size_t i = 0; i < N; i++)
        bench_points(b, "collectives", &reduce, 1, bytes[i]);
    close_reduction();
}

void bench_network(struct bench *b)
{
    b->peer = b->npes - 1;
    bench_words(b);
    bench_sizes(b);
    bench_strided(b);
    bench_collectives(b);
}
