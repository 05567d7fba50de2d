/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sleep.pml - threads of a PE that sleep until a thread of another PE stores to their words
 * (pgas/core/progress/block.c: block_sleep_until; block_sleep.c: block_list_fenced, block_unlist,
 * block_wake; block.h: block_sleeps, block_poke): Dekker's pattern with membarrier() on one
 * side, on the memory model of C11 (c11.pml).
 *
 * Memory orders: the word is stored relaxed and loaded with acquire, `sleep_mask` is stored
 * with release (the code: seq_cst) and loaded relaxed, `sleep_key` and the increment of `wake`
 * are release, the load of `wake` is acquire.  The storing thread executes no fence before the
 * load of the mask.  A sleeper takes a slot of `sleep_key`, or none (then the mask is ANY);
 * the words are in one cache line or in two.
 * Left out: spinning and yielding, the time limits of sleeps, which hide a lost wake-up, and
 * sleeps without membarrier, which are short; the network (progress.pml).
 * Checked: nobody sleeps for ever.
 *
 * FAULT_NO_BARRIER:  the sleeper executes a full fence, but no membarrier().
 * FAULT_EARLY:       membarrier() precedes the publication of the sleeper.
 * FAULT_CHECK_FIRST: the condition is checked before `wake` is loaded.
 * FAULT_SEEN:        `wake` is loaded relaxed.
 * FAULT_WAKE:        `wake` is incremented without release.
 * FAULT_MASK:        the end of a sleep clears the mask, although another thread sleeps.
 * FAULT_FENCE is no fault: with membarrier() the fence of block_sleeps_for is not needed.
 */
#ifndef N
#define N 1 /* sleepers, 1 or 2; each has a word */
#endif
#ifndef ROUNDS
#define ROUNDS 2 /* sleeps of each */
#endif
#define WORD(i) (i)
#define KEY(i)  (N + (i))
#define MASK    (2 * N)
#define WAKE    (2 * N + 1)
#define ANY     7 /* a mask */

#define THREADS   (N + 1)
#define STORER    N
#define LOCATIONS (2 * N + 2)
#define STORES    6
#define FENCES
#define FUTEX
#define MUTEXES   1
#include "c11.pml"

byte unlisted;

#ifdef TWO_LINES
#define LINE_OF(i) (1 << (i))
#else
#define LINE_OF(i) 1
#endif

#if N == 2
#define KEY_BITS(i) ((LAST(KEY(i)) != 0) * LINE_OF(i))
#define LISTED      (KEY_BITS(0) | KEY_BITS(1))
#else
#define LISTED ((LAST(KEY(0)) != 0) * LINE_OF(0))
#endif

/* block_publish_mask; under the lock, so that the newest keys are visible. */
#ifdef FAULT_MASK
#define PUBLISHED (listing * (LISTED))
#else
#define PUBLISHED (LISTED)
#endif

inline publish_mask() {
    store_release(MASK, (unlisted > 0 -> ANY : PUBLISHED))
}

inline list() {
    listing = true;
    lock(0);
    if
    :: slot = me;
        store_release(KEY(me), 1)
    :: slot = N; unlisted++
    fi;
    publish_mask();
    unlock(0)
}

inline unlist() {
    listing = false;
    lock(0);
    if
    :: slot < N -> store_release(KEY(me), 0)
    :: else -> unlisted--
    fi;
    publish_mask();
    unlock(0);
    slot = 0
}

inline check() {
    load_acquire(WORD(me), found)
}

inline sleep_until(least) {
#ifdef FAULT_EARLY
    membarrier(STORER);
#endif
    list();
#ifdef FAULT_NO_BARRIER
    fence_full();
#elif !defined(FAULT_EARLY)
    membarrier(STORER);
#endif
    do
    ::
#ifdef FAULT_CHECK_FIRST
        check();
        load_acquire(WAKE, seen);
#elif defined(FAULT_SEEN)
        load_relaxed(WAKE, seen);
        check();
#else
        load_acquire(WAKE, seen);
        check();
#endif
        if
        :: found >= least -> break
        :: else -> futex_wait(WAKE, seen)
        fi
    od;
    unlist();
    seen = 0;
    found = 0
}

inline wake() {
#ifdef FAULT_WAKE
    d_step { update_relaxed(WAKE, LAST(WAKE) + 1) };
#else
    d_step { update_release(WAKE, LAST(WAKE) + 1) };
#endif
    futex_wake()
}

/* After the store to the word of sleeper i. */
inline poke(i) {
    load_relaxed(MASK, mask);
    if
    :: (mask & LINE_OF(i)) == 0
    :: else ->
#ifndef FAULT_FENCE
        fence_acquire();
#endif
        load_acquire(KEY(i), key);
        if
        :: key != 0 -> wake()
        :: else ->
            load_acquire(MASK, mask);
            if
            :: mask == ANY -> wake()
            :: else
            fi
        fi
    fi;
    mask = 0;
    key = 0
}

active [N] proctype sleeper() {
    byte me = _pid, round, slot, seen, found;
    bool listing;

    do
    :: round < ROUNDS -> round++; sleep_until(round)
    :: else -> break
    od
}

active proctype storer() {
    byte me = STORER, round, i, mask, key;

    do
    :: round < ROUNDS ->
        round++;
        i = 0;
        do
        :: i < N ->
            store_relaxed(WORD(i), round);
            poke(i);
            i++
        :: else -> break
        od
    :: else -> break
    od
}
