/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * private.pml - a thread that waits for a word of its process and sleeps on a futex of its own,
 * while other threads make network progress (pgas/core/progress): block_sleep_until (block.c),
 * block_private_enter, _arm, _leave, _remove, _wake and block_sleepers_changed (block_sleep.c);
 * net_op_await_done (net_ops.c), net_ctx_changed (net_poll.c); on the memory model of C11 (c11.pml).
 *
 * N threads wait CALLS times, each for an operation of its own; another thread completes the
 * operations, one at a time or several at once, and wakes those threads; WAKER: a second thread
 * wakes threads without cause, as at a hand-over (block_wake_one) or a failure (block_wake_own).
 * The word is the completion of the operation, which is loaded by the condition.  QUIET: the word
 * is `progressed` of the context, and the condition is a call of the transport under the lock.
 * Memory orders: the completion is stored with release and loaded with acquire; `progressed` is
 * stored relaxed under the lock of the context; `seen` is loaded relaxed; the head of the list is
 * stored with release and loaded with acquire; `woken` is set to 1 with release and loaded
 * with acquire; full fences in block_private_arm, block_sleepers_changed and block_wake_own.
 * The record of a sleeper is on its stack: an access after its wait is a data race.
 * Left out: polling, time limits, more threads than are woken at once, several words.
 * Checked: nobody sleeps for ever; no data race on the record and the result.
 *
 * FAULT_CHANGED: no fence between a change and the load of the list.
 * FAULT_ARM:     no fence between the list and the check of the condition.
 * FAULT_SEEN:    the word is recorded after the check of the condition.
 * FAULT_LINK:    a thread that was removed does not enter the list again.
 * FAULT_WOKEN:   the waking thread does not store `woken`.
 * FAULT_RESET:   a thread that enters the list again does not clear `woken`.
 * FAULT_LEAVE:   a thread leaves without the lock, and before it was removed.
 * FAULT_RESULT:  the completion is stored relaxed.
 * FAULT_LOAD:    the completion is loaded relaxed.
 * QUIET FAULT_WORD: `progressed` does not change when an operation completes.
 */
#ifndef N
#define N 1
#endif
#ifndef CALLS
#define CALLS 1
#endif
#define WORD(i)  (i)
#define WOKEN(i) (N + (i))
#define HEAD     (2 * N) /* whether the list has members */

#define LIST     0 /* locks */
#define CONTEXT  1

#define DRIVER   N
#ifdef WAKER
#define THREADS  (N + 2)
#else
#define THREADS  (N + 1)
#endif
#define LOCATIONS (2 * N + 1)
#define STORES   9
#define OBJECTS  (2 * N) /* records and results */
#define RECORD(i) (i)
#define RESULT(i) (N + (i))
#define FENCES
#define FUTEX
#define MUTEXES  2
#include "c11.pml"

byte list;      /* a bit of each member; under LIST */
byte seen[N];   /* of the records; under LIST */
byte posted;    /* operations; under CONTEXT */
byte waits = N;   /* threads that have not ended */

inline set_head() {
    store_release(HEAD, list != 0)
}

inline link() {
    store_relaxed(WOKEN(me), 0);
    list = list | 1 << me;
    set_head()
}

inline unlink(i) {
    list = list & ~(1 << (i));
    set_head()
}

inline enter() {
    plain_write(RECORD(me));
    load_relaxed(WORD(me), seen[me]);
    lock(LIST);
    link();
    unlock(LIST)
}

inline record() {
    load_relaxed(WORD(me), seen[me]);
    plain_write(RECORD(me))
}

inline arm() {
    lock(LIST);
    load_acquire(WOKEN(me), found);
    if
#if defined(FAULT_LINK)
    :: found != 0 -> store_relaxed(WOKEN(me), 0)
#elif defined(FAULT_RESET)
    :: found != 0 -> list = list | 1 << me; set_head()
#else
    :: found != 0 -> link()
#endif
    :: else
    fi;
    found = 0;
#ifndef FAULT_SEEN
    record();
#endif
    unlock(LIST);
#ifndef FAULT_ARM
    fence_full()
#endif
}

inline leave() {
#ifndef FAULT_LEAVE
    lock(LIST);
#endif
    load_acquire(WOKEN(me), found);
    if
    :: found == 0 -> unlink(me)
    :: else
    fi;
    found = 0;
#ifndef FAULT_LEAVE
    unlock(LIST);
#endif
    plain_write(RECORD(me)) /* another use of the stack */
}

/* done: the condition. */
inline check() {
#ifdef QUIET
    lock(CONTEXT);
    done = (posted >> me & 1) == 0;
    unlock(CONTEXT)
#else
#ifdef FAULT_LOAD
    load_relaxed(WORD(me), found);
#else
    load_acquire(WORD(me), found);
#endif
    done = found == call;
    found = 0
#endif
}

active [N] proctype waiter() {
    byte me = _pid, found, call;
    bool done;

    c11_begin();
    do
    :: call < CALLS ->
        call++;
        lock(CONTEXT);
        posted = posted | 1 << me;
        unlock(CONTEXT);
        enter();
        do
        ::
            arm();
            check();
            if
            :: done -> break
            :: else
            fi;
#ifdef FAULT_SEEN
            lock(LIST);
            record();
            unlock(LIST);
#endif
            futex_wait(WOKEN(me), 0)
        od;
        leave();
        plain_read(RESULT(me));
        done = false
    :: else -> break
    od;
    waits--
}

/* block_private_remove and the wake-up of those that were removed; of i or, all, of everyone. */
inline remove(i) {
    if
    :: (list >> (i) & 1) == 0
    :: else ->
        plain_read(RECORD(i));
        load_relaxed(WORD(i), found);
        if
        :: found == seen[i] && !all
        :: else ->
            unlink(i);
#ifndef FAULT_WOKEN
            store_release(WOKEN(i), 1);
#endif
            futexes = futexes | 1 << (i)
        fi;
        found = 0
    fi
}

inline private_wake() {
    load_acquire(HEAD, found);
    if
    :: found == 0
    :: else ->
        found = 0;
        lock(LIST);
        remove(0);
#if N > 1
        remove(1);
#endif
        unlock(LIST);
        d_step {
            c11_fence(me);
            asleep = asleep & ~futexes;
            futexes = 0
        }
    fi
}

inline complete(i) {
    posted = posted & ~(1 << (i));
    plain_write(RESULT(i));
#if defined(QUIET)
#ifndef FAULT_WORD
    store_relaxed(WORD(i), LAST(WORD(i)) + 1)
#endif
#elif defined(FAULT_RESULT)
    store_relaxed(WORD(i), LAST(WORD(i)) + 1)
#else
    store_release(WORD(i), LAST(WORD(i)) + 1)
#endif
}

/* Any thread that makes progress. */
active proctype driver() {
    byte me = DRIVER, found, futexes;
    bool all;

    c11_begin();
    do
    ::
        if
        :: posted -> lock(CONTEXT)
        :: waits == 0 && !posted -> break
        fi;
        if
        :: posted & 1 -> complete(0)
#if N > 1
        :: posted & 2 -> complete(1)
        :: posted == 3 -> complete(0); complete(1)
#endif
        fi;
        unlock(CONTEXT);
#ifndef FAULT_CHANGED
        fence_full();
#endif
        private_wake()
    od
}

#ifdef WAKER
active proctype waker() {
    byte me = N + 1, found, futexes;
    bool all = true;

    c11_begin();
    fence_full();
    private_wake()
}
#endif
