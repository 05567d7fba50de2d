/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpsc.h - a bounded ring of words for several producers and one consumer, without locks.
 *
 * The caller provides the cells, `capacity` of them, a power of two of at least 2.  No
 * side waits: mpsc_push returns false if the ring is full, mpsc_pop if it is empty or if
 * the producer of the oldest position has not written its value yet.  The values of a
 * producer are popped in the order in which it pushed them.
 *
 * Invariants: position p is in cell p % capacity.  `turn` of that cell is p if the cell
 * is free for p, p + 1 if it holds the value of p; the consumer's pop sets it to p +
 * capacity, the turn of the next position there.  A producer owns position p from the
 * compare-and-swap of `tail` from p to p + 1 until it sets `turn`.  Positions have 64
 * bits: a producer that is late by a whole turn of the counter does not occur.
 *
 * Orders: `turn` is stored with release and loaded with acquire by both sides: the
 * consumer sees the value, and a producer overwrites it only after it was read.  `tail`
 * orders nothing: its compare-and-swap only decides who owns the position.
 * Uses: atomic.  Used by: tests and bench/locks_bench; see pgas/threads/README.md.
 */
#ifndef PGAS_THREADS_MPSC_H
#define PGAS_THREADS_MPSC_H

#include <stddef.h>

#include "pgas/threads/atomic.h"
#include "pgas/core/base/pgas_assert.h"

/* Tests compile their own copy with delays at the points where interleaving matters. */
#ifndef MPSC_POINT
#define MPSC_POINT(point) ((void)0)
#endif

enum { MPSC_LINE = 64 };

struct mpsc_cell {
    uint64_t turn, value;
};

struct mpsc_ring {
    struct mpsc_cell *cells;
    uint64_t mask;
    _Alignas(MPSC_LINE) uint64_t tail;
    _Alignas(MPSC_LINE) uint64_t head; /* of the consumer alone */
};

/* `first` is the first position: 0, or any other in tests. */
static inline void mpsc_init(struct mpsc_ring *r, struct mpsc_cell *cells,
                             size_t capacity, uint64_t first)
{
    PGAS_ASSERT(capacity > 1 && (capacity & (capacity - 1)) == 0);
    *r = (struct mpsc_ring){
        .cells = cells, .mask = capacity - 1, .tail = first, .head = first};
    for (uint64_t i = 0; i < capacity; i++)
        cells[(first + i) & r->mask].turn = first + i;
}

static inline bool mpsc_push(struct mpsc_ring *r, uint64_t value)
{
    uint64_t p = load_relaxed_u64(&r->tail), seen;
    struct mpsc_cell *cell;

    for (;; p = seen) {
        cell = &r->cells[p & r->mask];
        int64_t ahead = (int64_t)(load_acquire_u64(&cell->turn) - p);
        MPSC_POINT(CLAIM);
        if (ahead < 0)
            return false; /* the value of p - capacity is still there */
        seen =
            ahead == 0 ? cas_acq_rel_u64(&r->tail, p, p + 1) : load_relaxed_u64(&r->tail);
        if (ahead == 0 && seen == p)
            break;
    }
    MPSC_POINT(WRITE);
    cell->value = value;
    store_release_u64(&cell->turn, p + 1);
    return true;
}

static inline bool mpsc_pop(struct mpsc_ring *r, uint64_t *value)
{
    struct mpsc_cell *cell = &r->cells[r->head & r->mask];

    if (load_acquire_u64(&cell->turn) != r->head + 1)
        return false;
    *value = cell->value;
    MPSC_POINT(READ);
    store_release_u64(&cell->turn, r->head + r->mask + 1);
    r->head++;
    return true;
}

#endif
