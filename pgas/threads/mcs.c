/* SPDX-License-Identifier: BSD-3-Clause */
/* mcs.c - see mcs.h. */
#include "config.h"

#include <sched.h>

#include "pgas/threads/futex.h"
#include "pgas/threads/mcs.h"
#include "pgas/threads/pause.h"

enum { MCS_WAITING, MCS_GRANTED, MCS_SLEEPING };

/* An owner with a short critical section releases within that; longer spins only take the
 * processor from it. */
enum { MCS_SPINS = 200 };

static bool mcs_spin_granted(const struct mcs_waiter *w)
{
    for (int i = 0; i < MCS_SPINS; i++) {
        if (load_acquire_u32(&w->state) == MCS_GRANTED)
            return true;
        cpu_pause();
    }
    return false;
}

void mcs_wait_granted(struct mcs_waiter *w)
{
    if (mcs_spin_granted(w) ||
        cas_acq_rel_u32(&w->state, MCS_WAITING, MCS_SLEEPING) == MCS_GRANTED)
        return;
    while (load_acquire_u32(&w->state) == MCS_SLEEPING)
        futex_wait_private(&w->state, MCS_SLEEPING);
}

/* The successor has swapped the tail and is about to store its address. */
struct mcs_waiter *mcs_wait_successor(struct mcs_waiter *w)
{
    uint64_t next = load_acquire_u64(&w->next);

    for (int i = 0; next == 0; i++) {
        if (i % MCS_SPINS == MCS_SPINS - 1)
            sched_yield();
        else
            cpu_pause();
        next = load_acquire_u64(&w->next);
    }
    return (struct mcs_waiter *)(uintptr_t)next;
}

/* After the swap the successor may return and reuse its memory: a wake-up of whatever
 * sleeps at that address then is without consequence, as all sleepers check their word.
 */
void mcs_grant(struct mcs_waiter *successor)
{
    if (swap_acq_rel_u32(&successor->state, MCS_GRANTED) == MCS_SLEEPING)
        futex_wake_one_private(&successor->state);
}
