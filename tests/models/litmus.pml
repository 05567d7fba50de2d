/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * litmus.pml - tests of c11.pml with the litmus tests of the field.  Of each the search must
 * find the outcome that C11 allows, or must not find the one that C11 forbids; a definition
 * selects the variant.
 *
 * SB   two threads store, then load the other's word: both load 0.
 *      FENCE_0, FENCE_1: a full fence between the two.  MEMBARRIER: thread 1 calls it.
 * MP   data, then a flag: the flag is loaded and the data are not.
 *      RELEASE, ACQUIRE: of the flag.  FENCE_0, FENCE_1: between the accesses.
 *      UPDATE: the flag is incremented by a third thread without release, on the way.
 * WRC  as MP, with a thread that passes on what it has loaded.
 * IRIW two threads load two words in opposite orders and disagree about which was first.
 * COH  two loads of a word by one thread: the second is older.
 * RACE as MP, with data without atomic accesses.
 */
#define X 0
#define Y 1
#define Z 2

#define LOCATIONS 3
#define STORES    3
#define FENCES
#ifdef RACE
#define OBJECTS 1
#endif
#ifdef IRIW
#define THREADS 4
#else
#define THREADS 3
#endif
#include "c11.pml"

byte ended;
byte first[THREADS], second[THREADS];

#ifdef FENCE_0
#define BETWEEN_0 fence_full()
#else
#define BETWEEN_0 skip
#endif
#ifdef FENCE_1
#define BETWEEN_1 fence_full()
#elif defined(MEMBARRIER)
#define BETWEEN_1 membarrier(0)
#else
#define BETWEEN_1 skip
#endif
#ifdef RELEASE
#define STORE_FLAG(l) store_release(l, 1)
#else
#define STORE_FLAG(l) store_relaxed(l, 1)
#endif
#ifdef ACQUIRE
#define LOAD_FLAG(l, out) load_acquire(l, out)
#else
#define LOAD_FLAG(l, out) load_relaxed(l, out)
#endif

inline thread_0() {
#ifdef SB
    store_relaxed(X, 1);
    BETWEEN_0;
    load_relaxed(Y, second[me])
#elif defined(RACE)
    plain_write(0);
    STORE_FLAG(Y)
#elif defined(MP)
    store_relaxed(X, 1);
    BETWEEN_0;
    STORE_FLAG(Y)
#else
    store_relaxed(X, 1)
#endif
#ifdef COH
    ;
    store_relaxed(X, 2)
#endif
}

inline thread_1() {
#ifdef SB
    store_relaxed(Y, 1);
    BETWEEN_1;
    load_relaxed(X, second[me])
#elif defined(RACE)
    LOAD_FLAG(Y, first[me]);
    if
    :: first[me] == 1 -> plain_read(0)
    :: else
    fi
#elif defined(MP)
    LOAD_FLAG(Y, first[me]);
    BETWEEN_1;
    load_relaxed(X, second[me])
#elif defined(WRC)
    load_relaxed(X, first[me]);
    STORE_FLAG(Y)
#elif defined(COH)
    load_relaxed(X, first[me]);
    load_relaxed(X, second[me])
#else
    LOAD_FLAG(X, first[me]);
    BETWEEN_1;
    load_relaxed(Y, second[me])
#endif
}

inline thread_2() {
#ifdef WRC
    LOAD_FLAG(Y, first[me]);
    load_relaxed(X, second[me])
#elif defined(IRIW)
    LOAD_FLAG(Y, first[me]);
    BETWEEN_1;
    load_relaxed(X, second[me])
#elif defined(UPDATE)
    atomic { LAST(Y) == 1 -> d_step { update_relaxed(Y, 2) } }
#else
    skip
#endif
}

#ifdef SB
#define OUTCOME (second[0] == 0 && second[1] == 0)
#elif defined(RACE)
#define OUTCOME false /* plain_read finds it */
#elif defined(UPDATE)
#define OUTCOME (first[1] == 2 && second[1] == 0)
#elif defined(MP)
#define OUTCOME (first[1] == 1 && second[1] == 0)
#elif defined(WRC)
#define OUTCOME (first[1] == 1 && first[2] == 1 && second[2] == 0)
#elif defined(IRIW)
#define OUTCOME (first[1] == 1 && second[1] == 0 && first[2] == 1 && second[2] == 0)
#else
#define OUTCOME (first[1] > second[1])
#endif

active [THREADS] proctype thread() {
    byte me = _pid;

#ifdef RACE
    c11_begin();
#endif
    if
    :: me == 0 -> thread_0()
    :: me == 1 -> thread_1()
    :: me == 2 -> thread_2()
#ifdef IRIW
    :: me == 3 -> store_relaxed(Y, 1)
#endif
    fi;
    atomic {
        ended++;
        assert(ended < THREADS || !OUTCOME)
    }
}
