/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * commit.pml - a PE in a synchronizing call and the agent that closes the call because of a
 * failure (pgas/ft/ft_commit.h): Dekker's pattern with membarrier() on one side.
 *
 * The stores of the PE go to a buffer, which is emptied in order at any time; an atomic
 * increment by the PE, and membarrier() by the agent, empty it.  The PE may complete the call
 * or be interrupted in it at any time.
 * Checked: a PE that the agent did not see in the call, or saw asking, does not complete it;
 * the agent does not wait for ever.
 *
 * FAULT_NO_BARRIER: the agent does not call membarrier().
 * FAULT_NO_CHECK:   the PE does not look at the epoch after the call.
 */
mtype = {BEGUN, NOT_BEGUN, ENDED, ASKED};

chan buffer = [6] of {mtype};
bool begun, ended, asked; /* in memory */
bool epoch;               /* the failure is known */
byte event;               /* wakes the agent */
bool completed;           /* the PE returns success without a question */
bool out;                 /* the agent has contributed that the PE has not completed */

inline apply() {
    if
    :: buffer?BEGUN -> begun = true
    :: buffer?NOT_BEGUN -> begun = false
    :: buffer?ENDED -> ended = true
    :: buffer?ASKED -> asked = true
    fi
}

inline drain() {
    do
    :: nempty(buffer) -> apply()
    :: empty(buffer) -> break
    od
}

inline notify() {
    atomic {
        drain();
        event++
    }
}

active proctype Buffer() {
end:
    do
    :: atomic {nempty(buffer) -> apply()}
    od
}

active proctype Pe() {
    buffer!BEGUN;
    if
    :: epoch ->
        buffer!NOT_BEGUN;
        notify()
    :: else ->
        if
        :: epoch ->
            buffer!ASKED;
            notify()
        :: buffer!ENDED;
            completed = true;
            assert(!out);
#ifndef FAULT_NO_CHECK
            if
            :: epoch -> notify()
            :: else
            fi
#endif
        fi
    fi
}

active proctype Agent() {
    byte seen;
    bool asks;

    epoch = true;
#ifndef FAULT_NO_BARRIER
    atomic {drain()}
#endif
    do
    :: seen = event;
        if
        :: !begun -> break
        :: else
        fi;
        asks = asked;
        if
        :: ended -> goto settled
        :: else
        fi;
        if
        :: asks -> break
        :: else
        fi;
        event != seen
    od;
    atomic {
        out = true;
        assert(!completed)
    }
settled:
}
