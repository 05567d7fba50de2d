/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agree.pml - agreement of N nodes of which at most KILLS fail (pgas/ft/protocol/ft_agree.h).
 *
 * A live node learns of a failure at any time after it.  Frames are delivered in any order
 * (the protocol does not rely on the order between its frames); those of a node that dies may
 * be lost, to each destination separately.  A view is the number of its coordinator.  A
 * decision is the number of the node that combined the contributions: two nodes combine
 * different ones.  All nodes are neighbours.
 * Checked: in every final state all live nodes have the same decision.  Runs are finite: a
 * node contributes, asks and answers at most once per view, and forwards once.
 *
 * FAULT_OLD_VIEW: a decision of an earlier view is accepted after a later contribution.
 * FAULT_NO_ASK:   the coordinator of a later view does not ask who has a decision.
 * FAULT_NO_EARLY: contributions that came before a decision are not answered.
 * FAULT_NO_OLD:   the coordinator combines although it was told of a decision.
 */
#ifndef N
#define N 4
#endif
#ifndef KILLS
#define KILLS 2
#endif
#define NONE 7
#define BIT(i) (1 << (i))
#define AT(i, j) ((i) * N + (j))
#define PAIR(v, w) (1 << ((v) * N + (w)))

byte dead, kills, begun; /* begun: nodes that have contributed */
byte knows[N];
byte view[N];            /* contributed to; NONE at first */
byte decision[N], decided_view[N];
byte asked[N];           /* later view that asked: its coordinator + 1 */
byte got[N];             /* contributions to node i as coordinator */
byte old[N], old_view[N]; /* the latest decision among them; NONE */
byte seen[N];            /* broadcasts seen, by view */

/* In flight from i to j. */
bool undecided[N * N];   /* contribution without a decision */
short decided[N * N];    /* contributions with one: set of (view, decision) */
bool ask[N * N];
short cast[N * N];       /* broadcast decisions: set of (view, decision) */
byte reply[N * N];       /* decision + 1, in the view of the sender */

#define LIVE(i) (!(dead & BIT(i)))

#ifdef FAULT_OLD_VIEW
#define TIMELY(j, v) true
#else
#define TIMELY(j, v) (v >= view[j])
#endif
#ifdef FAULT_NO_ASK
#define ASKS false
#else
#define ASKS true
#endif
#ifdef FAULT_NO_EARLY
#define ANSWERS false
#else
#define ANSWERS true
#endif
#ifdef FAULT_NO_OLD
#define ADOPTS false
#else
#define ADOPTS true
#endif

inline lowest(i, result) {
    result = 0;
    do
    :: knows[i] & BIT(result) -> result++
    :: else -> break
    od
}

/* j accepts the decision w made in view v. */
inline accept(j, v, w) {
    if
    :: decision[j] == NONE && (begun & BIT(j)) && TIMELY(j, v) ->
        decision[j] = w;
        decided_view[j] = v;
        if
        :: asked[j] > v + 1 ->
            decided[AT(j, asked[j] - 1)] = decided[AT(j, asked[j] - 1)] | PAIR(v, w)
        :: else
        fi;
        k = 0;
        do
        :: k < N ->
            if
            :: ANSWERS && (got[j] & BIT(k)) && v != j && !(knows[j] & BIT(k)) ->
                reply[AT(j, k)] = decision[j] + 1
            :: else
            fi;
            k++
        :: else -> break
        od;
        k = 0
    :: else
    fi
}

/* i forwards the decision w of view v; before it delivers it. */
inline forward(i, v, w) {
    seen[i] = seen[i] | BIT(v);
    k = 0;
    do
    :: k < N ->
        if
        :: k != i && !(knows[i] & BIT(k)) ->
            cast[AT(i, k)] = cast[AT(i, k)] | PAIR(v, w)
        :: else
        fi;
        k++
    :: else -> break
    od;
    k = 0
}

/* Follows the coordinator; decides if all contributions are there. */
inline follow(i) {
    if
    :: decision[i] == NONE && (begun & BIT(i)) ->
        lowest(i, c);
        if
        :: view[i] == NONE || c > view[i] ->
            k = 0;
            do
            :: k < N && c == i && view[i] != NONE ->
                if
                :: ASKS && k != i && !((got[i] | knows[i]) & BIT(k)) -> ask[AT(i, k)] = true
                :: else
                fi;
                k++
            :: else -> break
            od;
            k = 0;
            view[i] = c;
            if
            :: c != i -> undecided[AT(i, c)] = true
            :: else
            fi
        :: else
        fi;
        if
        :: c == i && ((got[i] | knows[i] | BIT(i)) == (1 << N) - 1) ->
            w = i;
            if
            :: ADOPTS && old[i] != NONE -> w = old[i]
            :: else
            fi;
            forward(i, i, w);
            accept(i, i, w)
        :: else
        fi;
        c = 0;
        w = 0
    :: else
    fi
}

