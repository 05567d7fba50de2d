/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spsc.pml - the ring of one producer and one consumer (pgas/threads/spsc.h) on c11.pml:
 * VALUES values through CAPACITY cells, each side trying again if the ring is full or
 * empty.  The cells are objects without atomic accesses.  Positions are not wrapped: only
 * their differences matter.
 * Checked: no data race on a cell, the values arrive in order, the ring is never more than
 * full, and all arrive.
 *
 * FAULT_TAIL: the producer stores `tail` without release.
 * FAULT_HEAD: the consumer stores `head` without release.
 * FAULT_LOAD: the consumer loads `tail` without acquire.
 * FAULT_FULL: the producer takes a ring with one value more for not full.
 */
#ifndef CAPACITY
#define CAPACITY 2
#endif
#ifndef VALUES
#define VALUES 5
#endif
#define THREADS   2
#define LOCATIONS 2
#define STORES    (VALUES + 1)
#define OBJECTS   CAPACITY
#include "c11.pml"

#define TAIL 0
#define HEAD 1
#ifdef FAULT_FULL
#define ROOM (CAPACITY + 1)
#else
#define ROOM CAPACITY
#endif

byte cell[CAPACITY];

active proctype producer() {
    byte me = 0, tail, head;

    c11_begin();
    do
    :: tail == VALUES -> break
    :: tail < VALUES && tail - head < ROOM ->
        plain_write(tail % CAPACITY);
        cell[tail % CAPACITY] = tail + 1;
        tail++;
#ifdef FAULT_TAIL
        store_relaxed(TAIL, tail)
#else
        store_release(TAIL, tail)
#endif
    :: tail < VALUES && tail - head >= ROOM ->
        await_acquire(HEAD, head + 1, head)
    od
}

active proctype consumer() {
    byte me = 1, tail, head;

    c11_begin();
    do
    :: head == VALUES -> break
    :: head < tail ->
        plain_read(head % CAPACITY);
        assert(cell[head % CAPACITY] == head + 1);
        head++;
#ifdef FAULT_HEAD
        store_relaxed(HEAD, head)
#else
        store_release(HEAD, head)
#endif
    :: head < VALUES && head == tail ->
#ifdef FAULT_LOAD
        await_relaxed(TAIL, tail + 1, tail)
#else
        await_acquire(TAIL, tail + 1, tail)
#endif
    od
}
