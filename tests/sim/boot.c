/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * boot.c - the environment of the PEs of a simulated job: the launcher (boot.h), one
 * processor per node (binding.h), no symmetric globals (data.h), no progress thread
 * (net_int.h), and the sim transport between nodes.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/base/os.h"
#include "pgas/core/base/pgas.h"
#include "pgas/core/boot/binding.h"
#include "pgas/core/boot/boot.h"
#include "pgas/core/boot/boot_pmix.h"
#include "pgas/core/boot/locality.h"
#include "pgas/core/memory/data.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/progress/net_int.h"
#include "tests/sim/job_int.h"

#define POLL_NS 1000                 /* of waits for the launcher */
#define LOST_NS UINT64_C(5000000000) /* the launcher detects the loss of a node */

const struct transport *const transport_list[TRANSPORTS] = {
    &transport_sim, &transport_ofi, &transport_ofi};

/* ---- the launcher ---------------------------------------------------------------- */

void boot_connect(struct boot *b)
{
    const struct job *job = job_running;
    const uint32_t rank = (uint32_t)sim_me(), node = job->node_of[rank];
    const uint32_t each = (uint32_t)job->config.pes_per_node;
    const uint32_t nodes = (uint32_t)job->config.nodes;

    *b = (struct boot){.rank = rank,
                       .size = (uint32_t)job->npes,
                       .local_rank = job->config.cyclic ? rank / nodes : rank % each,
                       .local_size = each,
                       .local_pes = job->pes + node * each,
                       .node = node,
                       .nnodes = nodes,
                       .node_of = job->node_of,
                       .node_begin = job->begin,
                       .node_pes = job->pes,
                       .launched = true};
}

void boot_disconnect(struct boot *b, bool keep)
{
    (void)b;
    (void)keep;
}

void boot_node_name(const struct boot *b, uint32_t node, bool ask, char *name,
                    size_t size)
{
    (void)ask;
    (void)b;
    snprintf(name, size, "n%u", node);
}

void boot_nodes_text(const struct boot *b, char *text, size_t size)
{
    snprintf(text, size, "%u nodes of %u PEs", b->nnodes, b->local_size);
}

const char *boot_nspace(void)
{
    return "sim";
}

const char *boot_error(void)
{
    return "not found";
}

void boot_events_open(void (*on_failure)(uint32_t pe))
{
    (void)on_failure;
}

void boot_events_close(void) {}

void boot_abort(int status, const char *why)
{
    (void)why;
    os_exit(status);
}

int boot_put(enum boot_scope scope, const char *key, const void *data, size_t len)
{
    struct job_value *value = malloc(sizeof *value + len),
                     **put = &job_running->put[pgas_self.me];

    (void)scope;
    if (value == NULL)
        return -1;
    *value = (struct job_value){.next = *put, .key = key, .len = len};
    memcpy(value->bytes, data, len);
    *put = value;
    return 0;
}

static const struct job_value *boot_find(uint32_t rank, const char *key)
{
    const struct job_value *value = job_running->put[rank];

    while (value != NULL && strcmp(value->key, key) != 0)
        value = value->next;
    return value;
}

ssize_t boot_get(uint32_t rank, const char *key, void *data, size_t space)
{
    const struct job_value *value = boot_find(rank, key);

    while (value == NULL &&
           job_running->node_of[rank] == job_running->node_of[pgas_self.me]) {
        sim_sleep_ns(POLL_NS);
        value = boot_find(rank, key);
    }
    if (value == NULL || value->len > space)
        return -1;
    memcpy(data, value->bytes, value->len);
    return (ssize_t)value->len;
}

/* Answers at once: a fiber that waited for the answer would take none from another. */
void boot_get_begin(uint32_t rank, const char *key, int seconds, boot_get_done done,
                    void *arg)
{
    const struct job_value *value = boot_find(rank, key);
    struct boot_answer answer = {.error = boot_error()};

    (void)seconds;
    if (value != NULL)
        answer = (struct boot_answer){.data = value->bytes, .len = value->len};
    done(arg, &answer);
}

