/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_ctx.c - contexts: endpoint, queue, records, bounce buffers (see ofi.h). */
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
    struct fid_mr *mr; /* NULL: registration is not required */
    struct ofi_op *ops;
};

/* ---- records --------------------------------------------------------------------- */

/* Allocate memory and register it if the provider requires that, or for_peers. NULL: no
 * memory. */
static void *ofi_ctx_alloc_pages(struct transport_ctx *ctx, size_t size, bool for_peers,
                                 struct fid_mr **mr, void **desc)
{
    size_t len = (size + PAGE - 1) / PAGE * PAGE;
    void *memory = aligned_alloc(PAGE, len);

    *mr = NULL;
    *desc = NULL;
    if (memory == NULL || (!ctx->net->registers && !for_peers))
        return memory;
    if (ofi_register(ctx->net, memory, len, for_peers, ctx->ep, mr) != 0) {
        free(memory);
        return NULL;
    }
    *desc = fi_mr_desc(*mr);
    return memory;
}

static bool ofi_op_add_slab(struct transport_ctx *ctx)
{
    struct ofi_slab **slabs = realloc(ctx->slab, (ctx->nslabs + 1) * sizeof ctx->slab[0]);
    struct ofi_slab *slab = slabs == NULL ? NULL : calloc(1, sizeof *slab);
    void *desc;

    if (slabs != NULL)
        ctx->slab = slabs;
    if (slab == NULL)
        return false;
    slab->ops = ofi_ctx_alloc_pages(ctx, OFI_SLAB_OPS * sizeof slab->ops[0], false,
                                    &slab->mr, &desc);
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

struct ofi_op *ofi_op_alloc_slow(struct transport_ctx *ctx)
{
    unsigned most = OFI_SLABS_MAX + ctx->abandoned / OFI_SLAB_OPS;

    return ctx->nslabs < most && ofi_op_add_slab(ctx) ? ctx->free : NULL;
}

bool ofi_bounce_fill(struct transport_ctx *ctx, struct ofi_op *op)
{
    PGAS_ASSERT(op->bounce != NULL && !op->fills_bounce);
    if (ctx->bounces.filled == OFI_BOUNCES_FILLED)
        return false;
    ctx->bounces.filled++;
    op->fills_bounce = true;
    return true;
}

void ofi_bounce_free(struct transport_ctx *ctx, struct ofi_op *op)
{
    struct ofi_bounce_pool *bounces = &ctx->bounces;

    PGAS_ASSERT(op->bounce == NULL || bounces->nfree < OFI_BOUNCES);
    PGAS_ASSERT(op->bounce == NULL ||
                (size_t)(op->bounce - bounces->memory) < OFI_BOUNCES * OFI_BOUNCE_SIZE);
    if (op->bounce == NULL)
        return;
    bounces->free[bounces->nfree++] =
        (uint16_t)((size_t)(op->bounce - bounces->memory) / OFI_BOUNCE_SIZE);
    bounces->filled -= op->fills_bounce;
    bounces->stale -= op->fills_bounce && op->kind == OFI_ABANDONED;
    op->bounce = NULL;
}

void ofi_op_free(struct transport_ctx *ctx, struct ofi_op *op)
{
    PGAS_ASSERT(op->kind != OFI_FREE);
    PGAS_ASSERT(op->index < ctx->nslabs * OFI_SLAB_OPS);
    ofi_bounce_free(ctx, op);
    op->kind = OFI_FREE;
    op->generation++;
    op->awaits_reply = false;
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
    struct ofi_bounce_pool *b = &ctx->bounces;

    if (unlikely(b->memory == NULL)) {
        if (!b->failed)
            b->memory = ofi_ctx_alloc_pages(ctx, OFI_BOUNCES * OFI_BOUNCE_SIZE,
                                            ctx->net->immediate, &b->mr, &b->desc);
        b->failed = b->memory == NULL;
        if (b->failed)
            return NULL;
        for (b->nfree = 0; b->nfree < OFI_BOUNCES; b->nfree++)
            b->free[b->nfree] = (uint16_t)b->nfree;
    }
    return b->nfree == 0 ? NULL : b->memory + b->free[--b->nfree] * OFI_BOUNCE_SIZE;
}

int ofi_bounce_missing(const struct transport_ctx *ctx)
{
    const struct transport_world *world = ctx->net->world;
    char text[TRANSPORT_TEXT_MAX];

    if (!ctx->bounces.failed)
        return -EAGAIN;
    snprintf(text, sizeof text,
             "the bounce buffers of a context (%d KiB) cannot be allocated%s",
             OFI_BOUNCES * OFI_BOUNCE_SIZE >> 10,
             ctx->net->registers ? " and registered; is RLIMIT_MEMLOCK too low?" : "");
    world->failed(world, -1, text);
    return -ENOMEM;
}

int ofi_recv_buffers_make(struct transport_ctx *ctx)
{
    struct ofi_bounce_pool *b = &ctx->recv_buffers;

    if (b->memory == NULL)
        b->memory = ofi_ctx_alloc_pages(ctx, OFI_RECVS * OFI_MESSAGE_MAX, false, &b->mr,
                                        &b->desc);
    return b->memory == NULL ? -ENOMEM : 0;
}

void ofi_queue_push(struct ofi_queue *queue, struct ofi_op *op)
{
    PGAS_ASSERT(op->kind != OFI_FREE);
    op->next = NULL;
    *queue->last = op;
    queue->last = &op->next;
}

struct ofi_op *ofi_queue_pop(struct ofi_queue *queue)
{
    struct ofi_op *op = queue->first;

    PGAS_ASSERT(op != NULL);
    queue->first = op->next;
    if (queue->first == NULL)
        queue->last = &queue->first;
    return op;
}

/* ---- the endpoint ---------------------------------------------------------------- */

static int ofi_ctx_error(char *why, const char *what, int rc)
{
    snprintf(why, TRANSPORT_TEXT_MAX, "libfabric: %s failed: %s", what,
             ofi_lib.strerror(-rc));
    return -ofi_errno(-rc);
}

/* Open the completion queue, with a wait descriptor if the provider has one. */
static int ofi_cq_open(struct transport_ctx *ctx)
{
    struct transport_net *net = ctx->net;
    struct fi_cq_attr attr = {
        .size = 2 * OFI_OPS_MAX, .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD};
    int rc = -FI_ENOSYS;

    ctx->fd = -1;
    if (!net->avoid[CAPABILITY_WAITFD] && ofi_select_fd_is_reliable(net->info))
        rc = fi_cq_open(net->domain, &attr, &ctx->cq, NULL);
    if (rc == 0 && fi_control(&ctx->cq->fid, FI_GETWAIT, &ctx->fd) != 0)
        ctx->fd = -1;
    if (rc == 0)
        return 0;
    attr.wait_obj = FI_WAIT_NONE;
    return fi_cq_open(net->domain, &attr, &ctx->cq, NULL);
}

static int ofi_ep_open(struct transport_ctx *ctx, char *why)
{
    struct transport_net *net = ctx->net;
    size_t len = sizeof ctx->name;
    int rc = ofi_cq_open(ctx);

    if (rc != 0)
        return ofi_ctx_error(why, "fi_cq_open", rc);
    rc = fi_endpoint(net->domain, net->info, &ctx->ep, NULL);
    if (rc != 0)
        return ofi_ctx_error(why, "fi_endpoint", rc);
    rc = fi_ep_bind(ctx->ep, &net->av->fid, 0);
    if (rc == 0)
        rc = fi_ep_bind(ctx->ep, &ctx->cq->fid,
                        FI_TRANSMIT | (ctx->unsignaled ? FI_SELECTIVE_COMPLETION : 0));
    if (rc == 0)
        rc = fi_ep_bind(ctx->ep, &ctx->cq->fid, FI_RECV);
    if (rc == 0)
        rc = fi_enable(ctx->ep);
    if (rc != 0)
        return ofi_ctx_error(why, "fi_enable", rc);
    rc = fi_getname(&ctx->ep->fid, ctx->name, &len);
    if (rc != 0 || len > sizeof ctx->name)
        return ofi_ctx_error(why, "fi_getname", rc != 0 ? rc : -FI_ETOOSMALL);
    ctx->name_len = (uint8_t)len;
    return 0;
}

/* ---- open and close -------------------------------------------------------------- */

static size_t ofi_ctx_inject_max(const struct transport_net *net)
{
    /* Ordered mode only: a later get implies that an unsignaled put was delivered. */
    return net->ordered && !net->avoid[CAPABILITY_INJECT] && !net->survives
               ? net->info->tx_attr->inject_size
               : 0;
}

/* The lowest unused context number. Called with net->lock held. */
static uint16_t ofi_ctx_free_number(const struct transport_net *net)
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

static void ofi_ctx_enlist(struct transport_net *net, struct transport_ctx *ctx)
{
    pthread_mutex_lock(&net->lock);
    ctx->number = ofi_ctx_free_number(net);
    ctx->next = net->contexts;
    net->contexts = ctx;
    pthread_mutex_unlock(&net->lock);
}

static void ofi_ctx_unlist(struct transport_net *net, struct transport_ctx *ctx)
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
        return ofi_ctx_error(why, "a context", -FI_ENOMEM);
    c->net = net;
    c->backlog.last = &c->backlog.first;
    c->unposted_recvs.last = &c->unposted_recvs.first;
    c->last_reply = &c->replies;
    c->inject_max = ofi_ctx_inject_max(net);
    c->unsignaled = net->ordered && !net->avoid[CAPABILITY_INJECT] &&
                    (net->info->mode & (FI_CONTEXT | FI_CONTEXT2)) == 0;
    ofi_ctx_enlist(net, c);
    c->refused_pe = -1;
    c->dirty = calloc(words, sizeof c->dirty[0]);
    c->reached = calloc(words, sizeof c->reached[0]);
    c->unconfirmed = calloc(words, sizeof c->unconfirmed[0]);
    c->dirty_list = calloc(npes, sizeof c->dirty_list[0]);
    int rc = c->dirty == NULL || c->reached == NULL || c->unconfirmed == NULL ||
                     c->dirty_list == NULL
                 ? ofi_ctx_error(why, "a context", -FI_ENOMEM)
                 : ofi_ep_open(c, why);
    if (rc != 0)
        ofi_ctx_free(c);
    else
        *ctx = c;
    return rc;
}

