/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * all_pairs.c - each PE puts, adds, gets and notifies each other PE, so that all
 * connections are open at the same time; sums, signals and words are verified.  Then each
 * notifies each other one often without a quiet. all_pairs [rounds]
 */
#include "config.h"

#include "tests/api/multi/check.h"

enum { FETCH_EVERY = 8, NOTIFICATIONS = 20 };

static uint64_t sum, signals, notified; /* symmetric */
static uint64_t *word;                  /* symmetric, by sender */
static uint64_t *mine;                  /* by target */
static int me, npes;

static uint64_t value_of(int pe, long round)
{
    return (uint64_t)round * 100000u + (uint64_t)pe;
}

static void access_pe(int pe, long round)
{
    uint64_t got = 0;

    mine[pe] = value_of(me, round);
    shmem_uint64_put_nbi(&word[me], &mine[pe], 1, pe);
    shmem_uint64_atomic_add(&sum, (uint64_t)me + 1, pe);
    shmem_uint64_get_nbi(&got, &word[pe], 1, pe);
    shmem_uint64_put_signal_nbi(&word[me], &mine[pe], 1, &signals, 1, SHMEM_SIGNAL_ADD,
                                pe);
    if (pe % FETCH_EVERY == 0)
        (void)shmem_uint64_atomic_fetch(&sum, pe);
    shmem_quiet();
    CHECK_EQ(got, value_of(pe, 0));
}

static void verify(long round)
{
    const uint64_t all = (uint64_t)npes * (uint64_t)(npes + 1) / 2 - (uint64_t)me - 1;

    shmem_signal_wait_until(&signals, SHMEM_CMP_GE,
                            (uint64_t)round * (uint64_t)(npes - 1));
    for (int pe = 0; pe < npes; pe++)
        CHECK_EQ(word[pe], value_of(pe, pe == me ? 0 : round));
    shmem_barrier_all();
    CHECK_EQ(shmem_uint64_atomic_fetch(&sum, me), all * (uint64_t)round);
}

/* The barrier completes all of them. */
static void notify_all(void)
{
    const uint64_t all = (uint64_t)NOTIFICATIONS * (uint64_t)(npes - 1);

    for (int n = 0; n < NOTIFICATIONS; n++)
        for (int i = 1; i < npes; i++)
            shmem_uint64_put_signal_nbi(&word[me], &mine[(me + i) % npes], 1, &notified,
                                        1, SHMEM_SIGNAL_ADD, (me + i) % npes);
    shmem_barrier_all();
    CHECK_EQ(shmem_signal_fetch(&notified), all);
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1;

    shmem_init();
    CHECK(rounds > 0);
    me = shmem_my_pe();
    npes = shmem_n_pes();
    word = shmem_malloc((size_t)npes * sizeof *word);
    mine = calloc((size_t)npes, sizeof *mine);
    CHECK(word != NULL && mine != NULL);
    word[me] = value_of(me, 0); /* the only word that others get from this PE */
    shmem_barrier_all();
    for (long round = 1; round <= rounds; round++) {
        for (int i = 1; i < npes; i++)
            access_pe((me + i) % npes, round);
        verify(round);
        shmem_barrier_all();
    }
    notify_all();
    if (me == 0)
        printf("all_pairs: %ld rounds of %d PEs\n", rounds, npes);
    free(mine);
    shmem_finalize();
    return 0;
}
