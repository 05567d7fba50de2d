/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mpsc.pml - the ring of several producers and one consumer (pgas/threads/mpsc.h) on
 * c11.pml: PRODUCERS threads push VALUES values each through 2 cells.  The values in the
 * cells are objects without atomic accesses.  A turn is stored less its cell's number, so
 * that it starts with 0; positions are not wrapped.
 * Checked: no data race on a cell (a value is not overwritten before it was read, nor
 * read before it was written), each producer's values arrive in order and once; all
 * arrive; a push reports a full ring only if the pop that would have made room does not
 * happen before the push: no producer that has seen a free cell is refused.
 *
 * FAULT_TURN: the producer sets `turn` without release.
 * FAULT_READ: the consumer sets `turn` without release.
 * FAULT_POP: the consumer sets `turn` before it has read the value.
 * FAULT_CLAIM: two steps instead of a compare-and-swap of `tail`.
 * FAULT_FULL: the producer takes a cell that is free for its position for a full one.
 * FAULT_CHECK: the producer does not look at `turn` before it claims a position.
 */
#ifndef PRODUCERS
#define PRODUCERS 2
#endif
#ifndef VALUES
#define VALUES 2
#endif
#define CAPACITY  2
#define THREADS   (PRODUCERS + 1)
#define LOCATIONS (1 + CAPACITY)
#define STORES    (PRODUCERS * VALUES + 2)
#define OBJECTS   CAPACITY
#include "c11.pml"

#define TAIL    0
#define TURN(p) (1 + (p) % CAPACITY)
#define POP     PRODUCERS /* the consumer's thread */

byte cell[CAPACITY];

/* What the calling producer has seen of the turns when its push begins */
#define BEGAN(c)  began[me * CAPACITY + c]
byte began[PRODUCERS * CAPACITY];

inline push_begins() {
    d_step {
        BEGAN(0) = THERE(TURN(0), 0);
        BEGAN(1) = THERE(TURN(1), 0)
    }
}

#ifdef FAULT_FULL
#define IS_FULL(turn, p) (turn + p % CAPACITY <= p && p >= CAPACITY)
#else
#define IS_FULL(turn, p) (turn + p % CAPACITY < p)
#endif

active [PRODUCERS] proctype producer() {
    byte me = _pid, p, turn, pushed;

    c11_begin();
    push_begins();
    load_relaxed(TAIL, p);
    do
    :: pushed < VALUES ->
#ifdef FAULT_CHECK
        turn = p - p % CAPACITY;
#else
        load_acquire(TURN(p), turn);
#endif
        if
        :: IS_FULL(turn, p) -> /* tries again */
           assert(BEGAN(p % CAPACITY) + p % CAPACITY < p);
           await_acquire(TURN(p), turn + 1, turn);
           push_begins();
           load_relaxed(TAIL, p)
        :: turn + p % CAPACITY > p -> load_relaxed(TAIL, p)
        :: !IS_FULL(turn, p) && turn + p % CAPACITY == p ->
#ifdef FAULT_CLAIM
           load_relaxed(TAIL, turn);
           if
           :: turn == p -> d_step { update_acq_rel(TAIL, p + 1) }; goto claimed
           :: else -> p = turn
           fi
#else
           atomic {
               if
               :: LAST(TAIL) == p -> d_step { update_acq_rel(TAIL, p + 1) }; goto claimed
               :: else
               fi
           };
           load_relaxed(TAIL, p)
#endif
        fi;
        goto next;
claimed:
        plain_write(p % CAPACITY);
        cell[p % CAPACITY] = 1 + me * VALUES + pushed;
#ifdef FAULT_TURN
        store_relaxed(TURN(p), p + 1 - p % CAPACITY);
#else
        store_release(TURN(p), p + 1 - p % CAPACITY);
#endif
        pushed++;
        push_begins();
        load_relaxed(TAIL, p);
next:
        turn = 0
    :: else -> break
    od
}

active proctype consumer() {
    byte me = POP, head, turn, from, popped[PRODUCERS];

    c11_begin();
    do
    :: head < PRODUCERS * VALUES ->
        await_acquire(TURN(head), head + 1 - head % CAPACITY, turn);
        assert(turn == head + 1 - head % CAPACITY);
#ifdef FAULT_POP
        store_release(TURN(head), head + CAPACITY - head % CAPACITY);
        plain_read(head % CAPACITY);
        from = cell[head % CAPACITY] - 1;
#else
        plain_read(head % CAPACITY);
        from = cell[head % CAPACITY] - 1;
#ifdef FAULT_READ
        store_relaxed(TURN(head), head + CAPACITY - head % CAPACITY);
#else
        store_release(TURN(head), head + CAPACITY - head % CAPACITY);
#endif
#endif
        assert(from % VALUES == popped[from / VALUES]);
        popped[from / VALUES]++;
        from = 0;
        turn = 0;
        head++
    :: else -> break
    od
}
