/* SPDX-License-Identifier: BSD-3-Clause */
/* job.c - see job.h: packs and unpacks a job.  Uses pack.c. */
#include "config.h"

#include "tools/oshrun/util/job.h"
#include "tools/oshrun/util/string_list.h"
#include "tools/oshrun/net/pack.h"
#include "tools/oshrun/util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRING_MIN 4  /* bytes of the shortest string */
#define NODE_MIN   9  /* bytes of the shortest node */
#define RUN_BYTES  8  /* bytes of a run of ranks */
#define APP_MIN    16 /* bytes of the shortest program */
#define NPES_MAX   (1u << 24)

uint32_t job_app_of(const struct job *job, uint32_t rank)
{
    uint32_t low = 0, high = job->napps;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        *(job->app[middle].first <= rank ? &low : &high) = middle;
    }
    return low;
}

uint32_t *job_node_of_pes(const struct job *job)
{
    uint32_t *node_of = mem_calloc(job->npes, sizeof *node_of);
    for (uint32_t n = 0; n < job->nnodes; n++)
        for (uint32_t i = 0; i < job->node[n].npes; i++)
            node_of[job->node[n].rank[i]] = n;
    return node_of;
}

/* ---- packing ---------------------------------------------------------------------- */

static void job_pack_list(struct pack *p, char *const *list)
{
    pack_u32(p, (uint32_t)string_list_count(list));
    for (; *list != NULL; list++)
        pack_string(p, *list);
}

/* The map as runs of consecutive ranks on one node: u32 node, u32 number of ranks. */
static void job_pack_map(struct pack *p, const struct job *job)
{
    uint32_t *node_of = job_node_of_pes(job);
    uint32_t runs = 1, first = 0;
    for (uint32_t r = 1; r < job->npes; r++)
        runs += node_of[r] != node_of[r - 1];
    pack_u32(p, runs);
    for (uint32_t r = 1; r <= job->npes; r++) {
        if (r < job->npes && node_of[r] == node_of[first])
            continue;
        pack_u32(p, node_of[first]);
        pack_u32(p, r - first);
        first = r;
    }
    free(node_of);
}

static void job_pack_ft(struct pack *p, const struct job_ft *ft)
{
    pack_u8(p, ft->on);
    pack_u32(p, ft->period_ms);
    pack_u32(p, ft->timeout_ms);
    pack_string(p, ft->domains);
    pack_string(p, ft->interfaces);
}

void job_pack(struct pack *p, const struct job *job)
{
    pack_string(p, job->nspace);
    pack_u32(p, job->npes);
    pack_u32(p, job->nnodes);
    for (uint32_t i = 0; i < job->nnodes; i++) {
        const struct job_node *node = &job->node[i];
        pack_string(p, node->name);
        pack_u32(p, node->npes);
        pack_u8(p, node->cpus != NULL);
        for (uint32_t k = 0; node->cpus != NULL && k < node->npes; k++)
            pack_string(p, node->cpus[k]);
    }
    job_pack_map(p, job);
    pack_u32(p, job->napps);
    for (uint32_t i = 0; i < job->napps; i++) {
        pack_u32(p, job->app[i].npes);
        job_pack_list(p, job->app[i].argv);
        job_pack_list(p, job->app[i].env);
        pack_string(p, job->app[i].wdir);
    }
    job_pack_list(p, job->env);
    pack_u8(p, (uint8_t)job->bind);
    pack_u8(p, job->bind_report);
    pack_u8(p, job->valgrind);
    pack_u8(p, job->whole_lines);
    pack_u8(p, job->virtual_nodes);
    pack_u32(p, job->stdin_pe);
    pack_u32(p, job->gdb_pe);
    job_pack_ft(p, &job->ft);
}

/* ---- unpacking -------------------------------------------------------------------- */

static char *job_unpack_text(struct unpack *u)
{
    return (char *)(uintptr_t)unpack_string(u);
}

static char **job_unpack_list(struct unpack *u)
{
    uint32_t n = unpack_count(u, STRING_MIN);
    char **list = mem_calloc((size_t)n + 1, sizeof *list);
    for (uint32_t i = 0; i < n && !u->failed; i++)
        u->failed = (list[i] = job_unpack_text(u)) == NULL;
    return list;
}

static void job_unpack_node(struct unpack *u, struct job_node *node, uint32_t most)
{
    node->name = unpack_string(u);
    node->npes = unpack_u32(u);
    if (node->name == NULL || node->npes == 0 || node->npes > most) {
        node->npes = 0;
        u->failed = true;
        return;
    }
    node->rank = mem_calloc(node->npes, sizeof *node->rank);
    bool cpus = unpack_u8(u) != 0;
    if (cpus)
        node->cpus = mem_calloc(node->npes, sizeof *node->cpus);
    for (uint32_t i = 0; cpus && !u->failed && i < node->npes; i++)
        node->cpus[i] = job_unpack_text(u);
}

