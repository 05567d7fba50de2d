/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tune_pe.c - the PEs of oshmem_info --tune: measure each algorithm of each collective.
 *
 * For each collective and size the algorithms take turns, so that what disturbs the
 * machine disturbs all of them.  A turn is a batch of calls with a barrier before each;
 * its time is the mean over calls and PEs of the time in the call.
 * Uses: tune, coll/pick, core/clock, shmem.h.  Used by: main.
 */
#include "config.h"

#include <shmem.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/clock.h"
#include "pgas/core/pgas.h"
#include "tools/oshmem_info/tune.h"

enum { ROUNDS_MAX = 16, CALLS_MAX = 2000, CALLS_MIN = 2 };
#define MEMORY_MAX ((size_t)512 << 20) /* for the results of all PEs */
#define SETTLED    2                   /* calls before the time of a call is taken */

static const size_t quick_sizes[] = {8, 256, 2048, 16 << 10, 128 << 10, 1 << 20};
static const size_t sizes[] = {8,       32,       128,       512,       2048,
                               8 << 10, 32 << 10, 128 << 10, 512 << 10, 2 << 20};

static struct {
    const size_t *size;
    size_t sizes;
    int rounds;
    double batch_ns;
} how;

static int me, npes;
static char *dest, *src; /* symmetric */
static double *times;    /* of all PEs, on PE 0; symmetric */
static long *calls;      /* how many a batch has; symmetric */

/* ---- the collectives ------------------------------------------------------------- */

static void run_reduce(size_t bytes)
{
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, (double *)(void *)dest,
                            (double *)(void *)src, bytes / sizeof(double));
}

static void run_broadcast(size_t bytes)
{
    shmem_broadcastmem(SHMEM_TEAM_WORLD, dest, src, bytes, 0);
}

static void run_collect(size_t bytes)
{
    shmem_collectmem(SHMEM_TEAM_WORLD, dest, src, bytes);
}

static void run_fcollect(size_t bytes)
{
    shmem_fcollectmem(SHMEM_TEAM_WORLD, dest, src, bytes);
}

static void run_alltoall(size_t bytes)
{
    shmem_alltoallmem(SHMEM_TEAM_WORLD, dest, src, bytes);
}

static void run_scan(size_t bytes)
{
    shmem_double_sum_inscan(SHMEM_TEAM_WORLD, (double *)(void *)dest,
                            (double *)(void *)src, bytes / sizeof(double));
}

static void run_barrier(size_t bytes)
{
    (void)bytes;
    shmem_sync(SHMEM_TEAM_WORLD);
}

/* A collective without a row is not tuned. */
static const struct {
    void (*run)(size_t bytes);
    bool gathers; /* each PE gets the bytes of all */
    bool deals;   /* a PE has as many bytes for each PE */
    bool once;    /* it has no bytes */
} kinds[PICK_ALL] = {
    [PICK_REDUCE] = {.run = run_reduce},
    [PICK_BROADCAST] = {.run = run_broadcast},
    [PICK_COLLECT] = {.run = run_collect, .gathers = true},
    [PICK_FCOLLECT] = {.run = run_fcollect, .gathers = true},
    [PICK_ALLTOALL] = {.run = run_alltoall, .gathers = true, .deals = true},
    [PICK_SCAN] = {.run = run_scan},
    [PICK_BARRIER] = {.run = run_barrier, .once = true},
};

/* Bytes of a PE's result. */
static size_t result_bytes(enum pick_collective what, size_t bytes)
{
    return kinds[what].gathers ? bytes * (size_t)npes : bytes;
}

static bool feasible(enum pick_collective what, size_t bytes)
{
    return kinds[what].run != NULL && (!kinds[what].once || bytes == how.size[0]) &&
           result_bytes(what, bytes) <= MEMORY_MAX / (size_t)npes;
}

/* ---- time ------------------------------------------------------------------------ */

/* The mean time of a call on this PE, and, with the barriers, that of a turn. */
static double turn(enum pick_collective what, size_t bytes, long n, double *with_barriers)
{
    uint64_t begin = clock_ns(), in = 0;

    for (long i = 0; i < n; i++) {
        shmem_barrier_all();
        uint64_t at = clock_ns();
        kinds[what].run(bytes);
        in += clock_ns() - at;
    }
    shmem_barrier_all();
    *with_barriers = (double)(clock_ns() - begin) / (double)n;
    return (double)in / (double)n;
}

/* The same, as the mean of all PEs; on PE 0. */
static double measure(enum pick_collective what, size_t bytes, long n)
{
    double sum = 0, with_barriers;

    shmem_double_p(&times[me], turn(what, bytes, n, &with_barriers), 0);
    shmem_barrier_all();
    for (int pe = 0; me == 0 && pe < npes; pe++)
        sum += times[pe];
    shmem_barrier_all();
    return sum / npes;
}

