/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_cost.c - measures operations in a job without failures, to compare SHMEM_FT=continue
 * with SHMEM_FT=abort.  PE 0 prints "NAME MEDIAN FASTEST" for each operation: the time in
 * ns, of the median and of the fastest of 50 batches.
 *   ft_cost NAME=ITERATIONS...    put get amo barrier reduce malloc
 * put, get and amo: 8 bytes by PE 0 on the last PE, each put with shmem_quiet; reduce:
 * sum of one long over all PEs; malloc: shmem_malloc and shmem_free of 100 bytes.
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long word, part, sum;

static void put(long n, int pe)
{
    for (long i = 0; i < n; i++) {
        shmem_long_put(&word, &part, 1, pe);
        shmem_quiet();
    }
}

static void get(long n, int pe)
{
    for (long i = 0; i < n; i++)
        shmem_long_get(&part, &word, 1, pe);
}

static void amo(long n, int pe)
{
    for (long i = 0; i < n; i++)
        part = shmem_long_atomic_fetch_add(&word, 1, pe);
}

static void barrier(long n, int pe)
{
    (void)pe;
    for (long i = 0; i < n; i++)
        shmem_barrier_all();
}

static void reduce(long n, int pe)
{
    (void)pe;
    for (long i = 0; i < n; i++)
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &part, 1);
}

static void allocate(long n, int pe)
{
    (void)pe;
    for (long i = 0; i < n; i++)
        shmem_free(shmem_malloc(100));
}

static const struct {
    const char *name;
    void (*run)(long n, int pe);
    int all; /* all PEs run it */
} operations[] = {{"put", put, 0},       {"get", get, 0},
                  {"amo", amo, 0},       {"barrier", barrier, 1},
                  {"reduce", reduce, 1}, {"malloc", allocate, 1}};

enum { BATCHES = 50 };

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The first batch only warms up. */
static void measure(size_t op, long iterations)
{
    int me = shmem_my_pe(), runs = operations[op].all || me == 0;
    long n = iterations / BATCHES + 1;
    double ns[BATCHES + 1];

    for (int i = 0; i <= BATCHES && runs; i++) {
        double start = now_ns();
        operations[op].run(n, shmem_n_pes() - 1);
        ns[i] = (now_ns() - start) / (double)n;
    }
    shmem_barrier_all();
    if (me != 0)
        return;
    qsort(ns + 1, BATCHES, sizeof *ns, compare);
    printf("%s %.2f %.2f\n", operations[op].name, ns[1 + BATCHES / 2], ns[1]);
}

static int measure_named(const char *text)
{
    const char *value = strchr(text, '=');

    for (size_t i = 0; value != NULL && i < sizeof operations / sizeof *operations; i++) {
        size_t len = strlen(operations[i].name);
        long n = atol(value + 1);
        if (strncmp(text, operations[i].name, len) == 0 && text[len] == '=' && n > 0) {
            measure(i, n);
            return 0;
        }
    }
    fprintf(stderr, "ft_cost: expected NAME=ITERATIONS, not %s\n", text);
    return 2;
}

int main(int argc, char **argv)
{
    int status = 0;

    shmem_init();
    for (int i = 1; i < argc && status == 0; i++)
        status = measure_named(argv[i]);
    shmem_finalize();
    return status;
}
