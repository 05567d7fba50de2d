/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_upcalls.c - upcalls of libpmix to the daemon.
 *
 * Uses libpmix.  Part of pmix_host.h.
 *
 * Upcalls run in libpmix's thread.  They only copy the request into a post; the daemon's
 * loop handles it.  An upcall that completes at once returns PMIX_OPERATION_SUCCEEDED,
 * and its callback must not be called; PMIX_SUCCESS means that the callback will be
 * called.
 */
#include "config.h"

#include "tools/oshrun/pmix/pmix_int.h"
#include "tools/oshrun/util/ranks.h"
#include "tools/oshrun/util/mem.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* libpmix allows one server per process, and most upcalls have no argument of ours. */
static struct pmix_host *self;

/* ---- posts ------------------------------------------------------------------------ */

/* Queues a frame of the daemon.  Takes ownership of payload. */
static pmix_status_t pmix_upcalls_post_frame(enum wire_type type, uint32_t rank,
                                             struct pack payload)
{
    struct pmix_host_post *p = mem_calloc(1, sizeof *p);
    p->type = type;
    p->rank = rank;
    p->p = payload;
    pmix_host_put(self, p);
    return PMIX_OPERATION_SUCCEEDED;
}

/* Queues r, to be answered by the loop.  Takes ownership of r. */
static pmix_status_t pmix_upcalls_post_request(void (*handle)(struct pmix_net *,
                                                              struct pmix_request *),
                                               struct pmix_request *r)
{
    struct pmix_host_post *p = mem_calloc(1, sizeof *p);
    p->handle = handle;
    p->request = r;
    pmix_host_put(self, p);
    return PMIX_SUCCESS;
}

static bool pmix_upcalls_is_ours(const pmix_proc_t *p)
{
    return strncmp(p->nspace, self->nspace, PMIX_MAX_NSLEN) == 0 &&
           (p->rank == PMIX_RANK_WILDCARD || p->rank < self->job->npes);
}

/* The ranks of a list, ascending and each once; *n = 0: all of the job. */
static pmix_status_t pmix_upcalls_ranks_of(const pmix_proc_t *procs, size_t np,
                                           uint32_t **rank, uint32_t *n)
{
    *n = 0;
    *rank = mem_calloc(np, sizeof **rank);
    bool all = np == 0;
    for (size_t i = 0; i < np; i++) {
        if (!pmix_upcalls_is_ours(&procs[i]))
            return PMIX_ERR_NOT_FOUND;
        all = all || procs[i].rank == PMIX_RANK_WILDCARD;
        (*rank)[i] = procs[i].rank;
    }
    if (all)
        return PMIX_SUCCESS;
    ranks_sort(*rank, (uint32_t)np);
    for (size_t i = 0; i < np; i++)
        if (i == 0 || (*rank)[i] != (*rank)[*n - 1])
            (*rank)[(*n)++] = (*rank)[i];
    if (*n == self->job->npes)
        *n = 0;
    return PMIX_SUCCESS;
}

static const pmix_info_t *pmix_upcalls_find_info(const pmix_info_t *info, size_t n,
                                                 const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (PMIX_CHECK_KEY(&info[i], key))
            return &info[i];
    return NULL;
}

static bool pmix_upcalls_flag(const pmix_info_t *info, size_t n, const char *key)
{
    const pmix_info_t *i = pmix_upcalls_find_info(info, n, key);
    return i != NULL && (i->value.type != PMIX_BOOL || i->value.data.flag);
}

/* In seconds; 0: there is none. */
static int pmix_upcalls_timeout_of(const pmix_info_t *info, size_t n)
{
    const pmix_info_t *i = pmix_upcalls_find_info(info, n, PMIX_TIMEOUT);
    if (i == NULL)
        return 0;
    int s = i->value.type == PMIX_INT      ? i->value.data.integer
            : i->value.type == PMIX_UINT32 ? (int)i->value.data.uint32
                                           : 0;
    return s > 0 ? s : 0;
}

