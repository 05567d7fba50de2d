/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * adaptive.pml - the adaptive lock (pgas/threads/adaptive.h): N threads that acquire and
 * release it ROUNDS times, or for ever (FOREVER).  The bits of `word` are variables; each
 * access to the word is one step, and a futex wait compares and sleeps in one step.  The queue
 * of the candidates is first in, first out (mcs.pml is the model of its lock).  A spin is one
 * try, which may fail for no reason before the thread is the candidate.
 * Checked: one owner at a time; nobody sleeps for ever; while the lock is reserved only the
 * candidate acquires it; a candidate sleeps at most LOSSES + 1 times, and once more for each
 * other thread but one, which may execute the wake-up of an earlier release late.  FOREVER,
 * with weakly fair scheduling: a thread that wants the lock acquires it.
 *
 * FAULT_STORE: the candidate goes to sleep without comparing the word.
 * FAULT_SPLIT: the release tests the other bits and clears HELD in two steps.
 * FAULT_NO_RESERVE: a thread that spins ignores RESERVED.
 * FAULT_NO_LIMIT: the candidate never reserves the lock.
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

bool held, sleeps, reserved;    /* word */
chan queue = [N] of {byte};     /* the first is the candidate */
bool asleep;                    /* the candidate, the only one that sleeps on word */
bool waits;                     /* thread 0 wants the lock */
byte owners;

#define IS_CANDIDATE queue ? [eval(_pid)]

inline hold() {
    assert(!held && (!reserved || IS_CANDIDATE));
    held = true
}

inline acquire() {
    waits = waits || _pid == 0;
    if
#ifdef FAULT_NO_RESERVE
    :: atomic { !held -> hold() }; goto owned
#else
    :: atomic { !held && !reserved -> hold() }; goto owned
#endif
    :: true
    fi;
    queue ! _pid;
    IS_CANDIDATE;
    losses = 0;
    do
    :: atomic { !held -> hold(); sleeps = false; reserved = false }; break
    :: held;
       atomic {
           sleeps = true;
#ifndef FAULT_NO_LIMIT
           reserved = reserved || losses == LOSSES;
#endif
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
#ifndef FAULT_NO_LIMIT
           assert(slept < LOSSES + N - 1);
           slept++
#endif
       :: else
       fi;
       losses = (losses < LOSSES -> losses + 1 : losses)
    od;
    queue ? eval(_pid);
owned:
    waits = waits && _pid != 0;
    seen = false;
    losses = 0;
    slept = 0
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
    byte losses, slept, round;
    bool seen;

    do
    :: round < ROUNDS ->
        acquire();
        owners++;
        assert(owners == 1);
        owners--;
        release();
#ifndef FOREVER
        round++
#endif
    :: else -> break
    od
}

#ifdef FOREVER
ltl no_starvation { [] (waits -> <> !waits) }
#endif
