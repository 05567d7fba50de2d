/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scan.c - parallel prefix, after W. D. Hillis and G. L. Steele, "Data Parallel
 * Algorithms", 1986: in step d each PE sends its partial result to the PE 2^d above it.
 * The operation is the composition of affine maps modulo a prime, which is associative
 * but not commutative, so a wrong order is detected.  Data are sent by put, fence, and a
 * flag that the receiver waits for with shmem_long_wait or shmem_long_wait_until.
 */
#include <mpp/shmem.h>
#include <stdio.h>

#define MAX_STEPS 16
#define ROUNDS    20
#define PRIME     1000003L

static long inbox[ROUNDS][MAX_STEPS][2]; /* maps from below: factor and offset */
static long flag[ROUNDS][MAX_STEPS];

static int me, npes;

/* The map of a PE in a round: v -> factor * v + offset. */
static void own_map(int round, int pe, long map[2])
{
    map[0] = 2 + (17L * pe + 5L * round) % 1000;
    map[1] = (31L * pe * pe + round + 1) % PRIME;
}

/* map = map after below */
static void compose(long map[2], const long below[2])
{
    map[1] = (map[0] * below[1] + map[1]) % PRIME;
    map[0] = map[0] * below[0] % PRIME;
}

static void receive(int round, int step)
{
    if (round % 2 == 0)
        shmem_long_wait(&flag[round][step], 0);
    else
        shmem_long_wait_until(&flag[round][step], _SHMEM_CMP_EQ, round + 1);
}

static void scan(int round, long map[2])
{
    int step, distance;
    for (step = 0, distance = 1; distance < npes; step++, distance *= 2) {
        if (me + distance < npes) {
            shmem_long_put(inbox[round][step], map, 2, me + distance);
            shmem_fence();
            shmem_long_p(&flag[round][step], round + 1, me + distance);
        }
        if (me >= distance) {
            receive(round, step);
            shmem_clear_cache_inv();
            compose(map, inbox[round][step]);
        }
    }
}

int main(void)
{
    int round, pe, wrong = 0;
    start_pes(0);
    me = _my_pe();
    npes = _num_pes();
    if (npes > 1L << MAX_STEPS) {
        fprintf(stderr, "scan: for at most %ld PEs\n", 1L << MAX_STEPS);
        return 1;
    }
    /* No barrier between the rounds: each round has its own flags. */
    for (round = 0; round < ROUNDS; round++) {
        long map[2], serial[2] = {1, 0};
        own_map(round, me, map);
        scan(round, map);
        for (pe = 0; pe <= me; pe++) {
            long next[2];
            own_map(round, pe, next);
            compose(next, serial);
            serial[0] = next[0];
            serial[1] = next[1];
        }
        wrong += map[0] != serial[0] || map[1] != serial[1];
    }
    if (wrong != 0)
        fprintf(stderr, "scan: PE %d of %d: %d wrong\n", me, npes, wrong);
    return wrong != 0;
}
