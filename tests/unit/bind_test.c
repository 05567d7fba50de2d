/* SPDX-License-Identifier: BSD-3-Clause */
/* bind_test.c - the processors of PEs, also of virtual nodes and by a rank file. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/oshrun/util/error.h"
#include "tools/oshrun/daemon/bind.h"

enum { NODES = 4, PES_MAX = 4096 };

static char said[ERROR_BYTES];

static void keep_error(const char *error_text)
{
    snprintf(said, sizeof said, "%s", error_text);
}

static void listen(void)
{
    error_redirect(keep_error);
    said[0] = '\0';
}

/* A job with this many PEs on each node, possibly 0. */
static struct job *make_job(struct job_node *node, const uint32_t *npes, uint32_t nnodes,
                            bool virtual_nodes)
{
    static struct job job;
    static uint32_t rank[PES_MAX];
    uint32_t all = 0;

    for (uint32_t i = 0; i < nnodes; i++) {
        node[i] = (struct job_node){.name = "n", .npes = npes[i], .rank = rank + all};
        for (uint32_t k = 0; k < npes[i]; k++, all++)
            rank[all] = all;
    }
    job = (struct job){
        .npes = all, .nnodes = nnodes, .node = node, .virtual_nodes = virtual_nodes};
    return &job;
}

Test(bind, the_share_of_virtual_nodes)
{
    struct job_node node[NODES];
    uint32_t cpus = bind_cpu_count(), sum = 0;
    uint32_t npes[NODES] = {cpus, 2 * cpus, cpus, 4 * cpus};
    struct job *job = make_job(node, npes, NODES, false);

    for (job->here = 0; job->here < NODES; job->here++)
        cr_assert_eq(bind_cpu_share(job), cpus);
    job->virtual_nodes = true;
    for (job->here = 0; job->here < NODES; job->here++) {
        uint32_t share = bind_cpu_share(job);
        cr_assert_geq(share, 1);
        sum += share > 1 ? share : 0;
    }
    cr_assert_leq(sum, cpus);
    cr_assert(bind_is_oversubscribed(job));
    job->nnodes = 1;
    job->here = 0;
    job->npes = npes[0];
    cr_assert_eq(bind_cpu_share(job), cpus);
    cr_assert_not(bind_is_oversubscribed(job));
}

/* One PE per virtual node, on more of these than processors. */
Test(bind, many_virtual_nodes_are_oversubscribed)
{
    struct job_node node[NODES];
    uint32_t npes[NODES] = {1, 1, 1, 1};
    struct job *job = make_job(node, npes, NODES, true);

    cr_assert_eq(bind_is_oversubscribed(job), NODES > bind_cpu_count());
    job->virtual_nodes = false;
    cr_assert_not(bind_is_oversubscribed(job));
}

/* One PE per processor in all, over two virtual nodes: no two have the same core. */
Test(bind, virtual_nodes_follow_each_other, .init = listen)
{
    struct job_node node[2];
    uint32_t cpus = bind_cpu_count();
    uint32_t npes[2] = {cpus - cpus / 2, cpus / 2};
    struct job *job = make_job(node, npes, 2, true);
    cpu_set_t all;
    uint32_t bound = 0;

    CPU_ZERO(&all);
    job->nnodes = cpus > 1 ? 2 : 1;
    for (job->here = 0; job->here < job->nnodes; job->here++) {
        struct bind_plan plan;
        cr_assert_eq(bind_make(&plan, job), 0, "%s", said);
        for (uint32_t i = 0; plan.place != NULL && i < npes[job->here]; i++, bound++) {
            cpu_set_t both;
            CPU_AND(&both, &all, &plan.place[i].cpus);
            cr_assert_eq(CPU_COUNT(&both), 0, "%s", plan.place[i].text);
            CPU_OR(&all, &all, &plan.place[i].cpus);
        }
        bind_free(&plan);
    }
    cr_assert(bound == 0 || bound == cpus); /* 0: processors that share cores */
}

/* The default shares do not overlap, leave no core out and differ by at most one core. */
Test(bind, shares_of_the_cores)
{
    for (uint32_t cores = 1; cores <= 20; cores++)
        for (uint32_t pes = 1; pes <= cores; pes++) {
            uint32_t next = 0;
            for (uint32_t pe = 0; pe < pes; pe++) {
                struct bind_range r = bind_share(JOB_BIND_AUTO, pe, pes, cores);
                cr_expect_eq(r.first, next);
                cr_expect(r.end - r.first == cores / pes ||
                          r.end - r.first == cores / pes + 1);
                next = r.end;
            }
            cr_expect_eq(next, cores);
        }
    cr_expect_eq(bind_share(JOB_BIND_CORE, 5, 8, 4).first, 1);
    cr_expect_eq(bind_share(JOB_BIND_NUMA, 5, 8, 2).first, 1);
    cr_expect_eq(bind_share(JOB_BIND_NUMA, 3, 8, 2).first, 0);
}

/* One PE has all cores for its threads. */
Test(bind, a_single_pe_has_the_machine, .init = listen)
{
    struct job_node node[1];
    uint32_t npes[1] = {1};
    struct job *job = make_job(node, npes, 1, false);
    struct bind_plan plan;

    cr_assert_eq(bind_make(&plan, job), 0, "%s", said);
    if (plan.place != NULL)
        cr_expect_eq((uint32_t)CPU_COUNT(&plan.place[0].cpus), bind_cpu_count());
    bind_free(&plan);
}

/* The PEs of all virtual nodes together exceed the machine's processors. */
Test(bind, too_many_in_all_are_not_bound, .init = listen)
{
    struct job_node node[2];
    uint32_t cpus = bind_cpu_count();
    uint32_t npes[2] = {cpus, 1};
    struct job *job = make_job(node, npes, 2, true);
    struct bind_plan plan;

    for (job->here = 0; job->here < 2; job->here++) {
        cr_assert_eq(bind_make(&plan, job), 0, "%s", said);
        cr_assert_null(plan.place);
    }
    job->bind = JOB_BIND_CORE; /* the user's request overrides this */
    job->here = 1;
    cr_assert_eq(bind_make(&plan, job), 0, "%s", said);
    cr_assert_not_null(plan.place);
    bind_free(&plan);
}

Test(bind, a_rank_file_comes_first, .init = listen)
{
    struct job_node node[1];
    uint32_t npes[1] = {2};
    struct job *job = make_job(node, npes, 1, false);
    struct bind_plan plan;
    cpu_set_t mine;
    unsigned first = 0;
    char list[16];
    char *cpus[2] = {NULL, list};

    cr_assert_eq(sched_getaffinity(0, sizeof mine, &mine), 0);
    while (!CPU_ISSET(first, &mine))
        first++;
    sprintf(list, "%u", first);
    job->bind = JOB_BIND_NONE;
    node[0].cpus = cpus;
    cr_assert_eq(bind_make(&plan, job), 0, "%s", said);
    cr_assert(CPU_EQUAL(&plan.place[0].cpus, &mine));
    cr_assert_str_eq(plan.place[0].text, "not bound");
    cr_assert_eq(CPU_COUNT(&plan.place[1].cpus), 1);
    cr_assert(CPU_ISSET(first, &plan.place[1].cpus));
    bind_free(&plan);

    strcpy(list, "0,5000-5001");
    cr_assert_neq(bind_make(&plan, job), 0);
    cr_assert(strstr(said, "PE 1 to processors that this host does not have: 5000-5001"),
              "%s", said);
    bind_free(&plan);
}
