/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ticket.pml - the ticket lock with sleeping waiters (pgas/threads/ticket.h) on c11.pml: N
 * threads that acquire and release it ROUNDS times and access an object that the lock
 * guards.  Tickets start at the last value before they wrap at WRAP.  A wake-up reaches
 * the sleepers whose tickets are equal modulo BITS.  A waiter may give up spinning at any
 * time.  Fences have their C11 meaning; the kernel compares after a full fence.
 * Checked: no data race on the object (one owner at a time), which gets the lock in the
 * order of tickets; nobody sleeps for ever.
 *
 * FAULT_NO_FENCE: the release loads `sleepers` without a fence after the store of `serving`.
 * FAULT_RELAXED: the release stores `serving` without release.
 * FAULT_LATE: a waiter counts itself as a sleeper after its last look at `serving` and
 *     sleeps without comparison.
 * FAULT_BIT: the wake-up is for the bit of the ticket that was served before.
 */
#ifndef N
#define N 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#ifndef BITS
#define BITS 2
#endif
#define THREADS   N
#define LOCATIONS 3
#define STORES    (2 * N * ROUNDS + 1)
#define OBJECTS   1
#define FENCES
#define FUTEX
#include "c11.pml"

#define NEXT     0
#define SERVING  1
#define SLEEPERS 2
#define WRAP     8 /* more than N * ROUNDS tickets */
#define FIRST    (WRAP - 1)
/* Locations start with 0: they hold the distance from FIRST. */
#define TICKET(n) ((FIRST + (n)) % WRAP)

byte ticket_of[3];

#define WAKE(t)                                                                                \
    if                                                                                         \
    :: ticket_of[t] % BITS == woken % BITS -> asleep = asleep & ~(1 << (t)) \
    :: else                                                                                    \
    fi

inline wake(ticket) {
    d_step {
        woken = ticket;
        c11_fence(me);
        WAKE(0);
        WAKE(1);
        WAKE(2);
        woken = 0
    }
}

inline acquire() {
    d_step {
        mine = LAST(NEXT);
        update_acq_rel(NEXT, mine + 1);
        mine = TICKET(mine);
        ticket_of[me] = mine
    };
    load_acquire(SERVING, seen);
    if
    :: TICKET(seen) == mine -> goto owned
    :: else
    fi;
    skip;
#ifdef FAULT_LATE
    load_acquire(SERVING, seen);
    if
    :: TICKET(seen) == mine -> goto owned
    :: else
    fi;
    d_step { update_acq_rel(SLEEPERS, LAST(SLEEPERS) + 1) };
    d_step { c11_fence(me); asleep = asleep | 1 << me };
    !ASLEEP;
#else
    d_step { update_acq_rel(SLEEPERS, LAST(SLEEPERS) + 1) };
    fence_full();
#endif
    do
    :: load_acquire(SERVING, seen);
       if
       :: TICKET(seen) == mine -> break
       :: else
       fi;
       futex_wait(SERVING, seen)
    od;
    skip; /* a jump into d_step is not permitted */
    d_step { update_acq_rel(SLEEPERS, LAST(SLEEPERS) - 1) };
owned:
    seen = 0
}

inline release() {
    load_relaxed(SERVING, seen);
    assert(TICKET(seen) == mine);
#ifdef FAULT_RELAXED
    store_relaxed(SERVING, seen + 1);
#else
    store_release(SERVING, seen + 1);
#endif
#ifndef FAULT_NO_FENCE
    fence_full();
#endif
    load_relaxed(SLEEPERS, slept);
    if
#ifdef FAULT_BIT
    :: slept != 0 -> wake(TICKET(seen))
#else
    :: slept != 0 -> wake(TICKET(seen + 1))
#endif
    :: else
    fi;
    seen = 0;
    slept = 0
}

active [N] proctype thread() {
    byte me = _pid, mine, seen, slept, woken, round;

    c11_begin();
    do
    :: round < ROUNDS ->
        acquire();
        plain_write(0);
        release();
        round++
    :: else -> break
    od
}
