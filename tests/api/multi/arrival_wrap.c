/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arrival_wrap.c - the arrival algorithm of alltoall when the lower 32 bits of the call's
 * sequence number wrap around, and when they equal those of the previous such call.
 */
#include "config.h"

#include "pgas/coll/sync/team_coll.h"
#include "tests/api/multi/check.h"

enum { N = 4, PES_MAX = 16, CALLS = 20 };
static long source[N * PES_MAX], dest[N * PES_MAX];
static int me, npes;

/* Put all PEs into the state after `calls` more mailbox calls of the world team. */
static void skip_calls(uint64_t calls)
{
    struct shmem_team *world = team_of(SHMEM_TEAM_WORLD, "arrival_wrap");
    shmem_barrier_all();
    world->coll->mailbox.calls.seq += calls;
    credit_return_all(&world->coll->mailbox.calls);
    shmem_barrier_all();
}

static void exchange(long round)
{
    for (int i = 0; i < N * npes; i++) {
        source[i] = round * 10000 + me * 100 + i;
        dest[i] = -1;
    }
    shmem_long_alltoall(SHMEM_TEAM_WORLD, dest, source, N);
    for (int pe = 0; pe < npes; pe++)
        for (int i = 0; i < N; i++)
            CHECK_EQ(dest[pe * N + i], round * 10000 + pe * 100 + me * N + i);
}

int main(void)
{
    setenv("SHMEM_ALLTOALL_ALGORITHM", "arrival", 1);
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECK(npes <= PES_MAX);
    exchange(1);
    /* the lower bits of the next call equal those of the last one */
    skip_calls(((uint64_t)1 << 32) - 1);
    exchange(2);
    skip_calls(((uint64_t)1 << 32) - CALLS / 2);
    for (long round = 0; round < CALLS; round++)
        exchange(round);
    shmem_finalize();
    return 0;
}