static void ofi_ctx_close_fid(struct fid *fid)
{
    if (fid != NULL)
        fi_close(fid);
}

/* Free the context's memory; the endpoint is closed. */
static void ofi_ctx_free_memory(struct transport_ctx *ctx)
{
    for (unsigned s = 0; s < ctx->nslabs; s++) {
        free(ctx->slab[s]->ops);
        free(ctx->slab[s]);
    }
    free(ctx->slab);
    free(ctx->bounces.memory);
    free(ctx->recv_buffers.memory);
    free(ctx->dirty);
    free(ctx->reached);
    free(ctx->unconfirmed);
    free(ctx->windows);
    free(ctx->dirty_list);
    ofi_reply_free_all(ctx);
}

void ofi_ctx_free(struct transport_ctx *ctx)
{
    ofi_ctx_unlist(ctx->net, ctx);
    for (unsigned s = 0; s < ctx->nslabs; s++)
        ofi_ctx_close_fid(ctx->slab[s]->mr == NULL ? NULL : &ctx->slab[s]->mr->fid);
    ofi_ctx_close_fid(ctx->bounces.mr == NULL ? NULL : &ctx->bounces.mr->fid);
    ofi_ctx_close_fid(ctx->recv_buffers.mr == NULL ? NULL : &ctx->recv_buffers.mr->fid);
    ofi_ctx_close_fid(ctx->ep == NULL ? NULL : &ctx->ep->fid);
    ofi_ctx_close_fid(ctx->cq == NULL ? NULL : &ctx->cq->fid);
    ofi_ctx_free_memory(ctx);
    free(ctx);
}
