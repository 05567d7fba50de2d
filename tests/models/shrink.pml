/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shrink.pml - a program that survives failures: a collective call, agreement on its success,
 * and a shrink of the team if it failed, until one call has succeeded on all members.
 *
 * N nodes with a PE each, of which at most KILLS fail.  The agreement is taken from agree.pml:
 * its decision exists when all nodes that the coordinator does not know as failed have
 * contributed, and is equal for all that get it; it is delivered to all live members.  Round r
 * is the r-th team; a PE contributes its success (AND word), its free team slots (AND word)
 * and the failures that it knows (union).
 * Checked: members, slot and success are equal on all PEs of a round; a slot is free on all of
 * them; no live PE is left out or waits for ever; in the final state all live PEs are done, in
 * the same round.
 *
 * FAULT_LOCAL_SET: a PE removes the failures that it knows, not those of the decision.
 * FAULT_NO_UNWIND: a collective call does not end when a member has failed.
 */
#ifndef N
#define N 4
#endif
#ifndef KILLS
#define KILLS 2
#endif
#define ROUNDS (KILLS + 2)
#define BIT(i) (1 << (i))
#define ALL    (BIT(N) - 1)

/* What a PE does in its round. */
#define CALL   0 /* about to enter the collective call */
#define INSIDE 1
#define AGREE  2 /* has contributed to the agreement */
#define DONE   3

byte dead, kills;
byte knows[N];
byte round[N], state[N];
byte team[N];            /* members, as the PE counts them */
byte used[N];            /* team slots in use: round 0 has slot i on PE i as well as slot 4 */
byte entered[ROUNDS];    /* PEs that entered the call of the round */
byte gave[ROUNDS];       /* contributions of the round */
bool success[ROUNDS];    /* AND of them */
byte busy[ROUNDS];       /* OR of the used slots, the complement of the AND of the free ones */
byte lost[ROUNDS];       /* union of the known failures */
bool decided[ROUNDS];
byte members[ROUNDS], slot[ROUNDS]; /* of the next team, by the first PE that computes them */

#define LIVE(i) (!(dead & BIT(i)))
#ifdef FAULT_LOCAL_SET
#define REMOVED(i, r) knows[i]
#else
#define REMOVED(i, r) lost[r]
#endif
#ifdef FAULT_NO_UNWIND
#define UNWINDS(i) false
#else
#define UNWINDS(i) (knows[i] & team[i])
#endif

inline contribute(i, ok) {
    r = round[i];
    assert(!decided[r]);
    gave[r] = gave[r] | BIT(i);
    success[r] = success[r] && ok;
    busy[r] = busy[r] | used[i];
    lost[r] = lost[r] | knows[i];
    state[i] = AGREE;
    r = 0
}

/* The coordinator `i` decides for all: nodes that it does not wait for have failed. */
inline decide(i) {
    r = round[i];
    lost[r] = lost[r] | knows[i];
    assert((team[i] & ~gave[r] & ~lost[r]) == 0);
    decided[r] = true;
    r = 0
}

/* PE i gets the decision of its round and makes the next team. */
inline receive(i) {
    r = round[i];
    if
    :: success[r] -> state[i] = DONE
    :: else ->
        s = 0;
        do
        :: busy[r] & BIT(s) -> s++
        :: else -> break
        od;
        assert(!(used[i] & BIT(s)));
        team[i] = team[i] & ~REMOVED(i, r);
        assert(team[i] & BIT(i));
        if
        :: members[r] == 0 -> members[r] = team[i]; slot[r] = s
        :: else -> assert(members[r] == team[i] && slot[r] == s)
        fi;
        used[i] = used[i] | BIT(s);
        round[i] = r + 1;
        assert(round[i] < ROUNDS);
        state[i] = CALL
    fi;
    r = 0;
    s = 0
}

#define COORDINATES(i) ((team[i] & ~knows[i] & (BIT(i) - 1)) == 0)
#define NODE(i) \
    :: LIVE(i) && kills < KILLS -> dead = dead | BIT(i); kills++ \
    :: LIVE(i) && (dead & ~knows[i] & 5) -> knows[i] = knows[i] | (dead & 5) \
    :: LIVE(i) && (dead & ~knows[i] & 10) -> knows[i] = knows[i] | (dead & 10) \
    :: LIVE(i) && state[i] == CALL -> \
        entered[round[i]] = entered[round[i]] | BIT(i); state[i] = INSIDE \
    :: LIVE(i) && state[i] == INSIDE && (team[i] & ~entered[round[i]]) == 0 -> \
        contribute(i, true) \
    :: LIVE(i) && state[i] == INSIDE && UNWINDS(i) -> contribute(i, false) \
    :: LIVE(i) && state[i] == AGREE && COORDINATES(i) && !decided[round[i]] && \
        (team[i] & ~gave[round[i]] & ~knows[i]) == 0 -> decide(i) \
    :: LIVE(i) && state[i] == AGREE && decided[round[i]] -> receive(i)

init {
    byte i, r, s;

    atomic {
        do
        :: i < N ->
            team[i] = ALL;
            used[i] = BIT(i) | BIT(4);
            i++
        :: else -> break
        od;
        i = 0;
        do
        :: i < ROUNDS -> success[i] = true; i++
        :: else -> break
        od;
        i = 0
    }
    do
    :: atomic {
        if
        NODE(0)
        NODE(1)
        NODE(2)
        NODE(3)
        :: kills < KILLS -> kills++
        :: else -> break
        fi
    }
    od;
    atomic {
        do
        :: i < N ->
            if
            :: LIVE(i) ->
                assert(state[i] == DONE);
                assert(r == 0 || r == round[i] + 1);
                assert((team[i] & ~dead & ALL) == (~dead & ALL));
                r = round[i] + 1
            :: else
            fi;
            i++
        :: else -> break
        od
    }
}
