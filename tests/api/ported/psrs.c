/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * psrs.c - parallel sorting by regular sampling, after H. Shi and J. Schaeffer, 1992.
 * Each PE sorts its part and samples it regularly; all samples are gathered (fcollect),
 * PE 0 chooses the pivots (broadcast); each PE fetches its range from every other PE and
 * sorts it; the ranges, of different lengths, are concatenated (collect).  Checked
 * against a serial sort of all values.
 */
#include <mpp/shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PER_PE 3001

static int me, npes;
static long *mine;    /* symmetric: my part */
static long *samples; /* symmetric: npes of each PE */
static long *pivots;  /* symmetric: npes - 1, and from index npes PE 0's source */
static long *starts;  /* symmetric: where each range begins in my part */
static long sample_sync[_SHMEM_COLLECT_SYNC_SIZE], range_sync[_SHMEM_COLLECT_SYNC_SIZE];
static long pivot_sync[_SHMEM_BCAST_SYNC_SIZE];

static int compare(const void *a, const void *b)
{
    const long *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void sort(long *values, long n)
{
    qsort(values, (size_t)n, sizeof(long), compare);
}

/* Park and Miller's minimal standard generator; uneven distribution, repeated values. */
static void make_values(long *values, int pe)
{
    long x = 1 + pe, i;
    for (i = 0; i < PER_PE; i++) {
        x = x * 16807 % 2147483647;
        values[i] = pe % 2 == 0 ? x % 1000 : x % 100000;
    }
}

/* Returns the number of samples that were gathered wrongly. */
static int choose_pivots(void)
{
    long *regular = shmalloc((size_t)npes * sizeof(long));
    int i, wrong = 0;
    for (i = 0; i < npes; i++)
        regular[i] = mine[(long)PER_PE * i / npes];
    shmem_barrier_all();
    shmem_fcollect64(samples, regular, (size_t)npes, 0, 0, npes, sample_sync);
    for (i = 0; i < npes * npes; i++)
        wrong += samples[i] != shmem_long_g(&regular[i % npes], i / npes);
    if (me == 0) {
        sort(samples, (long)npes * npes);
        for (i = 0; i < npes - 1; i++)
            pivots[i] = pivots[npes + i] = samples[(i + 1) * npes + npes / 2 - 1];
    }
    shmem_broadcast64(pivots, &pivots[npes], (size_t)(npes - 1), 0, 0, 0, npes,
                      pivot_sync);
    shfree(regular);
    return wrong;
}

/* Range i holds the values above pivot i - 1 and not above pivot i. */
static void cut_ranges(void)
{
    long at = 0;
    int i;
    for (i = 0; i < npes; i++) {
        starts[i] = at;
        while (at < PER_PE && (i == npes - 1 || mine[at] <= pivots[i]))
            at++;
    }
    starts[npes] = PER_PE;
    shmem_barrier_all();
}

/* Fetches this PE's range from all PEs; returns the number of values. */
static long fetch_range(long *range)
{
    long n = 0, bounds[2];
    int i;
    for (i = 0; i < npes; i++) {
        int pe = (me + i) % npes;
        shmem_long_get(bounds, &starts[me], 2, pe);
        shmem_get64(&range[n], &mine[bounds[0]], (size_t)(bounds[1] - bounds[0]), pe);
        n += bounds[1] - bounds[0];
    }
    sort(range, n);
    return n;
}

static int is_sorted_input(const long *sorted)
{
    long *serial = malloc((size_t)npes * PER_PE * sizeof(long));
    int pe, same;
    for (pe = 0; pe < npes; pe++)
        make_values(&serial[(long)pe * PER_PE], pe);
    sort(serial, (long)npes * PER_PE);
    same = memcmp(serial, sorted, (size_t)npes * PER_PE * sizeof(long)) == 0;
    free(serial);
    return same;
}

int main(void)
{
    long *range, *sorted, n;
    size_t all;
    int i, wrong;
    start_pes(0);
    me = _my_pe();
    npes = _num_pes();
    all = (size_t)npes * PER_PE;
    for (i = 0; i < _SHMEM_COLLECT_SYNC_SIZE; i++)
        sample_sync[i] = range_sync[i] = _SHMEM_SYNC_VALUE;
    for (i = 0; i < _SHMEM_BCAST_SYNC_SIZE; i++)
        pivot_sync[i] = _SHMEM_SYNC_VALUE;
    mine = shmalloc(PER_PE * sizeof(long));
    samples = shmalloc((size_t)npes * (size_t)npes * sizeof(long));
    pivots = shmalloc(2 * (size_t)npes * sizeof(long));
    starts = shmalloc((size_t)(npes + 1) * sizeof(long));
    range = shmalloc(all * sizeof(long));
    sorted = shmemalign(128, all * sizeof(long));

    make_values(mine, me);
    sort(mine, PER_PE);
    wrong = choose_pivots();
    cut_ranges();
    n = fetch_range(range);
    shmem_collect64(sorted, range, (size_t)n, 0, 0, npes, range_sync);
    wrong += !is_sorted_input(sorted);
    if (wrong != 0)
        fprintf(stderr, "psrs: PE %d of %d: %d wrong\n", me, npes, wrong);
    shfree(sorted);
    shfree(range);
    shfree(starts);
    shfree(pivots);
    shfree(samples);
    shfree(mine);
    return wrong != 0;
}