/* Assigns the ranks to the nodes; fails unless each node gets exactly its npes ranks. */
static void job_unpack_map(struct unpack *u, struct job *job)
{
    uint32_t *filled = mem_calloc(job->nnodes, sizeof *filled);
    uint32_t runs = unpack_count(u, RUN_BYTES), rank = 0;
    for (uint32_t i = 0; i < runs && !u->failed; i++) {
        uint32_t node = unpack_u32(u), n = unpack_u32(u);
        if (node >= job->nnodes || n > job->node[node].npes - filled[node]) {
            u->failed = true;
            break;
        }
        while (n-- > 0)
            job->node[node].rank[filled[node]++] = rank++;
    }
    for (uint32_t i = 0; i < job->nnodes && !u->failed; i++)
        u->failed = filled[i] != job->node[i].npes;
    u->failed = u->failed || rank != job->npes;
    free(filled);
}

static void job_unpack_nodes(struct unpack *u, struct job *job)
{
    job->npes = unpack_u32(u);
    job->nnodes = unpack_count(u, NODE_MIN);
    job->node = mem_calloc((size_t)job->nnodes + 1, sizeof *job->node);
    if (job->npes == 0 || job->npes > NPES_MAX || job->nnodes == 0) {
        u->failed = true;
        return;
    }
    for (uint32_t i = 0; i < job->nnodes && !u->failed; i++)
        job_unpack_node(u, &job->node[i], job->npes);
    if (!u->failed)
        job_unpack_map(u, job);
}

/* Programs without PEs or name are malformed; their PEs must be those of the job. */
static void job_unpack_apps(struct unpack *u, struct job *job)
{
    uint32_t first = 0;
    job->napps = unpack_count(u, APP_MIN);
    job->app = mem_calloc((size_t)job->napps + 1, sizeof *job->app);
    for (uint32_t i = 0; i < job->napps && !u->failed; i++) {
        struct job_app *app = &job->app[i];
        *app = (struct job_app){.first = first, .npes = unpack_u32(u)};
        app->argv = job_unpack_list(u);
        app->env = job_unpack_list(u);
        app->wdir = unpack_string(u);
        if (u->failed || app->npes == 0 || app->npes > job->npes - first ||
            app->argv[0] == NULL)
            u->failed = true;
        else
            first += app->npes;
    }
    if (first != job->npes)
        u->failed = true;
}

static void job_unpack_flags(struct unpack *u, struct job *job)
{
    uint8_t bind = unpack_u8(u);
    job->bind = (enum job_bind)bind;
    job->bind_report = unpack_u8(u) != 0;
    job->valgrind = unpack_u8(u) != 0;
    job->whole_lines = unpack_u8(u) != 0;
    job->virtual_nodes = unpack_u8(u) != 0;
    job->stdin_pe = unpack_u32(u);
    job->gdb_pe = unpack_u32(u);
    if (bind > JOB_BIND_NUMA)
        u->failed = true;
}

static void job_unpack_ft(struct unpack *u, struct job_ft *ft)
{
    ft->on = unpack_u8(u) != 0;
    ft->period_ms = unpack_u32(u);
    ft->timeout_ms = unpack_u32(u);
    ft->domains = unpack_string(u);
    ft->interfaces = unpack_string(u);
}

struct job *job_unpack(struct unpack *u, uint32_t here)
{
    struct job *job = mem_calloc(1, sizeof *job);
    const char *nspace = unpack_string(u);
    if (nspace == NULL || strlen(nspace) >= sizeof job->nspace)
        u->failed = true;
    else
        snprintf(job->nspace, sizeof job->nspace, "%s", nspace);
    job_unpack_nodes(u, job);
    job->here = here;
    job_unpack_apps(u, job);
    job->env = job_unpack_list(u);
    job_unpack_flags(u, job);
    job_unpack_ft(u, &job->ft);
    if (unpack_done(u) && here < job->nnodes)
        return job;
    job_free(job);
    return NULL;
}

void job_free(struct job *job)
{
    if (job == NULL)
        return;
    for (uint32_t i = 0; i < job->nnodes; i++) {
        free(job->node[i].rank);
        free(job->node[i].cpus);
    }
    free(job->node);
    for (uint32_t i = 0; i < job->napps; i++) {
        free((void *)(uintptr_t)job->app[i].argv);
        free((void *)(uintptr_t)job->app[i].env);
    }
    free(job->app);
    free((void *)(uintptr_t)job->env);
    free(job);
}
