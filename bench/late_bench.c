/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * late_bench.c - reductions over several nodes in which PEs arrive late: the algorithms
 * between nodes in alternating calls of one job, so that other load affects all alike.
 *   oshrun --vnodes 3 -n 3 bench/late_bench [-c CALLS] [-i MIF] [-o] [-s SIZE,..]
 *                                           [ALGORITHM..]
 * CALLS calls of each algorithm (40), auto and chain by default.  Each call follows a
 * barrier; then each PE sleeps for a random time, up to MIF times alpha (0), the time of
 * one message of that size; with -o a random PE sleeps for that time, and no other.  In a
 * turn of all algorithms the delays are the same.
 * Output: per size and algorithm the quartiles of the times from the last arrival to the
 * last exit, us (all PEs have one clock), and the median of their ratios to those of the
 * first algorithm in the same turn.
 */
#include "config.h"

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pgas/coll/select/select.h"

enum { ALGORITHMS_MAX = 8, BYTES_MAX = 1 << 24, WARM = 3, PINGS = 40 };

static int me, npes, calls = 40, nalgorithms;
static double mif;
static bool one_late;
static const char *names[ALGORITHMS_MAX];
static double *to, *from, *stamps; /* symmetric */
static uint64_t *flag;             /* symmetric */

static double now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void sleep_us(double us)
{
    struct timespec t = {(time_t)(us / 1e6), 0};

    t.tv_nsec = (long)((us - (double)t.tv_sec * 1e6) * 1e3);
    if (us > 0)
        nanosleep(&t, NULL);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static _Noreturn void wrong(const char *what)
{
    fprintf(stderr,
            "late_bench: %s\n"
            "usage: late_bench [-c CALLS] [-i MIF] [-o] [-s SIZE,..] [ALGORITHM..]\n",
            what);
    shmem_global_exit(2);
    exit(2);
}

static void force(const char *name)
{
    enum select_algorithm a = select_algorithm_of(SELECT_INTERNODE_REDUCE, name);

    if (a == SELECT_ALGORITHMS_ALL && strcmp(name, "auto") != 0)
        wrong("an ALGORITHM is auto or one of SHMEM_INTERNODE_REDUCE_ALGORITHM");
    select_force(SELECT_INTERNODE_REDUCE, a);
}

/* Half of the fastest round trip between the first and the last PE. */
static double measure_alpha(size_t bytes)
{
    double times[PINGS];
    int other = me == 0 ? npes - 1 : 0;

    *flag = 0;
    shmem_barrier_all();
    for (uint64_t k = 0; k < PINGS && (me == 0 || me == npes - 1); k++) {
        double begin = now_us();
        if (me == 0)
            shmem_putmem_signal(to, from, bytes, flag, k + 1, SHMEM_SIGNAL_SET, other);
        shmem_signal_wait_until(flag, SHMEM_CMP_GE, k + 1);
        if (me != 0)
            shmem_putmem_signal(to, from, bytes, flag, k + 1, SHMEM_SIGNAL_SET, other);
        times[k] = (now_us() - begin) / 2;
    }
    if (me == 0) {
        qsort(times, PINGS, sizeof *times, compare_doubles);
        stamps[0] = times[0];
    }
    shmem_barrier_all();
    return shmem_double_g(stamps, 0);
}

/* Up to `most`; the same in all calls of a turn. */
static double delay_of(int turn, double most)
{
    unsigned seed = (unsigned)turn * 7919 + 13;
    int late = rand_r(&seed) % npes;
    double part = 0;

    for (int pe = 0; pe <= me; pe++)
        part = (double)rand_r(&seed) / RAND_MAX;
    return most * (one_late ? me == late : part);
}

/* Microseconds from the last arrival to the last exit. */
static double measure(size_t bytes, double delay)
{
    double last = 0, end = 0;

    shmem_barrier_all();
    sleep_us(delay);
    stamps[0] = now_us();
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, to, from, bytes / sizeof(double));
    stamps[1] = now_us();
    shmem_double_fcollect(SHMEM_TEAM_WORLD, stamps + 2, stamps, 2);
    for (int pe = 1; pe <= npes; pe++) {
        last = stamps[2 * pe] > last ? stamps[2 * pe] : last;
        end = stamps[2 * pe + 1] > end ? stamps[2 * pe + 1] : end;
    }
    return end - last;
}

