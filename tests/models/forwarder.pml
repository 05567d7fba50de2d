/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * forwarder.pml - which PE of a node forwards a broadcast to other nodes, with first-arriver
 * forwarders (pgas/coll/sync/forwarder.c, pgas/coll/algorithms/bcast_internode.c): a bit of each
 * slot is inverted by the first PE that claims the call.
 *
 * A leader and MEMBERS other PEs execute CALLS broadcasts with SLOTS slots.  The root's node sends
 * data while its leader has credit, i.e. as far as SLOTS calls beyond the last barrier of the
 * leaders; that barrier is abstracted to the leader of this node, the only one that matters here:
 * it enters the barrier when the other PEs have closed all earlier calls.  The steps of the root,
 * of the leader and of the members are interleaved in any order, with sequential consistency: the
 * claims are read-modify-write operations (acquire, release), and the arrival of the data is
 * loaded with acquire before them.
 * Checked: each call is forwarded once, while its data are in the slot; nobody waits for ever.
 *
 * FAULT_ATOMIC: a PE loads the bit and then stores it.
 * FAULT_SIDE:   a claim sets the bit in each use of the slot.
 * FAULT_CLOSE:  a PE closes its call before it claims it.
 * FAULT_LEADER: a member that sees the leader in the call leaves it to the leader, which does not
 *               claim what has arrived before it entered.
 * FAULT_CREDIT: the root sends without credit.
 */
#ifndef MEMBERS
#define MEMBERS 2
#endif
#ifndef CALLS
#define CALLS 5
#endif
#define SLOTS  2
#define LEADER MEMBERS

byte arrived[SLOTS]; /* number of the call whose data are in the slot */
bit claimed[SLOTS];
byte entered, acked;
byte closed[MEMBERS];
byte forwarded[CALLS + 1];
byte ended;

#define SLOT(n) ((n) % SLOTS)
#define SIDE(n) ((((n)-1) / SLOTS) % 2) /* the value of the bit before the claim */

inline claim(n, won) {
#if defined(FAULT_ATOMIC)
    won = (claimed[SLOT(n)] == SIDE(n));
    claimed[SLOT(n)] = 1 - SIDE(n)
#elif defined(FAULT_SIDE)
    atomic {
        won = !claimed[SLOT(n)];
        claimed[SLOT(n)] = 1
    }
#else
    atomic {
        won = (claimed[SLOT(n)] == SIDE(n));
        claimed[SLOT(n)] = 1 - SIDE(n)
    }
#endif
}

inline forward(n) {
    assert(arrived[SLOT(n)] == n);
    forwarded[n]++;
    assert(forwarded[n] == 1)
}

active proctype root() {
    byte n;

    for (n : 1 .. CALLS) {
#ifndef FAULT_CREDIT
        n <= acked + SLOTS;
#endif
        arrived[SLOT(n)] = n
    }
}

proctype leader() {
    byte n, i;
    bit won, early;

    for (n : 1 .. CALLS) {
        if
        :: n > acked + SLOTS ->
            for (i : 0 .. MEMBERS - 1) {
                closed[i] >= n - 1
            }
            acked = n - 1
        :: else
        fi;
        entered = n;
#ifdef FAULT_LEADER
        early = (arrived[SLOT(n)] == n);
#endif
        arrived[SLOT(n)] >= n;
        if
        :: early
        :: else ->
            claim(n, won);
            if
            :: won -> forward(n)
            :: else
            fi
        fi
    }
    ended++
}

proctype member(byte me) {
    byte n;
    bit won;

    for (n : 1 .. CALLS) {
        arrived[SLOT(n)] >= n;
#ifdef FAULT_CLOSE
        closed[me] = n;
#endif
        if
        :: entered < n ->
            claim(n, won);
            if
            :: won -> forward(n)
            :: else
            fi
        :: else
        fi;
        closed[me] = n
    }
    ended++
}

init {
    byte k;

    atomic {
        run leader();
        for (k : 0 .. MEMBERS - 1) {
            run member(k)
        }
    }
    ended == MEMBERS + 1;
    for (k : 1 .. CALLS) {
        assert(forwarded[k] == 1)
    }
}
