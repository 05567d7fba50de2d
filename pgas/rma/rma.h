/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rma.h - contiguous put and get.
 *
 * A put to a mapped PE (core/memory/peer.h) is a memory copy: it is complete on return,
 * and the context tracks nothing.  A put to a PE of another node (core/progress/net.h)
 * goes through the context's transport.  `fn` is the name of the public routine, for
 * error messages. Thread-safe within the limits of the context's options. Uses:
 * core/peer, core/block, core/ctx, core/net, datatype/copy.  Used by: the rows, strided,
 * signal, coll.
 */
#ifndef PGAS_RMA_RMA_H
#define PGAS_RMA_RMA_H

#include <stddef.h>

#include "pgas/core/progress/block.h"
#include "pgas/core/team/ctx.h"
#include "pgas/core/progress/net.h"
#include "pgas/core/memory/peer.h"

/* On return the source of a put may be reused and the dest of a get holds the data.  For
 * the nbi forms this holds after the context's quiet; until then the library owns both
 * buffers. */
void rma_put(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, int pe,
             const char *fn);
void rma_put_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, int pe,
                 const char *fn);
void rma_get(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, int pe,
             const char *fn);
void rma_get_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, int pe,
                 const char *fn);

/* Reports the overflow in rma_bytes and ends the job. */
_Noreturn void rma_size_overflow(size_t n, size_t size, const char *fn)
    __attribute__((cold));

/* Returns n * size in bytes; ends the job with an error message on overflow.  Inline,
 * because `size` is a constant at most call sites. */
ALWAYS_INLINE size_t rma_bytes(size_t n, size_t size, const char *fn)
{
    size_t bytes;

    if (unlikely(__builtin_mul_overflow(n, size, &bytes)))
        rma_size_overflow(n, size, fn);
    return bytes;
}

/* Wakes PE `pe` of this node if it sleeps on a word in the len bytes at symmetric address
 * addr.  Call after the store. */
ALWAYS_INLINE void rma_changed(const void *addr, size_t len, int pe)
{
    block_poke(pgas_self.peer[pe].node, addr, len);
}

/* rma_changed for the PE of `node`, as a tail call: returns `value`. */
ALWAYS_INLINE uint64_t rma_changed_then(struct node_pe *node, const void *addr,
                                        size_t len, uint64_t value)
{
    if (unlikely(block_sleeps(node, addr, len)))
        return block_wake_then(node, addr, len, value);
    return value;
}

#endif
