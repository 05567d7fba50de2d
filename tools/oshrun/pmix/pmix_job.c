/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_job.c - registers the job with libpmix: its nodes and the PEs on each.
 *
 * Uses libpmix.  Part of pmix_net.h; runs in the daemon's loop, callbacks in libpmix's
 * thread.
 */
#include "config.h"

#include "tools/oshrun/util/error.h"
#include "tools/oshrun/pmix/pmix_int.h"
#include "tools/oshrun/util/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define JOB_INFOS   15 /* entries of the job besides one per PE and program */
#define PE_INFOS    7
#define APP_INFOS   3
#define AS_IT_IS    "raw:"
#define REGISTER_MS 30000 /* libpmix answers in microseconds or never */

enum { LIST_NODES, LIST_RANKS, LIST_PEERS, LISTS };

/* "0,1,5" for one node. */
static void pmix_job_print_ranks(FILE *f, const struct job_node *node)
{
    for (uint32_t i = 0; i < node->npes; i++)
        fprintf(f, "%s%u", i ? "," : "", node->rank[i]);
}

/*
 * The names of all nodes with commas, the rank lists of all nodes with semicolons, both
 * in the raw form of libpmix, and the ranks of this node.  The output of
 * PMIx_generate_regex is shorter, but wrong for names with large numbers and in the wrong
 * order for some names.
 */
static void pmix_job_list_nodes(const struct job *job, char *list[LISTS])
{
    FILE *f[LISTS];
    size_t len[LISTS];
    for (int i = 0; i < LISTS; i++)
        f[i] = mem_stream(&list[i], &len[i]);
    for (uint32_t i = 0; i < job->nnodes; i++) {
        fprintf(f[LIST_NODES], "%s%s", i ? "," : AS_IT_IS, job->node[i].name);
        fputs(i ? ";" : AS_IT_IS, f[LIST_RANKS]);
        pmix_job_print_ranks(f[LIST_RANKS], &job->node[i]);
    }
    pmix_job_print_ranks(f[LIST_PEERS], &job->node[job->here]);
    for (int i = 0; i < LISTS; i++)
        mem_stream_close(f[i]);
}

pmix_info_t *pmix_infos_new(size_t n)
{
    pmix_info_t *info;
    PMIX_INFO_CREATE(info, n);
    if (info == NULL)
        error_no_memory();
    return info;
}

void pmix_load_u32(pmix_info_t *info, const char *key, uint32_t value)
{
    PMIX_INFO_LOAD(info, key, &value, PMIX_UINT32);
}

static void pmix_job_load_rank(pmix_info_t *info, const char *key, pmix_rank_t value)
{
    PMIX_INFO_LOAD(info, key, &value, PMIX_PROC_RANK);
}

static void pmix_job_load_u16(pmix_info_t *info, const char *key, uint32_t value)
{
    uint16_t v = (uint16_t)value;
    PMIX_INFO_LOAD(info, key, &v, PMIX_UINT16);
}

/* Data of PE number i of a node, which every PE can query. */
static void pmix_job_load_pe(pmix_info_t *info, const struct job *job, uint32_t node,
                             uint32_t i)
{
    uint32_t rank = job->node[node].rank[i], app = job_app_of(job, rank);
    pmix_info_t *pe = pmix_infos_new(PE_INFOS);
    pmix_job_load_rank(&pe[0], PMIX_RANK, rank);
    pmix_job_load_u16(&pe[1], PMIX_LOCAL_RANK, i);
    pmix_job_load_u16(&pe[2], PMIX_NODE_RANK, i);
    pmix_load_u32(&pe[3], PMIX_NODEID, node);
    PMIX_INFO_LOAD(&pe[4], PMIX_HOSTNAME, job->node[node].name, PMIX_STRING);
    pmix_load_u32(&pe[5], PMIX_APPNUM, app);
    pmix_job_load_rank(&pe[6], PMIX_APP_RANK, rank - job->app[app].first);
    pmix_data_array_t array = {.type = PMIX_INFO, .size = PE_INFOS, .array = pe};
    PMIX_INFO_LOAD(info, PMIX_PROC_DATA, &array, PMIX_DATA_ARRAY);
    PMIX_INFO_FREE(pe, PE_INFOS);
}

/* Data of a program. */
static void pmix_job_load_app(pmix_info_t *info, const struct job *job, uint32_t app)
{
    pmix_info_t *a = pmix_infos_new(APP_INFOS);
    pmix_load_u32(&a[0], PMIX_APPNUM, app);
    pmix_load_u32(&a[1], PMIX_APP_SIZE, job->app[app].npes);
    pmix_job_load_rank(&a[2], PMIX_APPLDR, job->app[app].first);
    pmix_data_array_t array = {.type = PMIX_INFO, .size = APP_INFOS, .array = a};
    PMIX_INFO_LOAD(info, PMIX_APP_INFO_ARRAY, &array, PMIX_DATA_ARRAY);
    PMIX_INFO_FREE(a, APP_INFOS);
}

