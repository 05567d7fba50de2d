/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer.h - from (symmetric address, PE) to the address of the PE's copy here.
 *
 * Segments of peers are mapped at the first access (start-up stays O(PEs of the node)).
 * Uses: pgas.h, segment, log.  Used by: rma, coll, init.
 */
#ifndef PGAS_CORE_PEER_H
#define PGAS_CORE_PEER_H

#include "pgas/core/pgas.h"
#include "pgas/threads/atomic.h"

/* Allocate pgas_self.peer for npes PEs and enter the records of this node's PEs. */
int peer_init(const uint32_t *local_pes);
void peer_fini(void);

/* What peer_at does when the quick way fails: the data segment, the first access, and
 * every error.  Ends the job with a sentence that names fn if there is no such memory. */
void *peer_at_slow(const void *addr, size_t len, int pe, const char *fn);

/* The same without ending the job: NULL if addr is not symmetric or pe unreachable. */
void *peer_find(const void *addr, size_t len, int pe);

/* End the job with a sentence if pe is no PE of the world. */
void peer_check(int pe, const char *fn);

/* `len` bytes at addr in a segment of `bytes` at base?  Their offset goes to *offset. */
static inline bool peer_inside(uintptr_t base, size_t bytes, const void *addr, size_t len,
                               size_t *offset)
{
    *offset = (uintptr_t)addr - base;
    return *offset < bytes && len <= bytes - *offset;
}

/*
 * Address here of `len` bytes at symmetric address addr of PE pe.  fn is the public
 * routine, for the error sentence.  Fast path: one comparison per bound, two loads.
 */
static inline void *peer_at(const void *addr, size_t len, int pe, const char *fn)
{
    const struct pgas *g = &pgas_self;
    size_t offset;
    char *base = NULL;

    if (likely((uint32_t)pe < g->npes)) {
        if (likely(peer_inside(g->heap_base, g->heap_len, addr, len, &offset)))
            base = __atomic_load_n(&g->peer[pe].heap, __ATOMIC_ACQUIRE);
        else if (peer_inside(g->data_base, g->data_len, addr, len, &offset))
            base = __atomic_load_n(&g->peer[pe].data, __ATOMIC_ACQUIRE);
        if (likely(base != NULL))
            return base + offset;
    }
    return peer_at_slow(addr, len, pe, fn);
}

#endif
