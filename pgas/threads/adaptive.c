/* SPDX-License-Identifier: BSD-3-Clause */
/* adaptive.c - see adaptive.h. */
#include "config.h"

#include "pgas/threads/adaptive.h"
#include "pgas/threads/futex.h"
#include "pgas/threads/pause.h"

enum {
    ADAPTIVE_SPINS = 100, /* polls of a thread before it queues or sleeps */
    ADAPTIVE_LOSSES = 4,  /* sleeps of the candidate before it reserves the lock */
};

/* Tries while none of the bits `busy` is set, for a bounded time. */
static bool adaptive_spin(struct adaptive_lock *l, uint32_t busy, uint32_t cleared)
{
    for (int i = 0; i < ADAPTIVE_SPINS; i++) {
        uint32_t seen = load_relaxed_u32(&l->word);
        if ((seen & busy) == 0 &&
            cas_acq_rel_u32(&l->word, seen, (seen & ~cleared) | ADAPTIVE_HELD) == seen)
            return true;
        cpu_pause();
    }
    return false;
}

/* The wait of the candidate */
static void adaptive_compete(struct adaptive_lock *l)
{
    for (int sleeps = 0;
         !adaptive_spin(l, ADAPTIVE_HELD, ADAPTIVE_SLEEPS | ADAPTIVE_RESERVED);
         sleeps++) {
        uint32_t bits =
            ADAPTIVE_SLEEPS | (sleeps >= ADAPTIVE_LOSSES ? ADAPTIVE_RESERVED : 0);
        uint32_t seen = fetch_or_acq_rel_u32(&l->word, bits);
        if ((seen & ADAPTIVE_HELD) != 0)
            futex_wait_private(&l->word, seen | bits);
    }
}

void adaptive_wait(struct adaptive_lock *l)
{
    struct mcs_waiter w;

    if (adaptive_spin(l, ADAPTIVE_HELD | ADAPTIVE_RESERVED, 0))
        return;
    mcs_acquire(&l->queue, &w);
    adaptive_compete(l);
    mcs_release(&l->queue, &w);
}

void adaptive_wake(struct adaptive_lock *l)
{
    uint32_t seen =
        fetch_and_acq_rel_u32(&l->word, ~(uint32_t)(ADAPTIVE_HELD | ADAPTIVE_SLEEPS));

    if ((seen & ADAPTIVE_SLEEPS) != 0)
        futex_wake_one_private(&l->word);
}
