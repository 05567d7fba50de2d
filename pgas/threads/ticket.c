/* SPDX-License-Identifier: BSD-3-Clause */
/* ticket.c - see ticket.h. */
#include "config.h"

#include "pgas/threads/futex.h"
#include "pgas/threads/pause.h"
#include "pgas/threads/ticket.h"

/* Tests compile this file with delays at the points where the interleaving matters. */
#ifndef THREADS_POINT
#define THREADS_POINT(point) ((void)0)
#endif

/* A waiter polls if at most TICKET_NEAR tickets precede its own; else it sleeps at once.
 */
enum { TICKET_SPINS = 200, TICKET_NEAR = 2 };

/* A wake-up reaches the sleepers of this bit: with up to 32 waiters, one thread. */
static uint32_t ticket_bit(uint32_t ticket)
{
    return UINT32_C(1) << ticket % 32;
}

static bool ticket_spin(struct ticket_lock *l, uint32_t ticket)
{
    for (int i = 0; i < TICKET_SPINS; i++) {
        uint32_t serving = load_acquire_u32(&l->serving);
        if (serving == ticket)
            return true;
        if (ticket - serving > TICKET_NEAR)
            return false;
        cpu_pause();
    }
    return false;
}

void ticket_wait(struct ticket_lock *l, uint32_t ticket)
{
    uint32_t serving;

    if (ticket_spin(l, ticket))
        return;
    fetch_add_acq_rel_u32(&l->sleepers, 1);
    fence_full();
    while ((serving = load_acquire_u32(&l->serving)) != ticket) {
        THREADS_POINT(SLEEP);
        futex_wait_bits_private(&l->serving, serving, ticket_bit(ticket));
    }
    fetch_add_acq_rel_u32(&l->sleepers, UINT32_MAX);
}

/* The next owner may have released the lock again by now: a wake-up too many is without
 * consequence. */
void ticket_wake(struct ticket_lock *l, uint32_t ticket)
{
    THREADS_POINT(WAKE);
    futex_wake_bits_private(&l->serving, ticket_bit(ticket));
}
