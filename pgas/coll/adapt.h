/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * adapt.h - which of two ways to do a large collective a team takes: the one that is best
 * when its PEs come together (balanced), or the one that uses the time in which some of
 * them are late (aware).
 *
 * One call of so many is timed: when each PE comes and when it leaves.  In the next call
 * the PEs show each other these times, so all of them know the same: the imbalance (from
 * the first to the last arrival) and the work that was left when the last one had come.
 * While the imbalance is small against the work the balanced way is taken; else the other
 * one is tried now and then, and that with less work left is taken.  All PEs decide alike
 * from equal numbers.
 * Uses: core/team, core/clock, board.  Used by: reduce.
 */
#ifndef PGAS_COLL_ADAPT_H
#define PGAS_COLL_ADAPT_H

#include <stdbool.h>
#include <stddef.h>

#include "pgas/core/team.h"

/* One call. */
struct adapt {
    struct team_adapt *state;
    bool aware; /* take that way */
    bool timed;
};

/* Begin / end a call with so many bytes of each PE, of a team that has boards; those that
 * give the result to a root are told from those that give it to all. */
enum adapt_kind { ADAPT_TO_ALL, ADAPT_TO_ROOT };
struct adapt adapt_begin(struct shmem_team *team, enum adapt_kind kind, size_t bytes,
                         const char *fn);
void adapt_end(struct adapt *a);

/* What all PEs have seen of one call, for a KiB of its data: take it in, and decide.
 * Pure, for its test. */
void adapt_learn(struct team_adapt *state, uint64_t imbalance_ns, uint64_t work_ns);

/* Is the call with that number (0, 1, ..) timed; and is it one to try the way that is not
 * taken now? */
bool adapt_timed(uint32_t call);
bool adapt_tries(const struct team_adapt *state, uint32_t call);

#endif
