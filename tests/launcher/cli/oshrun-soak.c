/* SPDX-License-Identifier: BSD-3-Clause */
/* oshrun-soak.c - a short job for oshrun-soak.sh: puts around a ring and collectives,
 * with verified results, and PEs that compute for longer than the interval of heartbeats.
 */
#include <shmem.h>
#include <stdio.h>
#include <time.h>

enum { ROUNDS = 20, COMPUTE_MS = 100 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(void)
{
    static long from, sum, one = 1;

    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    long wrong = 0;
    for (long i = 1; i <= ROUNDS; i++) {
        for (double end = now_ms() + (double)COMPUTE_MS / ROUNDS; now_ms() < end;)
            ;
        shmem_long_p(&from, i, (me + 1) % npes);
        shmem_barrier_all();
        wrong += from != i;
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &one, 1);
        wrong += sum != npes;
        shmem_barrier_all();
    }
    if (wrong != 0)
        fprintf(stderr, "PE %d: %ld wrong values\n", me, wrong);
    shmem_finalize();
    return wrong != 0;
}
