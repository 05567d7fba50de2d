/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * isx.c - bucket sort of integers, after U. Hanebutte and J. Hemstad, "ISx: A Scalable
 * Integer Sort for Co-design in the Exascale Era", PGAS 2015.  Each PE owns one range of
 * keys.  It reserves space at the owner of each range with one fetch-and-add and puts its
 * keys there; then it counts the keys that it received.  Checked against a count of all
 * PEs' keys.
 */
#include <mpp/shmem.h>
#include <stdio.h>
#include <stdlib.h>

#define KEYS_PER_PE 6000
#define MAX_KEY     4096
#define ITERATIONS  3

static long long received; /* number of keys reserved in bucket; the senders add to it */
static long pSync[_SHMEM_REDUCE_SYNC_SIZE];
static long long pWrk[_SHMEM_REDUCE_MIN_WRKDATA_SIZE];
static long long total, total_all;

static int me, npes;

/* The linear congruential generator of POSIX's drand48, as keys. */
static unsigned long long next_state(unsigned long long x)
{
    return (x * 25214903917ULL + 11) & ((1ULL << 48) - 1);
}

static void make_keys(int *keys, int pe, int iteration)
{
    unsigned long long x = (unsigned long long)(330 + pe * 7919 + iteration * 104729);
    int i;
    for (i = 0; i < KEYS_PER_PE; i++) {
        x = next_state(x);
        keys[i] = (int)((x >> 20) % MAX_KEY);
    }
}

static int first_key(int pe)
{
    return (int)((long)MAX_KEY * pe / npes);
}

static int owner_of(int key)
{
    int pe = (int)((long)key * npes / MAX_KEY);
    while (first_key(pe + 1) <= key)
        pe++;
    while (first_key(pe) > key)
        pe--;
    return pe;
}

/* Order the keys by owner; start[pe] .. start[pe + 1] are those of pe. */
static void bucketize(const int *keys, int *ordered, int *start)
{
    int *fill = calloc((size_t)npes, sizeof(int));
    int i, pe;
    for (pe = 0; pe <= npes; pe++)
        start[pe] = 0;
    for (i = 0; i < KEYS_PER_PE; i++)
        start[owner_of(keys[i]) + 1]++;
    for (pe = 0; pe < npes; pe++)
        start[pe + 1] += start[pe];
    for (i = 0; i < KEYS_PER_PE; i++) {
        pe = owner_of(keys[i]);
        ordered[start[pe] + fill[pe]++] = keys[i];
    }
    free(fill);
}

/* All-to-all exchange by puts, starting at the right neighbour to spread the load. */
static void exchange(const int *ordered, const int *start, int *bucket)
{
    int i;
    for (i = 1; i <= npes; i++) {
        int pe = (me + i) % npes;
        int n = start[pe + 1] - start[pe];
        long long at = shmem_longlong_fadd(&received, n, pe);
        shmem_int_put(&bucket[at], &ordered[start[pe]], (size_t)n, pe);
    }
    shmem_barrier_all();
}

/* The number of errors: keys out of range, and keys whose count differs from that of all
 * PEs' input. */
static int verify(const int *bucket, int iteration)
{
    int *keys = malloc(KEYS_PER_PE * sizeof(int));
    long *count = calloc(MAX_KEY, sizeof(long));
    int i, pe, wrong = 0;
    for (i = 0; i < received; i++) {
        wrong += bucket[i] < first_key(me) || bucket[i] >= first_key(me + 1);
        count[bucket[i]]++;
    }
    for (pe = 0; pe < npes; pe++) {
        make_keys(keys, pe, iteration);
        for (i = 0; i < KEYS_PER_PE; i++)
            count[keys[i]]--;
    }
    for (i = first_key(me); i < first_key(me + 1); i++)
        wrong += count[i] != 0;
    free(count);
    free(keys);
    total = received;
    shmem_longlong_sum_to_all(&total_all, &total, 1, 0, 0, npes, pWrk, pSync);
    wrong += total_all != (long long)npes * KEYS_PER_PE;
    return wrong;
}

int main(void)
{
    int *keys, *ordered, *start, *bucket, i, wrong = 0;
    start_pes(0);
    me = _my_pe();
    npes = _num_pes();
    for (i = 0; i < _SHMEM_REDUCE_SYNC_SIZE; i++)
        pSync[i] = _SHMEM_SYNC_VALUE;
    keys = malloc(KEYS_PER_PE * sizeof(int));
    ordered = malloc(KEYS_PER_PE * sizeof(int));
    start = malloc((size_t)(npes + 1) * sizeof(int));
    bucket = shmalloc((size_t)npes * KEYS_PER_PE * sizeof(int));
    for (i = 0; i < ITERATIONS; i++) {
        received = 0;
        shmem_barrier_all();
        make_keys(keys, me, i);
        bucketize(keys, ordered, start);
        exchange(ordered, start, bucket);
        wrong += verify(bucket, i);
        shmem_barrier_all();
    }
    if (wrong != 0)
        fprintf(stderr, "isx: PE %d of %d: %d wrong\n", me, npes, wrong);
    shfree(bucket);
    free(start);
    free(ordered);
    free(keys);
    return wrong != 0;
}
