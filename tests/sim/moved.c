/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * moved.c - shmem_realloc while a PE dies, in simulated jobs: after the shrink either all
 * survivors have the new block, and the old one is freed on all of them, or the old one
 * is still there, with its contents, on all of them; and the heaps are equal. moved
 * [deaths]     (default 1000) the jobs, each with one death at another time
 */
#include "config.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "include/shmem.h"
#include "include/shmemx.h"
#include "pgas/core/base/pgas.h"
#include "pgas/core/memory/heap.h"
#include "tests/sim/job.h"

enum { OLD = 100, NEW = 3000, DEATH_STEP_NS = 71, PAUSE_NS = 1000 };

struct moved {
    int victim;
    uint64_t delay_ns;
    bool begun;
    const char *wrong;
    bool all;     /* the survivors have the new block */
    int got;      /* PEs that have it */
    int64_t next; /* 1 + the offset of a later block; 0: unknown */
};

static void moved_check(struct moved *m, bool good, const char *what)
{
    if (!good && m->wrong == NULL)
        m->wrong = what;
}

static bool moved_has(const long *block, long me)
{
    for (long i = 0; i < OLD; i++)
        if (block[i] != me * OLD + i)
            return false;
    return true;
}

/* The next block is at the same place on all survivors: their heaps are equal. */
static void moved_check_heap(struct moved *m)
{
    char *next = shmem_malloc(OLD * sizeof(long));
    int64_t at = 1 + (next - (char *)pgas_self.heap_base);

    moved_check(m, next != NULL, "no memory after the shrink");
    moved_check(m, m->next == 0 || m->next == at, "the heaps differ");
    m->next = at;
}

static void moved_run(void *arg)
{
    struct moved *m = arg;
    shmem_team_t team;
    long me = shmem_my_pe(), *old = shmem_malloc(OLD * sizeof(long));

    for (long i = 0; i < OLD; i++)
        old[i] = me * OLD + i;
    shmem_barrier_all();
    if (!m->begun)
        job_fail(m->victim, false, m->delay_ns);
    m->begun = true;
    long *new = shmem_realloc(old, NEW * sizeof(long));
    m->got += new != NULL &&me != m->victim;
    while (!shmemx_pe_failed(m->victim))
        sim_sleep_ns(PAUSE_NS);
    while (shmemx_team_shrink(SHMEM_TEAM_WORLD, &team) != 0)
        ;
    uint64_t all = new != NULL;
    shmemx_team_agree(team, &all);
    if (all != 0) {
        moved_check(m, moved_has(new, me), "the new block lacks the contents");
        moved_check(m, heap_size(old) == 0, "the old block is still allocated");
    } else {
        moved_check(m, heap_size(old) != 0,
                    "the old block is freed, the new one unknown");
        moved_check(m, moved_has(old, me), "the old block has lost its contents");
    }
    m->all = all != 0;
    moved_check_heap(m);
}

/* False: the job has failed, or a check. */
static bool moved_job(int nodes, int pes_per_node, struct moved *m)
{
    const struct job_config c = {.nodes = nodes,
                                 .pes_per_node = pes_per_node,
                                 .seed = 1 + m->delay_ns,
                                 .latency_ns = 1000,
                                 .jitter_ns = 500,
                                 .body = moved_run,
                                 .arg = m};
    struct job_result r = job_run(&c);

    if (r.end == JOB_DONE && m->wrong == NULL)
        return true;
    printf("%d nodes of %d PEs, PE %d dies after %llu ns: %s\n", nodes, pes_per_node,
           m->victim, (unsigned long long)m->delay_ns,
           m->wrong != NULL ? m->wrong : "the job has not ended");
    return false;
}

int main(int argc, char **argv)
{
    static const int shape[][2] = {{1, 4}, {4, 1}, {3, 2}, {2, 3}};
    long deaths = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
    int wrong = 0, all = 0, mixed = 0, none = 0;

    setenv("SHMEM_FT", "continue", 1);
    setenv("SHMEM_ISA", "baseline", 1);
    setenv("SHMEM_SPIN_NS", "0", 1);
    setenv("SHMEM_YIELD_NS", "0", 1);
    setenv("SHMEM_SYMMETRIC_SIZE", "1M", 1);
    for (long i = 0; i < deaths; i++) {
        const int *s = shape[i % 4];
        int npes = s[0] * s[1];
        struct moved m = {.victim = (int)(i / 4 % npes),
                          .delay_ns = 1 + (uint64_t)(i / 4 / npes) * DEATH_STEP_NS};
        wrong += !moved_job(s[0], s[1], &m);
        all += m.all;
        mixed += !m.all && m.got > 0;
        none += m.got == 0;
    }
    printf("moved: %ld deaths, the new block on all survivors in %d, on some in %d, on "
           "none in %d: %s\n",
           deaths, all, mixed, none, wrong == 0 ? "right" : "wrong");
    return wrong != 0;
}