/* The fences of a set of PEs; each PE enters one of them once. */
struct boot_fence {
    struct boot_fence *next;
    uint32_t arrived;
    size_t n;
    uint32_t rank[];
};

static struct boot_fence *boot_fence_of(struct job *job, const uint32_t *rank, size_t n)
{
    struct boot_fence *f = job->fences;

    while (f != NULL && (f->n != n || memcmp(f->rank, rank, n * sizeof *rank) != 0))
        f = f->next;
    if (f != NULL)
        return f;
    f = job_alloc(1, sizeof *f + n * sizeof *rank);
    f->next = job->fences;
    f->n = n;
    memcpy(f->rank, rank, n * sizeof *rank);
    return job->fences = f;
}

/* The PEs poll boot_fence_done in block_until, whose sleeps are long in a simulated job.
 */
static void boot_wake_all(const struct job *job, const struct boot_fence *f)
{
    struct pgas *me = pgas_thread.instance;

    for (size_t i = 0; i < f->n; i++) {
        pgas_thread.instance = job->instance[f->rank[i]];
        block_wake_own();
    }
    pgas_thread.instance = me;
}

/* The launcher ends the job if a PE of a lost node does not arrive. */
int boot_barrier(void)
{
    struct job *job = job_running;
    const uint32_t passed = job->passed;

    if (++job->arrived == (uint32_t)job->npes) {
        job->arrived = 0;
        if (job->passed++ == 0)
            job_plan_kill(job);
        sim_futex_wake(&job->passed);
        return 0;
    }
    uint64_t end = sim_now_ns() + LOST_NS;
    while (job->passed == passed && sim_now_ns() < end)
        sim_futex_wait(&job->passed, passed, LOST_NS);
    if (job->passed == passed)
        os_exit(JOB_KILLED);
    return 0;
}

struct boot_fence *boot_fence_begin(const uint32_t *rank, size_t n, void (*wake)(void))
{
    static struct boot_fence all; /* done: the fiber waits here */

    (void)wake;
    if (n == 0) {
        boot_barrier();
        return &all;
    }
    struct boot_fence *f = boot_fence_of(job_running, rank, n);

    if (++f->arrived >= n)
        boot_wake_all(job_running, f);
    return f;
}

bool boot_fence_done(const struct boot_fence *f)
{
    return f->arrived >= f->n;
}

int boot_fence_end(struct boot_fence *f)
{
    return boot_fence_done(f) ? 0 : -1;
}

void job_free_values(struct job *job)
{
    for (int pe = 0; pe < job->npes; pe++)
        while (job->put[pe] != NULL) {
            struct job_value *next = job->put[pe]->next;
            free(job->put[pe]);
            job->put[pe] = next;
        }
    while (job->fences != NULL) {
        struct boot_fence *next = job->fences->next;
        free(job->fences);
        job->fences = next;
    }
}

/* ---- the process ----------------------------------------------------------------- */

bool place_job(struct place_cpus *cpus)
{
    (void)cpus;
    return job_running->config.pes_per_cache > 0;
}

int place_count(const struct place_cpus *cpus)
{
    (void)cpus;
    return job_running->config.pes_per_node;
}

struct locality locality_read(void)
{
    const int per_cache = job_running->config.pes_per_cache;

    return (struct locality){per_cache > 0 ? 1 + pgas_self.local_rank / per_cache : 0, 1};
}

void place_free(struct place_cpus *cpus)
{
    (void)cpus;
}

void binding_spread(void) {}

bool binding_allowed(int cpu)
{
    (void)cpu;
    return false;
}

void binding_move(int cpu)
{
    (void)cpu;
}

void data_share(void) {}

/* ---- the progress thread: os.c acts for it --------------------------------------- */

void net_kick(struct net *n)
{
    (void)n;
}

void net_thread_start(struct net *n)
{
    (void)n;
}

void net_thread_stop(struct net *n)
{
    (void)n;
}
