/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scale_node.c - the cost of collectives of small data among the PEs of one node:
 *   scale_node [PEs ..]     (default 64 128 256; more than 16)
 * Runs the library on a simulated node whose PEs have a processor each, in caches of 8
 * PEs and in one cache, with the costs of cache lines of lines.h.  Prints for each
 * algorithm the time from the common entry to the last return, and that of a call in a
 * loop, in transfers within a cache; the transfers within and between caches; and those
 * of the line that has the most.  Checks the results, and that no algorithm takes less
 * time than the one that is chosen; exit status 1 if not.
 */
#include "config.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "include/shmem.h"
#include "pgas/core/base/os.h"
#include "tests/sim/job.h"
#include "tests/sim/lines.h"

#define TURN_NS (UINT64_C(1000000) * LINES_REMOTE_NS) /* between two measurements */

#define SLACK 1.1

enum { ROOT = 3, PES_PER_CACHE = 8, WARM_UP = 2, LOOP = 64 };

struct row {
    const char *collective, *variable, *algorithm;
    int elements, nodes;
};

static const struct row rows[] = {
    {"barrier", "SHMEM_BARRIER_ALGORITHM", "dissemination", 2, 1},
    {"barrier", "SHMEM_BARRIER_ALGORITHM", "counter", 2, 1},
    {"barrier", "SHMEM_BARRIER_ALGORITHM", "tree", 2, 1},
    {"barrier", "SHMEM_BARRIER_ALGORITHM", "auto", 2, 1},
    {"broadcast", "SHMEM_BROADCAST_ALGORITHM", "mailbox", 2, 1},
    {"broadcast", "SHMEM_BROADCAST_ALGORITHM", "mailbox", 256, 1},
    {"broadcast", "SHMEM_BROADCAST_ALGORITHM", "groups", 2, 1},
    {"broadcast", "SHMEM_BROADCAST_ALGORITHM", "groups", 256, 1},
    {"broadcast", "SHMEM_BROADCAST_ALGORITHM", "auto", 2, 1},
    {"reduce", "SHMEM_REDUCE_ALGORITHM", "flat", 2, 1},
    {"reduce", "SHMEM_REDUCE_ALGORITHM", "last", 2, 1},
    {"reduce", "SHMEM_REDUCE_ALGORITHM", "static", 2, 1},
    {"reduce", "SHMEM_REDUCE_ALGORITHM", "groups", 2, 1},
    {"reduce", "SHMEM_REDUCE_ALGORITHM", "auto", 2, 1},
    /* The node phase among the PEs of each node. */
    {"barrier, 2 nodes", "SHMEM_BARRIER_ALGORITHM", "counter", 2, 2},
    {"barrier, 2 nodes", "SHMEM_BARRIER_ALGORITHM", "auto", 2, 2},
    {"reduce, 2 nodes", "SHMEM_REDUCE_ALGORITHM", "last", 2, 2},
    {"reduce, 2 nodes", "SHMEM_REDUCE_ALGORITHM", "auto", 2, 2},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

struct measured {
    const struct row *row;
    uint64_t ns, loop_ns;
    struct lines_count count;
    bool wrong;
};

static void run(const struct row *row, long *dest, const long *source)
{
    if (strncmp(row->collective, "barrier", 7) == 0)
        shmem_sync_all();
    else if (strcmp(row->collective, "broadcast") == 0)
        shmem_long_broadcast(SHMEM_TEAM_WORLD, dest, source, (size_t)row->elements, ROOT);
    else
        shmem_long_sum_reduce(SHMEM_TEAM_WORLD, dest, source, (size_t)row->elements);
}

static bool is_right(const struct row *row, const long *dest)
{
    long n = shmem_n_pes(), sum = n * (n - 1) / 2;
    bool right = true;

    if (strncmp(row->collective, "barrier", 7) == 0)
        return true;
    for (int e = 0; e < row->elements; e++)
        right &= dest[e] == (strncmp(row->collective, "reduce", 6) == 0 ? sum + n * e
                                                                        : (long)ROOT + e);
    return right;
}

static void sleep_to(uint64_t ns)
{
    if (ns > sim_now_ns())
        os_sleep(ns - sim_now_ns());
}

/* The body of each PE: the measured call, which all begin at the same time, follows some
 * others, so that the lines are where a loop of calls leaves them. */
static void measure(void *arg)
{
    struct measured *m = arg;
    int me = shmem_my_pe();
    size_t bytes = (size_t)m->row->elements * sizeof(long);
    long *source = shmem_malloc(bytes), *dest = shmem_malloc(bytes);

    for (int e = 0; e < m->row->elements; e++)
        source[e] = me + e;
    for (int i = 0; i < WARM_UP; i++) {
        run(m->row, dest, source);
        shmem_barrier_all();
    }
    memset(dest, 0, bytes);
    sleep_to(TURN_NS);
    if (me == 0)
        lines_start();
    sleep_to(TURN_NS + LINES_LOCAL_NS);
    run(m->row, dest, source);
    uint64_t ns = sim_now_ns() - (TURN_NS + LINES_LOCAL_NS);
    m->ns = ns > m->ns ? ns : m->ns;
    m->wrong |= !is_right(m->row, dest);
    sleep_to(2 * TURN_NS);
    if (me == 0)
        m->count = lines_counts();
    sleep_to(2 * TURN_NS + LINES_LOCAL_NS);
    for (int i = 0; i < LOOP; i++)
        run(m->row, dest, source);
    ns = (sim_now_ns() - (2 * TURN_NS + LINES_LOCAL_NS)) / LOOP;
    m->loop_ns = ns > m->loop_ns ? ns : m->loop_ns;
    sleep_to(3 * TURN_NS);
    lines_stop();
}

static bool measure_row(const struct row *row, int npes, int pes_per_cache,
                        struct measured *result)
{
    struct measured m = {.row = row};
    const struct job_config c = {.nodes = row->nodes,
                                 .latency_ns = LINES_LOCAL_NS,
                                 .pes_per_node = npes,
                                 .pes_per_cache = pes_per_cache,
                                 .seed = 1,
                                 .limit_ns = 10 * TURN_NS,
                                 .body = measure,
                                 .arg = &m};

    setenv(row->variable, row->algorithm, 1);
    lines_record(pes_per_cache);
    struct job_result r = job_run(&c);
    lines_recorded = false;
    unsetenv(row->variable);
    bool right = r.end == JOB_DONE && !m.wrong;
    *result = m;
    printf("%6d %10d %-16s %-14s %6d %8.1f %8.1f %8lu %8lu %8lu  %s\n", npes,
           pes_per_cache, row->collective, row->algorithm, row->elements * 8,
           (double)m.ns / (double)LINES_LOCAL_NS,
           (double)m.loop_ns / (double)LINES_LOCAL_NS, m.count.local, m.count.remote,
           m.count.most, right ? "right" : "WRONG");
    fflush(stdout);
    return right;
}

/* The algorithm that is chosen (auto, the last row of a collective) must not take longer
 * than the others. */
static bool measure_all(int npes, int pes_per_cache)
{
    bool right = true;
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < ROWS; i++) {
        struct measured m;
        right &= measure_row(&rows[i], npes, pes_per_cache, &m);
        bool chosen = strcmp(rows[i].algorithm, "auto") == 0;
        if (chosen && (double)m.ns > SLACK * (double)least) {
            printf("the algorithm chosen for %s takes longer than another one\n",
                   rows[i].collective);
            right = false;
        }
        least = chosen ? UINT64_MAX : m.ns < least ? m.ns : least;
    }
    return right;
}

int main(int argc, char **argv)
{
    static const int default_pes[] = {64, 128, 256};
    bool right = true;

    setenv("SHMEM_ISA", "baseline", 1);
    setenv("SHMEM_SPIN_NS", "0", 1);
    setenv("SHMEM_YIELD_NS", "0", 1);
    setenv("SHMEM_SLEEP_NS", "1000000000000000", 1);
    setenv("SHMEM_SYMMETRIC_SIZE", "1M", 1);
    printf("%6s %10s %-16s %-14s %6s %8s %8s %8s %8s %8s\n", "PEs", "in a cache",
           "collective", "algorithm", "bytes", "time", "in a loop", "local", "remote",
           "of a line");
    for (int k = 0; k < (argc > 1 ? argc - 1 : 3); k++) {
        int npes = argc > 1 ? atoi(argv[k + 1]) : default_pes[k];
        right &= measure_all(npes, PES_PER_CACHE);
        right &= measure_all(npes, npes);
    }
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
