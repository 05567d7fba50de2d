/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drained.pml - quiet of a context to which other threads post without a gap
 * (pgas/core/progress): it ends when the counter `drained` of the context has changed since the
 * call, and it limits the posts, so that there is such a change.  net_ctx_drained (net_int.h);
 * net_limit.c; net_quiet, net_quiet_since and net_post_quiet (net_ops.c); net_ctx_changed
 * (net_poll.c); on the memory model of C11 (c11.pml).
 *
 * Two threads post an operation each and call quiet; the second one has synchronised with the
 * first, so that its quiet concerns both.  A third thread completes the operations in any order
 * and posts others without end, so that the context need not become empty.  An operation
 * completes only after the transport's quiet was called since its post, as with a transport that
 * flushes; otherwise nobody's help is needed.  LEAVE: a thread may leave its quiet, because of a
 * failure.
 * Memory orders: `drained` is stored relaxed under the lock; it is loaded relaxed before the call
 * of quiet, and under the lock; `open` is stored with release under the lock and loaded with
 * acquire.  A store of 1 over 1 is left out.
 * Checked: when quiet returns, the operations are complete, and their results visible (no data
 * race); at most CREDIT posts are accepted between the first refusal of a quiet and the moment
 * that ends it; quiet and posts do not wait for ever, and a quiet does not wait if nothing was
 * outstanding at a moment since its call; `open` is not cleared while an operation is outstanding.
 *
 * FAULT_AFTER:  `drained` is loaded under the lock by the first test of quiet, not before.
 * FAULT_BEFORE: it is loaded before the thread has synchronised with the one that posts.
 * FAULT_LOCK:   it is incremented after the lock is released.
 * FAULT_CLOSE:  `open` is cleared when `drained` has changed.
 * FAULT_OPEN:   `open` is stored relaxed when quiet ends.
 * FAULT_LIMIT:  a quiet that is refused does not limit the posts.
 * FAULT_CLEAR:  the end of a quiet lifts the limit, also if another quiet has set it.
 * FAULT_NEW:    each refusal of a quiet, not only the first one, sets the credit.
 * LEAVE FAULT_FLUSH: a post without credit waits, and does not call the transport's quiet.
 */
#ifndef OTHERS
#define OTHERS 1 /* posts of the third thread while nothing is outstanding */
#endif
#ifndef CREDIT
#define CREDIT 1
#endif
#define DRAINED   0
#define OPEN      1 /* its changes: 1, 3, .. is open */
#define FLAG      2 /* by which the threads synchronise */
#define FIRST     0
#define SECOND    1
#define DRIVER    2
#define THREADS   3
#define LOCATIONS 3
#define STORES    10
#define OBJECTS   2 /* results */
#define MUTEXES   1
#include "c11.pml"

/* Under the lock; a bit of each operation, or of each thread. */
byte outstanding, flushed;
bool limited;
byte credit;
byte waiting;   /* quiets that were refused, and no moment has ended them since */
byte beside[2]; /* posts since the first refusal */

byte idle_posts; /* of the third thread */
byte ended;      /* threads */

#define STUCK (limited && credit == 0 && outstanding != 0)

inline open() {
    if
    :: LAST(OPEN) % 2 == 0 -> store_release(OPEN, LAST(OPEN) + 1)
    :: else
    fi
}

inline drain() {
    waiting = 0;
    limited = false;
    credit = 0;
    store_relaxed(DRAINED, LAST(DRAINED) + 1)
}

inline close() {
    assert(outstanding == 0);
#ifdef FAULT_OPEN
    store_relaxed(OPEN, LAST(OPEN) + LAST(OPEN) % 2)
#else
    store_release(OPEN, LAST(OPEN) + LAST(OPEN) % 2)
#endif
}

inline count(thread) {
    if
    :: waiting & 1 << (thread) ->
        beside[thread]++;
        assert(beside[thread] <= CREDIT)
    :: else
    fi
}

/* net_op_post_limited */
inline try_post(op) {
    lock(0);
    accepted = true;
    if
    :: limited && credit == 0 ->
#ifndef FAULT_FLUSH
        flushed = outstanding;
#endif
        if
        :: outstanding == 0 -> drain()
        :: else -> accepted = false
        fi
    :: else
    fi;
    if
    :: accepted ->
        d_step {
            outstanding = outstanding | 1 << (op);
            flushed = flushed & ~(1 << (op));
            credit = (limited && credit > 0 -> credit - 1 : credit);
            count(FIRST);
            count(SECOND)
        };
        open()
    :: else
    fi;
    unlock(0)
}

