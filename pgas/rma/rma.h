/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rma.h - put and get of some bytes.
 *
 * To a PE that is mapped (core/peer.h) a put is a copy, complete when it returns, with
 * nothing for a context to keep; to a far one (core/net.h) it goes through the context's
 * transport.  fn is the public routine's name, for error sentences.  Thread-safe, as far
 * as the context's options say.
 * Uses: core/peer, core/block, core/ctx, core/net, datatype/copy.  Used by: the rows,
 * strided, signal, coll.
 */
#ifndef PGAS_RMA_RMA_H
#define PGAS_RMA_RMA_H

#include <stddef.h>

#include "pgas/core/block.h"
#include "pgas/core/ctx.h"
#include "pgas/core/net.h"
#include "pgas/core/peer.h"

/* When they return: source may be changed, dest is here.  The nbi forms: after the
 * context's quiet; until then both belong to the library. */
void rma_put(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, int pe,
             const char *fn);
void rma_put_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, int pe,
                 const char *fn);
void rma_get(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, int pe,
             const char *fn);
void rma_get_nbi(shmem_ctx_t ctx, void *dest, const void *source, size_t bytes, int pe,
                 const char *fn);

/* The sentence of rma_bytes. */
_Noreturn void rma_too_long(size_t n, size_t size, const char *fn) __attribute__((cold));

/* n * size in bytes; ends the job with a sentence if that is no size_t.  Inline, as size
 * is mostly known where it is called. */
ALWAYS_INLINE size_t rma_bytes(size_t n, size_t size, const char *fn)
{
    size_t bytes;

    if (unlikely(__builtin_mul_overflow(n, size, &bytes)))
        rma_too_long(n, size, fn);
    return bytes;
}

/* Tell a PE of this node that len bytes at symmetric address addr have changed there. */
ALWAYS_INLINE void rma_changed(const void *addr, size_t len, int pe)
{
    block_poke(pgas_self.peer[pe].node, addr, len);
}

/* The same for the PE with this record, and return `value`. */
ALWAYS_INLINE uint64_t rma_changed_then(struct node_pe *node, const void *addr,
                                        size_t len, uint64_t value)
{
    if (unlikely(block_sleeps(node, addr, len)))
        return block_wake_then(node, addr, len, value);
    return value;
}

#endif
