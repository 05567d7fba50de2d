/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_event.c - events that concern PEs of other nodes.
 *
 * Uses libpmix.  Part of pmix_net.h; runs in the daemon's loop, but for pmix_event_pack.
 *
 * EVENT: u32 code, u8 range, string name space and u32 rank of the source, u32 count,
 * bytes: so many pmix_info_t, packed by libpmix.
 */
#include "config.h"

#include "tools/oshrun/pmix/pmix_int.h"
#include "tools/oshrun/util/error.h"
#include "tools/oshrun/util/mem.h"

#include <stdlib.h>
#include <string.h>

#define INFO_BYTES 4    /* no packed pmix_info_t is smaller */
#define PROBE_MS   2500 /* libpmix's thread answers in microseconds, or never */

/* An event that libpmix delivers. */
struct pmix_event {
    pmix_status_t code;
    pmix_data_range_t range;
    pmix_proc_t source;
    pmix_info_t *info;
    size_t n;
};

int pmix_event_pack(struct pack *p, pmix_status_t code, const pmix_proc_t *source,
                    pmix_data_range_t range, pmix_info_t *info, size_t n)
{
    pmix_data_buffer_t buffer;
    PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
    pmix_status_t rc = PMIX_SUCCESS;
    if (n > 0)
        rc = PMIx_Data_pack(NULL, &buffer, info, (int32_t)n, PMIX_INFO);
    pack_u32(p, (uint32_t)code);
    pack_u8(p, range);
    pack_string(p, source->nspace);
    pack_u32(p, source->rank);
    pack_u32(p, (uint32_t)n);
    pack_bytes(p, buffer.base_ptr, buffer.bytes_used);
    PMIX_DATA_BUFFER_DESTRUCT(&buffer);
    return rc == PMIX_SUCCESS ? 0 : -1;
}

void pmix_event_post(struct pmix_net *n, struct pmix_request *r)
{
    const struct pack p = {.data = r->data, .len = r->len};
    pmix_net_send(n, WIRE_EVENT, WIRE_ALL, &p);
    pmix_request_free(r);
}

static int pmix_event_unpack_infos(struct pmix_event *e, const void *data, size_t len)
{
    pmix_data_buffer_t buffer;
    pmix_byte_object_t bytes = {.bytes = pmix_copy(data, len), .size = len};
    int32_t n = (int32_t)e->n;
    PMIX_DATA_BUFFER_CONSTRUCT(&buffer);
    PMIx_Data_load(&buffer, &bytes); /* buffer owns the bytes now */
    e->info = pmix_infos_new(e->n);
    pmix_status_t rc = PMIx_Data_unpack(NULL, &buffer, e->info, &n, PMIX_INFO);
    PMIX_DATA_BUFFER_DESTRUCT(&buffer);
    return rc == PMIX_SUCCESS && (size_t)n == e->n ? 0 : -1;
}

static int pmix_event_read_event(const struct frame *f, struct pmix_event *e)
{
    struct unpack u = unpack_of(f->data, f->len);
    e->code = (pmix_status_t)unpack_u32(&u);
    e->range = unpack_u8(&u);
    const char *nspace = unpack_string(&u);
    uint32_t rank = unpack_u32(&u);
    e->n = unpack_u32(&u);
    size_t len;
    const void *data = unpack_bytes(&u, &len);
    if (!unpack_done(&u) || nspace == NULL || strlen(nspace) > PMIX_MAX_NSLEN ||
        e->n > len / INFO_BYTES)
        return -1;
    PMIX_PROC_LOAD(&e->source, nspace, rank);
    return e->n > 0 ? pmix_event_unpack_infos(e, data, len) : 0;
}

static void pmix_event_free_event(struct pmix_event *e)
{
    if (e->info != NULL)
        PMIX_INFO_FREE(e->info, e->n);
    free(e);
}

/* Runs in libpmix's thread after delivery to all receivers. */
static void pmix_event_on_delivered(pmix_status_t status, void *arg)
{
    (void)status;
    pmix_event_free_event(arg);
}

/* ---- failed PEs ------------------------------------------------------------------- */

/*
 * Each client gets the event of each failed PE once.  The range is a list of clients:
 * events for the whole name space reach a client that connects later twice, when it
 * connects and when it registers a handler, from the cache of libpmix.
 */
