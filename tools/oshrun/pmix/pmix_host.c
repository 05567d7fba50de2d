/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_host.c - the PMIx server of a node: its start, and its queue of posts to the
 * daemon.
 *
 * Uses libpmix, hwloc.  Used by daemon.c.
 */
#include "config.h"

#include "tools/oshrun/util/error.h"
#include "tools/oshrun/util/string_list.h"
#include "tools/oshrun/pmix/pmix_int.h"
#include "tools/oshrun/util/mem.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

/*
 * Segment sizes of libpmix's shared-memory store.  The server zeroes all of the first
 * segments, which takes 1 ms per MiB.  What a PE puts between two fences must fit into
 * one data segment, otherwise libpmix prints the size that it needs and crashes.  More
 * segments for the entries of PEs are added when needed.  Server and clients must use the
 * same sizes, otherwise clients read at wrong addresses.
 */
#define DATA_SEGMENT_ENV    "NS_DATA_SEG_SIZE"
#define DATA_SEGMENT_BYTES  "4194304"  /* default of libpmix: enough on one node */
#define DATA_SEGMENT_NET    "16777216" /* for what PEs of several nodes exchange */
#define ENTRY_SEGMENT_ENV   "NS_META_SEG_SIZE"
#define ENTRY_SEGMENT_BYTES "65536" /* the default of libpmix is 4 MiB */
#define ENTRY_SEGMENT_PES   2048    /* PEs that certainly fit into ours */

#define FIRST_MESSAGE_S 2 /* of a connection */

/* ---- the queue -------------------------------------------------------------------- */

void pmix_host_put(struct pmix_host *h, struct pmix_host_post *p)
{
    const uint64_t one = 1;
    p->next = NULL;
    pthread_mutex_lock(&h->lock);
    *h->last = p;
    h->last = &p->next;
    /* Fails only if the counter of the eventfd would overflow. */
    ssize_t written = write(h->event_fd, &one, sizeof one);
    (void)written;
    pthread_mutex_unlock(&h->lock);
}

struct pmix_host_post *pmix_host_take(struct pmix_host *h)
{
    pthread_mutex_lock(&h->lock);
    struct pmix_host_post *p = h->first;
    if (p != NULL)
        h->first = p->next;
    if (h->first == NULL)
        h->last = &h->first;
    if (p == NULL) { /* empty: cleared under the lock, so that no wake-up is lost */
        uint64_t count;
        if (read(h->event_fd, &count, sizeof count) < 0)
            count = 0;
    }
    pthread_mutex_unlock(&h->lock);
    return p;
}

int pmix_host_fd(const struct pmix_host *h)
{
    return h->event_fd;
}

/* ---- start ------------------------------------------------------------------------ */

int pmix_host_failed(const char *what, pmix_status_t rc)
{
    error_report("PMIx: %s failed: %s (%d)", what, PMIx_Error_string(rc), rc);
    return -1;
}

/*
 * By default libpmix discovers all devices of the machine (10 of the 14 ms of its
 * start).  It needs a topology for localities only, so it gets one without devices.
 */
static int pmix_host_make_topology(struct pmix_host *h)
{
    if (hwloc_topology_init(&h->topo) != 0)
        return -1;
    if (hwloc_topology_load(h->topo) == 0)
        return 0;
    hwloc_topology_destroy(h->topo);
    h->topo = NULL;
    return -1;
}

const char *pmix_host_machine_info(const struct pmix_host *h, const char *name)
{
    return h->topo == NULL
               ? NULL
               : hwloc_obj_get_info_by_name(hwloc_get_root_obj(h->topo), name);
}

static pmix_status_t pmix_host_init_server(struct pmix_host *h, const struct job *job,
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
    if (pmix_host_make_topology(h) == 0) {
        topo.topology = h->topo;
        PMIX_INFO_LOAD(&info[TOPOLOGY], PMIX_TOPOLOGY2, &topo, PMIX_TOPO);
        n = INFOS;
    }
    pmix_status_t rc = PMIx_server_init(pmix_upcalls(h), info, n);
    for (size_t i = 0; i < TOPOLOGY; i++) /* the topology stays in use */
        PMIX_INFO_DESTRUCT(&info[i]);
    return rc;
}

static void pmix_host_set_segments(const struct job *job)
{
    setenv(DATA_SEGMENT_ENV, job->nnodes > 1 ? DATA_SEGMENT_NET : DATA_SEGMENT_BYTES, 0);
    if (job->npes <= ENTRY_SEGMENT_PES)
        setenv(ENTRY_SEGMENT_ENV, ENTRY_SEGMENT_BYTES, 0);
}

static bool pmix_host_listens(int fd)
{
    int yes = 0;
    socklen_t len = sizeof yes;
    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &len) == 0 && yes != 0;
}

/*
 * libpmix reads the first message of a connection in the thread that serves all PEs and
 * without a limit: one connection of any local user that sends nothing would stop the
 * job.  Accepted sockets inherit the limit.  Our own listening sockets get it too, which
 * has no effect because they do not block.
 */
static void pmix_host_limit_first_message(void)
{
    const struct timeval limit = {.tv_sec = FIRST_MESSAGE_S};
    DIR *all = opendir("/proc/self/fd");
    if (all == NULL)
        return;
    for (struct dirent *e; (e = readdir(all)) != NULL;) {
        int fd = atoi(e->d_name);
        if (pmix_host_listens(fd))
            setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    }
    closedir(all);
}

/* It is not stopped: the reaper removes its files, and its threads end with the process.
 */
struct pmix_host *pmix_host_start(const struct job *job, const char *dir)
{
    struct pmix_host *h = mem_calloc(1, sizeof *h);
    h->job = job;
    h->dir = dir;
    memcpy(h->nspace, job->nspace, sizeof job->nspace);
    h->last = &h->first;
    pmix_host_set_segments(job);
    pthread_mutex_init(&h->lock, NULL);
    h->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pmix_status_t rc =
        h->event_fd < 0 ? PMIX_ERR_OUT_OF_RESOURCE : pmix_host_init_server(h, job, dir);
    if (rc == PMIX_SUCCESS) {
        pmix_host_limit_first_message();
        return h;
    }
    pmix_host_failed("the start of the server", rc);
    if (h->event_fd >= 0)
        close(h->event_fd);
    pthread_mutex_destroy(&h->lock);
    free(h);
    return NULL;
}

/* The segment sizes that are set. */
static void pmix_host_add_segments(char ***env)
{
    static const char *const name[] = {DATA_SEGMENT_ENV, ENTRY_SEGMENT_ENV};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        if (getenv(name[i]) != NULL)
            string_list_print(env, "%s=%s", name[i], getenv(name[i]));
}

char **pmix_host_env(struct pmix_host *h, uint32_t rank)
{
    char **env = NULL;
    pmix_proc_t p;
    PMIX_PROC_LOAD(&p, h->nspace, rank);
    pmix_status_t rc = PMIx_server_setup_fork(&p, &env);
    if (rc != PMIX_SUCCESS) {
        string_list_free(env);
        pmix_host_failed("the environment of a PE", rc);
        return NULL;
    }
    pmix_host_add_segments(&env);
    return env;
}
