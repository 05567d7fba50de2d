/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spsc.h - a bounded ring of words for one producer and one consumer, without locks and
 * without read-modify-writes.
 *
 * The caller provides the cells, `capacity` of them, a power of two.  Neither side waits:
 * spsc_push returns false if the ring is full, spsc_pop if it is empty.
 *
 * Invariants: head <= tail <= head + capacity, modulo 2^64.  The cells of positions
 * [head, tail) hold values; position p is in cell p % capacity.  Only the producer
 * changes `tail` and `head_seen`, only the consumer `head` and `tail_seen`; head_seen <=
 * head and tail_seen <= tail, so that a side reads the other's line only if the ring
 * seems to be full or empty.
 *
 * Orders: a load of `tail` (acquire) pairs with its store (release) and sees the value in
 * the cell; a load of `head` (acquire) pairs with its store (release), so that a cell is
 * overwritten only after it was read.
 * Uses: atomic.  Used by: tests and bench/locks_bench; see pgas/threads/README.md.
 */
#ifndef PGAS_THREADS_SPSC_H
#define PGAS_THREADS_SPSC_H

#include <stddef.h>

#include "pgas/threads/atomic.h"
#include "pgas/core/base/pgas_assert.h"

/* Tests compile their own copy with delays at the points where interleaving matters. */
#ifndef SPSC_POINT
#define SPSC_POINT(point) ((void)0)
#endif

enum { SPSC_LINE = 64 };

struct spsc_ring {
    uint64_t *cells;
    uint64_t mask;
    _Alignas(SPSC_LINE) uint64_t tail;
    uint64_t head_seen;
    _Alignas(SPSC_LINE) uint64_t head;
    uint64_t tail_seen;
};

/* `first` is the first position: 0, or any other in tests. */
static inline void spsc_init(struct spsc_ring *r, uint64_t *cells, size_t capacity,
                             uint64_t first)
{
    PGAS_ASSERT(capacity > 0 && (capacity & (capacity - 1)) == 0);
    *r = (struct spsc_ring){.cells = cells,
                            .mask = capacity - 1,
                            .tail = first,
                            .head_seen = first,
                            .head = first,
                            .tail_seen = first};
}

static inline bool spsc_push(struct spsc_ring *r, uint64_t value)
{
    uint64_t tail = load_relaxed_u64(&r->tail);

    if (tail - r->head_seen > r->mask) {
        r->head_seen = load_acquire_u64(&r->head);
        if (tail - r->head_seen > r->mask)
            return false;
    }
    SPSC_POINT(WRITE);
    r->cells[tail & r->mask] = value;
    SPSC_POINT(FILLED);
    store_release_u64(&r->tail, tail + 1);
    return true;
}

static inline bool spsc_pop(struct spsc_ring *r, uint64_t *value)
{
    uint64_t head = load_relaxed_u64(&r->head);

    if (head == r->tail_seen) {
        r->tail_seen = load_acquire_u64(&r->tail);
        if (head == r->tail_seen)
            return false;
    }
    SPSC_POINT(READ);
    *value = r->cells[head & r->mask];
    SPSC_POINT(EMPTIED);
    store_release_u64(&r->head, head + 1);
    return true;
}

#endif
