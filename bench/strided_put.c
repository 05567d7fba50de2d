/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strided_put.c - bandwidth of iput and iget of doubles between two PEs, beside a
 * contiguous put of the same bytes and one put per element.
 *
 *   oshrun -n 2 --vnodes 2 bench/strided_put [-q] [STRIDE...]
 *
 * A line for each stride and number of elements: microseconds of iput and quiet, of iget,
 * of a contiguous put and quiet, of a loop of single puts and quiet (up to SINGLE_MAX
 * elements), and the ratios of the bandwidths of iput and iget to that of the contiguous
 * put.  Each figure is the
 * median of RUNS batches.  -q: one batch, and up to SINGLE_MAX elements; to test the
 * program. Uses: shmem.h only.
 */
#include <math.h>
#include <shmem.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    RUNS = 9,
    ELEMENTS_MAX = 65536,
    STRIDE_MAX = 16,
    SINGLE_MAX = 1024,
    BATCH_BYTES = 4 << 20
};

enum way { WAY_IPUT, WAY_IGET, WAY_PUT, WAY_SINGLE, WAYS };

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void transfer(enum way way, double *remote, double *local, size_t n,
                     ptrdiff_t stride)
{
    if (way == WAY_IPUT)
        shmem_double_iput(remote, local, stride, stride, n, 1);
    else if (way == WAY_IGET)
        shmem_double_iget(local, remote, stride, stride, n, 1);
    else if (way == WAY_PUT)
        shmem_double_put(remote, local, n, 1);
    else
        for (size_t i = 0; i < n; i++)
            shmem_double_p(remote + (ptrdiff_t)i * stride, local[i], 1);
    shmem_quiet();
}

static double median_us(enum way way, double *remote, double *local, size_t n,
                        ptrdiff_t stride, int runs)
{
    size_t limit = way == WAY_SINGLE ? 1 : 200, times = BATCH_BYTES / (n * 8);
    double us[RUNS];

    times = times < limit ? times : limit;
    for (int r = -1; r < runs; r++) {
        double start = now_us();
        for (size_t i = 0; i < times; i++)
            transfer(way, remote, local, n, stride);
        if (r >= 0)
            us[r] = (now_us() - start) / (double)times;
    }
    qsort(us, (size_t)runs, sizeof us[0], compare);
    return us[runs / 2];
}

int main(int argc, char **argv)
{
    static const char *const defaults[] = {"2", "16"};
    bool quick = argc > 1 && strcmp(argv[1], "-q") == 0;
    int first = quick ? 2 : 1, n = argc > first ? argc - first : 2;
    const char *const *strides =
        argc > first ? (const char *const *)argv + first : defaults;
    size_t most = quick ? SINGLE_MAX : ELEMENTS_MAX;

    shmem_init();
    size_t len = (size_t)ELEMENTS_MAX * STRIDE_MAX;
    double *remote = shmem_calloc(len, sizeof *remote);
    double *local = calloc(len, sizeof *local);
    if (remote == NULL || local == NULL)
        shmem_global_exit(1);
    if (shmem_my_pe() == 0)
        printf("%6s %8s %10s %10s %10s %10s %6s %6s\n", "stride", "doubles", "iput us",
               "iget us", "put us", "single us", "iput/", "iget/");
    for (int i = 0; shmem_my_pe() == 0 && i < n; i++) {
        ptrdiff_t stride = strtol(strides[i], NULL, 10);
        for (size_t count = 16; count <= most; count *= 4) {
            double us[WAYS];
            for (enum way w = WAY_IPUT; w < WAYS; w++)
                us[w] =
                    w == WAY_SINGLE && count > SINGLE_MAX
                        ? NAN
                        : median_us(w, remote, local, count, stride, quick ? 1 : RUNS);
            printf("%6td %8zu %10.1f %10.1f %10.1f %10.1f %6.2f %6.2f\n", stride, count,
                   us[WAY_IPUT], us[WAY_IGET], us[WAY_PUT], us[WAY_SINGLE],
                   us[WAY_PUT] / us[WAY_IPUT], us[WAY_PUT] / us[WAY_IGET]);
            fflush(stdout);
        }
    }
    shmem_barrier_all();
    shmem_free(remote);
    free(local);
    shmem_finalize();
    return 0;
}
