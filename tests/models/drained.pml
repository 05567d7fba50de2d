/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drained.pml - quiet of a context that other threads use, too (pgas/core/progress): it ends when
 * the counter `drained` of the context has changed since the call.  net_ctx_drained (net_int.h);
 * net_quiet, net_quiet_since, net_post_quiet and net_op_count (net_ops.c); net_ctx_changed
 * (net_poll.c); net_pool_quiet_shared (net_pool.c); on the memory model of C11 (c11.pml).
 *
 * A thread posts operation 0, and another one, which has synchronised with it and so knows of the
 * operation, posts operation 1 and calls quiet: net_quiet or, POOL, net_quiet_since with the value
 * that it has loaded before.  A third thread completes the operations in any order, and posts
 * others, so that the context need not be empty at any test of quiet; it calls quiet, too.
 * Memory orders: `drained` is stored with release under the lock; it is loaded relaxed before the
 * call and under the lock, and with acquire by net_quiet_since; `open` is stored with release
 * under the lock and loaded with acquire.  A store of 1 over 1 is left out.
 * POOL may end without the lock, by a load with acquire; net_quiet_since takes the lock now, so
 * that the release store of `drained` is needed by POOL only.
 * Checked: when quiet returns, both operations are complete, and their results visible (no data
 * race); quiet returns, and does not wait if nothing was outstanding at a moment since its call;
 * `open` is not cleared while an operation is outstanding.
 *
 * FAULT_AFTER:   `drained` is loaded under the lock by the first test of quiet, not before.
 * FAULT_BEFORE:  it is loaded before the thread has synchronised with the one that posts.
 * FAULT_LOCK:    it is incremented after the lock is released.
 * FAULT_CLOSE:   `open` is cleared when `drained` has changed.
 * POOL FAULT_RELAXED: `drained` is stored relaxed.
 * POOL FAULT_LOAD:    net_quiet_since loads it relaxed.
 * FAULT_OPEN:    `open` is stored relaxed when quiet ends.
 */
#ifndef OTHERS
#define OTHERS 1 /* operations that the third thread posts */
#endif
#define DRAINED   0
#define OPEN      1 /* its changes: 1, 3, .. is open */
#define FLAG      2 /* by which the threads synchronise */
#define POSTER    0
#define CALLER    1
#define DRIVER    2
#define THREADS   3
#define LOCATIONS 3
#define STORES    8
#define OBJECTS   2 /* results */
#define MUTEXES   1
#include "c11.pml"

byte outstanding; /* a bit of each operation; under the lock */
byte ended;       /* threads */

inline open() {
    if
    :: LAST(OPEN) % 2 == 0 -> store_release(OPEN, LAST(OPEN) + 1)
    :: else
    fi
}

inline post(op) {
    lock(0);
    outstanding = outstanding | 1 << (op);
    open();
    unlock(0)
}

inline drain() {
#ifdef FAULT_RELAXED
    store_relaxed(DRAINED, LAST(DRAINED) + 1)
#else
    store_release(DRAINED, LAST(DRAINED) + 1)
#endif
}

/* Under the lock. */
inline close() {
    assert(outstanding == 0);
#ifdef FAULT_OPEN
    store_relaxed(OPEN, LAST(OPEN) + LAST(OPEN) % 2)
#else
    store_release(OPEN, LAST(OPEN) + LAST(OPEN) % 2)
#endif
}

#ifdef FAULT_LOAD
#define LOAD_SINCE(out) load_relaxed(DRAINED, out)
#else
#define LOAD_SINCE(out) load_acquire(DRAINED, out)
#endif

active proctype poster() {
    byte me = POSTER;

    c11_begin();
    post(0);
    store_release(FLAG, 1);
    ended++
}

active proctype caller() {
    byte me = CALLER, found, since, before;

    c11_begin();
#ifdef FAULT_BEFORE
    load_relaxed(DRAINED, since);
#endif
    await_acquire(FLAG, 1, found);
    post(1);
    load_acquire(OPEN, found);
    if
    :: found % 2 == 0 -> goto done
    :: else
    fi;
#if !defined(FAULT_BEFORE) && !defined(FAULT_AFTER)
    load_relaxed(DRAINED, since);
#endif
    before = LAST(DRAINED);
#ifdef POOL
    skip; /* waits for another context */
    LOAD_SINCE(found);
    if
    :: found != since -> goto done
    :: else
    fi;
    load_acquire(OPEN, found);
    if
    :: found % 2 == 0 -> goto done
    :: else
    fi;
#endif
#ifdef FAULT_AFTER
    lock(0);
    load_relaxed(DRAINED, since);
    unlock(0);
#endif
again: /* net_post_quiet */
    lock(0);
    load_relaxed(DRAINED, found);
    if
    :: found != since ->
#ifdef FAULT_CLOSE
        close();
#endif
        skip
    :: found == since && outstanding == 0 -> drain(); close()
    :: else ->
        assert(LAST(DRAINED) == before); /* else the call should have ended */
        unlock(0);
        LAST(DRAINED) != since || outstanding == 0;
        goto again
    fi;
    unlock(0);
done:
    found = 0;
    since = 0;
    assert((outstanding & 3) == 0);
    plain_read(0);
    plain_read(1);
    ended++
}

/* net_ctx_changed: an operation has completed, or none (op NONE). */
#define NONE 7
inline changed(op) {
    lock(0);
    outstanding = outstanding & ~(1 << (op));
    if
    :: op < 2 -> plain_write(op)
    :: else
    fi;
#ifdef FAULT_LOCK
    none_left = outstanding == 0;
    unlock(0);
    if
    :: none_left -> d_step { update_release(DRAINED, LAST(DRAINED) + 1) }
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

active proctype driver() {
    byte me = DRIVER, others;
    bool none_left, idle, quiet;

    c11_begin();
    do
    :: outstanding & 1 -> changed(0)
    :: outstanding & 2 -> changed(1)
    :: outstanding & 4 -> changed(2)
    :: !(outstanding & 4) && others < OTHERS -> others++; post(2)
    :: !idle -> idle = true; changed(NONE)
    :: !quiet -> /* of this thread */
        quiet = true;
        lock(0);
        if
        :: outstanding == 0 -> drain(); close()
        :: else
        fi;
        unlock(0)
    :: ended == 2 && outstanding == 0 -> break
    od
}
