/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_net.c - see pmix_net.h: dispatch of posts and messages, pending requests.
 *
 * Uses gather.h, libpmix.  Runs in the daemon's loop.
 */
#include "config.h"

#include "tools/oshrun/pmix/pmix_int.h"
#include "tools/oshrun/util/error.h"
#include "tools/oshrun/util/mem.h"

#include <stdlib.h>
#include <string.h>

#define MS_PER_S 1000u

/* ---- requests --------------------------------------------------------------------- */

void pmix_request_free(struct pmix_request *r)
{
    if (r == NULL)
        return;
    pack_free(&r->key);
    free(r->rank);
    free(r->data);
    free(r->asked);
    free(r);
}

void pmix_request_answer(struct pmix_request *r, pmix_status_t status)
{
    if (r->answered)
        return;
    r->answered = true;
    if (r->modex != NULL)
        r->modex(status, NULL, 0, r->arg, NULL, NULL);
    else if (r->info != NULL)
        r->info(status, NULL, 0, r->arg, NULL, NULL);
    else
        r->op(status, r->arg);
}

void *pmix_copy(const void *data, size_t len)
{
    void *copy = mem_alloc(len);
    return len > 0 ? memcpy(copy, data, len) : copy;
}

void pmix_request_answer_data(struct pmix_request *r, pmix_status_t status, void *copy,
                              size_t len)
{
    r->answered = true;
    r->modex(status, copy, len, r->arg, free, copy);
}

struct pmix_answer *pmix_answer_new(size_t n)
{
    struct pmix_answer *a = mem_alloc(sizeof *a);
    a->n = n;
    a->info = pmix_infos_new(n);
    return a;
}

static void pmix_answer_free(void *arg)
{
    struct pmix_answer *a = arg;
    PMIX_INFO_FREE(a->info, a->n);
    free(a);
}

void pmix_request_answer_info(struct pmix_request *r, pmix_status_t status,
                              struct pmix_answer *a)
{
    r->answered = true;
    r->info(status, a->info, a->n, r->arg, pmix_answer_free, a);
}

static void pmix_net_on_timeout(void *arg)
{
    pmix_request_answer(arg, PMIX_ERR_TIMEOUT);
}

void pmix_request_wait(struct pmix_net *n, struct pmix_request **list,
                       struct pmix_request *r)
{
    r->net = n;
    r->next = *list;
    *list = r;
    r->timer = (struct loop_timer){.fn = pmix_net_on_timeout, .arg = r};
    if (r->timeout_s > 0)
        loop_after(n->loop, &r->timer, (uint64_t)r->timeout_s * MS_PER_S);
}

void pmix_request_finish(struct pmix_request **list, struct pmix_request *r,
                         pmix_status_t status)
{
    pmix_request_answer(r, status);
    while (*list != r)
        list = &(*list)->next;
    *list = r->next;
    loop_cancel(r->net->loop, &r->timer);
    pmix_request_free(r);
}

struct pmix_request *pmix_request_find(struct pmix_request *list, uint64_t number)
{
    while (list != NULL && list->number != number)
        list = list->next;
    return list;
}

/* ---- messages --------------------------------------------------------------------- */

void pmix_net_send(struct pmix_net *n, enum wire_type type, uint32_t to,
                   const struct pack *p)
{
    const struct frame f = {
        .type = type, .from = n->job->here, .to = to, .data = p->data, .len = p->len};
    n->out.send(n->out.arg, &f);
}

int pmix_net_recv(struct pmix_net *n, const struct frame *f)
{
    switch (f->type) {
    case WIRE_GATHER_UP:
    case WIRE_GATHER_DOWN:
        return gather_recv(n->gather, f);
    case WIRE_MODEX_ASK:
        return pmix_modex_recv_ask(n, f);
    case WIRE_MODEX_ANSWER:
        return pmix_modex_recv_answer(n, f);
    case WIRE_EVENT:
        return pmix_event_recv(n, f);
    case WIRE_QUERY_ANSWER:
        return pmix_query_recv(n, f);
    default:
        return -1;
    }
}

/* ---- creation and destruction ----------------------------------------------------- */

struct pmix_net *pmix_net_new(struct pmix_host *h, const struct job *job,
                              const struct tree *tree, const struct net_out *out,
                              struct loop *loop)
{
    struct pmix_net *n = mem_calloc(1, sizeof *n);
    n->host = h;
    n->job = job;
    n->loop = loop;
    n->out = *out;
    n->node_of = job_node_of_pes(job);
    n->ended = mem_calloc(job->npes, sizeof *n->ended);
    n->connected = mem_calloc(job->npes, sizeof *n->connected);
    n->failed = mem_calloc(job->npes, sizeof *n->failed);
    n->lost = mem_calloc(job->nnodes, sizeof *n->lost);
    pmix_collective_open(n, tree);
    return n;
}

static void pmix_net_free_list(struct pmix_request **list)
{
    while (*list != NULL) {
        (*list)->answered = true; /* the server stops: there is no answer */
        pmix_request_finish(list, *list, PMIX_SUCCESS);
    }
}

void pmix_net_free(struct pmix_net *n)
{
    if (n == NULL)
        return;
    gather_free(n->gather);
    loop_cancel(n->loop, &n->host->registration.late);
    loop_cancel(n->loop, &n->probe);
    pmix_net_free_list(&n->collectives);
    pmix_net_free_list(&n->modexes);
    pmix_net_free_list(&n->queries);
    pmix_modex_free(n);
    free(n->node_of);
    free(n->ended);
    free(n->connected);
    free(n->failed);
    free(n->lost);
    free(n);
}

void pmix_net_ended(struct pmix_net *n, uint32_t rank)
{
    n->ended[rank] = true;
    n->connected[rank] = false;
    pmix_modex_ended(n, rank);
}

void pmix_net_connected(struct pmix_net *n, uint32_t rank, bool connected)
{
    n->connected[rank] = connected;
    if (connected)
        pmix_event_connected(n, rank);
}

void pmix_net_failed(struct pmix_net *n, uint32_t rank)
{
    n->failed[rank] = true;
    pmix_event_failed(n, rank);
}

/* With SHMEM_FT=continue collectives complete without the node (pmix_net_is_absent). */
void pmix_net_lost(struct pmix_net *n, uint32_t node)
{
    n->lost[node] = true;
    if (!n->job->ft.on)
        gather_lost(n->gather, node);
    pmix_modex_lost(n, node);
}
