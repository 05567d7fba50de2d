/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * serve.pml - operations on user contexts and the progress thread, which serves them or is woken
 * (pgas/core/progress): net_try_serve, net_op_try, net_op_completed, net_ctx_attend,
 * net_ctx_unattend, net_op_sleep_on_ctx and net_wait_on_sleep (net.c, net_ops.c);
 * net_progress_sleep_on, net_progress_add_contexts, net_progress_skip and net_kick (net_thread.c);
 * on the memory model of C11 (c11.pml).
 *
 * One context.  Without SHARED it is exclusive: its owner posts a put, which nobody waits for,
 * and WAITS times a get, and attends the context while it waits for that; it sleeps on the
 * context's descriptor.  SHARED: the user of the context posts only gets, counts itself in
 * `waiters` and sleeps until its operation ends (private.pml is the model of that wake-up).
 * POLLER: a third thread that waits for something else polls the context once
 * (net_poll_contexts).  The progress thread sleeps at most SLEEPS times; the states after that
 * are not searched.
 * The descriptor is ready while events are there that no thread has processed; the eventfd
 * while a kick has not been read.
 * Memory orders: `attended`, `skipped`, `open` and `waiters` are loaded relaxed; `open` is stored
 * with release, `attended` is set relaxed and cleared with release, `skipped` is relaxed, `waiters`
 * an acq_rel increment; `state` is changed by acq_rel compare-and-swaps and loaded relaxed; full
 * fences in net_kick, net_ctx_unattend, net_progress_skip and net_progress_sleep_on.
 * Left out: the lock's own words (adaptive.pml), context 0, quiet, `send`, several contexts, time
 * limits, except that a thread that cannot sleep on all contexts tries again.
 * Checked: each operation is completed: neither thread sleeps for ever before; one thread at a
 * time is in the transport.
 *
 * FAULT_UNATTEND: net_ctx_unattend has no fence between `attended` and `skipped`.
 * FAULT_SKIP:     net_progress_skip has no fence between `skipped` and `attended`.
 * FAULT_SWAP:     it loads `attended` before it stores `skipped`.
 * FAULT_TEST:     net_ctx_unattend loads `skipped` before it clears `attended`.
 * FAULT_RECHECK:  net_try_serve does not check `attended` again under the lock.
 * FAULT_ATTEND:   net_ctx_attend does not wait for the thread that has the lock.
 * FAULT_LOCK:     net_try_serve takes no lock: `attended` alone is to exclude the others.
 * FAULT_KICK:     net_kick has no fence.
 * FAULT_SLEEP:    no fence between PROGRESS_SLEEP and the test of the contexts.
 * FAULT_STATE:    the contexts are tested before the state becomes PROGRESS_SLEEP.
 * SHARED FAULT_COUNT: `waiters` is incremented after the kick.
 * SHARED FAULT_OPEN:  net_is_active ignores `waiters`.
 */
#ifndef WAITS
#define WAITS 1
#endif
#ifndef SLEEPS
#define SLEEPS 2
#endif
#define ATTENDED  0
#define SKIPPED   1
#define OPEN      2 /* SHARED: waiters */
#define STATE     3
#define PENDING   4 /* the number of gets that have completed */

#define OWNER     0
#define PROGRESS  1
#ifdef POLLER
#define THREADS   3
#else
#define THREADS   2
#endif
#define LOCATIONS 5
#define STORES    9
#define FENCES
#define MUTEXES   1
#include "c11.pml"

#define SERVE 0 /* states */
#define SLEEP 1

#define PUT 1 /* operations */
#define GET 2

byte posted, arrived; /* sets of operations; the events are `arrived` */
byte kicks;                      /* of the eventfd: 0 or 1 */
byte inside;                     /* threads in the transport */
bool ended;                      /* the owner has ended */
bool put_done;
bool cut;                        /* the progress thread has slept SLEEPS times */

/* The transport; progress takes two steps, so that another thread may be inside, too. */
inline post(op) {
    d_step {
        assert(inside == 0);
        posted = posted | (op)
    }
}

inline progress(events) {
    d_step { assert(inside == 0); inside++; events = arrived; arrived = 0 };
    if
    :: events & PUT -> put_done = true
    :: else
    fi;
    if
    :: events & GET -> store_release(PENDING, LAST(PENDING) + 1)
    :: else
    fi;
    inside--
}

inline kick() {
#ifndef FAULT_KICK
    fence_full();
#endif
    load_relaxed(STATE, found);
    if
    :: found == SLEEP -> kicks = 1
    :: else
    fi;
    found = 0
}

/* net_needs_progress */
inline needs_progress() {
#ifdef FAULT_OPEN
    found = 0;
#else
    load_relaxed(OPEN, found);
#endif
    if
    :: found != 0 -> load_relaxed(ATTENDED, found); found = !found
    :: else
    fi
}

