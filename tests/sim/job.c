/* SPDX-License-Identifier: BSD-3-Clause */
/* job.c - see job.h. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "pgas/coll/api/coll_state.h"
#include "pgas/coll/api/life.h"
#include "pgas/core/base/pgas.h"
#include "pgas/core/memory/heap.h"
#include "pgas/core/memory/peer.h"
#include "pgas/core/memory/segment.h"
#include "pgas/transport/test/random.h"
#include "tests/sim/job_int.h"

#define NOTICE_NS 10000000 /* the launcher detects the end of a process */

enum { STACK = 256 << 10 };

struct job *job_running;

const struct job_config *job_config(void)
{
    return &job_running->config;
}

struct sim *job_sim(void)
{
    return job_running->sim;
}

int job_node(const struct job_config *config, int pe)
{
    return config->cyclic ? pe % config->nodes : pe / config->pes_per_node;
}

int job_pe_of_node(const struct job_config *config, int node, int k)
{
    return config->cyclic ? node + k * config->nodes : node * config->pes_per_node + k;
}

/* ---- a PE ------------------------------------------------------------------------ */

static void job_pe(int me, void *arg)
{
    struct job *job = arg;

    pgas_thread.instance = job->instance[me];
    life_start(SHMEM_THREAD_SINGLE);
    job->config.body(job->config.arg);
    life_finalize("shmem_finalize");
}

static struct pgas *job_new_instance(void)
{
    struct coll_state *coll = coll_state_new();

    coll->life.finalize_hook = true; /* registers none: the PE is not the process */
    return pgas_instance_new(coll);
}

/* Release what shmem_finalize has not, if the PE did not reach it. */
static void job_free_instance(struct pgas *g)
{
    pgas_thread.instance = g;
    if (g->peer != NULL)
        peer_fini();
    heap_fini();
    if (g->node != NULL)
        segment_unmap(g->node, g->node_len);
    if (g->node_fd >= 0)
        close(g->node_fd);
    pgas_thread.instance = NULL;
    free(g->coll);
    pgas_instance_free(g);
}

/* ---- the job --------------------------------------------------------------------- */

void *job_alloc(size_t n, size_t size)
{
    void *p = calloc(n, size);

    if (p == NULL) {
        fprintf(stderr, "job: no memory for %zu elements of %zu bytes\n", n, size);
        abort();
    }
    return p;
}

static void job_init(struct job *job, const struct job_config *config)
{
    const size_t npes = (size_t)config->nodes * (size_t)config->pes_per_node;
    const struct sim_config sim = {.npes = (int)npes,
                                   .seed = config->seed,
                                   .latency_ns = config->latency_ns,
                                   .jitter_ns = config->jitter_ns,
                                   .slow_ns = config->slow_ns,
                                   .bytes_per_ns = config->bytes_per_ns,
                                   .stack = STACK,
                                   .job = true,
                                   .limit_ns = config->limit_ns > 0 ? config->limit_ns
                                                                    : JOB_LIMIT_NS};

    *job = (struct job){.config = *config, .npes = (int)npes, .sim = sim_new(&sim)};
    job->random = random_stream(config->seed, JOB_STREAM_FAULTS);
    job->node_of = job_alloc(npes, sizeof *job->node_of);
    job->pes = job_alloc(npes, sizeof *job->pes);
    job->begin = job_alloc((size_t)config->nodes + 1, sizeof *job->begin);
    for (int node = 0; node <= config->nodes; node++)
        job->begin[node] = (uint32_t)(node * config->pes_per_node);
    job->instance = job_alloc(npes, sizeof *job->instance);
    job->put = job_alloc(npes, sizeof *job->put);
    job->dead = job_alloc(npes, sizeof *job->dead);
    job->node_dead = job_alloc((size_t)config->nodes, sizeof *job->node_dead);
    if (job->sim == NULL)
        abort();
    for (size_t pe = 0; pe < npes; pe++) {
        int each = config->pes_per_node, node = (int)pe / each, k = (int)pe % each;
        job->node_of[pe] = (uint32_t)job_node(config, (int)pe);
        job->pes[pe] = (uint32_t)job_pe_of_node(config, node, k);
        job->instance[pe] = job_new_instance();
    }
}

static void job_fini(struct job *job)
{
    job_free_values(job);
    failure_free(job);
    sim_free(job->sim);
    for (int pe = 0; pe < job->npes; pe++)
        job_free_instance(job->instance[pe]);
    segment_free_all();
    free(job->put);
    free(job->dead);
    free(job->node_dead);
    free(job->instance);
    free(job->pes);
    free(job->begin);
    free(job->node_of);
}

/* Prints the failures that a PE knows of. */
static void job_print_known(const struct job *job, int pe)
{
    const char *between = "; knows the failed PEs ";

    for (int i = 0; i < job->npes && job->failure != NULL; i++)
        if (failure_known(job, pe, i)) {
            fprintf(stderr, "%s%d", between, i);
            between = ", ";
        }
}

/* Print what each PE waits for. */
static void job_print_waits(const struct job *job)
{
    char what[NODE_WHAT];

    for (int pe = 0; pe < job->npes; pe++) {
        const struct pgas *g = job->instance[pe];
        if (g->node == NULL || job->dead[pe])
            continue;
        node_what(&g->node->pe[g->local_rank], what);
        fprintf(stderr, "PE %d: %s", pe, what[0] != '\0' ? what : "does not wait");
        job_print_known(job, pe);
        fputc('\n', stderr);
    }
}

static struct job_result job_result_of(const struct job *job, int rc)
{
    struct job_result r = {.end = JOB_DONE, .digest = sim_digest(job->sim)};

    if (rc == -ECANCELED) {
        r.end = JOB_EXITED;
        r.status = sim_status(job->sim, &r.pe);
    } else if (rc != 0) {
        r.end = JOB_STUCK;
        r.waiting = sim_stuck(job->sim, &r.pe, 1);
        job_print_waits(job);
    }
    r.ns = sim_time_ns(job->sim);
    return r;
}

/* The launcher ends the job some time after the end of a process, but does not detect
 * that a node is cut off. */
void job_plan_kill(struct job *job)
{
    const struct job_config *c = &job->config;
    int node = job_node(c, c->kill_pe);
    uint64_t at = sim_time_ns(job->sim) + c->kill_ns;

    if (c->kill_ns == 0)
        return;
    if (!c->silent) {
        sim_kill_at(job->sim, c->kill_pe, false, at);
        sim_exit_at(job->sim, c->kill_pe, JOB_KILLED, at + NOTICE_NS);
    }
    for (int i = 0; c->silent && i < c->pes_per_node; i++)
        sim_kill_at(job->sim, job_pe_of_node(c, node, i), true, at);
}

struct job_result job_run(const struct job_config *config)
{
    struct job job;

    job_init(&job, config);
    job_running = &job;
    int rc = sim_run(job.sim, job_pe, &job);
    struct job_result result = job_result_of(&job, rc);
    job_running = NULL;
    job_fini(&job);
    return result;
}
