/* SPDX-License-Identifier: BSD-3-Clause */
/* strided.c - see strided.h.  Uses: blocks, rma, order, core/peer, core/net, core/log. */
#include "config.h"

#include <string.h>

#include "pgas/core/base/log.h"
#include "pgas/datatype/pack/pack.h"
#include "pgas/rma/blocks.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"
#include "pgas/rma/strided.h"

/* The byte range from the start of the lowest block to the end of the highest one. */
struct extent {
    ptrdiff_t low; /* of the lowest block, in bytes from the first block: <= 0 */
    size_t bytes;
};

static _Noreturn __attribute__((cold)) void strided_overflow(const struct strided *s,
                                                             const char *fn)
{
    log_misuse(
        "%s: the extent of %zu blocks of %zu elements of %zu bytes with strides %td "
        "and %td overflows size_t",
        fn, s->nblocks, s->bsize, s->size, s->dst, s->sst);
}

static struct extent strided_extent_of(const struct strided *s, ptrdiff_t stride,
                                       const char *fn)
{
    ptrdiff_t last; /* beginning of the last block */
    size_t block, bytes;

    if (__builtin_mul_overflow((ptrdiff_t)(s->nblocks - 1), stride, &last) ||
        __builtin_mul_overflow(last, (ptrdiff_t)s->size, &last) ||
        __builtin_mul_overflow(s->bsize, s->size, &block) ||
        __builtin_add_overflow(block, last < 0 ? (size_t)-last : (size_t)last, &bytes))
        strided_overflow(s, fn);
    return (struct extent){last < 0 ? last : 0, bytes};
}

/* Bytes between two blocks.  The stride of a single block may be any number. */
static inline ptrdiff_t strided_step(const struct strided *s, ptrdiff_t stride)
{
    return s->nblocks > 1 ? stride * (ptrdiff_t)s->size : 0;
}

/* `bytes` of a block is a constant where this is called, so that a block is one load and
 * one store, or few.  The strides are copied: stores to `to` could change *s. */
static inline __attribute__((always_inline)) void
strided_copy_fixed(char *to, const char *from, const struct strided *s, size_t bytes)
{
    const ptrdiff_t to_step = strided_step(s, s->dst);
    const ptrdiff_t from_step = strided_step(s, s->sst);

    memcpy(to, from, bytes);
    for (size_t i = s->nblocks; i > 1; i--) {
        to += to_step;
        from += from_step;
        memcpy(to, from, bytes);
    }
}

static void strided_copy_blocks(char *to, const char *from, const struct strided *s)
{
    ptrdiff_t to_step = strided_step(s, s->dst), from_step = strided_step(s, s->sst);

    for (size_t i = 0; i < s->nblocks; i++)
        memcpy(to + (ptrdiff_t)i * to_step, from + (ptrdiff_t)i * from_step,
               s->bsize * s->size);
}

/* The kernels of datatype/pack pay off for many blocks that share cache lines. */
enum { STRIDED_KERNEL_MIN = 64, STRIDED_KERNEL_STRIDE = 64 };

/* Blocks of the target overlap: the last one determines the result. */
static bool strided_overlaps(const struct strided *s, ptrdiff_t target_stride)
{
    ptrdiff_t block = (ptrdiff_t)s->bsize;

    return target_stride > -block && target_stride < block;
}

static bool strided_is_near(ptrdiff_t stride, size_t size)
{
    const ptrdiff_t most = STRIDED_KERNEL_STRIDE / (ptrdiff_t)size;

    return stride <= most && stride >= -most;
}

static bool strided_has_kernel(const struct strided *s)
{
    return s->nblocks >= STRIDED_KERNEL_MIN && strided_is_near(s->dst, s->size) &&
           strided_is_near(s->sst, s->size) && !strided_overlaps(s, s->dst);
}

void strided_copy(char *to, const char *from, const struct strided *s)
{
    if (strided_has_kernel(s)) {
        ptrdiff_t size = (ptrdiff_t)s->size;
        pack_vector(&(struct vector_copy){to, from, s->dst * size, s->sst * size,
                                          s->bsize * s->size, s->nblocks});
        return;
    }
    switch (s->bsize * s->size) {
    case 1:
        strided_copy_fixed(to, from, s, 1);
        break;
    case 2:
        strided_copy_fixed(to, from, s, 2);
        break;
    case 4:
        strided_copy_fixed(to, from, s, 4);
        break;
    case 8:
        strided_copy_fixed(to, from, s, 8);
        break;
    case 12:
        strided_copy_fixed(to, from, s, 12);
        break;
    case 16:
        strided_copy_fixed(to, from, s, 16);
        break;
    case 24:
        strided_copy_fixed(to, from, s, 24);
        break;
    case 32:
        strided_copy_fixed(to, from, s, 32);
        break;
    default:
        strided_copy_blocks(to, from, s);
        break;
    }
}