/* ---- start and end of a PE -------------------------------------------------------- */

static pmix_status_t pmix_upcalls_on_connected(const pmix_proc_t *p, void *obj,
                                               pmix_info_t *info, size_t n,
                                               pmix_op_cbfunc_t cb, void *arg)
{
    (void)obj, (void)info, (void)n, (void)cb, (void)arg;
    struct pack payload = {0};
    pack_u32(&payload, p->rank);
    return pmix_upcalls_post_frame(WIRE_CONNECTED, p->rank, payload);
}

static pmix_status_t pmix_upcalls_on_finalized(const pmix_proc_t *p, void *obj,
                                               pmix_op_cbfunc_t cb, void *arg)
{
    (void)obj, (void)cb, (void)arg;
    struct pack payload = {0};
    pack_u32(&payload, p->rank);
    return pmix_upcalls_post_frame(WIRE_FINALIZED, p->rank, payload);
}

__attribute__((format(printf, 1, 2))) static void
pmix_upcalls_tell_user(const char *format, ...)
{
    char text[PMIX_HOST_TEXT];
    struct pack payload = {0};
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    pack_string(&payload, text);
    pmix_upcalls_post_frame(WIRE_SAY, JOB_NO_PE, payload);
}

/* An abort ends the whole job; to abort some PEs only is not supported.  libpmix does
 * not forward that error to the PE, so it is reported to the user. */
static pmix_status_t pmix_upcalls_on_abort(const pmix_proc_t *p, void *obj, int status,
                                           const char *text, pmix_proc_t *procs, size_t n,
                                           pmix_op_cbfunc_t cb, void *arg)
{
    (void)obj, (void)cb, (void)arg;
    uint32_t *rank, some;
    pmix_status_t rc = pmix_upcalls_ranks_of(procs, procs != NULL ? n : 0, &rank, &some);
    free(rank);
    if (rc != PMIX_SUCCESS)
        return rc;
    if (some > 0) {
        pmix_upcalls_tell_user(
            "PE %u asked to abort some PEs only (PMIx_Abort with a list); oshrun can "
            "only end the whole job",
            p->rank);
        return PMIX_ERR_NOT_SUPPORTED;
    }
    char copy[PMIX_HOST_TEXT];
    struct pack payload = {0};
    snprintf(copy, sizeof copy, "%s", text != NULL ? text : "");
    pack_u32(&payload, p->rank);
    pack_u32(&payload, (uint32_t)status);
    pack_string(&payload, copy);
    return pmix_upcalls_post_frame(WIRE_ABORTED, p->rank, payload);
}

static pmix_status_t pmix_upcalls_on_spawn(const pmix_proc_t *p, const pmix_info_t *info,
                                           size_t n, const pmix_app_t *apps, size_t na,
                                           pmix_spawn_cbfunc_t cb, void *arg)
{
    (void)info, (void)n, (void)cb, (void)arg;
    const char *cmd = na > 0 && apps[0].cmd != NULL ? apps[0].cmd : "nothing";
    pmix_upcalls_tell_user(
        "PE %u asked to start more processes (PMIx_Spawn of '%.64s'); oshrun cannot do "
        "that",
        p->rank, cmd);
    return PMIX_ERR_NOT_SUPPORTED;
}

/* ---- collectives ------------------------------------------------------------------ */

/* The kinds of collectives, for their keys. */
#define KIND_FENCE      'f'
#define KIND_CONNECT    'c'
#define KIND_DISCONNECT 'd'
#define KIND_CONSTRUCT  'g'
#define KIND_DESTRUCT   'h'

/* The key has kind, name and members, so that different collectives never match. */
static void pmix_upcalls_make_key(struct pmix_request *r, unsigned char kind,
                                  const char *name)
{
    pack_u8(&r->key, kind);
    pack_string(&r->key, name);
    for (uint32_t i = 0; i < r->nranks; i++)
        pack_u32(&r->key, r->rank[i]);
}

/* Stores an error in r->status for the loop: libpmix does not forward one that the
 * upcall for a group returns.  like: callback and data, which it owns. */
