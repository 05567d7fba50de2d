/* SPDX-License-Identifier: BSD-3-Clause */
/* ofi_window.c - windows for puts of blocks (see ofi_blocks.h). */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "pgas/transport/ofi/ofi_blocks.h"

enum {
    WINDOW_SIZE = OFI_SLOTS * OFI_BOUNCE_SIZE,
    WINDOW_ALIGN = 4096,
    IMMEDIATE_SIZE = 8,
};

/* A window at a peer; by PE in ctx->windows. */
struct ofi_window {
    enum { WINDOW_UNKNOWN, WINDOW_REQUESTED, WINDOW_GRANTED, WINDOW_REFUSED } state;
    uint32_t free;      /* bit by slot */
    uint64_t base, key; /* of the first slot, in libfabric's form */
    uint64_t number;    /* of the first slot at the peer */
};

/* The windows that this PE has granted. */
struct ofi_windows {
    unsigned char *memory; /* NULL: it cannot be allocated */
    struct fid_mr *mr;
    unsigned n;
    struct {
        int pe;
        uint16_t context;
    } owner[OFI_WINDOWS];
};

bool ofi_window_is_supported(const struct transport_net *net)
{
    const struct fi_domain_attr *domain = net->info->domain_attr;

    return !net->avoid[CAPABILITY_IMMEDIATE] && domain->cq_data_size >= IMMEDIATE_SIZE &&
           (domain->mr_mode & FI_MR_RAW) == 0 && net->fragment_max >= OFI_BOUNCE_SIZE;
}

uint64_t ofi_window_address(const struct transport_net *net, const void *memory)
{
    bool virtual = (net->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;

    return virtual ? (uint64_t)(uintptr_t)memory : 0;
}

/* ---- windows at peers ------------------------------------------------------------ */

/* Request a window; if that is not possible now, the next put tries again. */
static void ofi_window_request(struct transport_ctx *ctx, struct ofi_window *w, int pe)
{
    const struct transport_symaddr at = {.pe = pe};
    const struct transport_amo none = {.size = 0};

    if (ofi_am_send_request(ctx, OFI_MESSAGE_WINDOW, &at, &none, NULL) == 0)
        w->state = WINDOW_REQUESTED;
}

int ofi_window_find_slot(struct transport_ctx *ctx, int pe, struct ofi_slot *slot)
{
    if (ctx->windows == NULL)
        ctx->windows = calloc((size_t)ctx->net->world->npes, sizeof *ctx->windows);
    if (ctx->windows == NULL)
        return -ENOENT;
    struct ofi_window *w = &ctx->windows[pe];
    if (w->state == WINDOW_UNKNOWN)
        ofi_window_request(ctx, w, pe);
    if (w->state != WINDOW_GRANTED)
        return -ENOENT;
    if (w->free == 0)
        return -EAGAIN;
    slot->index = (int8_t)__builtin_ctz(w->free);
    slot->at = w->base + (uint64_t)slot->index * OFI_BOUNCE_SIZE;
    slot->key = w->key;
    slot->immediate = w->number + (uint64_t)slot->index;
    return 0;
}

void ofi_window_use_slot(struct transport_ctx *ctx, int pe, int index)
{
    PGAS_ASSERT((ctx->windows[pe].free & 1U << index) != 0);
    ctx->windows[pe].free &= ~(1U << index);
}

void ofi_window_free_slot(struct transport_ctx *ctx, int pe, int index)
{
    PGAS_ASSERT((ctx->windows[pe].free & 1U << index) == 0);
    ctx->windows[pe].free |= 1U << index;
}

bool ofi_window_grant_is_valid(const struct ofi_message *reply)
{
    uint64_t first = reply->cond - 1; /* cond 0: refused */

    return reply->pe == 0 &&
           (reply->cond == 0 ||
            (first < (uint64_t)OFI_WINDOWS * OFI_SLOTS && first % OFI_SLOTS == 0));
}

void ofi_window_granted(struct transport_ctx *ctx, int pe,
                        const struct ofi_message *reply)
{
    struct ofi_window *w = &ctx->windows[pe];
    bool granted = reply->cond != 0;

    PGAS_ASSERT(w->state == WINDOW_REQUESTED);
    w->state = granted ? WINDOW_GRANTED : WINDOW_REFUSED;
    w->free = granted ? (1U << OFI_SLOTS) - 1 : 0;
    w->base = reply->offset;
    w->key = reply->operand;
    w->number = reply->cond - 1;
}

/* ---- windows of this PE ---------------------------------------------------------- */

static struct ofi_windows *ofi_windows_make(struct transport_net *net)
{
    struct ofi_windows *all = calloc(1, sizeof *all);
    size_t len = (size_t)OFI_WINDOWS * WINDOW_SIZE;

    if (all == NULL)
        return NULL;
    all->memory = aligned_alloc(WINDOW_ALIGN, len);
    if (all->memory != NULL &&
        ofi_register(net, all->memory, len, true, net->ctx_0->ep, &all->mr) != 0) {
        free(all->memory);
        all->memory = NULL;
    }
    return all;
}

/* The index of the window of a context; -1: none is available. */
static int ofi_windows_assign(struct ofi_windows *all, const struct ofi_message *request)
{
    for (unsigned i = 0; i < all->n; i++)
        if (all->owner[i].pe == request->pe && all->owner[i].context == request->context)
            return (int)i;
    if (all->memory == NULL || all->n == OFI_WINDOWS)
        return -1;
    all->owner[all->n].pe = request->pe;
    all->owner[all->n].context = request->context;
    return (int)all->n++;
}

void ofi_window_grant(struct transport_ctx *ctx, const struct ofi_message *request)
{
    struct transport_net *net = ctx->net;
    struct ofi_message reply = {.type = OFI_MESSAGE_REPLY, .token = request->token};

    if (net->windows == NULL)
        net->windows = ofi_windows_make(net);
    int i = net->windows == NULL ? -1 : ofi_windows_assign(net->windows, request);
    if (i >= 0) {
        reply.offset =
            ofi_window_address(net, net->windows->memory) + (uint64_t)i * WINDOW_SIZE;
        reply.operand = fi_mr_key(net->windows->mr);
        reply.cond = (uint64_t)i * OFI_SLOTS + 1;
    }
    ofi_reply_send(ctx, request, &reply, NULL);
}

const unsigned char *ofi_window_slot(const struct transport_net *net, uint64_t number,
                                     int *pe)
{
    const struct ofi_windows *all = net->windows;

    if (all == NULL || number >= (uint64_t)all->n * OFI_SLOTS)
        return NULL;
    *pe = all->owner[number / OFI_SLOTS].pe;
    return all->memory + number * OFI_BOUNCE_SIZE;
}

void ofi_windows_close(struct transport_net *net)
{
    if (net->windows != NULL && net->windows->mr != NULL)
        fi_close(&net->windows->mr->fid);
}

void ofi_windows_free(struct transport_net *net)
{
    if (net->windows != NULL)
        free(net->windows->memory);
    free(net->windows);
}
