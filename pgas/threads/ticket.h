/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ticket.h - the ticket lock: fair (first come, first served) in 12 bytes, and its owner
 * needs no memory of its own.  A waiter that has spun for TICKET_SPINS sleeps until its
 * ticket is served.  With more threads than processors every hand-over to a sleeping
 * thread costs a context switch; adaptive.h is for that case, this one for short queues
 * whose order matters.  All waiters poll one word; with many, mcs.h is faster.
 *
 * Invariants: tickets are drawn from `next` and wrap; fewer than 2^32 threads wait, so
 * that equality identifies a ticket.  The thread whose ticket equals `serving` owns the
 * lock, and only it changes `serving`.  A waiter is counted in `sleepers` whenever it may
 * sleep.
 *
 * Orders: the load of `serving` (acquire) pairs with the store of the last owner
 * (release).  The release stores `serving`, then loads `sleepers`; a waiter increments
 * `sleepers`, then the kernel compares `serving`: a full fence lies between the two
 * accesses on both sides, so that at least one of them sees the other's store.  Within a
 * process only.
 *
 * Memory: ticket_release reads `sleepers` after the next owner may have the lock, so the
 * lock must exist until all calls of ticket_release have returned.
 * Uses: atomic, futex, pause.  Used by: tests and bench/locks_bench; see
 * pgas/threads/README.md for the choice of a lock.
 */
#ifndef PGAS_THREADS_TICKET_H
#define PGAS_THREADS_TICKET_H

#include "pgas/threads/atomic.h"

/* Zeroed memory is a free lock. */
struct ticket_lock {
    uint32_t next, serving;
    uint32_t sleepers;
};

/* The wait for a ticket, and the wake-up of the thread that has it; out of line */
void ticket_wait(struct ticket_lock *l, uint32_t ticket);
void ticket_wake(struct ticket_lock *l, uint32_t ticket);

static inline void ticket_acquire(struct ticket_lock *l)
{
    uint32_t ticket = fetch_add_acq_rel_u32(&l->next, 1);

    if (unlikely(load_acquire_u32(&l->serving) != ticket))
        ticket_wait(l, ticket);
}

static inline void ticket_release(struct ticket_lock *l)
{
    uint32_t ticket = load_relaxed_u32(&l->serving) + 1;

    store_release_u32(&l->serving, ticket);
    fence_full();
    if (unlikely(load_relaxed_u32(&l->sleepers) != 0))
        ticket_wake(l, ticket);
}

#endif
