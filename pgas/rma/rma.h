/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rma.h - put and get of some bytes.
 *
 * All PEs of the job are mapped (core/peer.h), so a put is a copy and is complete when it
 * returns; the nbi forms are the blocking ones.  fn is the public routine's name, for
 * error sentences.  Thread-safe; contexts carry no state on a node.
 * Uses: core/peer, core/block, datatype/copy.  Used by: api_rma.
 */
#ifndef PGAS_RMA_RMA_H
#define PGAS_RMA_RMA_H

#include <stddef.h>

#include "pgas/core/block.h"
#include "pgas/core/peer.h"

void rma_put(void *dest, const void *source, size_t bytes, int pe, const char *fn);
void rma_get(void *dest, const void *source, size_t bytes, int pe, const char *fn);

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
