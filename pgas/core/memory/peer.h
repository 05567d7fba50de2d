/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * peer.h - translation of (symmetric address, PE) to the local mapping of the PE's copy.
 *
 * Segments of peers are mapped at the first access: start-up is O(PEs of the node).
 * Uses: pgas.h, segment, log.  Used by: rma, coll.
 */
#ifndef PGAS_CORE_PEER_H
#define PGAS_CORE_PEER_H

#include "pgas/core/base/pgas.h"
#include "pgas/core/memory/symaddr.h"
#include "pgas/threads/atomic.h"
#include "pgas/transport/transport.h"

/* Allocates pgas_self.peer for npes PEs and sets the records of this node's PEs. */
int peer_init(const uint32_t *local_pes);
/* Unmaps the segments of other PEs and frees pgas_self.peer; before heap_fini. */
void peer_fini(void);

/* Slow path of peer_at: the first access to a PE, and all errors, which are reported in
 * the name of fn and end the job. */
void *peer_at_slow(const void *addr, size_t len, int pe, const char *fn)
    __attribute__((returns_nonnull));

/* The same, but returns NULL if addr is not symmetric or pe is unreachable. */
void *peer_find(const void *addr, size_t len, int pe);

/* Writes the symmetric regions and how to allocate, as the end of a message, to text. */
const char *peer_regions(char *text, size_t size);

/* Why this process is not a PE (before init, after finalize, forked), for a message. */
const char *peer_life_text(void);

/* Translates a symmetric address of a far PE (net.h) to segment and offset; an address
 * that is not symmetric is reported and ends the job. */
struct transport_symaddr peer_place(const void *addr, size_t len, int pe, const char *fn);

/* Whether a far PE runs the same executable: only then are its globals symmetric. */
enum peer_program { PROGRAM_UNKNOWN, PROGRAM_SAME, PROGRAM_OTHER };

/* True if the address is symmetric on that PE, mapped or far. */
bool peer_accessible(const void *addr, int pe);

/* Reports a pe outside the world, or a process that is no PE, and ends the job. */
void peer_check(int pe, const char *fn);

/* Every heap is longer: lengths up to this one take a single comparison. */
#define PEER_HEAP_MIN 4096

/*
 * Local address of `len` bytes at symmetric address addr of PE pe, if that segment of the
 * PE is mapped; else NULL, and peer_at_slow finds the reason.  Inline cost: one
 * comparison for the PE, one or two for the address, and two loads.
 */
ALWAYS_INLINE void *peer_quick(const void *addr, size_t len, int pe)
{
    const struct pgas *g = &pgas_self;
    char *base = NULL;
    size_t offset;

    if (unlikely((uint32_t)pe >= g->npes)) /* npes is 0 while there is no heap */
        return NULL;
    if (g->heap_len < PEER_HEAP_MIN)
        __builtin_unreachable();
    if (likely(symaddr_in_heap(addr, len, &offset)))
        base = __atomic_load_n(&g->peer[pe].heap, __ATOMIC_ACQUIRE);
    else if (symaddr_in_data(addr, len, &offset))
        base = __atomic_load_n(&g->peer[pe].data, __ATOMIC_ACQUIRE);
    return likely(base != NULL) ? base + offset : NULL;
}

/* The same for all symmetric addresses.  Errors are reported in the name of the public
 * routine fn and end the job. */
ALWAYS_INLINE void *peer_at(const void *addr, size_t len, int pe, const char *fn)
{
    void *quick = peer_quick(addr, len, pe);

    return likely(quick != NULL) ? quick : peer_at_slow(addr, len, pe, fn);
}

#endif
