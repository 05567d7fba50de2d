/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * adaptive.h - a lock that spins, then sleeps; a sleeper is passed over until it was
 * woken ADAPTIVE_LOSSES + 1 times.  A thread that runs may acquire it before one that
 * sleeps, so that it does not form a convoy when threads outnumber processors: a fair
 * queue lock then needs a context switch per acquisition.
 *
 * A thread first tries, then spins; then it queues for being the candidate (an MCS lock,
 * so first come, first served).  The candidate alone sleeps on `word`.  After
 * ADAPTIVE_LOSSES sleeps without success it reserves the lock: no other thread acquires
 * it then.
 *
 * Invariants: HELD is set if and only if a thread owns the lock.  Only the candidate sets
 * SLEEPS and RESERVED, and clears RESERVED when it acquires the lock.  While RESERVED is
 * set only the candidate sets HELD.  A candidate sleeps only if `word` has HELD and
 * SLEEPS; the release that clears HELD clears SLEEPS, too, and wakes it.  With fair
 * scheduling each thread acquires the lock (tests/models/adaptive.pml).
 *
 * Orders: setting HELD (acquire) sees the release that cleared it.  Within a process
 * only. Uses: atomic, mcs.  Used by: core/progress/net,
 * compat/mpi/match/match_tail.
 */
#ifndef PGAS_THREADS_ADAPTIVE_H
#define PGAS_THREADS_ADAPTIVE_H

#include "pgas/threads/atomic.h"
#include "pgas/threads/mcs.h"

enum { ADAPTIVE_HELD = 1, ADAPTIVE_SLEEPS = 2, ADAPTIVE_RESERVED = 4 };

/* Zeroed memory is a free lock. */
struct adaptive_lock {
    uint32_t word;         /* bits, as above */
    struct mcs_lock queue; /* its owner is the candidate */
};

/* The wait, and the release with bits besides HELD; out of line */
void adaptive_wait(struct adaptive_lock *l);
void adaptive_wake(struct adaptive_lock *l);

static inline void adaptive_acquire(struct adaptive_lock *l)
{
    if (unlikely(cas_acq_rel_u32(&l->word, 0, ADAPTIVE_HELD) != 0))
        adaptive_wait(l);
}

/* False if another thread owns the lock or waits for it as the candidate. */
static inline bool adaptive_try_acquire(struct adaptive_lock *l)
{
    return load_relaxed_u32(&l->word) == 0 &&
           cas_acq_rel_u32(&l->word, 0, ADAPTIVE_HELD) == 0;
}

static inline void adaptive_release(struct adaptive_lock *l)
{
    if (unlikely(cas_acq_rel_u32(&l->word, ADAPTIVE_HELD, 0) != ADAPTIVE_HELD))
        adaptive_wake(l);
}

#endif