/* How many calls make a batch: PE 0 says so. */
static long calls_for(enum pick_collective what, size_t bytes)
{
    double ns;

    turn(what, bytes, SETTLED, &ns);
    turn(what, bytes, SETTLED, &ns);
    double fit = how.batch_ns / (ns > 1 ? ns : 1);
    long n = fit > CALLS_MAX ? CALLS_MAX : fit < CALLS_MIN ? CALLS_MIN : (long)fit;
    for (int pe = 0; me == 0 && pe < npes; pe++)
        shmem_long_p(calls, n, pe);
    shmem_barrier_all();
    return *calls;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(const double *ns)
{
    double sorted[ROUNDS_MAX];

    memcpy(sorted, ns, sizeof sorted);
    qsort(sorted, (size_t)how.rounds, sizeof sorted[0], compare);
    return sorted[how.rounds / 2];
}

/* ---- a point --------------------------------------------------------------------- */

static double ns[PICK_ALGORITHMS_ALL][ROUNDS_MAX];

static bool takes_part(int a, enum pick_collective what, size_t bytes)
{
    return pick_info((enum pick_algorithm)a)->what == what &&
           tune_usable((enum pick_algorithm)a, bytes, npes);
}

static void print(enum pick_collective what, size_t bytes, enum pick_algorithm builtin)
{
    for (int a = 0; a < PICK_ALGORITHMS_ALL; a++) {
        int better = 0;
        if (!takes_part(a, what, bytes))
            continue;
        for (int round = 0; round < how.rounds; round++)
            better += ns[a][round] * TUNE_BETTER <= ns[builtin][round];
        printf(TUNE_LINE_PRINT, a, bytes, median(ns[a]), better, how.rounds,
               a == (int)builtin);
    }
    fflush(stdout);
}

static enum pick_algorithm builtin_choice(enum pick_collective what, size_t bytes)
{
    struct pick_case c = {.npes = npes,
                          .nodes = 1,
                          .crowded = pgas_self.oversubscribed,
                          .first = PICK_ALGORITHMS_ALL};
    struct team_choice plan[TEAM_CHOICES], *at = plan;
    bool cut;

    pick_choose(what, &c, plan, &cut);
    for (size_t n = tune_by_bytes(what) ? bytes : 0; n > at->most;)
        at++;
    return (enum pick_algorithm)at->algorithm;
}

static void point(enum pick_collective what, size_t bytes)
{
    long n[PICK_ALGORITHMS_ALL];

    for (int round = -1; round < how.rounds; round++)
        for (int a = 0; a < PICK_ALGORITHMS_ALL; a++) {
            if (!takes_part(a, what, bytes))
                continue;
            pick_force(what, (enum pick_algorithm)a);
            if (round < 0)
                n[a] = calls_for(what, bytes);
            else
                ns[a][round] = measure(what, bytes, n[a]);
        }
    pick_force(what, PICK_ALGORITHMS_ALL);
    if (me == 0)
        print(what, bytes, builtin_choice(what, bytes));
}

static int count_algorithms(enum pick_collective what, size_t bytes)
{
    int n = 0;

    for (int a = 0; a < PICK_ALGORITHMS_ALL; a++)
        n += takes_part(a, what, bytes);
    return n;
}

/* ---- all ------------------------------------------------------------------------- */

static void *need(size_t bytes)
{
    void *p = shmem_malloc(bytes);

    if (p == NULL) {
        fprintf(stderr, "oshmem_info: no symmetric memory for %zu bytes\n", bytes);
        shmem_global_exit(1);
    }
    memset(p, 0, bytes);
    return p;
}

static void open_buffers(void)
{
    size_t most = 0, sent = how.size[how.sizes - 1];

    for (int what = 0; what < PICK_ALL; what++)
        for (size_t i = 0; i < how.sizes; i++)
            if (feasible((enum pick_collective)what, how.size[i])) {
                size_t bytes = result_bytes((enum pick_collective)what, how.size[i]);
                most = bytes > most ? bytes : most;
                if (kinds[what].deals && bytes > sent)
                    sent = bytes;
            }
    dest = need(most);
    src = need(sent);
    times = need((size_t)npes * sizeof *times);
    calls = need(sizeof *calls);
}

static void choose_how(const char *name)
{
    bool quick = strcmp(name, TUNE_QUICK) == 0;

    how.size = quick ? quick_sizes : sizes;
    how.sizes = quick ? sizeof quick_sizes / sizeof quick_sizes[0]
                      : sizeof sizes / sizeof sizes[0];
    how.rounds = quick ? 7 : 11;
    how.batch_ns = quick ? 5e5 : 4e6;
}

int tune_pe_main(const char *name)
{
    choose_how(name);
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    if (pgas_self.nnodes > 1) {
        fputs("oshmem_info: the job that measures is on several nodes\n", stderr);
        shmem_global_exit(1);
    }
    open_buffers();
    if (me == 0)
        printf(TUNE_LINE_CPUS_PRINT, pgas_self.node->cpus);
    for (int what = 0; what < PICK_ALL; what++)
        for (size_t i = 0; i < how.sizes; i++)
            if (feasible((enum pick_collective)what, how.size[i]) &&
                count_algorithms((enum pick_collective)what, how.size[i]) > 1)
                point((enum pick_collective)what, how.size[i]);
    shmem_finalize();
    return 0;
}
