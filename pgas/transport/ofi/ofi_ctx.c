/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_ctx.c - a context: an endpoint, its queue, records and bounces.  Uses: ofi.h,
 * ofi_select. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>

#include "pgas/transport/ofi/ofi.h"

enum { PAGE = 4096 };

struct ofi_slab {
    struct fid_mr *mr; /* NULL: need not be registered */
    struct ofi_op *ops;
};

/* ---- records --------------------------------------------------------------------- */

/* Memory that may have to be registered; NULL: there is none. */
static void *pages(struct transport_ctx *ctx, size_t size, struct fid_mr **mr,
                   void **desc)
{
    size_t len = (size + PAGE - 1) / PAGE * PAGE;
    void *memory = aligned_alloc(PAGE, len);

    *mr = NULL;
    *desc = NULL;
    if (memory == NULL || !ctx->net->registers)
        return memory;
    if (ofi_register(ctx->net, memory, len, false, ctx->ep, mr) != 0) {
        free(memory);
        return NULL;
    }
    *desc = fi_mr_desc(*mr);
    return memory;
}

static bool add_slab(struct transport_ctx *ctx)
{
    struct ofi_slab *slab = calloc(1, sizeof *slab);
    void *desc;

    if (slab == NULL)
        return false;
    slab->ops = pages(ctx, OFI_SLAB_OPS * sizeof slab->ops[0], &slab->mr, &desc);
    if (slab->ops == NULL) {
        free(slab);
        return false;
    }
    memset(slab->ops, 0, OFI_SLAB_OPS * sizeof slab->ops[0]);
    for (int i = OFI_SLAB_OPS - 1; i >= 0; i--) {
        slab->ops[i].index = ctx->nslabs * OFI_SLAB_OPS + (unsigned)i;
        slab->ops[i].desc = desc;
        slab->ops[i].next = ctx->free;
        ctx->free = &slab->ops[i];
    }
    ctx->slab[ctx->nslabs++] = slab;
    return true;
}

struct ofi_op *ofi_op_more(struct transport_ctx *ctx)
{
    return ctx->nslabs < OFI_SLABS_MAX && add_slab(ctx) ? ctx->free : NULL;
}

void ofi_bounce_free(struct transport_ctx *ctx, struct ofi_op *op)
{
    struct ofi_bounces *bounces = &ctx->bounces;

    if (op->bounce != NULL)
        bounces->free[bounces->nfree++] =
            (uint16_t)((size_t)(op->bounce - bounces->memory) / OFI_BOUNCE_SIZE);
    op->bounce = NULL;
}

void ofi_op_free(struct transport_ctx *ctx, struct ofi_op *op)
{
    ofi_bounce_free(ctx, op);
    op->kind = OFI_FREE;
    op->generation++;
    op->awaits_answer = false;
    op->next = ctx->free;
    ctx->free = op;
}

struct ofi_op *ofi_op_of_token(const struct transport_ctx *ctx, uint64_t token)
{
    uint32_t index = (uint32_t)token;

    return index < ctx->nslabs * OFI_SLAB_OPS
               ? &ctx->slab[index / OFI_SLAB_OPS]->ops[index % OFI_SLAB_OPS]
               : NULL;
}

void ofi_ops_each(struct transport_ctx *ctx,
                  bool (*fn)(struct transport_ctx *ctx, struct ofi_op *op, void *arg),
                  void *arg)
{
    for (unsigned s = 0; s < ctx->nslabs; s++)
        for (int i = 0; i < OFI_SLAB_OPS; i++) {
            struct ofi_op *op = &ctx->slab[s]->ops[i];
            if (op->kind != OFI_FREE && !fn(ctx, op, arg))
                return;
        }
}

unsigned char *ofi_bounce_new(struct transport_ctx *ctx)
{
    struct ofi_bounces *b = &ctx->bounces;

    if (unlikely(b->memory == NULL)) {
        b->memory = pages(ctx, OFI_BOUNCES * OFI_BOUNCE_SIZE, &b->mr, &b->desc);
        if (b->memory == NULL)
            return NULL;
        for (b->nfree = 0; b->nfree < OFI_BOUNCES; b->nfree++)
            b->free[b->nfree] = (uint16_t)b->nfree;
    }
    return b->nfree == 0 ? NULL : b->memory + b->free[--b->nfree] * OFI_BOUNCE_SIZE;
}

int ofi_inbox_make(struct transport_ctx *ctx)
{
    struct ofi_bounces *b = &ctx->inbox;

    if (b->memory == NULL)
        b->memory = pages(ctx, OFI_RECEIVES * OFI_MESSAGE_MAX, &b->mr, &b->desc);
    return b->memory == NULL ? -ENOMEM : 0;
}

void ofi_queue_add(struct ofi_queue *queue, struct ofi_op *op)
{
    op->next = NULL;
    *queue->last = op;
    queue->last = &op->next;
}

struct ofi_op *ofi_queue_take(struct ofi_queue *queue)
{
    struct ofi_op *op = queue->first;

    queue->first = op->next;
    if (queue->first == NULL)
        queue->last = &queue->first;
    return op;
}

/* ---- the endpoint ---------------------------------------------------------------- */

static int refuse(char *why, const char *what, int rc)
{
    snprintf(why, TRANSPORT_TEXT_MAX, "libfabric: %s failed: %s", what,
             ofi_lib.strerror(-rc));
    return -ofi_errno(-rc);
}

