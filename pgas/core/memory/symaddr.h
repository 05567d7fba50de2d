/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * symaddr.h - translates a local address to (segment, offset) and back.
 *
 * An offset is the same on all PEs and is computed only here.  PEs exchange an address as
 * one word (symaddr_encode): 2 * offset + 2 in the heap, 2 * offset + 1 in the global
 * variables, 0 in neither.  Thread-safe: the segments change only in init and finalize.
 * Uses: pgas.h, transport.h.  Used by: peer, block, check, team, rma/lock.
 */
#ifndef PGAS_CORE_SYMADDR_H
#define PGAS_CORE_SYMADDR_H

#include "pgas/core/base/pgas.h"
#include "pgas/threads/atomic.h"
#include "pgas/transport/transport.h"

/* True if `len` bytes at `offset` are inside a segment of `bytes` bytes; one comparison
 * if the compiler knows that bytes >= len. */
ALWAYS_INLINE bool symaddr_inside(size_t offset, size_t len, size_t bytes)
{
    if (__builtin_constant_p(len) && len > 0)
        return bytes >= len && offset <= bytes - len;
    return likely(offset < bytes) && likely(len <= bytes - offset);
}

/* True if the `len` bytes at addr are in the heap (symaddr_in_heap) or the global
 * variables (symaddr_in_data).  Both always set *offset to addr's offset from the
 * segment's base. */
ALWAYS_INLINE bool symaddr_in_heap(const void *addr, size_t len, size_t *offset)
{
    *offset = (uintptr_t)addr - pgas_self.heap_base;
    return symaddr_inside(*offset, len, pgas_self.heap_len);
}

ALWAYS_INLINE bool symaddr_in_data(const void *addr, size_t len, size_t *offset)
{
    *offset = (uintptr_t)addr - pgas_self.data_base;
    return symaddr_inside(*offset, len, pgas_self.data_len);
}

/* The segment that contains `len` bytes at addr, and their offset; SEGMENTS if none. */
ALWAYS_INLINE enum transport_segment symaddr_find(const void *addr, size_t len,
                                                  size_t *offset)
{
    return likely(symaddr_in_heap(addr, len, offset)) ? SEGMENT_HEAP
           : symaddr_in_data(addr, len, offset)       ? SEGMENT_DATA
                                                      : SEGMENTS;
}

static inline uint64_t symaddr_encode(const void *addr)
{
    size_t offset;
    enum transport_segment segment = symaddr_find(addr, 1, &offset);

    return segment == SEGMENT_HEAP   ? 2 * (uint64_t)offset + 2
           : segment == SEGMENT_DATA ? 2 * (uint64_t)offset + 1
                                     : 0;
}

/* The address in this PE's segments; NULL for 0. */
static inline const void *symaddr_decode(uint64_t symaddr)
{
    uintptr_t heap = pgas_self.heap_base + symaddr / 2 - 1;
    uintptr_t data = pgas_self.data_base + symaddr / 2;

    return symaddr == 0 ? NULL : (const void *)(symaddr % 2 == 0 ? heap : data);
}

#endif
