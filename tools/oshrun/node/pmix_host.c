/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_host.c - the PMIx server of a node: libpmix's server interface, made small.
 *
 * Uses libpmix, hwloc.  Used by daemon.c.
 *
 * Upcalls run in libpmix's thread.  They only put a post into a locked queue and ring an
 * eventfd; the daemon's loop does the rest.  An upcall that is done at once returns
 * PMIX_OPERATION_SUCCEEDED, and then its callback must not be called.
 */
#include "config.h"

#include "tools/oshrun/complain.h"
#include "tools/oshrun/node/pmix_api.h"
#include "tools/oshrun/node/pmix_host.h"

#include <errno.h>
#include <hwloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define REGISTER_WAIT_S 30 /* libpmix answers in microseconds or not at all */
#define RANK_DIGITS     11 /* of one rank and its comma */
#define JOB_INFOS       12 /* entries of the job besides one per PE */
#define PE_INFOS        5

struct pmix_host {
    pmix_nspace_t nspace;
    int event_fd;
    hwloc_topology_t topo;
    pthread_mutex_t lock;
    pthread_cond_t settled;
    struct pmix_host_post *first, **last;
    uint32_t pending; /* operations of ours that libpmix has not completed */
    pmix_status_t worst;
};

/* How to answer a post. */
struct reply {
    pmix_modex_cbfunc_t modex;
    pmix_info_cbfunc_t info;
    void *arg;
    char *data;
    size_t len;
};

/* libpmix is one server per process, and most upcalls carry no pointer of ours. */
static struct pmix_host *self;

/* ---- the queue ------------------------------------------------------------------- */

static pmix_status_t post(const struct pmix_host_post *what)
{
    struct pmix_host_post *p = malloc(sizeof *p);
    if (p == NULL)
        return PMIX_ERR_NOMEM;
    *p = *what;
    pthread_mutex_lock(&self->lock);
    *self->last = p;
    self->last = &p->next;
    pthread_mutex_unlock(&self->lock);
    uint64_t one = 1;
    if (write(self->event_fd, &one, sizeof one) < 0)
        return PMIX_ERROR;
    return PMIX_OPERATION_SUCCEEDED;
}

struct pmix_host_post *pmix_host_take(struct pmix_host *h)
{
    pthread_mutex_lock(&h->lock);
    struct pmix_host_post *p = h->first;
    if (p != NULL)
        h->first = p->next;
    if (h->first == NULL)
        h->last = &h->first;
    if (p == NULL) { /* empty: under the lock, so that no bell is lost */
        uint64_t bells;
        if (read(h->event_fd, &bells, sizeof bells) < 0)
            bells = 0;
    }
    pthread_mutex_unlock(&h->lock);
    return p;
}

int pmix_host_fd(const struct pmix_host *h)
{
    return h->event_fd;
}

/* ---- upcalls --------------------------------------------------------------------- */

static pmix_status_t on_connected(const pmix_proc_t *p, void *obj, pmix_info_t *info,
                                  size_t n, pmix_op_cbfunc_t cb, void *arg)
{
    (void)obj, (void)info, (void)n, (void)cb, (void)arg;
    return post(&(struct pmix_host_post){.kind = PMIX_HOST_CONNECTED, .rank = p->rank});
}

static pmix_status_t on_finalized(const pmix_proc_t *p, void *obj, pmix_op_cbfunc_t cb,
                                  void *arg)
{
    (void)obj, (void)cb, (void)arg;
    return post(&(struct pmix_host_post){.kind = PMIX_HOST_FINALIZED, .rank = p->rank});
}

static pmix_status_t on_abort(const pmix_proc_t *p, void *obj, int status,
                              const char *text, pmix_proc_t *procs, size_t n,
                              pmix_op_cbfunc_t cb, void *arg)
{
    (void)obj, (void)procs, (void)n, (void)cb, (void)arg;
    struct pmix_host_post what = {
        .kind = PMIX_HOST_ABORT, .rank = p->rank, .status = status};
    snprintf(what.text, sizeof what.text, "%s", text != NULL ? text : "");
    return post(&what);
}

