/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mcs.pml - the MCS lock with sleeping waiters (pgas/threads/mcs.h): N threads that acquire
 * and release it ROUNDS times.  Each access to a shared word is one step; a futex wait
 * compares and sleeps in one step.
 * Checked: one owner at a time; nobody waits for ever.
 *
 * FAULT_NO_LINK: a release whose successor has not linked itself yet returns.
 * FAULT_STORE: a waiter goes to sleep with a store instead of a compare and swap.
 */
#ifndef N
#define N 3
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define NONE     N
#define WAITING  0
#define GRANTED  1
#define SLEEPING 2

byte tail = NONE;
byte next[N], state[N];
bool asleep[N];
byte owners;

inline acquire() {
    next[i] = NONE;
    state[i] = WAITING;
    atomic { before = tail; tail = i };
    if
    :: before == NONE
    :: else ->
        next[before] = i;
        if
        :: state[i] == GRANTED -> goto owned
        :: true /* has spun long enough */
        fi;
#ifdef FAULT_STORE
        if
        :: state[i] == GRANTED -> goto owned
        :: else
        fi;
        state[i] = SLEEPING;
#else
        atomic {
            if
            :: state[i] == GRANTED -> goto owned
            :: else -> state[i] = SLEEPING
            fi
        };
#endif
        do
        :: state[i] != SLEEPING -> break
        :: else ->
            atomic {
                if
                :: state[i] == SLEEPING -> asleep[i] = true
                :: else
                fi
            };
            !asleep[i]
        od
    fi;
owned:
    before = NONE
}

inline release() {
    if
    :: next[i] == NONE ->
        atomic {
            if
            :: tail == i -> tail = NONE; goto released
            :: else
            fi
        };
#ifdef FAULT_NO_LINK
        goto released
#endif
    :: else
    fi;
    next[i] != NONE;
    before = next[i];
    atomic { old = state[before]; state[before] = GRANTED };
    if
    :: old == SLEEPING -> asleep[before] = false
    :: else
    fi;
released:
    before = NONE;
    old = 0
}

active [N] proctype thread() {
    byte i = _pid, before = NONE, old, round;

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