/* With something to sleep on if there is such a thing. */
static int open_queue(struct transport_ctx *ctx)
{
    struct transport_net *net = ctx->net;
    struct fi_cq_attr attr = {
        .size = 2 * OFI_OPS_MAX, .format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_FD};
    int rc = -FI_ENOSYS;

    ctx->fd = -1;
    if (!net->avoid[AVOID_WAITFD] && ofi_select_wakes(net->info))
        rc = fi_cq_open(net->domain, &attr, &ctx->cq, NULL);
    if (rc == 0 && fi_control(&ctx->cq->fid, FI_GETWAIT, &ctx->fd) != 0)
        ctx->fd = -1;
    if (rc == 0)
        return 0;
    attr.wait_obj = FI_WAIT_NONE;
    return fi_cq_open(net->domain, &attr, &ctx->cq, NULL);
}

static int open_endpoint(struct transport_ctx *ctx, char *why)
{
    struct transport_net *net = ctx->net;
    size_t len = sizeof ctx->name;
    int rc = open_queue(ctx);

    if (rc != 0)
        return refuse(why, "fi_cq_open", rc);
    rc = fi_endpoint(net->domain, net->info, &ctx->ep, NULL);
    if (rc != 0)
        return refuse(why, "fi_endpoint", rc);
    rc = fi_ep_bind(ctx->ep, &net->av->fid, 0);
    if (rc == 0)
        rc = fi_ep_bind(ctx->ep, &ctx->cq->fid,
                        FI_TRANSMIT | (ctx->silent ? FI_SELECTIVE_COMPLETION : 0));
    if (rc == 0)
        rc = fi_ep_bind(ctx->ep, &ctx->cq->fid, FI_RECV);
    if (rc == 0)
        rc = fi_enable(ctx->ep);
    if (rc != 0)
        return refuse(why, "fi_enable", rc);
    rc = fi_getname(&ctx->ep->fid, ctx->name, &len);
    if (rc != 0 || len > sizeof ctx->name)
        return refuse(why, "fi_getname", rc != 0 ? rc : -FI_ETOOSMALL);
    ctx->name_len = (uint8_t)len;
    return 0;
}

/* ---- life ------------------------------------------------------------------------ */

static size_t inject_max(const struct transport_net *net)
{
    /* A put without a completion is known to be done by a later get only. */
    return net->ordered && !net->avoid[AVOID_INJECT] ? net->info->tx_attr->inject_size
                                                     : 0;
}

/* The lowest number that no context has; under the lock. */
static uint16_t free_number(const struct transport_net *net)
{
    uint16_t number = 0;
    const struct transport_ctx *c = net->contexts;

    while (c != NULL)
        if (c->number == number) {
            number++;
            c = net->contexts;
        } else {
            c = c->next;
        }
    return number;
}

static void enlist(struct transport_net *net, struct transport_ctx *ctx)
{
    pthread_mutex_lock(&net->lock);
    ctx->number = free_number(net);
    ctx->next = net->contexts;
    net->contexts = ctx;
    pthread_mutex_unlock(&net->lock);
}

static void unlist(struct transport_net *net, struct transport_ctx *ctx)
{
    pthread_mutex_lock(&net->lock);
    for (struct transport_ctx **c = &net->contexts; *c != NULL; c = &(*c)->next)
        if (*c == ctx) {
            *c = ctx->next;
            break;
        }
    pthread_mutex_unlock(&net->lock);
}

int ofi_ctx_make(struct transport_net *net, struct transport_ctx **ctx,
                 char why[TRANSPORT_TEXT_MAX])
{
    struct transport_ctx *c = calloc(1, sizeof *c);
    size_t npes = (size_t)net->world->npes, words = (npes + OFI_BITS - 1) / OFI_BITS;

    if (c == NULL)
        return refuse(why, "a context", -FI_ENOMEM);
    c->net = net;
    c->stalled.last = &c->stalled.first;
    c->deaf.last = &c->deaf.first;
    c->inject_max = inject_max(net);
    c->silent = net->ordered && !net->avoid[AVOID_INJECT] &&
                (net->info->mode & (FI_CONTEXT | FI_CONTEXT2)) == 0;
    enlist(net, c);
    c->refused = -1;
    c->dirty = calloc(words, sizeof c->dirty[0]);
    c->reached = calloc(words, sizeof c->reached[0]);
    c->dirty_list = calloc(npes, sizeof c->dirty_list[0]);
    int rc = c->dirty == NULL || c->reached == NULL || c->dirty_list == NULL
                 ? refuse(why, "a context", -FI_ENOMEM)
                 : open_endpoint(c, why);
    if (rc != 0)
        ofi_ctx_free(c);
    else
        *ctx = c;
    return rc;
}

static void close_fid(struct fid *fid)
{
    if (fid != NULL)
        fi_close(fid);
}

/* What the endpoint may still use is freed after it. */
static void free_memory(struct transport_ctx *ctx)
{
    for (unsigned s = 0; s < ctx->nslabs; s++) {
        free(ctx->slab[s]->ops);
        free(ctx->slab[s]);
    }
    free(ctx->bounces.memory);
    free(ctx->inbox.memory);
    free(ctx->dirty);
    free(ctx->reached);
    free(ctx->dirty_list);
    ofi_am_free(ctx);
}

void ofi_ctx_free(struct transport_ctx *ctx)
{
    unlist(ctx->net, ctx);
    for (unsigned s = 0; s < ctx->nslabs; s++)
        close_fid(ctx->slab[s]->mr == NULL ? NULL : &ctx->slab[s]->mr->fid);
    close_fid(ctx->bounces.mr == NULL ? NULL : &ctx->bounces.mr->fid);
    close_fid(ctx->inbox.mr == NULL ? NULL : &ctx->inbox.mr->fid);
    close_fid(ctx->ep == NULL ? NULL : &ctx->ep->fid);
    close_fid(ctx->cq == NULL ? NULL : &ctx->cq->fid);
    free_memory(ctx);
    free(ctx);
}