static size_t pmix_job_load_job(pmix_info_t *info, const struct job *job, const char *dir,
                                char *node_map, char *proc_map, const char *peers)
{
    const struct job_node *here = &job->node[job->here];
    size_t n = 0;
    PMIX_INFO_LOAD(&info[n++], PMIX_NODE_MAP, node_map, PMIX_REGEX);
    PMIX_INFO_LOAD(&info[n++], PMIX_PROC_MAP, proc_map, PMIX_REGEX);
    pmix_load_u32(&info[n++], PMIX_JOB_SIZE, job->npes);
    pmix_load_u32(&info[n++], PMIX_UNIV_SIZE, job->npes);
    pmix_load_u32(&info[n++], PMIX_MAX_PROCS, job->npes);
    pmix_load_u32(&info[n++], PMIX_LOCAL_SIZE, here->npes);
    pmix_load_u32(&info[n++], PMIX_NODE_SIZE, here->npes);
    pmix_load_u32(&info[n++], PMIX_NUM_NODES, job->nnodes);
    PMIX_INFO_LOAD(&info[n++], PMIX_JOBID, job->nspace, PMIX_STRING);
    PMIX_INFO_LOAD(&info[n++], PMIX_LOCAL_PEERS, peers, PMIX_STRING);
    pmix_job_load_rank(&info[n++], PMIX_LOCALLDR, here->rank[0]);
    pmix_load_u32(&info[n++], PMIX_JOB_NUM_APPS, job->napps);
    PMIX_INFO_LOAD(&info[n++], PMIX_TMPDIR, dir, PMIX_STRING);
    PMIX_INFO_LOAD(&info[n++], PMIX_NSDIR, dir, PMIX_STRING);
    for (uint32_t app = 0; app < job->napps; app++)
        pmix_job_load_app(&info[n++], job, app);
    for (uint32_t node = 0; node < job->nnodes; node++)
        for (uint32_t i = 0; i < job->node[node].npes; i++)
            pmix_job_load_pe(&info[n++], job, node, i);
    return n;
}

/* ---- registration ----------------------------------------------------------------- */

/* The callback of each call.  Runs in libpmix's thread. */
static void pmix_job_on_call(pmix_status_t status, void *host)
{
    struct pmix_host *h = host;
    struct pmix_registration *r = &h->registration;
    pthread_mutex_lock(&h->lock);
    if (status != PMIX_SUCCESS)
        r->worst = status;
    bool last = --r->pending == 0;
    pthread_mutex_unlock(&h->lock);
    if (last)
        pmix_host_put(h, r->post);
}

/* rc: of a call; after an error, or PMIX_OPERATION_SUCCEEDED, no callback follows. */
static void pmix_job_issued(struct pmix_host *h, pmix_status_t rc)
{
    if (rc != PMIX_SUCCESS)
        pmix_job_on_call(rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc, h);
}

static void pmix_job_complete(struct pmix_registration *r, pmix_status_t rc)
{
    r->complete = true;
    r->done(r->arg,
            rc == PMIX_SUCCESS ? 0 : pmix_host_failed("the registration of the job", rc));
}

static void pmix_job_on_late(void *arg)
{
    pmix_job_complete(arg, PMIX_ERR_TIMEOUT);
}

/* All calls are complete. */
static void pmix_job_on_registered(struct pmix_net *n, struct pmix_request *unused)
{
    struct pmix_registration *r = &n->host->registration;
    (void)unused;
    PMIX_INFO_FREE(r->info, r->ninfo);
    loop_cancel(n->loop, &r->late);
    if (r->complete) /* too late */
        return;
    pmix_job_complete(r, r->worst);
    pmix_modex_registered(n);
}

static int pmix_job_load(struct pmix_registration *r, const struct job *job,
                         const char *dir)
{
    size_t capacity = JOB_INFOS + job->napps + job->npes;
    char *list[LISTS] = {NULL};
    pmix_job_list_nodes(job, list);
    r->post = mem_calloc(1, sizeof *r->post);
    r->info = pmix_infos_new(capacity);
    r->ninfo = pmix_job_load_job(r->info, job, dir, list[LIST_NODES], list[LIST_RANKS],
                                 list[LIST_PEERS]);
    for (int i = 0; i < LISTS; i++)
        free(list[i]);
    return r->ninfo > 0 ? 0
                        : pmix_host_failed("the registration of the job", PMIX_ERR_NOMEM);
}

/* libpmix's thread handles the calls in this order. */
int pmix_net_register(struct pmix_net *n, void (*done)(void *arg, int rc), void *arg)
{
    struct pmix_host *h = n->host;
    struct pmix_registration *r = &h->registration;
    const struct job_node *here = &n->job->node[n->job->here];
    if (pmix_job_load(r, n->job, h->dir) != 0)
        return -1;
    r->post->handle = pmix_job_on_registered;
    r->pending = here->npes + 2;
    r->done = done;
    r->arg = arg;
    r->late = (struct loop_timer){.fn = pmix_job_on_late, .arg = r};
    loop_after(n->loop, &r->late, REGISTER_MS);
    pmix_job_issued(h, PMIx_server_register_nspace(h->nspace, (int)here->npes, r->info,
                                                   r->ninfo, pmix_job_on_call, h));
    pmix_job_issued(
        h, PMIx_server_setup_local_support(h->nspace, NULL, 0, pmix_job_on_call, h));
    for (uint32_t i = 0; i < here->npes; i++) {
        pmix_proc_t p;
        PMIX_PROC_LOAD(&p, h->nspace, here->rank[i]);
        pmix_job_issued(h, PMIx_server_register_client(&p, getuid(), getgid(), NULL,
                                                       pmix_job_on_call, h));
    }
    return 0;
}