static void pmix_event_notify_failed(struct pmix_net *n, uint32_t rank,
                                     const uint32_t *client, uint32_t count)
{
    enum { AFFECTED, RANGE, INFOS };
    struct pmix_event *e = mem_calloc(1, sizeof *e);
    pmix_data_array_t range = {.type = PMIX_PROC, .size = count};
    pmix_proc_t *target;
    PMIX_PROC_CREATE(target, count);
    if (target == NULL)
        error_no_memory();
    e->info = pmix_infos_new(INFOS);
    e->n = INFOS;
    for (uint32_t i = 0; i < count; i++)
        PMIX_PROC_LOAD(&target[i], n->host->nspace, client[i]);
    range.array = target;
    PMIX_PROC_LOAD(&e->source, n->host->nspace, rank);
    PMIX_INFO_LOAD(&e->info[AFFECTED], PMIX_EVENT_AFFECTED_PROC, &e->source, PMIX_PROC);
    PMIX_INFO_LOAD(&e->info[RANGE], PMIX_EVENT_CUSTOM_RANGE, &range, PMIX_DATA_ARRAY);
    PMIX_PROC_FREE(target, count);
    pmix_status_t rc =
        PMIx_Notify_event(PMIX_ERR_PROC_ABORTED, &e->source, PMIX_RANGE_CUSTOM, e->info,
                          e->n, pmix_event_on_delivered, e);
    if (rc != PMIX_SUCCESS) /* completed or failed: the callback is not called */
        pmix_event_free_event(e);
}

void pmix_event_failed(struct pmix_net *n, uint32_t rank)
{
    const struct job_node *here = &n->job->node[n->job->here];
    uint32_t *client = mem_calloc(here->npes, sizeof *client), count = 0;
    for (uint32_t i = 0; i < here->npes; i++)
        if (n->connected[here->rank[i]] && here->rank[i] != rank)
            client[count++] = here->rank[i];
    if (count > 0)
        pmix_event_notify_failed(n, rank, client, count);
    free(client);
}

void pmix_event_connected(struct pmix_net *n, uint32_t client)
{
    for (uint32_t i = 0; i < n->job->npes; i++)
        if (n->failed[i])
            pmix_event_notify_failed(n, i, &client, 1);
}

/* ---- probes ----------------------------------------------------------------------- */

/* A function of the queue of posts. */
static void pmix_event_on_answer(struct pmix_net *n, struct pmix_request *r)
{
    (void)r;
    loop_cancel(n->loop, &n->probe);
}

/* Runs in libpmix's thread. */
static void pmix_event_answer(pmix_status_t status, void *arg)
{
    struct pmix_host *h = arg;
    struct pmix_host_post *p = mem_calloc(1, sizeof *p);
    (void)status;
    p->handle = pmix_event_on_answer;
    pmix_host_put(h, p);
}

void pmix_net_probe(struct pmix_net *n, void (*stuck)(void *arg), void *arg)
{
    pmix_proc_t self;
    if (n->probe.running)
        return;
    n->probe.fn = stuck;
    n->probe.arg = arg;
    loop_after(n->loop, &n->probe, PROBE_MS);
    PMIX_PROC_LOAD(&self, n->host->nspace, PMIX_RANK_UNDEF);
    pmix_status_t rc =
        PMIx_Notify_event(PMIX_ERR_PROC_ABORTED, &self, PMIX_RANGE_PROC_LOCAL, NULL, 0,
                          pmix_event_answer, n->host);
    if (rc != PMIX_SUCCESS) /* completed or failed: the callback is not called */
        loop_cancel(n->loop, &n->probe);
}

/* ---- events of other nodes -------------------------------------------------------- */

/* Notifies the PEs of this node; libpmix makes no upcall for it. */
int pmix_event_recv(struct pmix_net *n, const struct frame *f)
{
    if (f->from == n->job->here)
        return 0;
    struct pmix_event *e = mem_calloc(1, sizeof *e);
    if (pmix_event_read_event(f, e) != 0) {
        pmix_event_free_event(e);
        return -1;
    }
    pmix_status_t rc = PMIx_Notify_event(e->code, &e->source, e->range, e->info, e->n,
                                         pmix_event_on_delivered, e);
    if (rc != PMIX_SUCCESS) /* completed or failed: the callback is not called */
        pmix_event_free_event(e);
    return 0;
}
