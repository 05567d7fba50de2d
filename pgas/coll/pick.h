/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pick.h - which algorithm a collective uses on a team of one node, for so many bytes.
 *
 * One table says it for each collective, in the order of the bytes of a PE; a team keeps
 * the rows that fit its PEs (its plan).  SHMEM_<COLLECTIVE>_ALGORITHM puts another one
 * first, where that can be used.  All PEs of a team decide alike: what they look at is
 * equal on all of them.
 * Uses: core/team, core/env.  Used by: the collectives, life.
 */
#ifndef PGAS_COLL_PICK_H
#define PGAS_COLL_PICK_H

#include "pgas/coll/pick.def"
#include "pgas/core/team.h"
#include "pgas/threads/atomic.h"

#define PICK_ANY_BYTES SIZE_MAX
#define PICK_ANY_PES   INT32_MAX
/* PEs for which there is room in what they share: */
enum {
    PICK_LEAD_PES = 65535,
    PICK_FIRST_PES = 256,
    PICK_CHAIN_PES = 2048,
    PICK_TREE_PES = 256,
};
/* Between leaders: bytes and nodes for which there is room (room.h, hop.h). */
enum {
    PICK_DOUBLING_BYTES = 16 * 1024,
    PICK_BRUCK_BYTES = 1024,
    PICK_DIRECT_NODES = TEAM_HOPS / 2,
    PICK_SCATTER_NODES = TEAM_HOPS,
};

#define X(NAME, name) PICK_##NAME,
enum pick_collective { PICK_COLLECTIVES(X) PICK_ALL };
#undef X
#define X(COLLECTIVE, NAME, name, bytes, pes, same) COLLECTIVE##_##NAME,
enum pick_algorithm { PICK_ALGORITHMS(X) PICK_ALGORITHMS_ALL };
#undef X

_Static_assert((int)PICK_ALL <= (int)TEAM_COLLECTIVES, "a team has a plan for each");

/* Look at what is set in the environment; ends the job with a sentence if a variable
 * names no algorithm. */
void pick_init(void);

/* Make the team's plan. */
void pick_plan(struct shmem_team *team);

/* For so many bytes of a PE.  Only for teams that are no active sets: on one node, or for
 * those of a bridge, over several. */
static inline enum pick_algorithm pick(struct shmem_team *team, enum pick_collective what,
                                       size_t bytes)
{
    if (unlikely(!team->planned))
        pick_plan(team);
    const struct team_choice *c = team->plan[what];
    while (bytes > c->most)
        c++;
    return (enum pick_algorithm)c->algorithm;
}

/* May the team take another algorithm for this collective as its PEs arrive?  If none was
 * asked for, and the team may use that one. */
bool pick_adapts(enum pick_collective what, enum pick_algorithm other,
                 const struct shmem_team *team);

#endif
