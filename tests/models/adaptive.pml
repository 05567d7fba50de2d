/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * adaptive.pml - the adaptive lock (pgas/threads/adaptive.h): N threads that acquire and
 * release it ROUNDS times.  The bits of `word` are variables; each access to the word is one
 * step, and a futex wait compares and sleeps in one step.  The queue of the candidates is a
 * lock (mcs.pml is its model).  A spin is one try, which may fail for no reason.
 * Checked: one owner at a time; nobody sleeps for ever; while the lock is reserved only the
 * candidate acquires it.
 *
 * FAULT_STORE: the candidate goes to sleep without comparing the word.
 * FAULT_SPLIT: the release tests the other bits and clears HELD in two steps.
 * FAULT_NO_RESERVE: a thread that spins ignores RESERVED.
 */
#ifndef N
#define N 3
#endif
#ifndef ROUNDS
#define ROUNDS 3
#endif
#ifndef LOSSES
#define LOSSES 1
#endif

bool held, sleeps, reserved; /* word */
bool candidate;              /* the lock of the queue */
bool asleep;                 /* the candidate, the only one that sleeps on word */
byte owners;

inline acquire() {
    if
#ifdef FAULT_NO_RESERVE
    :: atomic { !held -> assert(!reserved); held = true }; goto owned
#else
    :: atomic { !held && !reserved -> held = true }; goto owned
#endif
    :: true
    fi;
    atomic { !candidate -> candidate = true };
    losses = 0;
    do
    :: atomic { !held -> held = true; sleeps = false; reserved = false }; break
    :: atomic {
           sleeps = true;
           reserved = reserved || losses == LOSSES;
           seen = held
       };
       if
       :: seen ->
#ifdef FAULT_STORE
           asleep = true;
#else
           atomic {
               if
               :: held && sleeps -> asleep = true
               :: else
               fi
           };
#endif
           !asleep;
           losses = (losses < LOSSES -> losses + 1 : losses)
       :: else
       fi
    od;
    candidate = false;
owned:
    seen = false;
    losses = 0
}

inline release() {
    if
#ifdef FAULT_SPLIT
    :: !sleeps && !reserved -> held = false
#else
    :: atomic { !sleeps && !reserved -> held = false }
#endif
    :: sleeps || reserved ->
       atomic { seen = sleeps; held = false; sleeps = false };
       if
       :: seen -> asleep = false
       :: else
       fi
    fi;
    seen = false
}

active [N] proctype thread() {
    byte losses, round;
    bool seen;

    do
    :: round < ROUNDS ->
        acquire();
        owners++;
        assert(owners == 1);
        owners--;
        release();
        round++
    :: else -> break
    od
}