inline post(op) {
    do
    :: accepted -> break
    :: else ->
        try_post(op);
        if
        :: accepted || !STUCK
        fi
    od;
    accepted = false
}

/* net_op_limit_others */
inline refuse() {
#ifndef FAULT_LIMIT
    if
#ifdef FAULT_NEW
    :: true ->
#else
    :: !limited ->
#endif
        limited = true;
        credit = CREDIT
    :: else
    fi;
#endif
    if
    :: waiting & 1 << me
    :: else -> waiting = waiting | 1 << me; beside[me] = 0
    fi
}

/* net_quiet, with the value of `drained` that was loaded at the call */
inline quiet() {
    skip;
again:
    lock(0);
    flushed = outstanding;
    load_relaxed(DRAINED, found);
    if
    :: outstanding == 0 -> drain(); close()
    :: outstanding != 0 && found != since ->
#ifdef FAULT_CLOSE
        close();
#endif
        skip
    :: outstanding != 0 && found == since ->
        assert(LAST(DRAINED) == before); /* else the call should have ended */
        refuse();
        unlock(0);
        if
        :: LAST(DRAINED) != since || outstanding & ~flushed || outstanding == 0 -> goto again
#ifdef LEAVE
        :: true ->
            waiting = waiting & ~(1 << me);
            goto left
#endif
        fi
    fi;
#ifdef FAULT_CLEAR
    limited = false;
#endif
    unlock(0)
}

inline begin_quiet() {
    load_acquire(OPEN, found);
    if
    :: found % 2 == 0 -> goto done
    :: else
    fi;
#if !defined(FAULT_BEFORE) && !defined(FAULT_AFTER)
    load_relaxed(DRAINED, since);
#endif
    before = LAST(DRAINED);
#ifdef FAULT_AFTER
    lock(0);
    load_relaxed(DRAINED, since);
    unlock(0);
#endif
    skip
}

active proctype first() {
    byte me = FIRST, found, since, before;
    bool accepted;

    c11_begin();
    post(0);
    store_release(FLAG, 1);
#ifdef FAULT_BEFORE
    load_relaxed(DRAINED, since);
#endif
    begin_quiet();
    quiet();
done:
    assert((outstanding & 1) == 0);
    plain_read(0);
left:
    found = 0;
    since = 0;
    before = 0;
    ended++
}

active proctype second() {
    byte me = SECOND, found, since, before;
    bool accepted;

    c11_begin();
#ifdef FAULT_BEFORE
    load_relaxed(DRAINED, since);
#endif
    await_acquire(FLAG, 1, found);
    post(1);
    begin_quiet();
    quiet();
done:
    assert((outstanding & 3) == 0);
    plain_read(0);
    plain_read(1);
left:
    found = 0;
    since = 0;
    before = 0;
    ended++
}

/* net_ctx_changed: an operation has completed. */
inline changed(op) {
    lock(0);
    outstanding = outstanding & ~(1 << (op));
    tried = false;
    if
    :: op < 2 -> plain_write(op)
    :: else
    fi;
#ifdef FAULT_LOCK
    none_left = outstanding == 0;
    unlock(0);
    if
    :: none_left -> waiting = 0; limited = false; credit = 0;
        d_step { update_release(DRAINED, LAST(DRAINED) + 1) }
    :: else
    fi;
    none_left = false
#else
    if
    :: outstanding == 0 -> drain()
    :: else
    fi;
    unlock(0)
#endif
}

#define DONE(op) (outstanding & flushed & 1 << (op))
#define MAY(op)  (!(outstanding & 1 << (op)) && !(STUCK && tried) && ended < 2 &&              \
                  (outstanding != 0 || idle_posts < OTHERS))

/* A post of the third thread. */
inline another(op) {
    idle_posts = idle_posts + (outstanding == 0 -> 1 : 0);
    try_post(op);
    tried = !accepted;
    accepted = false
}

active proctype driver() {
    byte me = DRIVER;
    bool accepted, none_left, tried, final; /* final: the last post is accepted */

    c11_begin();
    do
    :: DONE(0) -> changed(0)
    :: DONE(1) -> changed(1)
    :: DONE(2) -> changed(2)
    :: DONE(3) -> changed(3)
    :: MAY(2) -> another(2)
    :: MAY(3) -> another(3)
    :: ended == 2 && !final && !(STUCK && tried) -> /* after the quiets */
        try_post(4);
        tried = !accepted;
        final = accepted;
        accepted = false
    :: final && outstanding & ~flushed -> flushed = outstanding
    :: DONE(4) -> changed(4)
    :: final && outstanding == 0 -> break
    od
}
