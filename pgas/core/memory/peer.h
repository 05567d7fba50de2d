/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer.h - from (symmetric address, PE) to the address of the PE's copy here.
 *
 * Segments of peers are mapped at the first access (start-up stays O(PEs of the node)).
 * Uses: pgas.h, segment, log.  Used by: rma, coll, init.
 */
#ifndef PGAS_CORE_PEER_H
#define PGAS_CORE_PEER_H

#include "pgas/core/base/pgas.h"
#include "pgas/threads/atomic.h"
#include "pgas/transport/transport.h"

/* Allocate pgas_self.peer for npes PEs and enter the records of this node's PEs. */
int peer_init(const uint32_t *local_pes);
void peer_fini(void);

/* What peer_at does when the quick way fails: the first access to a PE, and every error.
 * Ends the job with a sentence that names fn if there is no such memory. */
void *peer_at_slow(const void *addr, size_t len, int pe, const char *fn)
    __attribute__((returns_nonnull));

/* The same without ending the job: NULL if addr is not symmetric or pe unreachable. */
void *peer_find(const void *addr, size_t len, int pe);

/* Where symmetric memory is, and how to get some: the end of a sentence, into text. */
const char *peer_regions(char *text, size_t size);

/* When a routine is called though this process is no PE, for a sentence. */
const char *peer_life_text(void);

/* The same address as a transport names it; ends the job with a sentence if it is not
 * symmetric.  Of a PE that is far (net.h). */
struct transport_symaddr peer_place(const void *addr, size_t len, int pe, const char *fn);

/* Is the executable of a far PE ours, so that its globals are symmetric to ours? */
enum peer_program { PROGRAM_UNKNOWN, PROGRAM_SAME, PROGRAM_OTHER };

/* Is the address symmetric on that PE, mapped or far? */
bool peer_accessible(const void *addr, int pe);

/* End the job with a sentence if pe is no PE of the world. */
void peer_check(int pe, const char *fn);

/* `len` bytes at `offset` in a segment of `bytes`?  A heap has more bytes than any length
 * that the compiler knows, so that one comparison is enough for those. */
ALWAYS_INLINE bool peer_in_heap(size_t offset, size_t len, size_t bytes)
{
    if (__builtin_constant_p(len) && len <= sizeof(long double))
        return offset <= bytes - len;
    return offset < bytes && len <= bytes - offset;
}

/*
 * Address here of `len` bytes at symmetric address addr of PE pe, if that segment of that
 * PE is mapped already; else NULL, for peer_at_slow to find out why.  Without a call: a
 * comparison for the PE, one or two for the address, and two loads.
 */
ALWAYS_INLINE void *peer_quick(const void *addr, size_t len, int pe)
{
    const struct pgas *g = &pgas_self;
    size_t offset = (uintptr_t)addr - g->heap_base;
    char *base = NULL;

    if (unlikely((uint32_t)pe >= g->npes)) /* npes is 0 while there is no heap */
        return NULL;
    if (likely(peer_in_heap(offset, len, g->heap_len))) {
        base = __atomic_load_n(&g->peer[pe].heap, __ATOMIC_ACQUIRE);
    } else {
        offset = (uintptr_t)addr - g->data_base;
        if (offset < g->data_len && len <= g->data_len - offset)
            base = __atomic_load_n(&g->peer[pe].data, __ATOMIC_ACQUIRE);
    }
    return likely(base != NULL) ? base + offset : NULL;
}

/* The same for every symmetric address.  fn is the public routine, for the sentence that
 * ends the job if addr is not symmetric or pe is no PE. */
ALWAYS_INLINE void *peer_at(const void *addr, size_t len, int pe, const char *fn)
{
    void *quick = peer_quick(addr, len, pe);

    return likely(quick != NULL) ? quick : peer_at_slow(addr, len, pe, fn);
}

#endif
