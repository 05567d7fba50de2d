/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_bits.c - floating-point sums and products of the same values have the same bits
 * in all calls of a job, whichever PE is late: with few and many elements, in place and
 * not, over the world, a team and an active set.  The delays change from phase to phase,
 * so that the adaptation selects different algorithms.
 */
#include "config.h"

#include "tests/api/multi/check.h"

enum {
    MOST = 6000,
    PHASES = 5,
    CALLS = 45,
    LATE_US = 300,
    WORDS = SHMEM_REDUCE_SYNC_SIZE
};
static const size_t counts[] = {1, 40, 300, MOST};
enum { COUNTS = sizeof counts / sizeof counts[0] };

static double *source, *values, *dest, *first, *work;
static long syncs[2][WORDS];
static shmem_team_t team;
static int me, npes;

static void reduce(int way, double *to, const double *from, size_t n, unsigned call)
{
    if (way == 0)
        shmem_double_sum_reduce(SHMEM_TEAM_WORLD, to, from, n);
    else if (way == 1)
        shmem_double_prod_reduce(team, to, from, n);
    else
        shmem_double_sum_to_all(to, from, (int)n, 0, 0, npes, work, syncs[call % 2]);
}

static void be_late(int phase, unsigned call)
{
    int late = phase == 0 ? -1 : phase == 1 ? npes - 1 : (phase + (int)call) % npes;
    if (me == late)
        check_sleep_us(LATE_US);
}

static void test(int way, size_t n)
{
    unsigned call = 0;
    shmem_barrier_all();
    for (int phase = 0; phase < PHASES; phase++)
        for (int k = 0; k < CALLS; k++, call++) {
            bool in_place = call % 3 == 2;
            memcpy(source, values, n * sizeof *source);
            if (n < MOST || k % 8 == 0)
                be_late(phase, call);
            reduce(way, in_place ? source : dest, source, n, call);
            const double *is = in_place ? source : dest;
            if (call == 0)
                memcpy(first, is, n * sizeof *first);
            CHECK_NAMED(
                memcmp(is, first, n * sizeof *first) == 0,
                "way %d, %zu elements, call %u: the bits differ from the first call", way,
                n, call);
        }
}

int main(void)
{
    uint64_t seed;
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    source = check_alloc(MOST * sizeof *source);
    dest = check_alloc(MOST * sizeof *dest);
    work = check_alloc((MOST + SHMEM_REDUCE_MIN_WRKDATA_SIZE) * sizeof *work);
    values = malloc(MOST * sizeof *values);
    first = malloc(MOST * sizeof *first);
    CHECK(values != NULL && first != NULL);
    seed = 1 + (uint64_t)me;
    for (int i = 0; i < MOST; i++)
        values[i] = 0.5 + (double)(check_random(&seed) >> 11) * 0x1p-53;
    CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &team) == 0);
    for (int way = 0; way < 3; way++)
        for (int c = 0; c < COUNTS; c++)
            test(way, counts[c]);
    free(values);
    free(first);
    shmem_finalize();
    return 0;
}
