/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flood.c - many operations in flight between all pairs of PEs: puts with signals, whose
 * data must be visible once the signal is; nonblocking puts and gets of all sizes,
 * completed by one quiet; threads with private contexts and a shared one.
 *   flood [rounds]
 */
#include "config.h"

#include <pthread.h>

#include "tests/api/multi/check.h"

enum {
    ROUNDS = 60,
    PES_MAX = 16,
    MOST = 100000, /* bytes of a message */
    SIZES = 6,
    SMALL = 300, /* messages of 8 bytes to each PE */
    LARGE = 6,
    THREADS = 3,
};
static const size_t sizes[SIZES] = {8, 64, 1000, 8192, 32769, MOST};

static int me, npes;
static uint64_t seed;

/* ---- signals --------------------------------------------------------------------- */

static uint64_t arrived[PES_MAX], read_by[PES_MAX]; /* rounds; by sender, by reader */
static unsigned char *inbox, *outbox;               /* MOST bytes for each PE */

static uint64_t salt_of(int from, int to, uint64_t round)
{
    return ((uint64_t)from * PES_MAX + (uint64_t)to) * 100003u + round;
}

static void send_round(int to, uint64_t round, size_t size)
{
    unsigned char *from = outbox + (size_t)to * MOST;

    check_fill(from, size, salt_of(me, to, round));
    if (round % 2 == 0)
        shmem_putmem_signal(inbox + (size_t)me * MOST, from, size, &arrived[me], 1,
                            SHMEM_SIGNAL_ADD, to);
    else
        shmem_putmem_signal_nbi(inbox + (size_t)me * MOST, from, size, &arrived[me],
                                round, SHMEM_SIGNAL_SET, to);
}

static void read_round(int from, uint64_t round, size_t size)
{
    uint64_t signal = shmem_signal_wait_until(&arrived[from], SHMEM_CMP_GE, round);
    size_t wrong =
        check_find_wrong(inbox + (size_t)from * MOST, size, salt_of(from, me, round));

    CHECK_EQ(signal, round);
    CHECK_NAMED(wrong == size, "round %d: byte %zu of %zu from PE %d is wrong",
                (int)round, wrong, size, from);
    shmem_uint64_atomic_set(&read_by[me], round, from);
}

/* A PE sends the next message to a peer only after the peer has read the previous one. */
static void signals(uint64_t rounds)
{
    inbox = check_alloc((size_t)npes * MOST);
    outbox = check_alloc((size_t)npes * MOST);
    shmem_barrier_all();
    for (uint64_t round = 1; round <= rounds; round++) {
        size_t size = sizes[round % SIZES];
        for (int i = 0; i < npes; i++)
            send_round((me + i) % npes, round, size);
        for (int i = 0; i < npes; i++)
            read_round((me + npes - i) % npes, round, size);
        for (int i = 0; i < npes; i++)
            shmem_uint64_wait_until(&read_by[i], SHMEM_CMP_EQ, round);
        shmem_quiet(); /* outbox may be overwritten */
        check_delay(&seed);
    }
    shmem_barrier_all();
    shmem_free(outbox);
    shmem_free(inbox);
}

/* ---- non-blocking ---------------------------------------------------------------- */

static uint64_t *words, *pattern; /* SMALL words from each PE; source of the gets */
static unsigned char *blocks;     /* LARGE blocks of MOST bytes from each PE */

static uint64_t value_of(int pe, int round, int i)
{
    return ((uint64_t)pe << 40) + ((uint64_t)round << 20) + (uint64_t)i + 1;
}

static void check_flood(int round, const uint64_t *got)
{
    for (int pe = 0; pe < npes; pe++)
        for (int i = 0; i < SMALL; i++) {
            CHECK_EQ(words[pe * SMALL + i], value_of(pe, round, i));
            CHECK_EQ(got[pe * SMALL + i], value_of(pe, 0, i));
        }
    for (int b = 0; b < npes * LARGE; b++)
        CHECK_EQ(check_find_wrong(blocks + (size_t)b * MOST, MOST,
                                  value_of(b / LARGE, round, b % LARGE)),
                 MOST);
}

