/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scale.c - the cost of each collective on many nodes:
 *   scale [nodes ..]     (default 64 256 1024 4096)
 * Runs the library on simulated nodes of one PE each, with messages of equal latency and
 * without a limit of bandwidth, and prints for each collective and algorithm the rounds
 * (time from the first entry to the last return, in latencies) and, of the leader with
 * the most, messages, bytes and peers, each beside the formula.  Checks the results and
 * the formulas; exit status 1 if one is wrong.
 */
#include "config.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "include/shmem.h"
#include "pgas/core/base/os.h"
#include "pgas/coll/select/select.h"
#include "tests/sim/job.h"

#define LATENCY_NS                                                                       \
    UINT64_C(1000000) /* much longer than the yields that add up (os.c)                  \
                       */
#define TURN_NS (UINT64_C(100000) * LATENCY_NS) /* between two measurements */

enum { ROOT = 1, ELEMENTS_MOST = 512 };

/* ---- the collectives -------------------------------------------------------------- */

struct arrays {
    long *source, *dest;
    int me, n, elements; /* elements: of a PE, or of a pair in an alltoall */
};

static void run_barrier(const struct arrays *a)
{
    (void)a;
    shmem_sync_all();
}

static void run_broadcast(const struct arrays *a)
{
    shmem_long_broadcast(SHMEM_TEAM_WORLD, a->dest, a->source, (size_t)a->elements, ROOT);
}

static void run_collect(const struct arrays *a)
{
    shmem_long_collect(SHMEM_TEAM_WORLD, a->dest, a->source, (size_t)a->elements);
}

static void run_fcollect(const struct arrays *a)
{
    shmem_long_fcollect(SHMEM_TEAM_WORLD, a->dest, a->source, (size_t)a->elements);
}

static void run_alltoall(const struct arrays *a)
{
    shmem_long_alltoall(SHMEM_TEAM_WORLD, a->dest, a->source, (size_t)a->elements);
}

static void run_reduce(const struct arrays *a)
{
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, a->dest, a->source, (size_t)a->elements);
}

static void run_scan(const struct arrays *a)
{
    shmem_long_sum_inscan(SHMEM_TEAM_WORLD, a->dest, a->source, (size_t)a->elements);
}

/* Element e of PE pe. */
static long value(int pe, int e)
{
    return (long)pe * 31 + e;
}

static bool right_nothing(const struct arrays *a)
{
    (void)a;
    return true;
}

static bool right_broadcast(const struct arrays *a)
{
    bool right = true;

    for (int e = 0; e < a->elements; e++)
        right &= a->dest[e] == value(ROOT, e);
    return right;
}

static bool right_collect(const struct arrays *a)
{
    bool right = true;

    for (int e = 0; e < a->n * a->elements; e++)
        right &= a->dest[e] == value(e / a->elements, e % a->elements);
    return right;
}

static bool right_alltoall(const struct arrays *a)
{
    bool right = true;

    for (int e = 0; e < a->n * a->elements; e++)
        right &=
            a->dest[e] == value(e / a->elements, a->me * a->elements + e % a->elements);
    return right;
}

/* The sum of the first n PEs. */
static bool right_sum(const struct arrays *a, long n)
{
    long sum = 31 * n * (n - 1) / 2;
    bool right = true;

    for (int e = 0; e < a->elements; e++)
        right &= a->dest[e] == sum + n * e;
    return right;
}

static bool right_reduce(const struct arrays *a)
{
    return right_sum(a, a->n);
}

static bool right_scan(const struct arrays *a)
{
    return right_sum(a, a->me + 1);
}

/* ---- formulas: of N nodes; 0 = not checked ----------------------------------------- */

typedef double (*formula)(double n);

static double log_n(double n)
{
    return ceil(log2(n));
}

static double two_log_n(double n)
{
    return 2 * log_n(n);
}

static double others(double n)
{
    return n - 1;
}

static double others_and_log_n(double n)
{
    return n - 1 + log_n(n);
}

static double others_and_two_log_n(double n)
{
    return n - 1 + 2 * log_n(n);
}

static double two_others(double n)
{
    return 2 * (n - 1);
}

static double two_others_and_log_n(double n)
{
    return 2 * (n - 1) + log_n(n);
}

static double two_n(double n)
{
    return 2 * n;
}

static double n_and_log_n(double n)
{
    return n + log_n(n);
}

static double one_and_log_n(double n)
{
    return 1 + log_n(n);
}

static double one(double n)
{
    (void)n;
    return 1;
}

static double two(double n)
{
    (void)n;
    return 2;
}

/* Of a row: a limit of the measured value. */
struct limit {
    formula of;
    const char *text;
};

struct row {
    const char *collective, *variable, *algorithm;
    void (*run)(const struct arrays *a);
    bool (*right)(const struct arrays *a);
    int elements, nodes_most; /* nodes_most: 0 = any */
    struct limit rounds, messages, peers;
};

/* clang-format off */
#define L     {log_n, "log N"}
#define L2    {two_log_n, "2 log N"}
#define N1    {others, "N-1"}
#define N1_L  {others_and_log_n, "N-1 + log N"}
#define N1_L2 {others_and_two_log_n, "N-1 + 2 log N"}
#define N2    {two_others, "2(N-1)"}
#define N2_L  {two_others_and_log_n, "2(N-1) + log N"}
#define NN    {two_n, "2 N"}
#define N_L   {n_and_log_n, "N + log N"}
#define C1_L  {one_and_log_n, "1 + log N"}
#define C1    {one, "1"}
#define C2    {two, "2"}
/* clang-format on */

static const struct row rows[] = {
#include "tests/sim/scale.def"
};
enum { ROWS = sizeof rows / sizeof rows[0] };