/* found: the thread has the lock and may progress. */
inline try_serve() {
    needs_progress();
    if
    :: found == 0
    :: else ->
#ifndef FAULT_LOCK
        if
        :: locked[0] -> found = 0
        :: lock(0);
#ifndef FAULT_RECHECK
            needs_progress();
            if
            :: found == 0 -> unlock(0)
            :: else
            fi
#endif
        fi
#endif
    fi
}

inline serve_ends() {
#ifndef FAULT_LOCK
    unlock(0);
#endif
    skip
}

inline attend() {
    store_relaxed(ATTENDED, 1);
#ifndef FAULT_ATTEND
    lock(0);
    unlock(0);
#endif
    skip
}

inline unattend() {
#ifdef FAULT_TEST
    load_relaxed(SKIPPED, found);
    store_release(ATTENDED, 0);
    fence_full();
#else
    store_release(ATTENDED, 0);
#ifndef FAULT_UNATTEND
    fence_full();
#endif
    load_relaxed(SKIPPED, found);
#endif
    if
    :: found != 0 -> store_racing(SKIPPED, 0); kick()
    :: else
    fi;
    found = 0
}

/* net_op_completed; done: whether the get is. */
inline completed_get() {
    load_acquire(PENDING, found);
    done = found >= waits;
    found = 0;
    if
    :: done
    :: else ->
        if
        :: locked[0]
        :: lock(0);
            progress(events);
            unlock(0);
            events = 0;
            load_acquire(PENDING, found);
            done = found >= waits;
            found = 0
        fi
    fi
}

#ifdef SHARED
inline wait() {
#ifdef FAULT_COUNT
    kick();
    d_step { update_acq_rel(OPEN, LAST(OPEN) + 1) };
#else
    d_step { update_acq_rel(OPEN, LAST(OPEN) + 1) };
    kick();
#endif
    completed_get();
    if
    :: done
    :: else -> LAST(PENDING) >= waits || cut
    fi;
    d_step { update_acq_rel(OPEN, LAST(OPEN) - 1) }
}
#else
inline wait() {
    attend();
    do
    ::
        completed_get();
        if
        :: done -> break
        :: else
        fi;
        lock(0); /* net_op_sleep_on_ctx: arms */
        found = arrived;
        unlock(0);
        if
        :: found -> found = 0
        :: else -> arrived
        fi
    od;
    unattend()
}
#endif

active proctype owner() {
    byte me = OWNER, found, events, waits;
    bool done;

#ifdef SHARED
    put_done = true;
#else
    lock(0);
    post(PUT);
    store_release(OPEN, 1);
    unlock(0);
    kick();
#endif
    do
    :: waits < WAITS ->
        waits++;
        lock(0);
        post(GET);
        unlock(0);
        completed_get();
        if
        :: done
        :: else -> wait()
        fi
    :: else -> break
    od;
    ended = true
}

active proctype progress_thread() {
    byte me = PROGRESS, found, events, sleeps;
    bool all, added;

    do
    ::
        all = true;
        added = false;
        sleeps++;
#ifndef FAULT_STATE
        d_step { update_acq_rel(STATE, SLEEP) };
#ifndef FAULT_SLEEP
        fence_full();
#endif
#endif
#ifndef FAULT_OPEN
        load_relaxed(OPEN, found);
#endif
        if
        :: found == 0
        :: else ->
            try_serve();
            if
            :: found == 0 -> /* net_progress_skip */
#ifdef FAULT_SWAP
                load_relaxed(ATTENDED, found);
                store_racing(SKIPPED, 1);
                fence_full();
#else
                store_racing(SKIPPED, 1);
#ifndef FAULT_SKIP
                fence_full();
#endif
                load_relaxed(ATTENDED, found);
#endif
                all = found != 0
            :: else ->
                progress(events);
                all = events == 0 && arrived == 0;
                added = true;
                serve_ends();
                events = 0
            fi
        fi;
        found = 0;
#ifdef FAULT_STATE
        d_step { update_acq_rel(STATE, SLEEP) };
        fence_full();
#endif
        if
        :: all -> (kicks || (added && arrived) || (ended && put_done))
        :: else
        fi;
        d_step { update_acq_rel(STATE, SERVE); kicks = 0 };
        if
        :: ended && put_done -> break
        :: sleeps == SLEEPS -> cut = true; break
        :: else
        fi
    od
}

#ifdef POLLER
active proctype poller() {
    byte me = 2, found, events;

    try_serve();
    if
    :: found ->
        progress(events);
        serve_ends();
        events = 0
    :: else
    fi;
    found = 0
}
#endif

/* Another PE: answers operations at any time. */
active proctype network() {
    do
    :: atomic { posted & PUT -> posted = posted & ~PUT; arrived = arrived | PUT }
    :: atomic { posted & GET -> posted = posted & ~GET; arrived = arrived | GET }
    :: atomic { ended && !posted -> break }
    od
}