static struct pmix_request *
pmix_upcalls_new_collective(const struct pmix_request *like, unsigned char kind,
                            const char *name, const pmix_proc_t *procs, size_t np,
                            const pmix_info_t *info, size_t n)
{
    struct pmix_request *r = mem_alloc(sizeof *r);
    *r = *like;
    r->status = pmix_upcalls_ranks_of(procs, np, &r->rank, &r->nranks);
    if (r->status == PMIX_SUCCESS)
        pmix_upcalls_make_key(r, kind, name);
    r->timeout_s = pmix_upcalls_timeout_of(info, n);
    return r;
}

/* Takes ownership of data, which libpmix has allocated. */
static pmix_status_t pmix_upcalls_on_fence(const pmix_proc_t *procs, size_t np,
                                           const pmix_info_t *info, size_t n, char *data,
                                           size_t len, pmix_modex_cbfunc_t cb, void *arg)
{
    const struct pmix_request like = {
        .modex = cb, .arg = arg, .data = data, .len = data != NULL ? len : 0};
    return pmix_upcalls_post_request(
        pmix_collective_post,
        pmix_upcalls_new_collective(&like, KIND_FENCE, NULL, procs, np, info, n));
}

/* Endpoint data that the members of a group exchange when they construct it. */
static void pmix_upcalls_copy_endpoints(struct pmix_request *r, const pmix_info_t *info,
                                        size_t n)
{
    const pmix_info_t *i = pmix_upcalls_find_info(info, n, PMIX_GROUP_ENDPT_DATA);
    if (i == NULL || i->value.type != PMIX_BYTE_OBJECT || i->value.data.bo.size == 0)
        return;
    r->data = pmix_copy(i->value.data.bo.bytes, i->value.data.bo.size);
    r->len = i->value.data.bo.size;
}

static pmix_status_t pmix_upcalls_on_group(pmix_group_operation_t op, char *group,
                                           const pmix_proc_t *procs, size_t np,
                                           const pmix_info_t *info, size_t n,
                                           pmix_info_cbfunc_t cb, void *arg)
{
    bool make = op == PMIX_GROUP_CONSTRUCT;
    const struct pmix_request like = {
        .info = cb,
        .arg = arg,
        .wants_context_id =
            make && pmix_upcalls_flag(info, n, PMIX_GROUP_ASSIGN_CONTEXT_ID)};
    struct pmix_request *r = pmix_upcalls_new_collective(
        &like, make ? KIND_CONSTRUCT : KIND_DESTRUCT, group, procs, np, info, n);
    if (make)
        pmix_upcalls_copy_endpoints(r, info, n);
    return pmix_upcalls_post_request(pmix_collective_post, r);
}

static pmix_status_t pmix_upcalls_on_connect(const pmix_proc_t *procs, size_t np,
                                             const pmix_info_t *info, size_t n,
                                             pmix_op_cbfunc_t cb, void *arg)
{
    const struct pmix_request like = {.op = cb, .arg = arg};
    return pmix_upcalls_post_request(
        pmix_collective_post,
        pmix_upcalls_new_collective(&like, KIND_CONNECT, NULL, procs, np, info, n));
}

static pmix_status_t pmix_upcalls_on_disconnect(const pmix_proc_t *procs, size_t np,
                                                const pmix_info_t *info, size_t n,
                                                pmix_op_cbfunc_t cb, void *arg)
{
    const struct pmix_request like = {.op = cb, .arg = arg};
    return pmix_upcalls_post_request(
        pmix_collective_post,
        pmix_upcalls_new_collective(&like, KIND_DISCONNECT, NULL, procs, np, info, n));
}

/* ---- data of a PE of another node ------------------------------------------------- */

