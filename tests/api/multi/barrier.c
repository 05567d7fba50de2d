/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier.c - no PE leaves barrier_all, sync_all or team_sync before all have entered, in
 * thousands of rounds, with random delays, and with more PEs than processors.
 */
#include "config.h"

#include "tests/api/multi/coll.h"

enum { ROUNDS = 4000, DELAYED_ROUNDS = 500, LATE_US = 30000 };
static long entered; /* on PE 0: entries of all PEs */
static volatile long my_round;

static void test_rounds(bool sync, int rounds, bool delays, uint64_t *seed)
{
    int me = shmem_my_pe(), npes = shmem_n_pes();
    my_round = 0;
    shmem_barrier_all();
    for (long round = 1; round <= rounds; round++) {
        if (delays)
            check_delay(seed);
        my_round = round;
        if (sync)
            shmem_sync_all();
        else
            shmem_barrier_all();
        /* Another PE is in this round or, after leaving the barrier, in the next. */
        int other = (me + 1 + (int)(round % npes)) % npes;
        long seen = shmem_long_g((const long *)&my_round, other);
        CHECK_NAMED(seen == round || seen == round + 1,
                    "PE %d is in round %ld, PE %d in %ld", me, round, other, seen);
    }
    shmem_barrier_all();
}

static void test_team_rounds(const struct group *g, int rounds, bool delays,
                             uint64_t *seed)
{
    my_round = 0;
    CHECK_EQ(shmem_team_sync(g->team), 0);
    for (long round = 1; round <= rounds; round++) {
        if (delays)
            check_delay(seed);
        my_round = round;
        CHECK_EQ(shmem_team_sync(g->team), 0);
        int other = group_world(g, (g->me + 1 + (int)(round % g->npes)) % g->npes);
        long seen = shmem_long_g((const long *)&my_round, other);
        CHECK_NAMED(seen == round || seen == round + 1, "%s: in round %ld, PE %d in %ld",
                    g->name, round, other, seen);
    }
    CHECK_EQ(shmem_team_sync(g->team), 0);
}

static void test_counts(uint64_t *seed)
{
    long npes = shmem_n_pes();
    entered = 0;
    shmem_barrier_all();
    for (long round = 1; round <= DELAYED_ROUNDS; round++) {
        check_delay(seed);
        shmem_long_atomic_inc(&entered, 0);
        shmem_barrier_all();
        long seen = shmem_long_atomic_fetch(&entered, 0);
        CHECK_NAMED(seen == round * npes, "%ld entries after barrier %ld of %ld PEs",
                    seen, round, npes);
        shmem_barrier_all();
    }
}

/* Each of the first four PEs in turn is so late that the others sleep. */
static void test_late(void)
{
    for (int late = 0; late < shmem_n_pes() && late < 4; late++) {
        my_round = 0;
        shmem_barrier_all();
        if (shmem_my_pe() == late)
            check_sleep_us(LATE_US);
        my_round = 1;
        shmem_barrier_all();
        for (int pe = 0; pe < shmem_n_pes(); pe++)
            CHECK_EQ(shmem_long_g((const long *)&my_round, pe), 1);
        shmem_barrier_all();
    }
}

int main(void)
{
    shmem_init();
    uint64_t seed = check_seed(shmem_my_pe());
    test_rounds(false, ROUNDS, false, &seed);
    test_rounds(true, ROUNDS, false, &seed);
    test_rounds(false, DELAYED_ROUNDS, true, &seed);
    test_rounds(true, DELAYED_ROUNDS, true, &seed);
    test_counts(&seed);
    test_late();
    groups_init();
    for (int g = 0; g < ngroups; g++) {
        test_team_rounds(&groups[g], ROUNDS, false, &seed);
        test_team_rounds(&groups[g], DELAYED_ROUNDS, true, &seed);
    }
    shmem_finalize();
    return 0;
}
