/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allgather_parts.c - users of the internal allgather (team splits, collect, leader
 * scratch buffers of large reductions) with a small allgather_max, so that descriptors
 * are sent in parts, as in jobs of thousands of PEs.  Needs several nodes
 * (tests/transport/net/multi_vnodes.sh, PES_VNODES).
 */
#include "config.h"

#include "pgas/coll/api/coll_state.h"
#include "tests/api/multi/check.h"

enum { PES_MAX = 16, N = 9000, ROUNDS = 12 };
static long *source, *dest;
static int me, npes;

static void test_split(int round)
{
    shmem_team_t team;
    int stride = 1 + round % 2, size = (npes + stride - 1) / stride;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, stride, size, NULL, 0, &team) ==
          0);
    if (me % stride == 0) {
        CHECK_EQ(shmem_team_n_pes(team), size);
        source[0] = me + round;
        shmem_long_sum_reduce(team, dest, source, 1);
        CHECK_EQ(dest[0], stride * (size * (size - 1) / 2) + size * round);
        for (int i = 0; i < N; i++)
            source[i] = me + i;
        shmem_long_sum_reduce(team, dest, source, N); /* uses leader scratch */
        for (int i = 0; i < N; i++)
            CHECK_EQ(dest[i], stride * (size * (size - 1) / 2) + size * i);
        shmem_team_destroy(team);
    }
}

static void test_collect(int round)
{
    size_t mine = (size_t)((me + round) % 3), at = 0;
    for (size_t i = 0; i < mine; i++)
        source[i] = me * 100 + (long)i;
    shmem_long_collect(SHMEM_TEAM_WORLD, dest, source, mine);
    for (int pe = 0; pe < npes; pe++)
        for (size_t i = 0; i < (size_t)((pe + round) % 3); i++)
            CHECK_EQ(dest[at++], pe * 100 + (long)i);
}

int main(void)
{
    static const size_t parts[] = {0, 1, 3, 7, 16};
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    CHECK(npes <= PES_MAX);
    source = check_alloc(N * sizeof *source);
    dest = check_alloc(N * sizeof *dest);
    for (int round = 0; round < ROUNDS; round++) {
        coll_self.allgather_max = parts[round % 5] * (size_t)npes;
        shmem_barrier_all();
        test_split(round);
        test_collect(round);
    }
    shmem_finalize();
    return 0;
}