static void flood_once(int round, uint64_t *mine, uint64_t *got, unsigned char *large)
{
    for (int i = 0; i < SMALL; i++)
        mine[i] = value_of(me, round, i);
    for (int b = 0; b < LARGE; b++)
        check_fill(large + (size_t)b * MOST, MOST, value_of(me, round, b));
    shmem_barrier_all();
    for (int i = 0; i < SMALL; i++)
        for (int pe = 0; pe < npes; pe++) {
            size_t at = (size_t)(me * SMALL + i), b = (size_t)(me * LARGE + i);
            shmem_uint64_put_nbi(&words[at], &mine[i], 1, pe);
            shmem_uint64_get_nbi(&got[pe * SMALL + i], &pattern[i], 1, pe);
            if (i < LARGE)
                shmem_putmem_nbi(blocks + b * MOST, large + (size_t)i * MOST, MOST, pe);
        }
    shmem_quiet();
    shmem_barrier_all();
    check_flood(round, got);
    shmem_barrier_all();
}

static void floods(int rounds)
{
    words = check_alloc((size_t)npes * SMALL * sizeof *words);
    pattern = check_alloc(SMALL * sizeof *pattern);
    blocks = check_alloc((size_t)npes * LARGE * MOST);
    uint64_t *got = calloc((size_t)npes * SMALL, sizeof *got);
    uint64_t *mine = calloc(SMALL, sizeof *mine); /* sources need not be symmetric */
    unsigned char *large = malloc((size_t)LARGE * MOST);
    CHECK(got != NULL && mine != NULL && large != NULL);
    for (int i = 0; i < SMALL; i++)
        pattern[i] = value_of(me, 0, i);
    for (int round = 1; round <= rounds; round++)
        flood_once(round, mine, got, large);
    free(large);
    free(mine);
    free(got);
    shmem_free(blocks);
    shmem_free(pattern);
    shmem_free(words);
}

/* ---- threads --------------------------------------------------------------------- */

static long slot[THREADS][PES_MAX], common[PES_MAX]; /* by sender */
static shmem_ctx_t for_all;
static long thread_rounds;

static void *thread_main(void *arg)
{
    int t = *(int *)arg;
    uint64_t draw = seed + (uint64_t)t;
    shmem_ctx_t ctx;

    CHECK(shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) == 0);
    for (long i = 1; i <= thread_rounds; i++) {
        int pe = (int)(check_random(&draw) >> 33) % npes;
        shmem_ctx_long_p(ctx, &slot[t][me], i, pe);
        shmem_ctx_long_atomic_inc(for_all, &common[me], pe);
        shmem_long_atomic_inc(&common[me], pe);
        shmem_ctx_quiet(ctx);
        CHECK_EQ(shmem_ctx_long_g(ctx, &slot[t][me], pe), i);
        check_delay(&draw);
    }
    shmem_ctx_destroy(ctx);
    return NULL;
}

static void threads(long rounds)
{
    pthread_t thread[THREADS];
    int number[THREADS];
    long sum = 0;

    thread_rounds = rounds;
    CHECK(shmem_ctx_create(0, &for_all) == 0);
    shmem_barrier_all();
    for (int t = 0; t < THREADS; t++) {
        number[t] = t;
        CHECK(pthread_create(&thread[t], NULL, thread_main, &number[t]) == 0);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    shmem_ctx_quiet(for_all);
    shmem_barrier_all();
    for (int pe = 0; pe < npes; pe++)
        sum += shmem_long_g(&common[me], pe);
    CHECK_EQ(sum, 2 * rounds * THREADS);
    shmem_barrier_all();
    shmem_ctx_destroy(for_all);
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : ROUNDS;
    int provided;

    CHECK(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided) == 0);
    CHECK(provided == SHMEM_THREAD_MULTIPLE);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    seed = check_seed(me);
    CHECK(npes <= PES_MAX);
    double begin = check_now(), after_signals, after_floods;
    signals((uint64_t)rounds);
    after_signals = check_now();
    floods((int)(rounds / 10 + 1));
    after_floods = check_now();
    threads(2 * rounds);
    if (me == 0)
        printf(
            "flood: %ld rounds of %d PEs: signals %.2f s, nbi %.2f s, threads %.2f s\n",
            rounds, npes, after_signals - begin, after_floods - after_signals,
            check_now() - after_floods);
    shmem_finalize();
    return 0;
}