/* Leaves the answer to the daemon's loop. */
static pmix_status_t post_reply(enum pmix_host_kind kind, const struct reply *r)
{
    struct reply *keep = malloc(sizeof *keep);
    if (keep == NULL)
        return PMIX_ERR_NOMEM;
    *keep = *r;
    pmix_status_t rc =
        post(&(struct pmix_host_post){.kind = kind, .rank = JOB_NO_PE, .reply = keep});
    if (rc == PMIX_OPERATION_SUCCEEDED)
        return PMIX_SUCCESS; /* for libpmix: accepted, the callback will come */
    free(keep);
    return rc;
}

static pmix_status_t on_fence(const pmix_proc_t *procs, size_t np,
                              const pmix_info_t *info, size_t n, char *data, size_t len,
                              pmix_modex_cbfunc_t cb, void *arg)
{
    (void)procs, (void)np, (void)info, (void)n;
    return post_reply(PMIX_HOST_FENCE,
                      &(struct reply){.modex = cb, .arg = arg, .data = data, .len = len});
}

static pmix_status_t on_group(pmix_group_operation_t op, char *group,
                              const pmix_proc_t *procs, size_t np,
                              const pmix_info_t *info, size_t n, pmix_info_cbfunc_t cb,
                              void *arg)
{
    (void)op, (void)group, (void)procs, (void)np, (void)info, (void)n;
    return post_reply(PMIX_HOST_GROUP, &(struct reply){.info = cb, .arg = arg});
}

/* Asked for data of a PE that is not on this node: there is none. */
static pmix_status_t on_modex(const pmix_proc_t *p, const pmix_info_t *info, size_t n,
                              pmix_modex_cbfunc_t cb, void *arg)
{
    (void)p, (void)info, (void)n, (void)cb, (void)arg;
    return PMIX_ERR_NOT_FOUND;
}