/* A vector as a layout on the stack of the caller.  Creating it as layout_vector does
 * would cost an allocation. */
static struct layout strided_layout(const struct strided *s, ptrdiff_t stride)
{
    size_t block = s->bsize * s->size, bytes = block * s->nblocks;
    ptrdiff_t step = stride * (ptrdiff_t)s->size;
    ptrdiff_t last = (ptrdiff_t)(s->nblocks - 1) * step;
    struct layout l = {.bytes = bytes,
                       .low = last < 0 ? last : 0,
                       .high = (last > 0 ? last : 0) + (ptrdiff_t)block,
                       .block = block,
                       .unit = 1,
                       .overlap = false};

    if (step == (ptrdiff_t)block || s->nblocks == 1) {
        l.block = bytes;
    } else {
        l.levels = 1;
        l.level[0] = (struct layout_level){s->nblocks, step};
    }
    return l;
}

static void strided_put_remote(shmem_ctx_t ctx, char *dest, const char *source,
                               const struct strided *s, struct extent e, int pe,
                               const char *fn)
{
    ptrdiff_t to = s->dst * (ptrdiff_t)s->size, from = s->sst * (ptrdiff_t)s->size;

    if (s->nblocks == 1 || !strided_overlaps(s, s->dst)) {
        struct layout t = strided_layout(s, s->dst), f = strided_layout(s, s->sst);
        rma_put_layout(ctx, dest, &t, source, &f, pe, fn);
        return;
    }
    (void)peer_symaddr(dest + e.low, e.bytes, pe, fn); /* before the first block */
    for (size_t i = 0; i < s->nblocks; i++)
        rma_put(ctx, dest + (ptrdiff_t)i * to, source + (ptrdiff_t)i * from,
                s->bsize * s->size, pe, fn);
}

static void strided_get_remote(shmem_ctx_t ctx, char *dest, const char *source,
                               const struct strided *s, struct extent e, int pe,
                               const char *fn)
{
    ptrdiff_t to = s->dst * (ptrdiff_t)s->size, from = s->sst * (ptrdiff_t)s->size;

    if (s->nblocks == 1 || !strided_overlaps(s, s->dst)) {
        struct layout t = strided_layout(s, s->dst), f = strided_layout(s, s->sst);
        rma_get_layout(ctx, dest, &t, source, &f, pe, fn);
        return;
    }
    (void)peer_symaddr(source + e.low, e.bytes, pe, fn); /* before the first block */
    for (size_t i = 0; i < s->nblocks; i++)
        rma_get_nbi(ctx, dest + (ptrdiff_t)i * to, source + (ptrdiff_t)i * from,
                    s->bsize * s->size, pe, fn);
    order_quiet(ctx, fn);
}

void strided_put(shmem_ctx_t ctx, void *dest, const void *source, struct strided s,
                 int pe, const char *fn)
{
    if (s.nblocks == 0 || s.bsize == 0) {
        peer_check(pe, fn);
        return;
    }
    struct extent e = strided_extent_of(&s, s.dst, fn);
    char *low = (char *)dest + e.low;
    if (net_remote(pe)) {
        strided_put_remote(ctx, dest, source, &s, e, pe, fn);
        return;
    }
    char *mapped = peer_at(low, e.bytes, pe, fn);
    strided_copy(mapped - e.low, source, &s);
    rma_changed(low, e.bytes, pe);
}

void strided_get(shmem_ctx_t ctx, void *dest, const void *source, struct strided s,
                 int pe, const char *fn)
{
    if (s.nblocks == 0 || s.bsize == 0) {
        peer_check(pe, fn);
        return;
    }
    struct extent e = strided_extent_of(&s, s.sst, fn);
    const char *low = (const char *)source + e.low;
    if (net_remote(pe)) {
        strided_get_remote(ctx, dest, source, &s, e, pe, fn);
        return;
    }
    const char *mapped = peer_at(low, e.bytes, pe, fn);
    strided_copy(dest, mapped - e.low, &s);
}
