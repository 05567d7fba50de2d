/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * eager.pml - the eager slots of N PEs of a node (pgas/coll/sync/mailbox.c, credit.h) in a
 * sequence of collectives of any kind, on the memory model of C11 (c11.pml).
 *
 * Memory orders: the call number of a slot and the word `done` are stored with release and
 * loaded with acquire; the data are plain memory, so that a data race on them is an error.
 * The kinds of calls are those of bcast.c and reduce_flat (reduce_combiner.c):
 *     ALL       each PE publishes data and reads those of all (mailbox_close_all)
 *     BCAST r   PE r publishes, the others read (mailbox_close)
 *     TO r      each PE publishes, PE r reads (mailbox_close)
 *     DIRECT r  the others read the source of PE r, which waits for them
 *               (mailbox_await_all_closed) and may change it afterwards
 *     SYNC      a barrier, which returns all credit (counted as a call here)
 * Left out: the second ring of slots, pipelining (`parts`), the combiner (arrival.pml), how
 * waiters sleep (sleep.pml), and the words of barriers.
 * Checked: each reader gets the data of its call; no data race; nobody waits for ever.
 *
 * FAULT_FIRST:   the call number is stored before the data.
 * FAULT_STORE:   the call number is stored relaxed.
 * FAULT_LOAD:    the call number is loaded relaxed.
 * FAULT_DONE:    `done` is stored relaxed.
 * FAULT_EARLY:   a slot is reused one call too early.
 * FAULT_CREDIT:  mailbox_close_all returns the credit of its own call.
 */
#ifndef N
#define N 2
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef CALLS
#define CALLS 4
#endif
#define SOURCE(i) (N * SLOTS + (i)) /* an object */

#define THREADS   N
#define LOCATIONS (N * SLOTS + N)
#define OBJECTS   (N * SLOTS + N)
#define STORES    (CALLS + 1)
#define BARRIER
#include "c11.pml"
#include "mailbox.pml"

#define ALL     1
#define SYNC    2
#define BCAST   3 /* BCAST + root, and so on */
#define TO      (3 + N)
#define DIRECT  (3 + 2 * N)
#define ROOT    ((kind[call] - 3) % N)
#define IS(k)   (kind[call] >= k && kind[call] < k + N)

#define PUBLISHES(i) (kind[call] == ALL || IS(TO) || (kind[call] >= BCAST && ROOT == i))
#define READS(i, from)                                                                         \
    (kind[call] == ALL || (IS(TO) && ROOT == i) ||                                             \
     ((IS(BCAST) || IS(DIRECT)) && ROOT == from))

byte kind[CALLS + 1]; /* equal on all PEs */
byte content[OBJECTS]; /* the call whose data it contains */

/* The data of a call: in the slot, or the source itself. */
#define DATA(i) (IS(DIRECT) -> SOURCE(i) : SLOT(i))

inline fill() {
    atomic {
        data = DATA(me);
        plain_write(data);
        content[data] = call;
        data = 0
    }
}

inline read_of(i) {
    await_slot(i);
    atomic {
        data = DATA(i);
        plain_read(data);
        assert(content[data] == call);
        data = 0
    }
}

inline await_all_closed() {
    k = 1;
    do
    :: k < N -> await_acquire(DONE(OTHER(k)), call, found); k++
    :: else -> break
    od;
    atomic {
        k = 0;
        found = 0;
        acked = LATER(acked, call);
        plain_write(SOURCE(me)) /* the program changes its source */
    }
}

inline choose() {
    if
    :: kind[call] == 0 ->
        if
        :: kind[call] = ALL
        :: kind[call] = SYNC
        :: kind[call] = BCAST
        :: kind[call] = BCAST + 1
        :: kind[call] = TO
        :: kind[call] = TO + 1
        :: kind[call] = DIRECT
        :: kind[call] = DIRECT + 1
        fi
    :: else
    fi
}

active [N] proctype pe() {
    byte me = _pid, call = 1, acked, barriers, known, found, data, k;

    c11_begin();
    do
    :: call <= CALLS ->
        atomic { choose() };
        if
        :: PUBLISHES(me) ->
            own();
#ifdef FAULT_FIRST
            publish();
            fill()
#else
            fill();
            publish()
#endif
        :: else
        fi;
        k = 1;
        do
        :: k < N && READS(me, OTHER(k)) -> read_of(OTHER(k)); k++
        :: k < N && !READS(me, OTHER(k)) -> k++
        :: else -> break
        od;
        k = 0;
        if
        :: IS(DIRECT) && ROOT == me -> await_all_closed()
        :: else
        fi;
        if
        :: kind[call] == ALL -> close_all()
        :: kind[call] == SYNC ->
            barrier(barriers);
            barriers++;
            acked = call
        :: else -> close()
        fi;
        call++
    :: else -> break
    od
}
