/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * order.c - guarantees of fence, quiet and barrier: a flag put after a fence is not
 * visible before the data; nonblocking operations are complete after quiet; a barrier
 * completes all earlier operations.
 */
#include "config.h"

#include "tests/api/multi/check.h"

enum { WORDS = 64, ROUNDS = 3000, SOME_ROUNDS = 300 };
static long data[WORDS], flag, answer;
static long inbox[WORDS];

/* At any time the data must be at least as new as the flag that was read before. */
static void check_not_older(long seen)
{
    for (int i = 0; i < WORDS; i++) {
        long now = *(volatile long *)&data[i];
        CHECK_NAMED(now >= seen, "data[%d] is from round %ld, the flag from %ld", i, now,
                    seen);
    }
}

static void write_round(long round, long *source, int to, bool nbi)
{
    for (int i = 0; i < WORDS; i++)
        source[i] = round;
    if (nbi)
        shmem_long_put_nbi(data, source, WORDS, to);
    else
        shmem_long_put(data, source, WORDS, to);
    if (round % 2 != 0 || nbi)
        shmem_fence();
    else
        shmem_ctx_fence(SHMEM_CTX_DEFAULT);
    shmem_long_p(&flag, round, to);
}

/* Every PE writes to the next PE and reads, without waiting, what the previous one
 * writes. */
static void test_fence(int to)
{
    static long source[WORDS];
    uint64_t seed = check_seed(shmem_my_pe());
    flag = 0;
    memset(data, 0, sizeof(data));
    shmem_barrier_all();
    for (long round = 1; round <= ROUNDS; round++) {
        write_round(round, source, to, false);
        long seen = *(volatile long *)&flag;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        check_not_older(seen);
        check_delay(&seed);
    }
    shmem_barrier_all();
    check_not_older(ROUNDS);
    CHECK_EQ(flag, ROUNDS);
    shmem_barrier_all();
}

/* The reader waits for the flag and replies, so that the writer does not run ahead. */
static void test_wait_fence(int to, int from, bool nbi)
{
    static long source[WORDS];
    uint64_t seed = check_seed(shmem_my_pe() + 100);
    flag = answer = 0;
    shmem_barrier_all();
    for (long round = 1; round <= SOME_ROUNDS; round++) {
        check_delay(&seed);
        write_round(round, source, to, nbi);
        shmem_long_wait_until(&flag, SHMEM_CMP_GE, round);
        check_not_older(round);
        shmem_quiet();
        shmem_long_p(&answer, round, from);
        shmem_long_wait_until(&answer, SHMEM_CMP_GE, round);
    }
    shmem_barrier_all();
}

/* Many nonblocking puts and gets in flight, completed by one quiet. */
static void test_quiet(int to, int from)
{
    long source[WORDS], got[WORDS];
    int me = shmem_my_pe();
    for (long round = 1; round <= SOME_ROUNDS; round++) {
        for (int i = 0; i < WORDS; i++) {
            source[i] = round * 1000 + i + me * 1000000;
            shmem_long_put_nbi(&inbox[WORDS - 1 - i], &source[i], 1, to);
        }
        if (round % 2 != 0)
            shmem_quiet();
        else
            shmem_ctx_quiet(SHMEM_CTX_DEFAULT);
        for (int i = 0; i < WORDS; i++)
            shmem_long_get_nbi(&got[i], &inbox[i], 1, to);
        shmem_quiet();
        for (int i = 0; i < WORDS; i++)
            CHECK_EQ(got[i], source[WORDS - 1 - i]);
        shmem_barrier_all();
        for (int i = 0; i < WORDS; i++)
            CHECK_EQ(inbox[i], round * 1000 + (WORDS - 1 - i) + from * 1000000);
        shmem_barrier_all();
    }
}

/* barrier_all completes the nonblocking puts and the atomics of all PEs. */
static long count, table[WORDS];

static void test_barrier_completes(void)
{
    long one = 0;
    int me = shmem_my_pe(), npes = shmem_n_pes();
    for (long round = 1; round <= SOME_ROUNDS; round++) {
        one = round;
        for (int pe = 0; pe < npes && me < WORDS; pe++) {
            shmem_long_put_nbi(&table[me], &one, 1, pe);
            shmem_long_atomic_add(&count, 1, pe);
        }
        shmem_barrier_all();
        CHECK_EQ(count, round * npes);
        for (int pe = 0; pe < npes && pe < WORDS; pe++)
            CHECK_EQ(table[pe], round);
        shmem_barrier_all();
    }
}

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    int to = (me + 1) % npes, from = (me - 1 + npes) % npes;
    test_fence(to);
    test_wait_fence(to, from, false);
    test_wait_fence(to, from, true);
    test_quiet(to, from);
    test_barrier_completes();
    shmem_finalize();
    return 0;
}
