/* SPDX-License-Identifier: BSD-3-Clause */
/* sort.c - parallel sample sort: samples of all keys choose a range for each PE, each key
 * is put into the inbox of its PE (space is reserved with fetch_add), then all sort.
 *   oshrun -n 4 ./sort [keys per PE] */
#include <inttypes.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEYS = 100000, SAMPLES = 64 };
static long received;                 /* keys in my inbox */
static uint64_t sums[4], all_sums[4]; /* count and sum of the keys, before and after */
static int wrong, wrong_anywhere;

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}
/* The PE for a key; the range of PE p begins at samples[p * SAMPLES]. */
static int range_of(uint64_t key, const uint64_t *samples, int npes)
{
    int pe = 0;
    while (pe + 1 < npes && key >= samples[(pe + 1) * SAMPLES])
        pe++;
    return pe;
}

/* Send the sorted keys in one put for each PE. */
static void exchange(const uint64_t *key, long n, uint64_t *inbox,
                     const uint64_t *samples)
{
    for (long i = 0, end; i < n; i = end) {
        int pe = range_of(key[i], samples, shmem_n_pes());
        for (end = i + 1; end < n && range_of(key[end], samples, shmem_n_pes()) == pe;)
            end++;
        long at = shmem_atomic_fetch_add(&received, end - i, pe);
        shmem_uint64_put(inbox + at, key + i, (size_t)(end - i), pe);
    }
}

int main(int argc, char **argv)
{
    shmem_init();
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : KEYS;
    int me = shmem_my_pe(), npes = shmem_n_pes();
    uint64_t *key = calloc((size_t)n + 1, sizeof(*key));
    uint64_t *samples = shmem_malloc((size_t)npes * SAMPLES * sizeof(*samples));
    uint64_t *inbox = shmem_malloc(((size_t)npes * (size_t)n + 1) * sizeof(*inbox));
    if (key == NULL || samples == NULL || inbox == NULL)
        shmem_global_exit(1);
    srandom((unsigned)me + 1);
    for (long i = 0; i < n; i++)
        sums[1] += key[i] = ((uint64_t)random() << 31 ^ (uint64_t)random()) % 1000000007;
    sums[0] = (uint64_t)n;
    for (int i = 0; i < SAMPLES; i++)
        for (int pe = 0; pe < npes; pe++)
            shmem_uint64_p(&samples[me * SAMPLES + i], key[n * i / SAMPLES], pe);
    shmem_barrier_all();
    qsort(samples, (size_t)npes * SAMPLES, sizeof(*samples), compare);
    qsort(key, (size_t)n, sizeof(*key), compare);
    exchange(key, n, inbox, samples);
    shmem_barrier_all();
    qsort(inbox, (size_t)received, sizeof(*inbox), compare);

    /* Verify: keys in order, none outside this PE's range, none lost or added. */
    for (long i = 0; i < received; i++) {
        wrong |= i > 0 && inbox[i - 1] > inbox[i];
        wrong |= range_of(inbox[i], samples, npes) != me;
        sums[3] += inbox[i];
    }
    sums[2] = (uint64_t)received;
    shmem_uint64_sum_reduce(SHMEM_TEAM_WORLD, all_sums, sums, 4);
    wrong |= all_sums[0] != all_sums[2] || all_sums[1] != all_sums[3];
    shmem_int_max_reduce(SHMEM_TEAM_WORLD, &wrong_anywhere, &wrong, 1);
    if (me == 0)
        printf("sort: %" PRIu64 " keys on %d PEs, %s\n", all_sums[0], npes,
               wrong_anywhere ? "WRONG" : "in order and complete");
    shmem_finalize();
    return wrong_anywhere;
}
