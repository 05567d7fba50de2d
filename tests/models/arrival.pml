/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * arrival.pml - the arrival list of N PEs of a node (pgas/coll/sync/arrival.c) in consecutive
 * collectives, on the memory model of C11 (c11.pml):
 *     EXCHANGE   arrival_exchange: the later arrival of each pair copies for both; a barrier
 *     CHAIN      reduce_chain (reduce_chain.c) with one segment: each PE adds its
 *                contribution to that of its predecessor, all read that of the last arriver
 *
 * Memory orders: `tail` is loaded relaxed and changed by compare-and-swap (acq_rel); cells of
 * `order`, `combiner`, `parts` and `done` are stored with release and loaded with acquire;
 * sources, destinations and partial results are plain memory: a data race is an error.
 * Call numbers in `tail` are modulo WRAP (the code: 2^32), and the first call has the number
 * of a `tail` that was never used.
 * Left out: eager slots (eager.pml), sleeps (sleep.pml), the words of the barrier.
 * Checked: each position is taken once, predecessors form a list of all PEs, each pair is
 * exchanged once, the last arriver has the contributions of all; no data race; nobody waits
 * for ever.
 *
 * FAULT_SPLIT:   a PE stores the new tail without comparing the old one.
 * FAULT_COUNT:   a tail of this call's number belongs to this call even if it is complete.
 * FAULT_UNUSED:  ... even if it is empty.
 * FAULT_ORDER:   the tail is changed and cells are stored relaxed (either may be).
 * FAULT_LEAVE:   the last arriver of a chain does not wait until all have read its result.
 * FAULT_BARRIER: an exchange ends without a barrier.
 */
#ifndef N
#define N 3
#endif
#ifndef CALLS
#define CALLS 2
#endif
#define FIRST_CALL 2
#ifndef WRAP
#define WRAP 2
#endif
#define NONE       N

#define TAIL     0
#define COMBINER 1
#define CELL(p)  (2 + (p))
#define PARTS(i) (2 + N + (i))
#define DONE(i)  (2 + 2 * N + (i))

#define SOURCE(i)     (i)
#define PARTIAL(i)    (N + (i))
#define DEST(i, from) (2 * N + (i) * N + (from))

#define THREADS   N
#define LOCATIONS (2 + 3 * N)
#define OBJECTS   (2 * N + N * N)
#define STORES    (N * CALLS + 1)
#define BARRIER
#include "c11.pml"

#define EXCHANGE 1
#define CHAIN    2

byte kind[CALLS];
byte copied[N * N]; /* pairs in the exchanges so far */
byte exchanges;
byte sum[N]; /* contributions in the partial result of each PE, one bit each */

/* A tail: call number modulo WRAP, arrivals, last arriver. */
#define NUMBER_OF(t) ((t) / 16)
#define COUNT_OF(t)  ((t) / 4 % 4)
#define LAST_OF(t)   ((t) % 4)

#ifdef FAULT_COUNT
#define MINE (NUMBER_OF(seen) == call % WRAP && COUNT_OF(seen) > 0)
#elif defined(FAULT_UNUSED)
#define MINE (NUMBER_OF(seen) == call % WRAP && COUNT_OF(seen) < N)
#else
#define MINE (NUMBER_OF(seen) == call % WRAP && COUNT_OF(seen) > 0 && COUNT_OF(seen) < N)
#endif
#ifdef FAULT_SPLIT
#define SWAPS true
#else
#define SWAPS (LAST(TAIL) == seen)
#endif

/* arrival_at */
inline arrive() {
    do
    ::
        load_relaxed(TAIL, seen);
        atomic {
            position = (MINE -> COUNT_OF(seen) : 0);
            before = (MINE -> LAST_OF(seen) : NONE);
            assert(position < N);
            if
            :: SWAPS ->
                seen = call % WRAP * 16 + (position + 1) * 4 + me;
#ifdef FAULT_ORDER
                d_step { update_relaxed(TAIL, seen) };
#else
                d_step { update_acq_rel(TAIL, seen) };
#endif
                seen = 0;
                break
            :: else
            fi
        }
    od
}

inline publish_cell() {
#ifdef FAULT_ORDER
    store_relaxed(CELL(position), call * 4 + me)
#else
    store_release(CELL(position), call * 4 + me)
#endif
}

/* The pair of this PE and PE i. */
inline copy_pair(i) {
    plain_read(SOURCE(i));
    plain_write(DEST(me, i));
    plain_read(SOURCE(me));
    plain_write(DEST(i, me));
    copied[me * N + i]++;
    copied[i * N + me]++
}

inline use_dest() {
    do
    :: k < N ->
        if
        :: k != me ->
            plain_read(DEST(me, k));
            plain_write(DEST(me, k));
            assert(copied[me * N + k] == exchanges)
        :: else
        fi;
        k++
    :: else -> break
    od;
    k = 0
}

inline exchange() {
    plain_write(SOURCE(me));
    arrive();
    publish_cell();
    do
    :: position > 0 ->
        position--;
        await_acquire(CELL(position), call * 4, other);
        other = other % 4;
        copy_pair(other);
        other = 0
    :: else -> break
    od;
#ifndef FAULT_BARRIER
    barrier(barriers);
#endif
    barriers++;
    exchanges = (exchanges < barriers -> barriers : exchanges);
    use_dest();
}

inline add_to_partial() {
    plain_write(PARTIAL(me));
    sum[me] = 1 << me;
    if
    :: before != NONE ->
        await_acquire(PARTS(before), call, other);
        plain_read(PARTIAL(before));
        sum[me] = sum[me] | sum[before]
    :: else
    fi;
    store_release(PARTS(me), call)
}

/* reduce_chain_end */
inline end_chain() {
    if
    :: root == me ->
        do
        :: k < N ->
            if
            :: k != me -> await_acquire(DONE(k), call, other)
            :: else
            fi;
            k++
        :: else -> break
        od;
        k = 0
    :: else ->
        await_acquire(PARTS(root), call, other);
        plain_read(PARTIAL(root));
        assert(sum[root] == (1 << N) - 1)
    fi;
    store_release(DONE(me), call)
}

inline chain() {
    arrive();
    if
    :: position == N - 1 -> store_release(COMBINER, call * 4 + me)
    :: else
    fi;
    add_to_partial();
    await_acquire(COMBINER, call * 4, root);
    root = root % 4;
#ifdef FAULT_LEAVE
    if
    :: root != me -> end_chain()
    :: else -> store_release(DONE(me), call)
    fi;
#else
    end_chain();
#endif
    position = 0;
    root = 0
}

active [N] proctype pe() {
    byte me = _pid, call = FIRST_CALL, barriers, seen, position, before, other, root, k;

    c11_begin();
    do
    :: call < FIRST_CALL + CALLS ->
        atomic {
            if
            :: kind[call - FIRST_CALL] == 0 ->
                if
                :: kind[call - FIRST_CALL] = EXCHANGE
                :: kind[call - FIRST_CALL] = CHAIN
                fi
            :: else
            fi
        };
        if
        :: kind[call - FIRST_CALL] == EXCHANGE -> exchange()
        :: else -> chain()
        fi;
        before = 0;
        other = 0;
        call++
    :: else -> break
    od
}
