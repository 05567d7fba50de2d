/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * startup.c - the cost of shmem_init on many nodes:
 *   startup [nodes ..]     (default 64 256 1024 4096)
 * For jobs with 1 and with 4 PEs per node it prints, for the PE with the most, network
 * messages and peers of shmem_init, and per PE the mean of private memory (that of the
 * simulated transport included), the pages of symmetric memory in use, and processor
 * time.  Private memory must be linear in the number of PEs, with at most
 * SLOPE_MAX bytes for each PE of the job: no table of pairs.  Exit status 1 if it is not.
 */
#include "config.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "include/shmem.h"
#include "pgas/core/base/pgas.h"
#include "tests/sim/job.h"

#define TURN_NS UINT64_C(1000000000)

enum { SLOPE_MAX = 48, BLOCK_BYTES = 512 };

struct measured {
    uint64_t messages;
    int peers;
    double private_bytes, symmetric_bytes; /* of all PEs */
};

static double allocated_bytes(void)
{
    struct mallinfo2 m = mallinfo2();

    return (double)m.uordblks + (double)m.hblkhd;
}

static double processor_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void measure(void *arg)
{
    struct measured *m = arg;
    struct sim_traffic t = sim_traffic(job_sim(), shmem_my_pe());
    struct stat heap;

    m->messages = t.operations > m->messages ? t.operations : m->messages;
    m->peers = t.peers > m->peers ? t.peers : m->peers;
    if (fstat(pgas_self.heap_fd, &heap) == 0)
        m->symmetric_bytes += (double)heap.st_blocks * BLOCK_BYTES;
    sim_sleep_ns(TURN_NS); /* until all PEs have arrived */
    if (shmem_my_pe() == 0)
        m->private_bytes = allocated_bytes();
    sim_sleep_ns(TURN_NS);
}

/* Bytes of private memory per PE; negative: the job failed. */
static double measure_job(int nodes, int pes_per_node)
{
    struct measured m = {0};
    const struct job_config c = {.nodes = nodes,
                                 .pes_per_node = pes_per_node,
                                 .seed = 1,
                                 .latency_ns = 1000,
                                 .body = measure,
                                 .arg = &m};
    double npes = (double)nodes * pes_per_node, before = allocated_bytes();
    double began_s = processor_s();
    struct job_result r = job_run(&c);
    double s = processor_s() - began_s, each = (m.private_bytes - before) / npes;

    if (r.end != JOB_DONE) {
        printf("%d nodes of %d PEs: the job has failed\n", nodes, pes_per_node);
        return -1;
    }
    printf("%6d %5d %9llu %6d %13.0f %15.0f %9.1f\n", nodes, pes_per_node,
           (unsigned long long)m.messages, m.peers, each, m.symmetric_bytes / npes,
           s * 1e6 / npes);
    fflush(stdout);
    return each;
}

/* Jobs of these numbers of nodes, in ascending order. */
static bool measure_all(const int *nodes, int n, int pes_per_node)
{
    double last = 0;
    bool right = true;

    for (int i = 0; i < n; i++) {
        double each = measure_job(nodes[i], pes_per_node);
        double more = i > 0 ? (double)(nodes[i] - nodes[i - 1]) * pes_per_node : 1;
        bool linear = i == 0 || (each - last) / more <= SLOPE_MAX;
        if (!linear)
            printf("FAIL: %.0f bytes more for each PE of the job, more than %d\n",
                   (each - last) / more, SLOPE_MAX);
        else if (i > 0)
            printf("%54.1f bytes for each PE of the job\n", (each - last) / more);
        right = right && each >= 0 && linear;
        last = each;
    }
    return right;
}

int main(int argc, char **argv)
{
    enum { MOST = 8, DEFAULTS = 4 };
    int nodes[MOST] = {64, 256, 1024, 4096}, n = argc > 1 ? argc - 1 : DEFAULTS;
    struct rlimit r;

    if (n > MOST)
        return EXIT_FAILURE;
    for (int i = 1; i < argc; i++)
        nodes[i - 1] = atoi(argv[i]);
    getrlimit(RLIMIT_NOFILE, &r);
    r.rlim_cur = r.rlim_max;
    setrlimit(RLIMIT_NOFILE, &r);
    setenv("SHMEM_ISA", "baseline", 1);
    setenv("SHMEM_SPIN_NS", "0", 1);
    setenv("SHMEM_YIELD_NS", "0", 1);
    setenv("SHMEM_SYMMETRIC_SIZE", "1M", 1);
    printf("%6s %5s %9s %6s %13s %15s %9s\n", "nodes", "PEs", "messages", "peers",
           "private B/PE", "symmetric B/PE", "us/PE");
    bool right = measure_all(nodes, n, 1);
    return measure_all(nodes, nodes[n - 1] > 1024 ? n - 1 : n, 4) && right ? EXIT_SUCCESS
                                                                           : EXIT_FAILURE;
}
