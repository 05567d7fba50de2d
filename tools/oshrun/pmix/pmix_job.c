/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_job.c - registers the job with libpmix: its nodes and the PEs on each.
 *
 * Uses libpmix.  Part of pmix_host.h.
 */
#include "config.h"

#include "tools/oshrun/util/error.h"
#include "tools/oshrun/pmix/pmix_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define JOB_INFOS 13 /* entries of the job besides one per PE and program */
#define PE_INFOS  7
#define APP_INFOS 3
#define AS_IT_IS  "raw:"

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
static int pmix_job_list_nodes(const struct job *job, char *list[LISTS])
{
    FILE *f[LISTS];
    size_t len[LISTS];
    int rc = 0;
    for (int i = 0; i < LISTS; i++) {
        f[i] = open_memstream(&list[i], &len[i]);
        rc = f[i] == NULL ? -1 : rc;
    }
    for (uint32_t i = 0; rc == 0 && i < job->nnodes; i++) {
        fprintf(f[LIST_NODES], "%s%s", i ? "," : AS_IT_IS, job->node[i].name);
        fputs(i ? ";" : AS_IT_IS, f[LIST_RANKS]);
        pmix_job_print_ranks(f[LIST_RANKS], &job->node[i]);
    }
    if (rc == 0)
        pmix_job_print_ranks(f[LIST_PEERS], &job->node[job->here]);
    for (int i = 0; i < LISTS; i++)
        if (f[i] != NULL && fclose(f[i]) != 0)
            rc = -1;
    return rc;
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
    pmix_info_t *pe;
    PMIX_INFO_CREATE(pe, PE_INFOS);
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
    pmix_info_t *a;
    PMIX_INFO_CREATE(a, APP_INFOS);
    pmix_load_u32(&a[0], PMIX_APPNUM, app);
    pmix_load_u32(&a[1], PMIX_APP_SIZE, job->app[app].npes);
    pmix_job_load_rank(&a[2], PMIX_APPLDR, job->app[app].first);
    pmix_data_array_t array = {.type = PMIX_INFO, .size = APP_INFOS, .array = a};
    PMIX_INFO_LOAD(info, PMIX_APP_INFO_ARRAY, &array, PMIX_DATA_ARRAY);
    PMIX_INFO_FREE(a, APP_INFOS);
}

static size_t pmix_job_load_job(pmix_info_t *info, const struct job *job, char *node_map,
                                char *proc_map, const char *peers)
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
    for (uint32_t app = 0; app < job->napps; app++)
        pmix_job_load_app(&info[n++], job, app);
    for (uint32_t node = 0; node < job->nnodes; node++)
        for (uint32_t i = 0; i < job->node[node].npes; i++)
            pmix_job_load_pe(&info[n++], job, node, i);
    return n;
}

static pmix_status_t pmix_job_register_job(struct pmix_host *h, const struct job *job,
                                           pmix_info_t *info)
{
    char *list[LISTS] = {NULL};
    pmix_status_t rc = PMIX_ERR_NOMEM;
    if (pmix_job_list_nodes(job, list) == 0) {
        size_t n = pmix_job_load_job(info, job, list[LIST_NODES], list[LIST_RANKS],
                                     list[LIST_PEERS]);
        pmix_host_call_begin(h);
        pmix_host_call_issued(
            h, PMIx_server_register_nspace(h->nspace, (int)job->node[job->here].npes,
                                           info, n, pmix_host_call_done, h));
        rc = pmix_host_wait_calls(h);
    }
    for (int i = 0; i < LISTS; i++)
        free(list[i]);
    return rc;
}

/* Does not wait for each call: libpmix's thread handles one while we make the next. */
static pmix_status_t pmix_job_register_clients(struct pmix_host *h, const struct job *job)
{
    const struct job_node *here = &job->node[job->here];
    pmix_host_call_begin(h);
    pmix_host_call_issued(
        h, PMIx_server_setup_local_support(h->nspace, NULL, 0, pmix_host_call_done, h));
    for (uint32_t i = 0; i < here->npes; i++) {
        pmix_proc_t p;
        PMIX_PROC_LOAD(&p, h->nspace, here->rank[i]);
        pmix_host_call_begin(h);
        pmix_host_call_issued(h, PMIx_server_register_client(&p, getuid(), getgid(), NULL,
                                                             pmix_host_call_done, h));
    }
    return pmix_host_wait_calls(h);
}

int pmix_host_register(struct pmix_host *h, const struct job *job)
{
    size_t capacity = JOB_INFOS + job->napps + job->npes;
    pmix_info_t *info;
    PMIX_INFO_CREATE(info, capacity);
    if (info == NULL)
        return pmix_host_failed("the registration of the job", PMIX_ERR_NOMEM);
    pmix_status_t rc = pmix_job_register_job(h, job, info);
    PMIX_INFO_FREE(info, capacity);
    if (rc != PMIX_SUCCESS)
        return pmix_host_failed("the registration of the job", rc);
    rc = pmix_job_register_clients(h, job);
    return rc == PMIX_SUCCESS ? 0 : pmix_host_failed("the registration of the PEs", rc);
}
