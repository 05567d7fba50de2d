/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks.c - see blocks.h. */
#include "config.h"

#include "pgas/datatype/layout/layout_cursor.h"
#include "pgas/datatype/pack/pack.h"
#include "pgas/ft/ft.h"
#include "pgas/rma/blocks.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"

enum {
    BLOCKS_VECTORS = 128, /* of one fragment */
    BLOCKS_GETS = 8,      /* fragments of a get in flight */
    BLOCKS_LONG = 8192,   /* bytes from which on a block is a put or get of its own */
};

/* A fragment of a transfer: from byte pos of both packed streams on. */
struct blocks_fragment {
    struct net_fragment net; /* must be the first member */
    const struct layout *symmetric, *local;
    struct transport_symaddr base; /* address of byte symmetric->low */
    void *memory;                  /* address of the local layout */
    size_t pos;
    struct transport_vector vector[BLOCKS_VECTORS];
};

static struct transport_vector blocks_vector(const struct blocks_fragment *f,
                                             const struct layout_strip *s)
{
    return (struct transport_vector){.offset = f->base.offset +
                                               (uint64_t)(s->at - f->symmetric->low),
                                     .stride = s->stride,
                                     .count = s->count,
                                     .block = (uint32_t)s->block,
                                     .segment = (uint32_t)f->base.segment};
}

/* net_fragment.cut */
static void blocks_cut(struct net_fragment *net, size_t max)
{
    struct blocks_fragment *f = (struct blocks_fragment *)(void *)net;
    struct transport_blocks *b = &net->blocks;
    struct layout_cursor c;
    struct layout_strip s;

    layout_cursor_seek(&c, f->symmetric, f->pos);
    b->nvectors = 0;
    b->bytes = 0;
    b->vector = f->vector;
    while (b->nvectors < BLOCKS_VECTORS && max > sizeof f->vector[0] &&
           layout_cursor_strip(&c, max - sizeof f->vector[0], &s)) {
        f->vector[b->nvectors++] = blocks_vector(f, &s);
        b->bytes += s.block * s.count;
        max -= sizeof f->vector[0] + s.block * s.count;
    }
}

/* transport_blocks.copy of a put */
static void blocks_pack(const struct transport_blocks *b, void *packed)
{
    const struct blocks_fragment *f = b->arg;

    (void)pack_from(f->local, f->memory, f->pos, packed, b->bytes);
}

/* transport_blocks.copy of a get */
static void blocks_unpack(const struct transport_blocks *b, void *packed)
{
    const struct blocks_fragment *f = b->arg;

    (void)pack_into(f->local, f->memory, f->pos, packed, b->bytes);
}

static void blocks_fragment_start(struct blocks_fragment *f,
                                  const struct blocks_fragment *all, size_t pos,
                                  void (*copy)(const struct transport_blocks *b,
                                               void *packed))
{
    f->symmetric = all->symmetric;
    f->local = all->local;
    f->base = all->base;
    f->memory = all->memory;
    f->pos = pos;
    f->net.remaining = f->symmetric->bytes - pos;
    f->net.cut = blocks_cut;
    f->net.blocks.copy = copy;
    f->net.blocks.arg = f;
}

static void blocks_put_remote(shmem_ctx_t ctx, struct blocks_fragment *f, int pe,
                              const char *fn)
{
    struct net_ctx *c = ctx_net(ctx);

    for (size_t pos = 0; pos < f->symmetric->bytes; pos += f->net.blocks.bytes) {
        blocks_fragment_start(f, f, pos, blocks_pack);
        if (!net_put_blocks(c, &f->net, pe, fn))
            return;
    }
}

