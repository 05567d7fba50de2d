/* SPDX-License-Identifier: BSD-3-Clause */
/* gups.c - random access: every PE xors random words of a table that is distributed over
 * all PEs, with remote atomics.  Each PE then replays the updates of all and compares.
 *   oshrun -n 4 ./gups [updates per PE] */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WORDS = 1 << 16, UPDATES = 100000 }; /* table words and updates of each PE */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint64_t seed_of(int pe)
{
    return 0x9e3779b97f4a7c15u * (uint64_t)(pe + 1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Number of words of this PE that differ from a serial replay of all updates. */
static long count_wrong(const uint64_t *table, long updates, int me, int npes)
{
    uint64_t *model = calloc(WORDS, sizeof(*model));
    if (model == NULL)
        shmem_global_exit(1);
    for (int pe = 0; pe < npes; pe++) {
        uint64_t state = seed_of(pe);
        for (long i = 0; i < updates; i++) {
            uint64_t r = next_random(&state);
            model[r % WORDS] ^= (int)(r / WORDS % (uint64_t)npes) == me ? r : 0;
        }
    }
    long wrong = 0;
    for (int i = 0; i < WORDS; i++)
        wrong += model[i] != table[i];
    free(model);
    return wrong;
}

int main(int argc, char **argv)
{
    long updates = argc > 1 ? strtol(argv[1], NULL, 10) : UPDATES;
    static long wrong, wrong_in_all;

    shmem_init();
    int me = shmem_my_pe(), npes = shmem_n_pes();
    uint64_t *table = shmem_calloc(WORDS, sizeof(*table));
    if (table == NULL)
        shmem_global_exit(1);
    uint64_t state = seed_of(me);

    double start = now();
    for (long i = 0; i < updates; i++) {
        uint64_t r = next_random(&state);
        shmem_atomic_xor(&table[r % WORDS], r, (int)(r / WORDS % (uint64_t)npes));
    }
    shmem_barrier_all(); /* completes the atomics of all PEs */
    double seconds = now() - start;
    wrong = count_wrong(table, updates, me, npes);
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &wrong_in_all, &wrong, 1);
    if (me == 0)
        printf("gups: %ld updates on %d PEs, %.4f GUPS, %ld words wrong\n",
               updates * npes, npes, (double)updates * npes / seconds * 1e-9,
               wrong_in_all);
    shmem_finalize();
    return wrong_in_all != 0;
}
