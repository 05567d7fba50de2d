/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tail.pml - the hand-over between searches and appends of tail queues
 * (compat/mpi/match/match_tail.h): two threads post two receives each, two others deliver two
 * messages each, of source 0 and 1.
 *
 * An entry is NEW, then in an INBOX, DETACHED from it, in the MAIN queue, and DONE.  The
 * order of both queues is that of the stamps which appends give out under the tail lock, so
 * the model keeps stamps instead of lists.  A search of a main queue is one step: the lock
 * of its side excludes all others.
 * Checked: a receive and a message that fit are never both left over; a match never passes
 * over an older queued receive of the same thread or an older message of the same source.
 *
 * FAULT_SPLIT: the search of the inbox and the append are separate steps.
 * FAULT_NO_INBOX: the inbox is not searched.
 * FAULT_LATE: the lock of the side is released before detached entries are in the main queue.
 *
 * LONG: an operation may also treat the inbox as a long one: it empties it first and searches
 * what it has detached, without the tail lock.
 * FAULT_LONG: having done so in vain, it does not search the inbox again before it appends.
 * FAULT_YOUNG: it removes the youngest entry that fits from what it has detached.
 */
#define ENTRIES 8 /* receives 0..3: two of each thread; messages 4..7: two of each source */
#define NOBODY  ENTRIES
#define NEW      0
#define INBOX    1
#define DETACHED 2
#define MAIN     3
#define DONE     4

byte where[ENTRIES], stamp[ENTRIES];
byte stamps;
bool side_lock[2]; /* of posted receives, of unexpected messages */
bool tail_lock;

/* Receive 0 is for any source; 1, 3: source 0; 2: any source. */
#define SOURCE(m)  ((m) >= 6)
#define FITS(r, m) ((r) == 0 || (r) == 2 || SOURCE(m) == 0)
#define PAIR(e, f) ((e) < 4 && FITS(e, f) || (e) >= 4 && FITS(f, e))
#define OTHERS(e)  ((e) < 4 -> 4 : 0) /* first entry of the searched side */
#define QUEUED(e)  (where[e] == INBOX || where[e] == DETACHED || where[e] == MAIN)

/* found = the oldest entry in state `in` that fits e; others older than it, or all: moved. */
inline search(in) {
    found = NOBODY;
    k = OTHERS(e);
    do
    :: k < OTHERS(e) + 4 ->
        if
        :: where[k] == in && PAIR(e, k) && (found == NOBODY || stamp[k] < stamp[found]) ->
            found = k
        :: else
        fi;
        k++
    :: else -> break
    od;
    k = 0
}

inline detach() {
    k = OTHERS(e);
    do
    :: k < OTHERS(e) + 4 ->
        if
        :: where[k] == INBOX && (found == NOBODY || stamp[k] < stamp[found]) ->
            where[k] = DETACHED
        :: else
        fi;
        k++
    :: else -> break
    od;
    k = 0
}

inline absorb() {
    k = OTHERS(e);
    do
    :: k < OTHERS(e) + 4 ->
        if
        :: where[k] == DETACHED -> where[k] = MAIN
        :: else
        fi;
        k++
    :: else -> break
    od;
    k = 0
}

/* Entries are in pairs of a thread or source: found + 1 is younger than an even found. */
inline take() {
    assert(found % 2 == 0 || !QUEUED(found - 1) || !PAIR(e, found - 1));
    where[found] = DONE;
    where[e] = DONE
}

inline append() {
    stamp[e] = stamps;
    stamps++;
    where[e] = INBOX
}

/* found = the youngest detached entry that fits e */
inline search_young() {
    k = OTHERS(e);
    do
    :: k < OTHERS(e) + 4 ->
        if
        :: where[k] == DETACHED && PAIR(e, k) && (found == NOBODY || stamp[k] > stamp[found]) ->
            found = k
        :: else
        fi;
        k++
    :: else -> break
    od;
    k = 0
}

inline empty_inbox() {
    atomic { !tail_lock -> tail_lock = true };
    d_step { detach() };
    tail_lock = false;
#ifdef FAULT_YOUNG
    d_step { search_young() };
#else
    d_step { search(DETACHED) };
#endif
    if
    :: found != NOBODY -> d_step { take() }
    :: else
    fi;
    d_step { absorb() };
    emptied = true
}

inline operation() {
    atomic { !side_lock[s] -> side_lock[s] = true };
    d_step { search(MAIN) };
    if
    :: found != NOBODY -> d_step { take() }
    :: else ->
#ifdef LONG
        if
        :: empty_inbox()
        :: true
        fi;
        if
        :: found != NOBODY -> goto matched
        :: else
        fi;
#endif
        atomic { !tail_lock -> tail_lock = true };
#ifdef FAULT_LONG
        if
        :: !emptied -> d_step { search(INBOX); detach() }
        :: else
        fi;
#else
#ifndef FAULT_NO_INBOX
        d_step { search(INBOX); detach() };
#endif
#endif
#ifdef FAULT_SPLIT
        tail_lock = false;
        atomic { !tail_lock -> tail_lock = true };
#endif
        if
        :: found != NOBODY -> d_step { take() }
        :: else -> d_step { append() }
        fi;
        tail_lock = false;
#ifdef FAULT_LATE
        side_lock[s] = false;
        atomic { !side_lock[s] -> side_lock[s] = true };
#endif
        d_step { absorb() }
    fi;
matched:
    found = NOBODY;
    emptied = false;
    side_lock[s] = false
}

byte ended;

active [4] proctype thread() {
    byte e = _pid * 2, found = NOBODY, k;
    bool s = _pid < 2; /* a receive searches the messages, side 1 */
    bool emptied;

    do
    :: e < _pid * 2 + 2 -> operation(); e++
    :: else -> break
    od;
    ended++
}

active proctype check() {
    byte r, m = 4;

    ended == 4;
    d_step {
        do
        :: r < 4 ->
            m = 4;
            do
            :: m < 8 -> assert(!(QUEUED(r) && QUEUED(m) && FITS(r, m))); m++
            :: else -> break
            od;
            r++
        :: else -> break
        od
    }
}
