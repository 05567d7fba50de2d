/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ring.pml - detection and mending of the heartbeat ring (pgas/ft/protocol/ft_ring.h) with the spread of
 * news, for N nodes of which at most KILLS fail.
 *
 * Time is abstracted by its consequence: silence of the observed node is possible if that node
 * is dead, or if it sends its heartbeats to another node and no request of the observer is on
 * its way.  Frames of a node that dies may be lost, to each destination separately.  All nodes
 * are neighbours, as in the binomial graph of 4 nodes.
 * Checked: only dead nodes are accused; in every final state all live nodes know exactly the
 * dead ones.  Every step but one adds to a set, and requests follow only such steps: there are
 * no infinite runs, so reaching correct final states is termination.
 *
 * FAULT_NO_REQUEST: the ring is mended without a request for heartbeats.
 */
#ifndef N
#define N 4
#endif
#ifndef KILLS
#define KILLS 2
#endif
#define NONE N
#define BIT(i) (1 << (i))
#define AT(i, j) ((i) * N + (j))

byte dead, kills;                 /* set; number of nodes killed or spared */
byte knows[N];                    /* failed nodes known */
byte observing[N], observer[N];
byte news[N * N];                 /* news in flight from i to j: a set */
bool asked[N * N];                /* request for heartbeats in flight from i to j */
byte asked_with[N * N];           /* the failed set that it carries */

/* The closest live predecessor (step N - 1) or successor (step 1) that i knows. */
inline closest(i, step, result) {
    result = (i + step) % N;
    do
    :: result != i && (knows[i] & BIT(result)) -> result = (result + step) % N
    :: else -> break
    od;
    if
    :: result == i -> result = NONE
    :: else
    fi
}

/* i learns of the set `fresh`, tells all others and mends its part of the ring. */
inline learn(i, set) {
    fresh = (set) & ~knows[i];
    if
    :: fresh != 0 ->
        assert(!(fresh & BIT(i)));
        knows[i] = knows[i] | fresh;
        k = 0;
        do
        :: k < N ->
            if
            :: k != i && !(knows[i] & BIT(k)) -> news[AT(i, k)] = news[AT(i, k)] | fresh
            :: else
            fi;
            k++
        :: else -> break
        od;
        if
        :: observer[i] != NONE && (knows[i] & BIT(observer[i])) -> observer[i] = NONE
        :: else
        fi;
        if
        :: observing[i] != NONE && (knows[i] & BIT(observing[i])) ->
            closest(i, N - 1, p);
            observing[i] = p;
#ifndef FAULT_NO_REQUEST
            if
            :: p != NONE ->
                asked[AT(i, p)] = true;
                asked_with[AT(i, p)] = knows[i]
            :: else
            fi
#endif
        :: else
        fi;
        k = 0
    :: else
    fi;
    fresh = 0;
    p = 0
}

inline kill(i) {
    dead = dead | BIT(i);
    kills++;
    k = 0;
    do
    :: k < N ->
        if
        :: news[AT(i, k)] = 0; asked[AT(i, k)] = false; asked_with[AT(i, k)] = 0
        :: news[AT(i, k)] != 0 || asked[AT(i, k)] /* they arrive */
        fi;
        news[AT(k, i)] = 0;
        asked[AT(k, i)] = false;
        asked_with[AT(k, i)] = 0;
        k++
    :: else -> break
    od;
    k = 0
}

inline receive_request(i, from) {
    asked[AT(from, i)] = false;
    learn(i, asked_with[AT(from, i)]);
    asked_with[AT(from, i)] = 0;
    closest(i, 1, p);
    if
    :: p == from ->
        observer[i] = from;
        news[AT(i, from)] = news[AT(i, from)] | knows[i] /* the failed set in return */
    :: else
    fi;
    p = 0
}

#define LIVE(i)   (!(dead & BIT(i)))
#define SILENT(i) (LIVE(i) && observing[i] != NONE && (!LIVE(observing[i]) || \
    (observer[observing[i]] != i && !asked[AT(i, observing[i])])))
#define TIMEOUT(i) :: SILENT(i) -> \
    assert(!LIVE(observing[i])); learn(i, BIT(observing[i]))
#define KILL(i) :: LIVE(i) && kills < KILLS -> kill(i)
#define FRAMES(i, j) \
    :: LIVE(j) && news[AT(i, j)] != 0 && !(knows[j] & BIT(i)) -> \
        s = news[AT(i, j)]; news[AT(i, j)] = 0; learn(j, s); s = 0 \
    :: LIVE(j) && asked[AT(i, j)] && news[AT(i, j)] == 0 && !(knows[j] & BIT(i)) -> \
        receive_request(j, i)

init {
    byte i, k, p, s, fresh;

    atomic {
        do
        :: i < N ->
            observing[i] = (i + N - 1) % N;
            observer[i] = (i + 1) % N;
            i++
        :: else -> break
        od;
        i = 0
    }
    do
    :: atomic {
        if
        TIMEOUT(0)
        TIMEOUT(1)
        TIMEOUT(2)
        TIMEOUT(3)
        KILL(0)
        KILL(1)
        KILL(2)
        KILL(3)
        :: kills < KILLS -> kills++ /* fewer failures */
        FRAMES(0, 1)
        FRAMES(0, 2)
        FRAMES(0, 3)
        FRAMES(1, 0)
        FRAMES(1, 2)
        FRAMES(1, 3)
        FRAMES(2, 0)
        FRAMES(2, 1)
        FRAMES(2, 3)
        FRAMES(3, 0)
        FRAMES(3, 1)
        FRAMES(3, 2)
        :: else -> break
        fi
    }
    od;
    atomic {
        do
        :: i < N ->
            assert(!LIVE(i) || knows[i] == dead);
            i++
        :: else -> break
        od
    }
}
