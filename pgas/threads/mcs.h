/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mcs.h - the queue lock of Mellor-Crummey and Scott: fair (first come, first served),
 * and each waiter spins on a word of its own.  A waiter that has spun for MCS_SPINS
 * sleeps on that word, so that threads may outnumber processors.
 *
 * An acquisition needs a struct mcs_waiter, usually on the stack, which stays valid until
 * the release by the same thread.
 *
 * Invariants: `tail` is the address of the last waiter, 0 if the lock is free.  The first
 * waiter in the order of the swaps of `tail` owns the lock.  A waiter's state is WAITING,
 * then GRANTED, perhaps with SLEEPING between; only its predecessor grants, once.
 *
 * Orders: the swap of `tail` (acquire) sees the release of the last owner if the lock was
 * free; otherwise the load of GRANTED (acquire) pairs with the swap by the predecessor
 * (release).  Between processes the lock cannot be used.
 * Uses: atomic, futex, pause.  Used by: adaptive.
 */
#ifndef PGAS_THREADS_MCS_H
#define PGAS_THREADS_MCS_H

#include "pgas/threads/atomic.h"

struct mcs_waiter {
    uint64_t next; /* address of the successor; 0: none has linked itself yet */
    uint32_t state;
};

/* Zeroed memory is a free lock. */
struct mcs_lock {
    uint64_t tail;
};

/* The waits, out of line */
void mcs_wait_granted(struct mcs_waiter *w);
struct mcs_waiter *mcs_wait_successor(struct mcs_waiter *w);
void mcs_grant(struct mcs_waiter *successor);

static inline void mcs_acquire(struct mcs_lock *l, struct mcs_waiter *w)
{
    w->next = 0;
    w->state = 0;
    uint64_t before = swap_acq_rel_u64(&l->tail, (uint64_t)(uintptr_t)w);
    if (likely(before == 0))
        return;
    store_release_u64(&((struct mcs_waiter *)(uintptr_t)before)->next,
                      (uint64_t)(uintptr_t)w);
    mcs_wait_granted(w);
}

static inline void mcs_release(struct mcs_lock *l, struct mcs_waiter *w)
{
    const uint64_t self = (uint64_t)(uintptr_t)w;

    if (load_acquire_u64(&w->next) == 0 && cas_acq_rel_u64(&l->tail, self, 0) == self)
        return;
    mcs_grant(mcs_wait_successor(w));
}

#endif
