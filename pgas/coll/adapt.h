/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * adapt.h - which of some ways to do a collective a team takes: one that is best when its
 * PEs come together (balanced), or one that uses the time in which some of them are late.
 *
 * In a call that is timed each PE notes when it came and when it left.  In a later call
 * in which every PE waits for all others they see each other's notes, without a message:
 * so all of them know the same, the imbalance (from the first to the last arrival) and
 * what the call has cost them but for waiting.  First each way is tried a few
 * times; then the one with the least cost is taken, and now and then another one is tried
 * again, the more seldom the worse it was.  When the imbalance has become much larger or
 * smaller all ways are tried anew.  All PEs decide alike from equal numbers.
 *
 * What goes to a root does not let its PEs wait for each other: there they exchange their
 * notes by a board of its own, after a timed call.
 *
 * (The idea of such an estimate: Mohammadalizadehbakhtevari 2021, "future work".)
 * Uses: core/team, core/clock, board.  Used by: reduce, pick.
 */
#ifndef PGAS_COLL_ADAPT_H
#define PGAS_COLL_ADAPT_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/core/team.h"

/* Those that give the result to a root are told from those that give it to all; and of
 * the latter those whose ways all combine in the same order. */
enum adapt_kind { ADAPT_TO_ALL, ADAPT_TO_ROOT, ADAPT_IN_ORDER, ADAPT_KINDS };

/* What a team knows of calls of this kind with so many bytes of each PE; it has boards.
 * Its `ways` are 0 before adapt_plan. */
enum { ADAPT_NONE = 1 << TEAM_WAYS };
struct team_adapt *adapt_state(struct shmem_team *team, enum adapt_kind kind,
                               size_t bytes);

/* The ways there are, as bits: ADAPT_NONE if that is one at most.  `way` is the first. */
void adapt_plan(struct team_adapt *state, unsigned ways, size_t bytes);
/* The team has other plans now: forget everything.  On all PEs alike. */
void adapt_reset(struct shmem_team *team);

/* A call. */
struct adapt {
    struct shmem_team *team;
    struct team_adapt *state;
    enum adapt_kind kind;
    size_t bytes;
    unsigned way; /* take this one */
    bool timed;
    uint64_t came_ns;
};

/* Begin / end one, for which the state has at least one of the ways (state->ways). */
struct adapt adapt_begin(struct shmem_team *team, enum adapt_kind kind, size_t bytes,
                         struct team_adapt *state, const char *fn);
void adapt_end(struct adapt *a);

/* ---- the decisions: pure, for their test ------------------------------------------ */

/* The way of the next call, and whether it is timed, in one of so many calls at least. */
unsigned adapt_next(struct team_adapt *state, unsigned timed_every, bool *timed);

/* What all PEs have seen of a call that went this way: take it in. */
void adapt_learn(struct team_adapt *state, unsigned way, uint64_t imbalance,
                 uint64_t work);

#endif
