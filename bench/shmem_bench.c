/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shmem_bench.c - measures an OpenSHMEM library; prints lines `name size value unit`.
 *   oshrun -n 2 shmem_bench [-t seconds per point] [-lno] [-z sizes] [name...]
 * A name is a prefix of the name of a benchmark or a group; -n: only the rows of
 * bench/net; -z: only these sizes, with commas between them; -o: only the rows of
 * bandwidth, with target and source 0, 8, 16 and 48 bytes behind a cache line, and the
 * offsets (TARGET,SOURCE) as a fifth column.  One-sided operations are
 * between PE 0 and PE 1 (-n: the last PE); barriers are of all PEs.  Values are medians
 * over short batches, of which there are fewer if one iteration takes longer than the
 * time for a point.
 */
#include "bench.h"

#include <sched.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    BATCHES = 9,
    BATCHES_SLOW = 3,
    ITERATIONS_MAX = 1 << 28,
    SPINS_BEFORE_YIELD = 2000
};

static char **names;      /* requested; none = all */
static const char *sizes; /* requested; NULL: all */
static bool listing;
static long *iterations; /* symmetric: PE 0 puts it to all PEs */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#if defined(__x86_64__)
static void cpu_pause(void)
{
    __builtin_ia32_pause();
}
#else
static void cpu_pause(void)
{
    bench_barrier();
}
#endif

void bench_relax(long spins)
{
    cpu_pause();
    if (spins >= SPINS_BEFORE_YIELD)
        sched_yield();
}

static bool wanted(const char *name)
{
    bool yes = *names == NULL;
    for (char **n = names; !yes && *n != NULL; n++)
        yes = strncmp(*n, name, strlen(*n)) == 0;
    return yes;
}

static bool wanted_size(size_t size)
{
    bool yes = sizes == NULL;
    for (const char *s = sizes; !yes && s != NULL; s = strchr(s, ',')) {
        s += *s == ',';
        yes = strtoull(s, NULL, 10) == size;
    }
    return yes;
}

/* One batch on all PEs; the time is PE 0's. */
static double batch(struct bench *b, bench_body body, long n)
{
    if (b->me == 0)
        for (int pe = 0; pe < b->npes; pe++)
            shmem_long_p(iterations, n, pe);
    shmem_barrier_all();
    n = *iterations;
    double start = now();
    body(b, n);
    double seconds = now() - start;
    shmem_barrier_all();
    return seconds;
}

/* Doubles the iterations until a batch takes its share of the time.  PE 0 decides; 0
 * iterations mean that it has decided, -1 that there are few batches, too. */
