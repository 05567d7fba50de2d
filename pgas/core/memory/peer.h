/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer.h - translates (symmetric address, PE) to the address at which this PE has mapped
 * that PE's memory.
 *
 * The segments of a peer are mapped at the first access, so that start-up maps none.
 * Uses: pgas.h, segment, log.  Used by: rma, coll.
 */
#ifndef PGAS_CORE_PEER_H
#define PGAS_CORE_PEER_H

#include "pgas/core/base/pgas.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/memory/symaddr.h"
#include "pgas/threads/atomic.h"
#include "pgas/transport/transport.h"

/* Allocates pgas_self.peer for npes PEs and sets the node records of this node's PEs,
 * after heap_init. */
int peer_init(const uint32_t *local_pes);
/* Unmaps the segments of other PEs and frees pgas_self.peer; before heap_fini. */
void peer_fini(void);

/* Slow path of peer_at: the first access to a PE, and errors, which are reported in the
 * name of fn and end the job. */
void *peer_at_slow(const void *addr, size_t len, int pe, const char *fn)
    __attribute__((returns_nonnull));

/* Likewise, but returns NULL if addr is not symmetric or the PE cannot be mapped. */
void *peer_find(const void *addr, size_t len, int pe);

/* Writes the end of a message about an address that is not symmetric to `text`: the
 * symmetric regions, and how to allocate symmetric memory.  Returns text. */
const char *peer_regions(char *text, size_t size);

/* The reason why this process is not a PE (before init, after finalize, forked), for a
 * message. */
const char *peer_life_text(void);

/* Translates a symmetric address of a remote PE (net.h) to segment and offset.  Ends the
 * job with an error message if the address is not symmetric. */
struct transport_symaddr peer_symaddr(const void *addr, size_t len, int pe,
                                      const char *fn);

/* Whether a remote PE runs the same executable: only then are its globals symmetric. */
enum peer_program { PROGRAM_UNKNOWN, PROGRAM_SAME, PROGRAM_OTHER };

/* True if the address is symmetric on that PE, local or remote. */
bool peer_accessible(const void *addr, int pe);

/* Ends the job with an error message if pe is not in the world team or this process is
 * not a PE. */
void peer_check(int pe, const char *fn);

/* Lower bound of heap_len, so that a constant length <= it takes a single comparison. */
#define PEER_HEAP_MIN 4096

/*
 * Local address of `len` bytes at symmetric address addr of PE pe if that segment of the
 * PE is mapped; else NULL, for which peer_at_slow finds the reason.  Inline cost: one
 * comparison for the PE, one or two for the address, and two loads.
 */
ALWAYS_INLINE void *peer_quick(const void *addr, size_t len, int pe)
{
    const struct pgas *g = &pgas_self;
    char *base = NULL;
    size_t offset;

    if (unlikely((uint32_t)pe >= g->peers)) /* 0 while there is no heap */
        return NULL;
    PGAS_ASSERT(g->peer != NULL && g->heap_len >= PEER_HEAP_MIN);
    if (g->heap_len < PEER_HEAP_MIN)
        __builtin_unreachable();
    if (likely(symaddr_in_heap(addr, len, &offset)))
        base = __atomic_load_n(&g->peer[pe].heap, __ATOMIC_ACQUIRE);
    else if (symaddr_in_data(addr, len, &offset))
        base = __atomic_load_n(&g->peer[pe].data, __ATOMIC_ACQUIRE);
    return likely(base != NULL) ? base + offset : NULL;
}

/* As peer_quick, but maps the segment if necessary.  Errors are reported in the name of
 * the public routine fn and end the job. */
ALWAYS_INLINE void *peer_at(const void *addr, size_t len, int pe, const char *fn)
{
    void *quick = peer_quick(addr, len, pe);

    return likely(quick != NULL) ? quick : peer_at_slow(addr, len, pe, fn);
}

#endif