/* ---- a measurement ---------------------------------------------------------------- */

struct measured {
    const struct row *row;
    uint64_t rounds_ns;
    struct sim_traffic most; /* of a leader */
    bool wrong;
};

static void sleep_to(uint64_t ns)
{
    if (ns > sim_now_ns())
        os_sleep(ns - sim_now_ns());
}

static void most_of(struct sim_traffic *most, struct sim_traffic t)
{
    most->operations = t.operations > most->operations ? t.operations : most->operations;
    most->bytes = t.bytes > most->bytes ? t.bytes : most->bytes;
    most->peers = t.peers > most->peers ? t.peers : most->peers;
}

/* The body of each PE.  A first call, as it may connect or allocate; then a barrier,
 * which returns all buffers, a time when all messages have arrived, and the measured
 * call. */
static void measure(void *arg)
{
    struct measured *m = arg;
    int n = shmem_n_pes(), me = shmem_my_pe();
    size_t bytes = (size_t)n * (size_t)m->row->elements * sizeof(long);
    struct arrays a = {shmem_malloc(bytes), shmem_malloc(bytes), me, n, m->row->elements};
    struct sim *sim = job_sim();

    for (int e = 0; e < n * m->row->elements; e++)
        a.source[e] = value(me, e);
    m->row->run(&a);
    shmem_barrier_all();
    memset(a.dest, 0, bytes);
    sleep_to(TURN_NS);
    if (me == 0)
        sim_traffic_reset(sim);
    sleep_to(TURN_NS + LATENCY_NS);
    m->row->run(&a);
    uint64_t ns = sim_now_ns() - (TURN_NS + LATENCY_NS);
    m->rounds_ns = ns > m->rounds_ns ? ns : m->rounds_ns;
    if (!m->row->right(&a))
        m->wrong = true;
    sleep_to(2 * TURN_NS);
    most_of(&m->most, sim_traffic(sim, me));
    sleep_to(2 * TURN_NS + LATENCY_NS);
}

static bool within(double got, const struct limit *limit, double nodes)
{
    return limit->of == NULL || got <= limit->of(nodes) + 0.5;
}

static void print_cell(double got, const struct limit *limit, double nodes)
{
    if (limit->of == NULL)
        printf(" %8.0f   %6s   %-14s", got, "", "");
    else
        printf(" %8.0f %6.0f = %-14s", got, limit->of(nodes), limit->text);
}

static bool measure_row(const struct row *row, int nodes)
{
    struct measured m = {.row = row};
    const struct job_config c = {.nodes = nodes,
                                 .pes_per_node = 1,
                                 .seed = 1,
                                 .latency_ns = LATENCY_NS,
                                 .limit_ns = 10 * TURN_NS,
                                 .body = measure,
                                 .arg = &m};

    if (row->variable != NULL)
        setenv(row->variable, row->algorithm, 1);
    struct job_result r = job_run(&c);
    if (row->variable != NULL)
        unsetenv(row->variable);
    double rounds = (double)m.rounds_ns / (double)LATENCY_NS;
    bool right = r.end == JOB_DONE && !m.wrong;
    bool fits = within(rounds, &row->rounds, nodes) &&
                within((double)m.most.operations, &row->messages, nodes) &&
                within(m.most.peers, &row->peers, nodes);
    printf("%6d %-10s %-14s", nodes, row->collective, row->algorithm);
    print_cell(rounds, &row->rounds, nodes);
    print_cell((double)m.most.operations, &row->messages, nodes);
    print_cell(m.most.peers, &row->peers, nodes);
    printf(" %10llu  %s\n", (unsigned long long)m.most.bytes,
           !right ? "WRONG RESULT"
           : fits ? "right"
                  : "MORE THAN THE FORMULA");
    fflush(stdout);
    return right && fits;
}

static void set_environment(int nodes)
{
    char size[32];

    setenv("SHMEM_ISA", "baseline", 1);
    setenv("SHMEM_SPIN_NS", "0", 1);
    setenv("SHMEM_YIELD_NS", "0", 1);
    setenv("SHMEM_SLEEP_NS", "1000000000000", 1);
    setenv("SHMEM_NET_TIMEOUT", "0", 1);
    snprintf(size, sizeof size, "%d",
             (1 << 20) + 3 * nodes * ELEMENTS_MOST * (int)sizeof(long));
    setenv("SHMEM_SYMMETRIC_SIZE", size, 1);
}

/* Two descriptors per PE. */
static void raise_descriptors(void)
{
    struct rlimit r;

    getrlimit(RLIMIT_NOFILE, &r);
    r.rlim_cur = r.rlim_max;
    setrlimit(RLIMIT_NOFILE, &r);
}

static bool measure_all(int nodes)
{
    bool right = true;

    set_environment(nodes);
    for (int i = 0; i < ROWS; i++)
        if (rows[i].nodes_most == 0 || nodes <= rows[i].nodes_most)
            right = measure_row(&rows[i], nodes) && right;
    return right;
}

int main(int argc, char **argv)
{
    static const int default_nodes[] = {64, 256, 1024, 4096};
    bool right = true;

    raise_descriptors();
    printf("%6s %-10s %-14s %8s %8s %-8s %8s %8s %-8s %8s %8s %-8s %10s\n", "nodes",
           "collective", "algorithm", "rounds", "formula", "", "messages", "formula", "",
           "peers", "formula", "", "bytes");
    for (int i = 1; i < argc; i++)
        right = measure_all(atoi(argv[i])) && right;
    for (int i = 0; argc == 1 && i < 4; i++)
        right = measure_all(default_nodes[i]) && right;
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