static void print(size_t bytes, int a, double *us, const double *first)
{
    double *ratio = malloc((size_t)calls * sizeof *ratio);

    for (int k = 0; k < calls; k++)
        ratio[k] = us[k] / first[k];
    qsort(ratio, (size_t)calls, sizeof *ratio, compare_doubles);
    qsort(us, (size_t)calls, sizeof *us, compare_doubles); /* the first one last */
    printf("%-10s %9zu %9.1f %9.1f %9.1f us, ratio %.2f\n", names[a], bytes,
           us[calls / 4], us[calls / 2], us[3 * calls / 4], ratio[calls / 2]);
    free(ratio);
}

static void run(size_t bytes)
{
    double alpha = measure_alpha(bytes), *us[ALGORITHMS_MAX];

    for (int a = 0; a < nalgorithms; a++)
        us[a] = malloc((size_t)calls * sizeof **us);
    for (int turn = -WARM; turn < calls; turn++)
        for (int k = 0; k < nalgorithms; k++) {
            int a = turn % 2 == 0 ? k : nalgorithms - 1 - k;
            force(names[a]);
            double t = measure(bytes, delay_of(turn, mif * alpha));
            if (turn >= 0)
                us[a][turn] = t;
        }
    if (me == 0)
        printf("# %zu bytes: alpha %.1f us, MIF %g%s\n", bytes, alpha, mif,
               one_late ? ", one PE late" : "");
    for (int a = nalgorithms - 1; a >= 0 && me == 0; a--)
        print(bytes, a, us[a], us[0]);
    for (int a = 0; a < nalgorithms; a++)
        free(us[a]);
}

static size_t next_size(char **text)
{
    size_t bytes = strtoul(*text, text, 10);

    if (**text == 'K' || **text == 'M')
        bytes <<= *(*text)++ == 'K' ? 10 : 20;
    if (bytes == 0 || bytes % sizeof(double) != 0 || bytes > BYTES_MAX ||
        (**text != '\0' && *(*text)++ != ','))
        wrong("sizes should be multiples of 8 up to 16M, like 8,64K,1M");
    return bytes;
}

/* Returns the sizes. */
static char *parse(int argc, char **argv)
{
    static char all[] = "8,1K,64K,1M";
    char *sizes = all;
    int option;

    while ((option = getopt(argc, argv, "c:i:os:")) != -1) {
        if (option == 'c')
            calls = atoi(optarg);
        else if (option == 'i')
            mif = atof(optarg);
        else if (option == 'o')
            one_late = true;
        else if (option == 's')
            sizes = optarg;
        else
            wrong("unknown option or missing value");
    }
    if (calls < 1 || !(mif >= 0 && mif <= 1e6))
        wrong("CALLS should be at least 1, and MIF 0 to 1000000");
    if (argc - optind > ALGORITHMS_MAX)
        wrong("too many algorithms");
    for (; optind < argc; optind++)
        names[nalgorithms++] = argv[optind];
    if (nalgorithms == 0)
        names[nalgorithms++] = "auto", names[nalgorithms++] = "chain";
    return sizes;
}

static void *need(size_t bytes)
{
    void *p = shmem_calloc(1, bytes);

    if (p == NULL)
        wrong("too little symmetric memory (SHMEM_SYMMETRIC_SIZE)");
    return p;
}

int main(int argc, char **argv)
{
    shmem_init();
    me = shmem_my_pe(), npes = shmem_n_pes();
    char *sizes = parse(argc, argv);

    if (npes < 2)
        wrong("needs two PEs");
    to = need(BYTES_MAX);
    from = need(BYTES_MAX);
    stamps = need(((size_t)npes + 1) * 2 * sizeof *stamps);
    flag = need(sizeof *flag);
    while (*sizes != '\0')
        run(next_size(&sizes));
    shmem_finalize();
    return 0;
}
