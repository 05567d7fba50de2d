/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_cost.c - measures operations in a job without failures, to compare SHMEM_FT=continue
 * with SHMEM_FT=abort.  PE 0 prints "NAME NS" for each operation.
 *   ft_cost NAME=ITERATIONS...    put get amo barrier reduce
 * put, get and amo: 8 bytes by PE 0 on the last PE, each put with shmem_quiet; reduce:
 * sum of one long over all PEs.
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

static const struct {
    const char *name;
    void (*run)(long n, int pe);
    int all; /* all PEs run it */
} operations[] = {{"put", put, 0},
                  {"get", get, 0},
                  {"amo", amo, 0},
                  {"barrier", barrier, 1},
                  {"reduce", reduce, 1}};

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* A tenth first, to warm up. */
static int measure(const char *text)
{
    const char *value = strchr(text, '=');

    for (size_t i = 0; value != NULL && i < sizeof operations / sizeof *operations; i++) {
        size_t len = strlen(operations[i].name);
        long n = atol(value + 1);
        if (strncmp(text, operations[i].name, len) != 0 || text[len] != '=' || n < 1)
            continue;
        int me = shmem_my_pe(), runs = operations[i].all || me == 0;
        if (runs)
            operations[i].run(n / 10 + 1, shmem_n_pes() - 1);
        shmem_barrier_all();
        double start = now_ns();
        if (runs)
            operations[i].run(n, shmem_n_pes() - 1);
        if (me == 0)
            printf("%s %.2f\n", operations[i].name, (now_ns() - start) / (double)n);
        shmem_barrier_all();
        return 0;
    }
    fprintf(stderr, "ft_cost: expected NAME=ITERATIONS, not %s\n", text);
    return 2;
}

int main(int argc, char **argv)
{
    int status = 0;

    shmem_init();
    for (int i = 1; i < argc && status == 0; i++)
        status = measure(argv[i]);
    shmem_finalize();
    return status;
}
