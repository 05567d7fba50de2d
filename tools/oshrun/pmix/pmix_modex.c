/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_modex.c - direct modex: data of a PE of another node, from the server there.
 *
 * Uses libpmix.  Part of pmix_net.h; runs in the daemon's loop.
 *
 * MODEX_ASK: u64 number, u32 rank.  MODEX_ANSWER: u64 number, u32 status, bytes.
 *
 * libpmix answers a request when the PE has put data, and never if the PE ends before
 * that.  So we answer requests for a PE that has ended if libpmix has not done so after
 * ENDED_MS.
 */
#include "config.h"

#include "tools/oshrun/pmix/pmix_int.h"
#include "tools/oshrun/util/mem.h"

#include <stdlib.h>

/* For libpmix's thread, which may be short of processor time, to handle what an ended PE
 * has put. */
#define ENDED_MS 500

/* A request of another node. */
struct pmix_served {
    struct pmix_served *next;
    struct pmix_net *net;
    struct pmix_host *host;
    struct loop_timer timer; /* runs when the PE has ended */
    uint32_t rank;
    uint32_t from;
    uint64_t number;
    bool answered; /* but libpmix still has it */
};

/* ---- requesting ------------------------------------------------------------------- */

void pmix_modex_post(struct pmix_net *n, struct pmix_request *r)
{
    struct pack p = {0};
    r->node = n->node_of[r->modex_rank];
    r->number = ++n->number;
    pack_u64(&p, r->number);
    pack_u32(&p, r->modex_rank);
    pmix_request_wait(n, &n->modexes, r);
    if (n->lost[r->node])
        pmix_request_finish(&n->modexes, r, PMIX_ERR_LOST_CONNECTION);
    else if (r->node != n->job->here)
        pmix_net_send(n, WIRE_MODEX_ASK, r->node, &p);
    else /* libpmix has the data of local PEs */
        pmix_request_finish(&n->modexes, r, PMIX_ERR_NOT_FOUND);
    pack_free(&p);
}

int pmix_modex_recv_answer(struct pmix_net *n, const struct frame *f)
{
    struct unpack u = unpack_of(f->data, f->len);
    uint64_t number = unpack_u64(&u);
    pmix_status_t status = (pmix_status_t)unpack_u32(&u);
    size_t len;
    const void *data = unpack_bytes(&u, &len);
    if (!unpack_done(&u))
        return -1;
    struct pmix_request *r = pmix_request_find(n->modexes, number);
    if (r == NULL || r->node != f->from)
        return -1;
    if (status == PMIX_SUCCESS && len > 0 && !r->answered)
        pmix_request_answer_data(r, status, pmix_copy(data, len), len);
    pmix_request_finish(&n->modexes, r, status);
    return 0;
}

/* ---- serving ---------------------------------------------------------------------- */

static void pmix_modex_answer(struct pmix_served *s, pmix_status_t status,
                              const void *data, size_t len)
{
    struct pack p = {0};
    if (s->answered)
        return;
    s->answered = true;
    pack_u64(&p, s->number);
    pack_u32(&p, (uint32_t)status);
    pack_bytes(&p, data, len);
    pmix_net_send(s->net, WIRE_MODEX_ANSWER, s->from, &p);
    pack_free(&p);
}

static void pmix_modex_release(struct pmix_served *s)
{
    struct pmix_served **at = &s->net->served;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    loop_cancel(s->net->loop, &s->timer);
    free(s);
}

static void pmix_modex_data(struct pmix_net *n, struct pmix_request *r)
{
    (void)n;
    pmix_modex_answer(r->served, r->status, r->data, r->len);
    pmix_modex_release(r->served);
    pmix_request_free(r);
}

/* Runs in libpmix's thread.  libpmix frees the data when we return. */
static void pmix_modex_on_data(pmix_status_t status, char *data, size_t len, void *arg)
{
    struct pmix_served *s = arg;
    struct pmix_host_post *post = mem_calloc(1, sizeof *post);
    struct pmix_request *r = mem_calloc(1, sizeof *r);
    r->served = s;
    r->data = pmix_copy(data, len);
    r->len = len;
    r->status = status;
    post->handle = pmix_modex_data;
    post->request = r;
    pmix_host_put(s->host, post);
}

static void pmix_modex_on_ended_timer(void *arg)
{
    pmix_modex_answer(arg, PMIX_ERR_NOT_FOUND, NULL, 0);
}

static void pmix_modex_ask_libpmix(struct pmix_served *s)
{
    pmix_proc_t p;
    PMIX_PROC_LOAD(&p, s->host->nspace, s->rank);
    pmix_status_t rc = PMIx_server_dmodex_request(&p, pmix_modex_on_data, s);
    if (rc != PMIX_SUCCESS) {
        pmix_modex_answer(s, rc, NULL, 0);
        pmix_modex_release(s);
    } else if (s->net->ended[s->rank]) {
        loop_after(s->net->loop, &s->timer, ENDED_MS);
    }
}

void pmix_modex_registered(struct pmix_net *n)
{
    for (struct pmix_served *s = n->served, *next; s != NULL; s = next) {
        next = s->next;
        pmix_modex_ask_libpmix(s);
    }
}

/* PMIx_server_dmodex_request blocks until libpmix's thread has handled earlier calls,
 * which takes long only before the end of the registration. */
int pmix_modex_recv_ask(struct pmix_net *n, const struct frame *f)
{
    struct unpack u = unpack_of(f->data, f->len);
    uint64_t number = unpack_u64(&u);
    uint32_t rank = unpack_u32(&u);
    if (!unpack_done(&u) || rank >= n->job->npes || n->node_of[rank] != n->job->here)
        return -1;
    struct pmix_served *s = mem_alloc(sizeof *s);
    *s = (struct pmix_served){.next = n->served,
                              .net = n,
                              .host = n->host,
                              .timer = {.fn = pmix_modex_on_ended_timer, .arg = s},
                              .rank = rank,
                              .from = f->from,
                              .number = number};
    n->served = s;
    if (n->host->registration.complete)
        pmix_modex_ask_libpmix(s);
    return 0;
}

void pmix_modex_ended(struct pmix_net *n, uint32_t rank)
{
    for (struct pmix_served *s = n->served; s != NULL; s = s->next)
        if (s->rank == rank)
            loop_after(n->loop, &s->timer, ENDED_MS);
}

void pmix_modex_lost(struct pmix_net *n, uint32_t node)
{
    for (struct pmix_request *r = n->modexes, *next; r != NULL; r = next) {
        next = r->next;
        if (r->node == node)
            pmix_request_finish(&n->modexes, r, PMIX_ERR_LOST_CONNECTION);
    }
    for (struct pmix_served *s = n->served; s != NULL; s = s->next)
        if (s->from == node)
            s->answered = true;
}

/* The entries are not freed: libpmix refers to them and may call back until the process
 * ends. */
void pmix_modex_free(struct pmix_net *n)
{
    for (struct pmix_served *s = n->served; s != NULL; s = s->next)
        loop_cancel(n->loop, &s->timer);
}