static pmix_status_t pmix_upcalls_on_modex(const pmix_proc_t *p, const pmix_info_t *info,
                                           size_t n, pmix_modex_cbfunc_t cb, void *arg)
{
    if (!pmix_upcalls_is_ours(p) || p->rank == PMIX_RANK_WILDCARD)
        return PMIX_ERR_NOT_FOUND;
    struct pmix_request *r = mem_calloc(1, sizeof *r);
    r->modex = cb;
    r->arg = arg;
    r->modex_rank = p->rank;
    r->timeout_s = pmix_upcalls_timeout_of(info, n);
    return pmix_upcalls_post_request(pmix_modex_post, r);
}

/* ---- events ----------------------------------------------------------------------- */

/* libpmix itself keeps the registrations and delivers events on the node. */
static pmix_status_t pmix_upcalls_on_register_events(pmix_status_t *codes, size_t nc,
                                                     const pmix_info_t *info, size_t n,
                                                     pmix_op_cbfunc_t cb, void *arg)
{
    (void)codes, (void)nc, (void)info, (void)n, (void)cb, (void)arg;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t pmix_upcalls_on_deregister_events(pmix_status_t *codes, size_t nc,
                                                       pmix_op_cbfunc_t cb, void *arg)
{
    (void)codes, (void)nc, (void)cb, (void)arg;
    return PMIX_OPERATION_SUCCEEDED;
}

/* libpmix has delivered the event to the PEs of this node. */
static pmix_status_t pmix_upcalls_on_notify(pmix_status_t code, const pmix_proc_t *source,
                                            pmix_data_range_t range, pmix_info_t *info,
                                            size_t n, pmix_op_cbfunc_t cb, void *arg)
{
    (void)cb, (void)arg;
    if (range == PMIX_RANGE_LOCAL || range == PMIX_RANGE_PROC_LOCAL ||
        range == PMIX_RANGE_RM || self->job->nnodes == 1)
        return PMIX_OPERATION_SUCCEEDED;
    struct pmix_request *r = mem_calloc(1, sizeof *r);
    struct pack p = {0};
    if (pmix_event_pack(&p, code, source, range, info, n) != 0) {
        pack_free(&p);
        free(r);
        return PMIX_ERR_PACK_FAILURE;
    }
    r->data = p.data;
    r->len = p.len;
    pmix_status_t rc = pmix_upcalls_post_request(pmix_event_post, r);
    return rc == PMIX_SUCCESS ? PMIX_OPERATION_SUCCEEDED : rc;
}

/* ---- queries ---------------------------------------------------------------------- */

static size_t pmix_upcalls_count_keys(const pmix_query_t *queries, size_t n)
{
    size_t keys = 0;
    for (size_t i = 0; i < n; i++)
        for (char **k = queries[i].keys; k != NULL && *k != NULL; k++)
            keys++;
    return keys;
}

/* Queries may be limited to a job; there is only ours. */
static bool pmix_upcalls_asks_for_us(const pmix_query_t *q)
{
    for (size_t i = 0; i < q->nqual; i++) {
        const pmix_info_t *qual = &q->qualifiers[i];
        if (PMIX_CHECK_KEY(qual, PMIX_NSPACE) && qual->value.type == PMIX_STRING &&
            strcmp(qual->value.data.string, self->nspace) != 0)
            return false;
    }
    return true;
}

static pmix_status_t pmix_upcalls_on_query(pmix_proc_t *p, pmix_query_t *queries,
                                           size_t n, pmix_info_cbfunc_t cb, void *arg)
{
    (void)p;
    struct pmix_request *r = mem_calloc(1, sizeof *r);
    r->info = cb;
    r->arg = arg;
    r->asked = mem_calloc(pmix_upcalls_count_keys(queries, n) + 1, sizeof *r->asked);
    pmix_status_t rc = PMIX_ERR_NOT_SUPPORTED;
    for (size_t i = 0; i < n; i++) {
        if (!pmix_upcalls_asks_for_us(&queries[i]))
            rc = PMIX_ERR_NOT_FOUND;
        for (char **k = queries[i].keys; k != NULL && *k != NULL; k++) {
            int key = pmix_upcalls_asks_for_us(&queries[i]) ? pmix_query_key_of(*k) : -1;
            if (key >= 0)
                r->asked[r->nasked++] = (enum pmix_query_key)key;
            else
                r->unknown = true;
        }
    }
    if (r->nasked > 0)
        return pmix_upcalls_post_request(pmix_query_post, r);
    pmix_request_free(r);
    return rc;
}

/* ---- job control ------------------------------------------------------------------ */

/* The signal that a directive stands for; 0: it has none; -1: not supported; -2: bad
 * value. */
static int pmix_upcalls_signal_of(const pmix_info_t *d)
{
    static const struct {
        const char *key;
        int signal;
    } known[] = {{PMIX_JOB_CTRL_KILL, SIGKILL},
                 {PMIX_JOB_CTRL_TERMINATE, SIGTERM},
                 {PMIX_JOB_CTRL_PAUSE, SIGSTOP},
                 {PMIX_JOB_CTRL_RESUME, SIGCONT}};
    if (PMIX_CHECK_KEY(d, PMIX_JOB_CTRL_ID))
        return 0; /* a name for the request, so that it could be cancelled */
    if (PMIX_CHECK_KEY(d, PMIX_JOB_CTRL_SIGNAL)) {
        int sig = d->value.type == PMIX_INT ? d->value.data.integer : 0;
        return sig > 0 && sig <= SIGRTMAX ? sig : -2;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (PMIX_CHECK_KEY(d, known[i].key))
            return pmix_upcalls_flag(d, 1, known[i].key) ? known[i].signal : 0;
    return -1;
}

/* The signal of a list of directives, exactly one of which must give one. */
static pmix_status_t pmix_upcalls_signal_of_all(const pmix_info_t *info, size_t n,
                                                int *sig)
{
    *sig = 0;
    for (size_t i = 0; i < n; i++) {
        int one = pmix_upcalls_signal_of(&info[i]);
        if (one == -1)
            return PMIX_ERR_NOT_SUPPORTED;
        if (one == -2 || (one > 0 && *sig > 0))
            return PMIX_ERR_BAD_PARAM;
        *sig = one > 0 ? one : *sig;
    }
    return *sig > 0 ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM;
}

static pmix_status_t pmix_upcalls_on_job_control(const pmix_proc_t *p,
                                                 const pmix_proc_t *targets, size_t nt,
                                                 const pmix_info_t *info, size_t n,
                                                 pmix_info_cbfunc_t cb, void *arg)
{
    (void)p, (void)cb, (void)arg;
    int sig;
    pmix_status_t rc = pmix_upcalls_signal_of_all(info, n, &sig);
    if (rc != PMIX_SUCCESS)
        return rc;
    uint32_t *rank, count;
    rc = pmix_upcalls_ranks_of(targets, targets != NULL ? nt : 0, &rank, &count);
    if (rc == PMIX_SUCCESS) {
        struct pack payload = {0};
        pack_u32(&payload, (uint32_t)sig);
        pack_numbers(&payload, rank, count);
        rc = pmix_upcalls_post_frame(WIRE_SIGNAL, JOB_NO_PE, payload);
    }
    free(rank);
    return rc;
}

static pmix_server_module_t upcalls = {
    .client_connected2 = pmix_upcalls_on_connected,
    .client_finalized = pmix_upcalls_on_finalized,
    .abort = pmix_upcalls_on_abort,
    .fence_nb = pmix_upcalls_on_fence,
    .direct_modex = pmix_upcalls_on_modex,
    .spawn = pmix_upcalls_on_spawn,
    .connect = pmix_upcalls_on_connect,
    .disconnect = pmix_upcalls_on_disconnect,
    .register_events = pmix_upcalls_on_register_events,
    .deregister_events = pmix_upcalls_on_deregister_events,
    .notify_event = pmix_upcalls_on_notify,
    .query = pmix_upcalls_on_query,
    .job_control = pmix_upcalls_on_job_control,
    .group = pmix_upcalls_on_group,
};

pmix_server_module_t *pmix_upcalls(struct pmix_host *h)
{
    self = h;
    return &upcalls;
}
