/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * regions.pml - the table of regions that a heater reads (compat/mpi/match/match_regions.c)
 * on c11.pml: one entry, OWNERS threads that each allocate memory, add it, and free it, and a
 * heater that reads READS regions at most.  The owners get the same memory one after the
 * other, with APART each its own.  Left out: a full table, in which an owner waits here.
 * Checked: no data race on the memory (it is not read after it was freed, nor before its
 * owner has got it) or on its length; it is freed once, and all of it.
 *
 * FAULT_OR: the heater sets READING without comparing the address.
 * FAULT_FREE: the owner frees memory that is being read.
 * FAULT_LEAK: the heater does not look at RETIRED when it clears READING.
 * FAULT_CLEAR: the heater clears READING without release.
 * FAULT_RETIRE: the owner sets RETIRED without acquire.
 * FAULT_ADDRESS: the owner stores the address without release.
 */
#ifndef OWNERS
#define OWNERS 2
#endif
#ifndef READS
#define READS 1
#endif
#define THREADS   (OWNERS + 1)
#define LOCATIONS 1
#define STORES    (4 * OWNERS + 2 * READS + 1)
#define OBJECTS   (OWNERS + 1)
#define MUTEXES   OWNERS /* of malloc and free */
#include "c11.pml"

#define WORD      0
#define READING   1
#define RETIRED   2
#define CLAIMED   4
#define FLAGS     7
#define MEMORY(a) ((a) - 1)
#define LENGTH    OWNERS
#ifdef APART
#define ADDRESS (me + 1)
#else
#define ADDRESS 1
#endif

bool allocated[OWNERS];
byte ended; /* threads */

inline heap_alloc(a) {
    d_step {
        !allocated[a - 1] -> allocated[a - 1] = true;
        c11_at = (a - 1) * WORDS;
        EACH(C11_LOCK)
    };
    plain_write(MEMORY(a))
}

inline heap_free(a) {
    plain_write(MEMORY(a));
    d_step {
        assert(allocated[a - 1]);
        allocated[a - 1] = false;
        c11_at = (a - 1) * WORDS;
        EACH(C11_UNLOCK);
        C11_PUBLISHED(me)
    }
}

inline region_end(a) {
    heap_free(a);
    store_release(WORD, 0)
}

active [OWNERS] proctype owner() {
    byte me = _pid, old;

    c11_begin();
    heap_alloc(ADDRESS);
    atomic { LAST(WORD) == 0 -> d_step { update_acq_rel(WORD, CLAIMED) } };
    plain_write(LENGTH);
#ifdef FAULT_ADDRESS
    store_relaxed(WORD, ADDRESS * 8);
#else
    store_release(WORD, ADDRESS * 8);
#endif
    atomic {
        old = LAST(WORD);
#ifdef FAULT_RETIRE
        d_step { update_release(WORD, LAST(WORD) | RETIRED) }
#else
        d_step { update_acq_rel(WORD, LAST(WORD) | RETIRED) }
#endif
    };
    assert(old / 8 == ADDRESS && (old & RETIRED) == 0);
    if
#ifdef FAULT_FREE
    :: true -> region_end(ADDRESS)
#else
    :: (old & READING) == 0 -> region_end(ADDRESS)
    :: else
#endif
    fi;
    ended++
}

active proctype heater() {
    byte me = OWNERS, word, old, reads;

    c11_begin();
    do
    :: reads < READS ->
        load_relaxed(WORD, word);
        if
        :: word == 0 || (word & FLAGS) != 0 -> goto next
        :: else
        fi;
        atomic {
            if
#ifdef FAULT_OR
            :: d_step { update_acq_rel(WORD, LAST(WORD) | READING) }
#else
            :: LAST(WORD) == word -> d_step { update_acq_rel(WORD, word | READING) }
#endif
            :: else -> goto next
            fi
        };
        plain_read(LENGTH);
        plain_read(MEMORY(word / 8));
        atomic {
            old = LAST(WORD);
#ifdef FAULT_CLEAR
            d_step { update_relaxed(WORD, LAST(WORD) & ~READING) }
#else
            d_step { update_acq_rel(WORD, LAST(WORD) & ~READING) }
#endif
        };
        if
#ifdef FAULT_LEAK
        :: true
#else
        :: (old & RETIRED) != 0 -> region_end(word / 8)
        :: else
#endif
        fi;
        reads++;
next:
        word = 0;
        old = 0
    :: break
    od;
    ended++
}

active proctype end() {
    ended == THREADS -> assert(LAST(WORD) == 0 && !allocated[0] && !allocated[OWNERS - 1])
}
