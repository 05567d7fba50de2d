/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tune_pe.c - the PEs of oshmem_info --tune: measure each algorithm of each collective,
 * on several nodes each algorithm of the inter-node phases.
 *
 * For each collective and size the algorithms alternate, so that noise affects all of
 * them alike.  A turn is a batch of calls with a barrier before each; its time is the
 * mean over calls and PEs of the time in the call.
 * Uses: tune, coll/select, core/clock, core/progress/net, shmem.h.  Used by: main.
 */
#include "config.h"

#include <math.h>
#include <shmem.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/base/clock.h"
#include "pgas/core/base/pgas.h"
#include "pgas/core/progress/net.h"
#include "tools/oshmem_info/tune.h"

enum {
    ROUNDS_MAX = 16,
    CALLS_MAX = 2000,
    CALLS_MIN = 2,
    TRIES = 4,
    INTERRUPTED = 16,
    WARM_UP = 200
};
#define MEMORY_MAX ((size_t)512 << 20) /* for the results of all PEs */
#define SETTLED    4                   /* warm-up calls in each try */

static const size_t quick_sizes[] = {8, 256, 2048, 16 << 10, 128 << 10, 1 << 20};
static const size_t sizes[] = {8,       32,       128,       512,       2048,
                               8 << 10, 32 << 10, 128 << 10, 512 << 10, 2 << 20};

static struct {
    const size_t *size;
    size_t sizes;
    int rounds;
    double batch_ns;
} how;

static int me, npes, nodes;
static char *dest, *src; /* symmetric */
static double *times;    /* of all PEs, on PE 0; symmetric */
static long *calls;      /* number of calls in a batch; symmetric */

/* ---- the collectives ------------------------------------------------------------- */

static void tune_pe_run_reduce(size_t bytes)
{
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, (double *)(void *)dest,
                            (double *)(void *)src, bytes / sizeof(double));
}

static void tune_pe_run_broadcast(size_t bytes)
{
    shmem_broadcastmem(SHMEM_TEAM_WORLD, dest, src, bytes, 0);
}

static void tune_pe_run_collect(size_t bytes)
{
    shmem_collectmem(SHMEM_TEAM_WORLD, dest, src, bytes);
}

static void tune_pe_run_fcollect(size_t bytes)
{
    shmem_fcollectmem(SHMEM_TEAM_WORLD, dest, src, bytes);
}

static void tune_pe_run_alltoall(size_t bytes)
{
    shmem_alltoallmem(SHMEM_TEAM_WORLD, dest, src, bytes);
}

static void tune_pe_run_scan(size_t bytes)
{
    shmem_double_sum_inscan(SHMEM_TEAM_WORLD, (double *)(void *)dest,
                            (double *)(void *)src, bytes / sizeof(double));
}

static void tune_pe_run_barrier(size_t bytes)
{
    (void)bytes;
    shmem_sync(SHMEM_TEAM_WORLD);
}

/* A collective without a row is not tuned; an inter-node phase has that of the collective
 * that is called for it. */
static const struct {
    void (*run)(size_t bytes);
    bool gathers; /* each PE receives the blocks of all PEs */
    bool deals;   /* each PE sends a block to every PE */
    bool once;    /* it transfers no data: one size */
} kinds[SELECT_ALL + 1] = {
    [SELECT_REDUCE] = {.run = tune_pe_run_reduce},
    [SELECT_BROADCAST] = {.run = tune_pe_run_broadcast},
    [SELECT_COLLECT] = {.run = tune_pe_run_collect, .gathers = true},
    [SELECT_FCOLLECT] = {.run = tune_pe_run_fcollect, .gathers = true},
    [SELECT_ALLTOALL] = {.run = tune_pe_run_alltoall, .gathers = true, .deals = true},
    [SELECT_SCAN] = {.run = tune_pe_run_scan},
    [SELECT_BARRIER] = {.run = tune_pe_run_barrier, .once = true},
};

/* Bytes of a PE's result. */
static size_t tune_pe_result_bytes(enum select_collective what, size_t bytes)
{
    return kinds[tune_call_of(what)].gathers ? bytes * (size_t)npes : bytes;
}

static bool tune_pe_feasible(enum select_collective what, size_t bytes)
{
    enum select_collective call = tune_call_of(what);

    return tune_is_internode(what) == (nodes > 1) && kinds[call].run != NULL &&
           (!kinds[call].once || bytes == how.size[0]) &&
           tune_pe_result_bytes(what, bytes) <= MEMORY_MAX / (size_t)npes;
}

/* ---- time ------------------------------------------------------------------------ */