inline kill(i) {
    dead = dead | BIT(i);
    kills++;
    k = 0;
    do
    :: k < N ->
        if
        :: undecided[AT(i, k)] = false; decided[AT(i, k)] = 0; ask[AT(i, k)] = false;
           cast[AT(i, k)] = 0; reply[AT(i, k)] = 0
        :: undecided[AT(i, k)] || decided[AT(i, k)] || ask[AT(i, k)] || cast[AT(i, k)] ||
               reply[AT(i, k)]
        fi;
        undecided[AT(k, i)] = false;
        decided[AT(k, i)] = 0;
        ask[AT(k, i)] = false;
        cast[AT(k, i)] = 0;
        reply[AT(k, i)] = 0;
        k++
    :: else -> break
    od;
    k = 0
}

inline receive_undecided(i, j) {
    undecided[AT(i, j)] = false;
    if
    :: decision[j] != NONE -> reply[AT(j, i)] = decision[j] + 1
    :: else ->
        got[j] = got[j] | BIT(i);
        follow(j)
    fi
}

/* Takes one of the decisions in `set`, any. */
inline pick(set, v, w) {
    do
    :: set & PAIR(v, w) -> break
    :: v * N + w < N * N - 1 && (set >> (v * N + w + 1)) != 0 ->
        w++;
        if
        :: w == N -> w = 0; v++
        :: else
        fi
    od
}

inline receive_decided(i, j) {
    pick(decided[AT(i, j)], v, d);
    decided[AT(i, j)] = decided[AT(i, j)] & ~PAIR(v, d);
    if
    :: decision[j] == NONE ->
        got[j] = got[j] | BIT(i);
        if
        :: old[j] == NONE || v > old_view[j] -> old[j] = d; old_view[j] = v
        :: else
        fi;
        follow(j)
    :: else
    fi;
    v = 0;
    d = 0
}

inline receive_ask(i, j) {
    ask[AT(i, j)] = false;
    if
    :: decision[j] != NONE ->
        decided[AT(j, i)] = decided[AT(j, i)] | PAIR(decided_view[j], decision[j])
    :: else ->
        if
        :: (begun & BIT(j)) && asked[j] < i + 1 -> asked[j] = i + 1
        :: else
        fi
    fi
}

inline receive_cast(i, j) {
    pick(cast[AT(i, j)], v, d);
    cast[AT(i, j)] = cast[AT(i, j)] & ~PAIR(v, d);
    if
    :: !(seen[j] & BIT(v)) ->
        forward(j, v, d);
        accept(j, v, d)
    :: else
    fi;
    v = 0;
    d = 0
}

inline receive_reply(i, j) {
    d = reply[AT(i, j)] - 1;
    reply[AT(i, j)] = 0;
    accept(j, i, d);
    d = 0
}

#define OPEN(i, j) (LIVE(j) && !(knows[j] & BIT(i)))
#define FRAMES(i, j) \
    :: OPEN(i, j) && undecided[AT(i, j)] -> receive_undecided(i, j) \
    :: OPEN(i, j) && decided[AT(i, j)] -> receive_decided(i, j) \
    :: OPEN(i, j) && ask[AT(i, j)] -> receive_ask(i, j) \
    :: OPEN(i, j) && cast[AT(i, j)] -> receive_cast(i, j) \
    :: OPEN(i, j) && reply[AT(i, j)] -> receive_reply(i, j) \
    :: LIVE(j) && !LIVE(i) && !(knows[j] & BIT(i)) -> \
        knows[j] = knows[j] | BIT(i); follow(j)
#define NODE(i) \
    :: LIVE(i) && !(begun & BIT(i)) -> begun = begun | BIT(i); follow(i) \
    :: LIVE(i) && kills < KILLS -> kill(i)

init {
    byte i, k, c, w, v, d;

    atomic {
        do
        :: i < N ->
            view[i] = NONE;
            decision[i] = NONE;
            old[i] = NONE;
            i++
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
        :: kills < KILLS -> kills++
        FRAMES(0, 1)
        FRAMES(0, 2)
        FRAMES(1, 0)
        FRAMES(1, 2)
        FRAMES(2, 0)
        FRAMES(2, 1)
#if N > 3
        NODE(3)
        FRAMES(0, 3)
        FRAMES(1, 3)
        FRAMES(2, 3)
        FRAMES(3, 0)
        FRAMES(3, 1)
        FRAMES(3, 2)
#endif
        :: else -> break
        fi
    }
    od;
    atomic {
        do
        :: i < N ->
            if
            :: LIVE(i) ->
                assert(decision[i] != NONE);
                assert(w == 0 || w == decision[i] + 1);
                w = decision[i] + 1
            :: else
            fi;
            i++
        :: else -> break
        od
    }
}