/* libpmix itself keeps the lists of events and delivers them on the node. */
static pmix_status_t on_register_events(pmix_status_t *codes, size_t nc,
                                        const pmix_info_t *info, size_t n,
                                        pmix_op_cbfunc_t cb, void *arg)
{
    (void)codes, (void)nc, (void)info, (void)n, (void)cb, (void)arg;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_deregister_events(pmix_status_t *codes, size_t nc,
                                          pmix_op_cbfunc_t cb, void *arg)
{
    (void)codes, (void)nc, (void)cb, (void)arg;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_notify(pmix_status_t code, const pmix_proc_t *source,
                               pmix_data_range_t range, pmix_info_t *info, size_t n,
                               pmix_op_cbfunc_t cb, void *arg)
{
    (void)code, (void)source, (void)range, (void)info, (void)n, (void)cb, (void)arg;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_query(pmix_proc_t *p, pmix_query_t *queries, size_t n,
                              pmix_info_cbfunc_t cb, void *arg)
{
    (void)p, (void)queries, (void)n, (void)cb, (void)arg;
    return PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t on_job_control(const pmix_proc_t *p, const pmix_proc_t *targets,
                                    size_t nt, const pmix_info_t *info, size_t n,
                                    pmix_info_cbfunc_t cb, void *arg)
{
    (void)p, (void)targets, (void)nt, (void)info, (void)n, (void)cb, (void)arg;
    return PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t on_connect(const pmix_proc_t *procs, size_t np,
                                const pmix_info_t *info, size_t n, pmix_op_cbfunc_t cb,
                                void *arg)
{
    (void)procs, (void)np, (void)info, (void)n, (void)cb, (void)arg;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_server_module_t upcalls = {
    .client_connected2 = on_connected,
    .client_finalized = on_finalized,
    .abort = on_abort,
    .fence_nb = on_fence,
    .direct_modex = on_modex,
    .register_events = on_register_events,
    .deregister_events = on_deregister_events,
    .notify_event = on_notify,
    .query = on_query,
    .job_control = on_job_control,
    .group = on_group,
    .connect = on_connect,
    .disconnect = on_connect,
};

void pmix_host_answer(struct pmix_host_post *p)
{
    struct reply *r = p->reply;
    if (r != NULL && r->modex != NULL) /* all data is local; free() when it is sent */
        r->modex(PMIX_SUCCESS, r->data, r->len, r->arg, free, r->data);
    else if (r != NULL && r->info != NULL)
        r->info(PMIX_SUCCESS, NULL, 0, r->arg, NULL, NULL);
    free(r);
    p->reply = NULL;
}

/* ---- our own calls, waited for together ------------------------------------------- */

static void on_settled(pmix_status_t status, void *arg)
{
    struct pmix_host *h = arg;
    pthread_mutex_lock(&h->lock);
    if (status != PMIX_SUCCESS)
        h->worst = status;
    if (--h->pending == 0)
        pthread_cond_signal(&h->settled);
    pthread_mutex_unlock(&h->lock);
}

static void begin(struct pmix_host *h)
{
    pthread_mutex_lock(&h->lock);
    h->pending++;
    pthread_mutex_unlock(&h->lock);
}

/* What a call returned at once: an error, or "done" without a callback to come. */
static void began(struct pmix_host *h, pmix_status_t rc)
{
    if (rc == PMIX_SUCCESS)
        return;
    on_settled(rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc, h);
}

/* Waits until all that was begun is done. */
static pmix_status_t settle(struct pmix_host *h)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += REGISTER_WAIT_S;
    int late = 0;
    pthread_mutex_lock(&h->lock);
    while (h->pending > 0 && late == 0)
        late = pthread_cond_timedwait(&h->settled, &h->lock, &until);
    pmix_status_t rc = late ? PMIX_ERR_TIMEOUT : h->worst;
    pthread_mutex_unlock(&h->lock);
    return rc;
}

/* ---- start and registration ------------------------------------------------------- */

static int pmix_failed(const char *what, pmix_status_t rc)
{
    complain("PMIx: %s failed: %s (%d)", what, PMIx_Error_string(rc), rc);
    return -1;
}

/*
 * libpmix would look for all devices of the machine (10 of the 14 ms that its start
 * takes).  It wants a topology for localities only: give it one without devices.
 */
static int make_topology(struct pmix_host *h)
{
    if (hwloc_topology_init(&h->topo) != 0)
        return -1;
    if (hwloc_topology_load(h->topo) == 0)
        return 0;
    hwloc_topology_destroy(h->topo);
    return -1;
}

static pmix_status_t init_server(struct pmix_host *h, const struct job *job,
                                 const char *dir)
{
    enum { TMPDIR, SYSTEM, HOST, SHARE, TOPOLOGY, INFOS };
    pmix_info_t info[INFOS];
    char source[] = "hwloc";
    pmix_topology_t topo = {.source = source};
    size_t n = TOPOLOGY;
    bool no = false;
    PMIX_INFO_LOAD(&info[TMPDIR], PMIX_SERVER_TMPDIR, dir, PMIX_STRING);
    PMIX_INFO_LOAD(&info[SYSTEM], PMIX_SYSTEM_TMPDIR, dir, PMIX_STRING);
    PMIX_INFO_LOAD(&info[HOST], PMIX_HOSTNAME, job->node[job->here].name, PMIX_STRING);
    PMIX_INFO_LOAD(&info[SHARE], PMIX_SERVER_SHARE_TOPOLOGY, &no, PMIX_BOOL);
    if (make_topology(h) == 0) {
        topo.topology = h->topo;
        PMIX_INFO_LOAD(&info[TOPOLOGY], PMIX_TOPOLOGY2, &topo, PMIX_TOPO);
        n = INFOS;
    }
    pmix_status_t rc = PMIx_server_init(&upcalls, info, n);
    for (size_t i = 0; i < TOPOLOGY; i++) /* the topology stays in use */
        PMIX_INFO_DESTRUCT(&info[i]);
    return rc;
}

struct pmix_host *pmix_host_start(const struct job *job, const char *dir)
{
    struct pmix_host *h = calloc(1, sizeof *h);
    if (h == NULL)
        return NULL;
    memcpy(h->nspace, job->nspace, sizeof job->nspace);
    h->last = &h->first;
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->settled, NULL);
    h->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    self = h;
    pmix_status_t rc =
        h->event_fd < 0 ? PMIX_ERR_OUT_OF_RESOURCE : init_server(h, job, dir);
    if (rc == PMIX_SUCCESS)
        return h;
    pmix_failed("the start of the server", rc);
    self = NULL;
    free(h);
    return NULL;
}

/* "0,1,5" for one node. */
static char *rank_list(const struct job_node *node)
{
    char *text = malloc((size_t)node->npes * RANK_DIGITS + 1);
    char *end = text;
    if (text == NULL)
        return NULL;
    *end = '\0';
    for (uint32_t i = 0; i < node->npes; i++)
        end += sprintf(end, "%s%u", i ? "," : "", node->rank[i]);
    return text;
}

/* All nodes' names with commas, and all nodes' rank lists with semicolons. */
static int list_nodes(const struct job *job, char **names, char **ranks)
{
    size_t names_len, ranks_len;
    FILE *n = open_memstream(names, &names_len);
    FILE *r = open_memstream(ranks, &ranks_len);
    if (n == NULL || r == NULL)
        return -1;
    for (uint32_t i = 0; i < job->nnodes; i++) {
        char *list = rank_list(&job->node[i]);
        fprintf(n, "%s%s", i ? "," : "", job->node[i].name);
        fprintf(r, "%s%s", i ? ";" : "", list != NULL ? list : "");
        free(list);
    }
    return fclose(n) == 0 && fclose(r) == 0 ? 0 : -1;
}

static void load_u32(pmix_info_t *info, const char *key, uint32_t value)
{
    PMIX_INFO_LOAD(info, key, &value, PMIX_UINT32);
}

static void load_rank(pmix_info_t *info, const char *key, pmix_rank_t value)
{
    PMIX_INFO_LOAD(info, key, &value, PMIX_PROC_RANK);
}

static void load_u16(pmix_info_t *info, const char *key, uint32_t value)
{
    uint16_t v = (uint16_t)value;
    PMIX_INFO_LOAD(info, key, &v, PMIX_UINT16);
}

/* What every PE may ask about PE number i of a node. */
static void load_pe(pmix_info_t *info, const struct job *job, uint32_t node, uint32_t i)
{
    pmix_info_t *pe;
    PMIX_INFO_CREATE(pe, PE_INFOS);
    load_rank(&pe[0], PMIX_RANK, job->node[node].rank[i]);
    load_u16(&pe[1], PMIX_LOCAL_RANK, i);
    load_u16(&pe[2], PMIX_NODE_RANK, i);
    load_u32(&pe[3], PMIX_NODEID, node);
    PMIX_INFO_LOAD(&pe[4], PMIX_HOSTNAME, job->node[node].name, PMIX_STRING);
    pmix_data_array_t array = {.type = PMIX_INFO, .size = PE_INFOS, .array = pe};
    PMIX_INFO_LOAD(info, PMIX_PROC_DATA, &array, PMIX_DATA_ARRAY);
    PMIX_INFO_FREE(pe, PE_INFOS);
}

static size_t load_job(pmix_info_t *info, const struct job *job, char *node_map,
                       char *proc_map, const char *peers)
{
    const struct job_node *here = &job->node[job->here];
    size_t n = 0;
    PMIX_INFO_LOAD(&info[n++], PMIX_NODE_MAP, node_map, PMIX_REGEX);
    PMIX_INFO_LOAD(&info[n++], PMIX_PROC_MAP, proc_map, PMIX_REGEX);
    load_u32(&info[n++], PMIX_JOB_SIZE, job->npes);
    load_u32(&info[n++], PMIX_UNIV_SIZE, job->npes);
    load_u32(&info[n++], PMIX_MAX_PROCS, job->npes);
    load_u32(&info[n++], PMIX_LOCAL_SIZE, here->npes);
    load_u32(&info[n++], PMIX_NODE_SIZE, here->npes);
    load_u32(&info[n++], PMIX_NUM_NODES, job->nnodes);
    PMIX_INFO_LOAD(&info[n++], PMIX_JOBID, job->nspace, PMIX_STRING);
    PMIX_INFO_LOAD(&info[n++], PMIX_LOCAL_PEERS, peers, PMIX_STRING);
    load_rank(&info[n++], PMIX_LOCALLDR, here->rank[0]);
    for (uint32_t node = 0; node < job->nnodes; node++)
        for (uint32_t i = 0; i < job->node[node].npes; i++)
            load_pe(&info[n++], job, node, i);
    return n;
}

static pmix_status_t register_job(struct pmix_host *h, const struct job *job,
                                  pmix_info_t *info)
{
    char *names = NULL, *ranks = NULL, *node_map = NULL, *proc_map = NULL;
    char *peers = rank_list(&job->node[job->here]);
    pmix_status_t rc = PMIX_ERR_NOMEM;
    if (peers == NULL || list_nodes(job, &names, &ranks) != 0)
        goto free_lists;
    rc = PMIx_generate_regex(names, &node_map);
    if (rc == PMIX_SUCCESS)
        rc = PMIx_generate_ppn(ranks, &proc_map);
    if (rc != PMIX_SUCCESS)
        goto free_lists;
    size_t n = load_job(info, job, node_map, proc_map, peers);
    begin(h);
    began(h, PMIx_server_register_nspace(h->nspace, (int)job->node[job->here].npes, info,
                                         n, on_settled, h));
    rc = settle(h);
free_lists:
    free(names);
    free(ranks);
    free(node_map);
    free(proc_map);
    free(peers);
    return rc;
}

/* All at once: libpmix's thread works them off while we make the next call. */
static pmix_status_t register_clients(struct pmix_host *h, const struct job *job)
{
    const struct job_node *here = &job->node[job->here];
    begin(h);
    began(h, PMIx_server_setup_local_support(h->nspace, NULL, 0, on_settled, h));
    for (uint32_t i = 0; i < here->npes; i++) {
        pmix_proc_t p;
        PMIX_PROC_LOAD(&p, h->nspace, here->rank[i]);
        begin(h);
        began(h,
              PMIx_server_register_client(&p, getuid(), getgid(), NULL, on_settled, h));
    }
    return settle(h);
}

int pmix_host_register(struct pmix_host *h, const struct job *job)
{
    size_t room = JOB_INFOS + job->npes;
    pmix_info_t *info;
    PMIX_INFO_CREATE(info, room);
    if (info == NULL)
        return pmix_failed("the registration of the job", PMIX_ERR_NOMEM);
    pmix_status_t rc = register_job(h, job, info);
    PMIX_INFO_FREE(info, room);
    if (rc != PMIX_SUCCESS)
        return pmix_failed("the registration of the job", rc);
    rc = register_clients(h, job);
    return rc == PMIX_SUCCESS ? 0 : pmix_failed("the registration of the PEs", rc);
}

char **pmix_host_env(struct pmix_host *h, uint32_t rank)
{
    char **env = NULL;
    pmix_proc_t p;
    PMIX_PROC_LOAD(&p, h->nspace, rank);
    pmix_status_t rc = PMIx_server_setup_fork(&p, &env);
    if (rc == PMIX_SUCCESS)
        return env;
    pmix_failed("the environment of a PE", rc);
    return NULL;
}

void pmix_host_env_free(char **env)
{
    for (char **e = env; e != NULL && *e != NULL; e++)
        free(*e);
    free(env);
}

/* The files are the janitor's, the threads end with us: nothing else is to be undone. */
void pmix_host_stop(struct pmix_host *h)
{
    (void)h;
}
