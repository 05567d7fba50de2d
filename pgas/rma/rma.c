/* SPDX-License-Identifier: BSD-3-Clause */
/* rma.c - see rma.h.  Uses: core/peer, core/net, core/ctx, core/log, datatype/copy. */
#include "config.h"

#include "pgas/core/base/log.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/rma.h"

void rma_size_overflow(size_t n, size_t size, const char *fn)
{
    log_misuse(
        "%s: argument 'nelems' = %zu: that many elements of %zu bytes overflow size_t",
        fn, n, size);
}

/* ---- slow paths: remote PEs, the first access to a local PE, errors --------------- */

#define SLOW static __attribute__((noinline))

SLOW void rma_put_slow(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes,
                       int pe, enum net_when when, const char *fn)
{
    if (!net_remote(pe)) {
        copy_bytes(peer_at_slow(dest, bytes, pe, fn), source, bytes);
        rma_changed(dest, bytes, pe);
    } else if (bytes > 0) {
        net_put(ctx_net(ctx), peer_symaddr(dest, bytes, pe, fn), source, bytes, when, fn);
    }
}

SLOW void rma_get_slow(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes,
                       int pe, enum net_when when, const char *fn)
{
    if (!net_remote(pe))
        copy_bytes(dest, peer_at_slow(source, bytes, pe, fn), bytes);
    else if (bytes > 0)
        net_get(ctx_net(ctx), dest, peer_symaddr(source, bytes, pe, fn), bytes, when, fn);
}

/* ---- put and get ----------------------------------------------------------------- */

ALWAYS_INLINE void rma_put_inline(shmem_ctx_t ctx, void *dest, const void *source,
                                  size_t bytes, int pe, enum net_when when,
                                  const char *fn)
{
    void *to = peer_quick(dest, bytes, pe);

    if (unlikely(to == NULL)) {
        rma_put_slow(ctx, dest, source, bytes, pe, when, fn);
        return;
    }
    copy_bytes(to, source, bytes);
    rma_changed(dest, bytes, pe);
}

ALWAYS_INLINE void rma_get_inline(shmem_ctx_t ctx, void *dest, const void *source,
                                  size_t bytes, int pe, enum net_when when,
                                  const char *fn)
{
    const void *from = peer_quick(source, bytes, pe);

    if (unlikely(from == NULL))
        rma_get_slow(ctx, dest, source, bytes, pe, when, fn);
    else
        copy_bytes(dest, from, bytes);
}

LINE_ALIGNED void rma_put(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes,
                          int pe, const char *fn)
{
    rma_put_inline(ctx, dest, source, bytes, pe, NET_NOW, fn);
}

LINE_ALIGNED void rma_put_nbi(shmem_ctx_t ctx, void *dest, const void *source,
                              size_t bytes, int pe, const char *fn)
{
    rma_put_inline(ctx, dest, source, bytes, pe, NET_LATER, fn);
}

LINE_ALIGNED void rma_get(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes,
                          int pe, const char *fn)
{
    rma_get_inline(ctx, dest, source, bytes, pe, NET_NOW, fn);
}

LINE_ALIGNED void rma_get_nbi(shmem_ctx_t ctx, void *dest, const void *source,
                              size_t bytes, int pe, const char *fn)
{
    rma_get_inline(ctx, dest, source, bytes, pe, NET_LATER, fn);
}
