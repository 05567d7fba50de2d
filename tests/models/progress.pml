/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * progress.pml - a thread that sleeps while N others make network progress, which changes its
 * word (pgas/core/progress): block_sleep_until (block.c), block_sleep_enter, block_sleeper_record
 * and block_sleepers_changed (block_sleep.c); net_wake_sleepers, net_defer_wakeup,
 * net_take_wakeup, net_poll_wake and net_wake_local (net_poll.c); on the memory model of C11
 * (c11.pml).
 *
 * Each of the threads changes the word CHANGES times, under the lock of the context, and each time
 *     NOW     wakes the sleepers whose word has changed (the progress thread)
 *     DEFER   defers the wake-up to the end of its wait
 *     POLL    wakes sleepers whose word has changed, and may defer a wake-up of sleepers on any
 *             store (a thread that polls)
 * Memory orders: the word and the recorded value are relaxed, with full fences between; the
 * condition is loaded with acquire; `wakeup_pending` is stored by an exchange and taken by an
 * exchange (acq_rel); `sleep_mask`, `wake` and membarrier() as in sleep.pml.
 * Left out: several sleepers and those with a futex of their own (block_private), time limits, the
 * states of the progress thread, and that a recorded value of another thread may take effect
 * later than it was stored.
 * Checked: the sleeper does not sleep for ever when all have ended their waits.
 *
 * FAULT_PENDING:  `wakeup_pending` is stored relaxed and cleared by a store.
 * FAULT_RECORD:   the sleeper executes no fence between record and condition.
 * FAULT_LATE:     the sleeper records the word after it has checked the condition.
 * FAULT_CHANGED:  no fence between a change and the comparison.
 */
#ifndef N
#define N 1
#endif
#ifndef CHANGES
#define CHANGES 1
#endif
#define WORD    0
#define MASK    1
#define SEEN_   2 /* block_sleeper.seen */
#define WAKE    3
#define PENDING 4

#define LIST    0 /* locks */
#define CONTEXT 1

#define SLEEPER   0
#define THREADS   (N + 1)
#define LOCATIONS 5
#define STORES    12
#define FENCES
#define FUTEX
#define MUTEXES   2
#include "c11.pml"

/* The value of the word after v changes: in the end that which a new sleeper has recorded. */
#define VALUE(v) ((v + 1) % (N * CHANGES + 1))

mtype = {UNCHANGED, CHANGED, UNKNOWN, NOW, DEFER, POLL, WAIT_ENDS};

bool listed;   /* the sleeper has a slot of `sleep_key` */
bool unlisted; /* it sleeps on any store */

inline wake_own() {
    d_step { update_release(WAKE, LAST(WAKE) + 1) };
    futex_wake()
}

/* block_sleepers_changed */
inline sleepers_changed() {
    change = UNCHANGED;
#ifndef FAULT_CHANGED
    fence_full();
#endif
    load_acquire(MASK, found);
    if
    :: found == 0
    :: else ->
        lock(LIST);
        if
        :: unlisted -> change = UNKNOWN
        :: listed ->
            load_relaxed(WORD, found);
            load_relaxed(SEEN_, seen);
            if
            :: VALUE(found) != seen -> change = CHANGED
            :: else
            fi;
            store_racing(SEEN_, VALUE(found))
        :: else
        fi;
        unlock(LIST)
    fi;
    atomic {
        found = 0;
        seen = 0
    }
}

/* net_defer_wakeup */
inline defer() {
#ifdef FAULT_PENDING
    store_racing(PENDING, 1)
#else
    d_step { update_release(PENDING, 1) } /* no stronger than a store: the next is an exchange */
#endif
}

/* net_take_wakeup; found: there was a deferred wake-up. */
inline take_wakeup() {
    load_relaxed(PENDING, found);
    if
    :: found != 0 ->
#ifdef FAULT_PENDING
        store_racing(PENDING, 0)
#else
        d_step { found = LAST(PENDING); update_acq_rel(PENDING, 0) }
#endif
    :: else
    fi
}

inline record() {
    if
    :: listed ->
        load_relaxed(WORD, found);
        store_racing(SEEN_, VALUE(found));
#ifndef FAULT_RECORD
        fence_full();
#endif
        found = 0
    :: else
    fi
}

active proctype sleeper() {
    byte me = SLEEPER, found, seen, wake;
    mtype change;

    /* block_list_fenced */
    lock(LIST);
    if
    :: listed = true
    :: unlisted = true
    fi;
    store_release(MASK, 1);
    unlock(LIST);
    fence_full();
    d_step { c11_fence(1) };
#if N > 1
    d_step { c11_fence(2) };
#endif
    fence_full();
    do
    ::
        take_wakeup(); /* net_wake_local */
        if
        :: found != 0 ->
            sleepers_changed();
            if
            :: change != UNCHANGED -> wake_own()
            :: else
            fi;
            change = 0
        :: else
        fi;
        load_acquire(WAKE, wake);
#ifndef FAULT_LATE
        record();
#endif
        load_acquire(WORD, found);
        if
        :: found == N * CHANGES -> break
        :: else
        fi;
        found = 0;
#ifdef FAULT_LATE
        record();
#endif
        futex_wait(WAKE, wake)
    od
}

active [N] proctype thread() {
    byte me = _pid, found, seen;
    byte changes;
    mtype change, how;

again:
    lock(CONTEXT);
    store_relaxed(WORD, LAST(WORD) + 1);
    unlock(CONTEXT);
    if
    :: how = NOW
    :: how = DEFER; defer(); goto wait_ends
    :: how = POLL
    fi;
changed:
    sleepers_changed();
    if
    :: how == POLL && change == UNKNOWN -> defer()
    :: how == POLL && change == CHANGED -> take_wakeup(); wake_own()
    :: how != POLL && change != UNCHANGED -> wake_own()
    :: else
    fi;
    found = 0;
    if
    :: how == WAIT_ENDS -> goto ended
    :: else
    fi;
wait_ends: /* net_wake_local */
    how = WAIT_ENDS;
    take_wakeup();
    if
    :: found != 0 -> found = 0; goto changed
    :: else
    fi;
ended:
    change = 0;
    how = 0;
    changes++;
    if
    :: changes < CHANGES -> goto again
    :: else
    fi
}