/* Keeps BLOCKS_GETS fragments in flight. */
static void blocks_get_remote(shmem_ctx_t ctx, const struct blocks_fragment *all, int pe,
                              const char *fn)
{
    struct blocks_fragment f[BLOCKS_GETS];
    struct net_ctx *c = ctx_net(ctx);
    size_t pos = 0, posted = 0, ended = 0;
    bool live = true;

    while (ended < posted || (live && pos < all->symmetric->bytes)) {
        struct blocks_fragment *next = &f[posted % BLOCKS_GETS];
        if (live && pos < all->symmetric->bytes && posted - ended < BLOCKS_GETS) {
            blocks_fragment_start(next, all, pos, blocks_unpack);
            live = net_get_blocks(c, &next->net, pe, fn);
            pos += next->net.blocks.bytes;
            posted++;
            continue;
        }
        net_await_source(c, &f[ended % BLOCKS_GETS].net.done, pe, fn);
        ended++;
    }
    ft_operations_completed(); /* data of a failed PE must not be passed on */
}

/* ---- long blocks: one put or get for each part that is contiguous on both sides --- */

static bool blocks_are_long(const struct layout *l)
{
    return l->block >= BLOCKS_LONG || l->block == l->bytes;
}

/* The next part that is contiguous in both layouts; false at the end. */
static bool blocks_next_part(struct layout_cursor *dest, struct layout_cursor *source,
                             struct layout_part *to, struct layout_part *from)
{
    struct layout_cursor ahead = *dest;

    if (!layout_cursor_next(&ahead, SIZE_MAX, to) ||
        !layout_cursor_next(source, to->bytes, from))
        return false;
    return layout_cursor_next(dest, from->bytes, to);
}

/* Transfer each part by rma_put or rma_get_nbi. */
static void blocks_transfer_parts(
    void (*transfer)(shmem_ctx_t, void *, const void *, size_t, int, const char *),
    shmem_ctx_t ctx, char *dest, const struct layout *dest_layout, const char *source,
    const struct layout *source_layout, int pe, const char *fn)
{
    struct layout_cursor d, s;
    struct layout_part to, from;

    layout_cursor_seek(&d, dest_layout, 0);
    layout_cursor_seek(&s, source_layout, 0);
    while (blocks_next_part(&d, &s, &to, &from))
        transfer(ctx, dest + to.at, source + from.at, to.bytes, pe, fn);
}

void rma_put_layout(shmem_ctx_t ctx, void *dest, const struct layout *dest_layout,
                    const void *source, const struct layout *source_layout, int pe,
                    const char *fn)
{
    char *low = (char *)dest + dest_layout->low;
    size_t extent = (size_t)(dest_layout->high - dest_layout->low);

    if (!net_remote(pe)) {
        char *mapped = peer_at(low, extent, pe, fn);
        (void)pack_between(dest_layout, mapped - dest_layout->low, source_layout, source);
        rma_changed(low, extent, pe);
        return;
    }
    struct blocks_fragment f;
    f.symmetric = dest_layout;
    f.local = source_layout;
    f.base = peer_symaddr(low, extent, pe, fn);
    f.memory = (void *)(uintptr_t)source;
    if (blocks_are_long(dest_layout) && blocks_are_long(source_layout))
        blocks_transfer_parts(rma_put, ctx, dest, dest_layout, source, source_layout, pe,
                              fn);
    else
        blocks_put_remote(ctx, &f, pe, fn);
}

void rma_get_layout(shmem_ctx_t ctx, void *dest, const struct layout *dest_layout,
                    const void *source, const struct layout *source_layout, int pe,
                    const char *fn)
{
    const char *low = (const char *)source + source_layout->low;
    size_t extent = (size_t)(source_layout->high - source_layout->low);

    if (!net_remote(pe)) {
        const char *mapped = peer_at(low, extent, pe, fn);
        (void)pack_between(dest_layout, dest, source_layout, mapped - source_layout->low);
        return;
    }
    struct blocks_fragment all;
    all.symmetric = source_layout;
    all.local = dest_layout;
    all.base = peer_symaddr(low, extent, pe, fn);
    all.memory = dest;
    if (!blocks_are_long(dest_layout) || !blocks_are_long(source_layout)) {
        blocks_get_remote(ctx, &all, pe, fn);
        return;
    }
    blocks_transfer_parts(rma_get_nbi, ctx, dest, dest_layout, source, source_layout, pe,
                          fn);
    order_quiet(ctx, fn);
}
