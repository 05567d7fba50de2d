/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * combiner.pml - the combiner of a small reduction (pgas/coll/algorithms/reduce_combiner.c) in
 * consecutive calls of N PEs of a node, on the memory model of C11 (c11.pml):
 *     FIRST      the first arriver, by its claim, combines the slots of the others
 *     FIRST_TO   likewise, for a root; the others return as soon as they have published
 *     LAST       the last arriver, by a counter
 *     LAST_TO    the last arriver, by an arrival word of its own for each call, for a root
 *
 * Memory orders: `claim` is loaded relaxed and changed by compare-and-swap (acq_rel); the
 * counter and arrival words are read-modify-writes (acq_rel); `combiner` and call numbers are
 * stored with release and loaded with acquire; the data are plain memory.
 * Left out: a release line for each PE, the loop of arrival_at (arrival.pml), sleeps.
 * Checked: a call has one combiner, which combines each contribution once; each receiver gets
 * the result; no data race; nobody waits for ever.
 *
 * FAULT_CLAIM:   the claim is stored without comparing.
 * FAULT_OLD:     a PE claims its call even if a later call has been claimed.
 * FAULT_RELEASE: `combiner` is stored relaxed.
 * FAULT_SHARED:  rooted calls, which overlap, share the counter of LAST.
 * FAULT_CREDIT:  mailbox.pml
 */
#ifndef N
#define N 3
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef CALLS
#define CALLS 2
#endif

#define CLAIM    MAILBOX_WORDS
#define COMBINER (MAILBOX_WORDS + 1)
#define GATHERED (MAILBOX_WORDS + 2)
#define QUEUE    (MAILBOX_WORDS + 3 + call % SLOTS)

#define THREADS   N
#define LOCATIONS (N * SLOTS + N + 3 + SLOTS)
#define OBJECTS   (N * SLOTS)
#define STORES    (N * CALLS + 1)
#include "c11.pml"
#include "mailbox.pml"

#define FIRST    1
#define FIRST_TO 2 /* FIRST_TO + root */
#define LAST_    (2 + N)
#define LAST_TO  (3 + N)
#define IS(k)    (kind[call] >= k && kind[call] < k + N)
#define EVERYONE ((1 << N) - 1)

byte kind[CALLS + 1];
byte content[OBJECTS]; /* the call whose data it contains */
byte bits[OBJECTS];    /* the contributions, one bit for each PE */
byte combiners[CALLS + 1];

inline write_slot(contributions) {
    atomic {
        plain_write(SLOT(me));
        content[SLOT(me)] = call;
        bits[SLOT(me)] = contributions
    }
}

inline read_slot(i) {
    await_slot(i);
    atomic {
        plain_read(SLOT(i));
        assert(content[SLOT(i)] == call)
    }
}

/* reduce_combiner_arrive_first */
inline arrive_first() {
    load_relaxed(CLAIM, found);
#ifdef FAULT_OLD
    if
    :: found != call ->
#else
    if
    :: found < call ->
#endif
#ifdef FAULT_CLAIM
        d_step { update_acq_rel(CLAIM, call) };
        combines = true
#else
        atomic {
            if
            :: LAST(CLAIM) == found -> d_step { update_acq_rel(CLAIM, call) }; combines = true
            :: else -> await_acquire(CLAIM, found + 1, found) /* what the CAS found */
            fi
        }
#endif
    :: else
    fi;
    found = 0
}

/* reduce_combiner_arrive_last */
inline arrive_last() {
    atomic {
        gathers++;
        combines = LAST(GATHERED) + 1 == gathers * N;
        d_step { update_acq_rel(GATHERED, LAST(GATHERED) + 1) }
    }
}

/* reduce_arrive_ahead: the call and the arrivals in it. */
inline arrive_ahead() {
    atomic {
        found = (LAST(QUEUE) / 4 == call -> LAST(QUEUE) % 4 : 0);
        combines = found == N - 1;
        found = call * 4 + found + 1;
        d_step { update_acq_rel(QUEUE, found) };
        found = 0
    }
}

inline combine() {
    combiners[call]++;
    assert(combiners[call] == 1);
    sum = 1 << me;
    k = 1;
    do
    :: k < N ->
        read_slot(OTHER(k));
        atomic {
            assert(bits[SLOT(OTHER(k))] == 1 << OTHER(k));
            sum = sum | bits[SLOT(OTHER(k))];
            k++
        }
    :: else -> break
    od;
    k = 0;
    assert(sum == EVERYONE);
    /* reduce_combiner_release_all */
    if
    :: root != me ->
        write_slot(sum);
        publish();
#ifdef FAULT_RELEASE
        store_relaxed(COMBINER, call * 4 + me)
#else
        store_release(COMBINER, call * 4 + me)
#endif
    :: else
    fi;
    sum = 0
}

inline await_result() {
    await_acquire(COMBINER, call * 4, found);
    k = found % 4;
    read_slot(k);
    assert(bits[SLOT(k)] == EVERYONE);
    k = 0
}

inline choose() {
    if
    :: kind[call] == 0 ->
        if
#ifndef ONLY_LAST
        :: kind[call] = FIRST
        :: kind[call] = FIRST_TO
        :: kind[call] = FIRST_TO + 1
#endif
#ifndef ONLY_FIRST
        :: kind[call] = LAST_
        :: kind[call] = LAST_TO
        :: kind[call] = LAST_TO + 1
#endif
        fi
    :: else
    fi
}

active [N] proctype pe() {
    byte me = _pid, call = 1, acked, known, found, k, root, gathers, sum;
    bool combines;

    c11_begin();
    do
    :: call <= CALLS ->
        atomic {
            choose();
            root = N;
            if
            :: IS(FIRST_TO) -> root = kind[call] - FIRST_TO
            :: IS(LAST_TO) -> root = kind[call] - LAST_TO
            :: else
            fi
        };
        own();
        if
        :: kind[call] < LAST_ -> arrive_first()
        :: else
        fi;
        if
        :: !combines -> write_slot(1 << me); publish()
        :: else
        fi;
        if
#ifdef FAULT_SHARED
        :: kind[call] >= LAST_ -> arrive_last()
#else
        :: kind[call] == LAST_ -> arrive_last()
        :: IS(LAST_TO) -> arrive_ahead()
#endif
        :: else
        fi;
        if
        :: combines -> combine()
        :: !combines && (root == N || root == me) -> await_result()
        :: else
        fi;
        combines = false;
        if
        :: root == N -> close_all()
        :: else -> close()
        fi;
        call++
    :: else -> break
    od
}