static long calibrate(struct bench *b, bench_body body, int *batches)
{
    double share = b->seconds / BATCHES;
    long n = 1;
    bool more = true;
    while (more) {
        double seconds = batch(b, body, n);
        more = seconds < share && n < ITERATIONS_MAX;
        long next = seconds > share / 16 && seconds > 0
                        ? (long)((double)n * share / seconds) + 1
                        : n * 8;
        next = next < ITERATIONS_MAX ? next : ITERATIONS_MAX;
        long decided = seconds > b->seconds ? -1 : 0;
        if (b->me == 0)
            for (int pe = 0; pe < b->npes; pe++)
                shmem_long_p(iterations, more ? next : decided, pe);
        shmem_barrier_all();
        more = *iterations > 0;
        n = more ? *iterations : n;
        *batches = *iterations < 0 ? BATCHES_SLOW : BATCHES;
        shmem_barrier_all();
    }
    return n;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Seconds for one iteration, in the unit of the row. */
static double convert(const struct bench_row *row, double seconds, size_t size)
{
    if (strcmp(row->unit, "GB/s") == 0)
        return (double)size / seconds * 1e-9;
    if (strcmp(row->unit, "MB/s") == 0)
        return (double)size / seconds * 1e-6;
    if (strcmp(row->unit, "M/s") == 0)
        return 1e-6 / seconds;
    return seconds * (strcmp(row->unit, "us") == 0 ? 1e6 : 1e9);
}

/* The column of option -o, and the end of the line */
static void print_offsets(const struct bench *b)
{
    if (b->offsets)
        printf(" %zu,%zu", b->dest_at, b->source_at);
    printf("\n");
    fflush(stdout);
}

static void print_point(const struct bench *b, const struct bench_row *row,
                        double seconds)
{
    double value = convert(row, seconds, b->size);
    printf("%s %zu %.*f %s", row->name, b->size, value < 10 ? 3 : 2, value, row->unit);
    print_offsets(b);
}

/* Copies pointers to the requested rows to chosen; returns their number. */
static size_t choose(const char *group, const struct bench_row *rows, size_t n,
                     const struct bench_row **chosen)
{
    size_t chosen_n = 0;
    for (size_t i = 0; i < n; i++)
        if (wanted(rows[i].name) || wanted(group))
            chosen[chosen_n++] = &rows[i];
    return chosen_n;
}

static void measure(struct bench *b, const struct bench_row **row, size_t n)
{
    static double seconds[BENCH_ROWS_MAX][BATCHES];
    long count[BENCH_ROWS_MAX];
    int batches[BENCH_ROWS_MAX];
    for (size_t k = 0; k < n; k++)
        count[k] = calibrate(b, row[k]->body, &batches[k]);
    for (int i = 0; i < BATCHES; i++)
        for (size_t k = 0; k < n; k++)
            if (i < batches[k])
                seconds[k][i] =
                    batch(b, row[k]->body, count[k]) / ((double)count[k] * row[k]->per);
    for (size_t k = 0; b->me == 0 && k < n; k++) {
        qsort(seconds[k], (size_t)batches[k], sizeof(seconds[k][0]), compare);
        print_point(b, row[k], seconds[k][batches[k] / 2]);
    }
}

void bench_points(struct bench *b, const char *group, const struct bench_row *rows,
                  size_t n, size_t size)
{
    const struct bench_row *chosen[BENCH_ROWS_MAX];
    n = wanted_size(size) ? choose(group, rows, n, chosen) : 0;
    b->size = size;
    if (!listing)
        measure(b, chosen, n);
    for (size_t i = 0; listing && b->me == 0 && i < n; i++) {
        printf("%s %zu %s", chosen[i]->name, size, chosen[i]->unit);
        print_offsets(b);
    }
}

static void out_of_memory(void)
{
    fprintf(stderr, "shmem_bench: no symmetric memory for the buffers; "
                    "set SHMEM_SYMMETRIC_SIZE to 64M or more\n");
    shmem_global_exit(1);
}

/* Whether shmem_ptr gives a pointer to the memory of every PE. */
static bool all_mapped(const struct bench *b)
{
    for (int pe = 0; pe < b->npes; pe++)
        if (shmem_ptr(b->dest, pe) == NULL || shmem_ptr(b->word, pe) == NULL)
            return false;
    return true;
}

static void open_bench(struct bench *b)
{
    b->me = shmem_my_pe();
    b->npes = shmem_n_pes();
    b->peer = b->npes > 1 ? 1 : 0;
    iterations = shmem_malloc(sizeof(*iterations));
    b->dest = shmem_align(4096, BENCH_SIZE_MAX + BENCH_LINE);
    b->source = shmem_align(4096, BENCH_SIZE_MAX + BENCH_LINE);
    b->word = shmem_align(BENCH_LINE, (size_t)WORDS * BENCH_LINE);
    if (iterations == NULL || b->dest == NULL || b->source == NULL || b->word == NULL)
        out_of_memory();
    memset(b->dest, 0, BENCH_SIZE_MAX + BENCH_LINE);
    memset(b->source, 1, BENCH_SIZE_MAX + BENCH_LINE);
    memset(b->word, 0, (size_t)WORDS * BENCH_LINE);
    int other = b->me == 0 ? b->peer : 0;
    b->mapped = shmem_ptr(b->dest, other);
    b->mapped_word = shmem_ptr(b->word, other);
    if (!all_mapped(b)) { /* equal on all PEs, so that they measure the same rows */
        b->mapped = b->dest;
        b->mapped_word = NULL;
        if (b->me == 0)
            printf("# shmem_ptr returns NULL: memcpy is within one PE, "
                   "raw figures are left out\n");
    }
}

static void close_bench(struct bench *b)
{
    shmem_barrier_all();
    shmem_free(b->word);
    shmem_free(b->source);
    shmem_free(b->dest);
    shmem_free(iterations);
}

static void run_node(struct bench *b)
{
    bench_rma(b);
    bench_amo(b);
    bench_busy(b);
    bench_sync(b);
    bench_signal(b);
    bench_bandwidth(b);
}

/* Decimal numbers with commas between them */
static bool sizes_are_valid(const char *s)
{
    for (; *s >= '0' && *s <= '9'; s++) {
        s += strspn(s, "0123456789");
        if (*s != ',')
            return *s == '\0';
    }
    return false;
}

static void usage(const char *name, int status)
{
    fprintf(status == 0 ? stdout : stderr,
            "usage: %s [-t seconds per point] [-lno] [-z size,..] [name...]\n"
            "  -l lists the benchmarks; -n: those of bench/net; -z: only these sizes in "
            "bytes;\n"
            "  -o: bandwidth with target and source 0, 8, 16, 48 bytes behind a cache "
            "line;\n"
            "  a name is a prefix of the name of a benchmark or a group\n",
            name);
    exit(status);
}

int main(int argc, char **argv)
{
    struct bench b = {.seconds = 0.05};
    void (*run)(struct bench *) = run_node;
    int option;
    while ((option = getopt(argc, argv, "hlnot:z:")) != -1) {
        if (option == 't')
            b.seconds = atof(optarg);
        else if (option == 'l')
            listing = true;
        else if (option == 'n')
            run = bench_network;
        else if (option == 'o')
            b.offsets = true, run = bench_bandwidth;
        else if (option == 'z')
            sizes = optarg;
        else
            usage(argv[0], option == 'h' ? 0 : 2);
    }
    names = argv + optind;
    if (sizes != NULL && !sizes_are_valid(sizes)) {
        fprintf(stderr, "shmem_bench: -z %s: not a list of sizes such as 8192,32768\n",
                sizes);
        return 2;
    }

    shmem_init();
    open_bench(&b);
    if (b.me == 0)
        printf("# name size value unit; %d PEs on %ld processors, median of at most %d "
               "batches\n",
               b.npes, sysconf(_SC_NPROCESSORS_ONLN), (int)BATCHES);
    run(&b);
    close_bench(&b);
    shmem_finalize();
    return 0;
}