static int tune_pe_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The mean of the times, which it sorts.  Between nodes, a call that takes many times the
 * median was interrupted by another process, unless the PEs themselves share processors:
 * the median stands for it.  The mean includes what a protocol does in every 128th call
 * only. */
static double tune_pe_mean(double *t, long n)
{
    bool cut = nodes > 1 && !pgas_self.oversubscribed;
    double sum = 0;

    qsort(t, (size_t)n, sizeof *t, tune_pe_compare);
    for (long i = 0; i < n; i++)
        sum += cut && t[i] > INTERRUPTED * t[n / 2] ? t[n / 2] : t[i];
    return sum / (double)n;
}

/* The times of the calls of a turn, alone and with the barrier before. */
static double alone[CALLS_MAX], with_barrier[CALLS_MAX];

static void tune_pe_turn(enum select_collective what, size_t bytes, long n)
{
    void (*run)(size_t) = kinds[tune_call_of(what)].run;
    uint64_t begin = clock_ns();

    for (long i = 0; i < n; i++) {
        shmem_barrier_all();
        uint64_t at = clock_ns();
        run(bytes);
        uint64_t end = clock_ns();
        alone[i] = (double)(end - at);
        with_barrier[i] = (double)(end - begin);
        begin = end;
    }
    shmem_barrier_all();
}

/* The mean time of a call in a turn, as the mean of all PEs; on PE 0. */
static double tune_pe_measure(enum select_collective what, size_t bytes, long n)
{
    double sum = 0;

    tune_pe_turn(what, bytes, n);
    shmem_double_p(&times[me], tune_pe_mean(alone, n), 0);
    shmem_barrier_all();
    for (int pe = 0; me == 0 && pe < npes; pe++)
        sum += times[pe];
    shmem_barrier_all();
    return sum / npes;
}

/* Number of calls in a batch, which PE 0 determines.  An interruption must not make it
 * small, since the batches would be sensitive to further ones. */
static long tune_pe_calls_for(enum select_collective what, size_t bytes)
{
    double ns = INFINITY;

    for (int i = 0; i < TRIES; i++) {
        tune_pe_turn(what, bytes, SETTLED);
        qsort(with_barrier, SETTLED, sizeof *with_barrier, tune_pe_compare);
        double median = with_barrier[(SETTLED - 1) / 2];
        ns = median < ns ? median : ns;
    }
    double fit = how.batch_ns / (ns > 1 ? ns : 1);
    long n = fit > CALLS_MAX ? CALLS_MAX : fit < CALLS_MIN ? CALLS_MIN : (long)fit;
    for (int pe = 0; me == 0 && pe < npes; pe++)
        shmem_long_p(calls, n, pe);
    shmem_barrier_all();
    return *calls;
}

static double tune_pe_median(const double *ns)
{
    double sorted[ROUNDS_MAX];

    memcpy(sorted, ns, sizeof sorted);
    qsort(sorted, (size_t)how.rounds, sizeof sorted[0], tune_pe_compare);
    return sorted[how.rounds / 2];
}

/* ---- a point --------------------------------------------------------------------- */

static double ns[SELECT_ALGORITHMS_ALL][ROUNDS_MAX];

static bool tune_pe_takes_part(int a, enum select_collective what, size_t bytes)
{
    return select_info((enum select_algorithm)a)->what == what &&
           tune_usable((enum select_algorithm)a, bytes, npes, nodes);
}

static void tune_pe_print(enum select_collective what, size_t bytes,
                          enum select_algorithm builtin)
{
    for (int a = 0; a < SELECT_ALGORITHMS_ALL; a++) {
        int better = 0;
        if (!tune_pe_takes_part(a, what, bytes))
            continue;
        for (int round = 0; round < how.rounds; round++)
            better += ns[a][round] * TUNE_BETTER <= ns[builtin][round];
        printf(TUNE_LINE_PRINT, a, bytes, tune_pe_median(ns[a]), better, how.rounds,
               a == (int)builtin);
    }
    fflush(stdout);
}

static enum select_algorithm tune_pe_builtin_choice(enum select_collective what,
                                                    size_t bytes)
{
    struct select_case c = {.npes = npes,
                            .nodes = nodes,
                            .oversubscribed = pgas_self.oversubscribed,
                            .caches = select_world_has_caches(),
                            .first = SELECT_ALGORITHMS_ALL};
    struct select_choice plan[SELECT_CHOICES], *at = plan;
    bool cut;

    select_choose(what, &c, plan, &cut);
    for (size_t n = tune_by_bytes(what) ? bytes : 0; n > at->most;)
        at++;
    return (enum select_algorithm)at->algorithm;
}

