/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * counters.c - barriers, last barriers of teams and collectives without a barrier, in a
 * library whose counters begin near 2^31 or 2^32 (counters_start.h, counters.sh):
 *
 *     counters SEED
 *
 * No PE leaves a barrier before all have entered it.  One PE after the other is late.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "include/shmem.h"

enum {
    TEAMS = 12,    /* teams, one after the other, */
    BARRIERS = 12, /* and of each up to so many barriers or broadcasts */
    LARGE = 20000, /* elements of a broadcast that advances the epoch over nodes */
    LATE_NS = 300000,
};

/* Of each PE: the number of the last barrier that it has entered. */
static long entered;
static long source[LARGE], dest[LARGE];
static long number;
static unsigned long state;

static unsigned long counters_random(unsigned long below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
}

static void counters_enter(void)
{
    const struct timespec late = {.tv_nsec = LATE_NS};

    number++;
    if (number % shmem_n_pes() == shmem_my_pe())
        nanosleep(&late, NULL);
    shmem_long_atomic_set(&entered, number, shmem_my_pe());
}

static void counters_left(const char *what)
{
    for (int pe = 0; pe < shmem_n_pes(); pe++) {
        long seen = shmem_long_atomic_fetch(&entered, pe);
        if (seen >= number)
            continue;
        fprintf(stderr, "PE %d left %s %ld before PE %d, at %ld, had entered it\n",
                shmem_my_pe(), what, number, pe, seen);
        shmem_global_exit(1);
    }
}

static void counters_broadcast(shmem_team_t team, int root)
{
    size_t n = counters_random(2) == 0 ? LARGE : 10;

    shmem_long_broadcast(team, dest, source, n, root);
    if (dest[n - 1] == (long)n - 1 + root)
        return;
    fprintf(stderr, "PE %d: broadcast of %zu elements from PE %d: %ld\n", shmem_my_pe(),
            n, root, dest[n - 1]);
    shmem_global_exit(1);
}

static void counters_reduce(shmem_team_t team)
{
    static long one = 1, sum;

    shmem_long_sum_reduce(team, &sum, &one, 1);
    if (sum == shmem_n_pes())
        return;
    fprintf(stderr, "PE %d: a sum is %ld\n", shmem_my_pe(), sum);
    shmem_global_exit(1);
}

/* The PEs make the same random choices. */
static void counters_team(void)
{
    shmem_team_t team;
    int calls = (int)counters_random(BARRIERS), kind = (int)counters_random(3);

    shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, shmem_n_pes(), NULL, 0, &team);
    for (int k = 0; k < calls; k++) {
        if (kind == 0) {
            counters_enter();
            shmem_team_sync(team);
            counters_left("barrier");
        } else if (kind == 1) {
            counters_broadcast(team, k % shmem_n_pes());
        } else {
            counters_reduce(team);
        }
    }
    counters_enter();
    shmem_team_sync(team);
    counters_left("the barrier after calls without one,");
    counters_enter();
    shmem_team_destroy(team);
    counters_left("the last barrier of a team,");
}

int main(int argc, char **argv)
{
    shmem_init();
    state = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    for (int e = 0; e < LARGE; e++)
        source[e] = e + shmem_my_pe();
    shmem_barrier_all();
    for (int k = 0; k < TEAMS; k++)
        counters_team();
    shmem_finalize();
    return EXIT_SUCCESS;
}
