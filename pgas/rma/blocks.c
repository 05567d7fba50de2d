/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks.c - see blocks.h. */
#include "config.h"

#include "pgas/datatype/layout/layout_cursor.h"
#include "pgas/datatype/pack/pack.h"
#include "pgas/ft/ft.h"
#include "pgas/rma/blocks.h"
#include "pgas/rma/rma.h"

enum {
    BLOCKS_VECTORS = 128, /* of one fragment */
    BLOCKS_GETS = 8,      /* fragments of a get in flight */
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
    blocks_get_remote(ctx, &all, pe, fn);
}