static void tune_pe_point(enum select_collective what, size_t bytes)
{
    long n[SELECT_ALGORITHMS_ALL];

    for (int round = -1; round < how.rounds; round++)
        for (int a = 0; a < SELECT_ALGORITHMS_ALL; a++) {
            if (!tune_pe_takes_part(a, what, bytes))
                continue;
            select_force(what, (enum select_algorithm)a);
            if (round < 0)
                n[a] = tune_pe_calls_for(what, bytes);
            else
                ns[a][round] = tune_pe_measure(what, bytes, n[a]);
        }
    select_force(what, SELECT_ALGORITHMS_ALL);
    if (me == 0)
        tune_pe_print(what, bytes, tune_pe_builtin_choice(what, bytes));
}

static int tune_pe_count_algorithms(enum select_collective what, size_t bytes)
{
    int n = 0;

    for (int a = 0; a < SELECT_ALGORITHMS_ALL; a++)
        n += tune_pe_takes_part(a, what, bytes);
    return n;
}

/* ---- all ------------------------------------------------------------------------- */

static void *tune_pe_need(size_t bytes)
{
    void *p = shmem_malloc(bytes);

    if (p == NULL) {
        fprintf(stderr, "oshmem_info: no symmetric memory for %zu bytes\n", bytes);
        shmem_global_exit(1);
    }
    memset(p, 0, bytes);
    return p;
}

static void tune_pe_open_buffers(void)
{
    size_t most = 0, sent = how.size[how.sizes - 1];

    for (int what = 0; what < SELECT_ALL; what++)
        for (size_t i = 0; i < how.sizes; i++)
            if (tune_pe_feasible((enum select_collective)what, how.size[i])) {
                size_t bytes =
                    tune_pe_result_bytes((enum select_collective)what, how.size[i]);
                most = bytes > most ? bytes : most;
                if (kinds[tune_call_of((enum select_collective)what)].deals &&
                    bytes > sent)
                    sent = bytes;
            }
    dest = tune_pe_need(most);
    src = tune_pe_need(sent);
    times = tune_pe_need((size_t)npes * sizeof *times);
    calls = tune_pe_need(sizeof *calls);
}

static void tune_pe_choose_how(const char *name)
{
    bool quick = strcmp(name, TUNE_QUICK) == 0;

    how.size = quick ? quick_sizes : sizes;
    how.sizes = quick ? sizeof quick_sizes / sizeof quick_sizes[0]
                      : sizeof sizes / sizeof sizes[0];
    how.rounds = quick ? 7 : 11;
    how.batch_ns = quick ? 5e5 : 4e6;
}

/* One table is for nodes of one machine type. */
static void tune_pe_describe_job(void)
{
    char *machines = tune_pe_need((size_t)npes * SELECT_MACHINE_MAX);
    char mine[SELECT_MACHINE_MAX] = "";

    select_machine(pgas_self.node->cpus, mine, sizeof mine);
    shmem_barrier_all(); /* PE 0 has cleared the memory */
    shmem_putmem(machines + (size_t)me * SELECT_MACHINE_MAX, mine, sizeof mine, 0);
    shmem_barrier_all();
    if (me != 0)
        return;
    for (int pe = 0; pe < npes; pe++) {
        const char *other = machines + (size_t)pe * SELECT_MACHINE_MAX;
        if (strcmp(mine, other) == 0)
            continue;
        fprintf(stderr,
                "oshmem_info: --tune: the node of PE 0 is a machine '%s', but that of "
                "PE %d is '%s'; a table is for one type of machine, so choose nodes of "
                "one type\n",
                mine, pe, other);
        shmem_global_exit(1);
    }
    printf(TUNE_LINE_JOB_PRINT, pgas_self.node->cpus, pgas_self.nnodes);
    printf(TUNE_LINE_MACHINE "%s\n", mine);
    printf(TUNE_LINE_NETWORK "%s\n", net_text());
}

static void tune_pe_measure_all(void)
{
    tune_pe_open_buffers();
    for (int i = 0; i < WARM_UP; i++) /* opens the connections */
        shmem_barrier_all();
    for (int what = 0; what < SELECT_ALL; what++)
        for (size_t i = 0; i < how.sizes; i++)
            if (tune_pe_feasible((enum select_collective)what, how.size[i]) &&
                tune_pe_count_algorithms((enum select_collective)what, how.size[i]) > 1)
                tune_pe_point((enum select_collective)what, how.size[i]);
}

int tune_pe_main(const char *name)
{
    tune_pe_choose_how(name);
    shmem_init();
    me = shmem_my_pe();
    npes = shmem_n_pes();
    nodes = (int)pgas_self.nnodes;
    tune_pe_describe_job();
    if (strcmp(name, TUNE_PROBE) != 0)
        tune_pe_measure_all();
    shmem_finalize();
    return 0;
}
