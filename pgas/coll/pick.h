/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pick.h - algorithm selection: maps (collective, team, message size) to an algorithm.
 *
 * Precedence of the candidates: SHMEM_<COLLECTIVE>_ALGORITHM if it is usable on the team,
 * then the rows of the table file (pick_table.h), then the built-in table.  The rows that
 * match a team are stored in it as its plan, in ascending order of bytes.
 *
 * Invariant: all PEs of a team select the same algorithm, because every input of the
 * selection is equal on all PEs; core/agree.h verifies this.
 * Uses: core/team, core/env.  Used by: the collectives, life, oshmem_info.
 */
#ifndef PGAS_COLL_PICK_H
#define PGAS_COLL_PICK_H

#include <stdio.h>

#include "pgas/coll/pick.def"
#include "pgas/core/env.h"
#include "pgas/core/team.h"
#include "pgas/threads/atomic.h"

#define PICK_ANY_BYTES SIZE_MAX
#define PICK_ANY_PES   INT32_MAX
/* Team size limits given by the shared synchronisation area: */
enum {
    PICK_LEAD_PES = 65535,
    PICK_FIRST_PES = 256,
    PICK_CHAIN_PES = 2048,
    PICK_ORDER_PES = 256,
};
/* Between node leaders: limits given by the scratch buffer (room.h) and by the number of
 * notified put steps (hop.h). */
enum {
    PICK_DOUBLING_BYTES = 16 * 1024,
    PICK_BRUCK_BYTES = 16 * 1024,
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

/* Read SHMEM_<COLLECTIVE>_ALGORITHM for all collectives.  Ends the job with an error
 * message if a value is not the name of an algorithm. */
void pick_init(void);

/* Find and read the table file for this number of processors.  An invalid file ends the
 * job if SHMEM_COLL_TABLE names it; otherwise the file is ignored with a warning. */
struct pick_table;
const struct pick_table *pick_init_table(unsigned processors);

/* Print the table file in use and the plan of the team (SHMEM_INFO). */
void pick_print(FILE *out, struct shmem_team *team);

/* Compute the team's plan. */
void pick_plan(struct shmem_team *team);

/* ---- the parts of a plan, for the tools and tests ---------------------------------- */

/* Limits of an algorithm, and whether its result is bitwise independent of the arrival
 * order. */
struct pick_info {
    enum pick_collective what;
    const char *name;
    size_t bytes; /* maximum per PE; for an alltoall, of all blocks together */
    int pes;      /* maximum team size */
    bool same;    /* bitwise reproducible */
};
const struct pick_info *pick_info(enum pick_algorithm algorithm);
/* The maximum bytes per block on a team of npes PEs, the unit in which plans count. */
size_t pick_most_bytes(enum pick_algorithm algorithm, int npes);

/* The name of a collective as in the table file, and the value of its variable. */
const char *pick_name(enum pick_collective what);
const char *pick_wish(enum pick_collective what, const struct env *env);

/* Look up an algorithm of the collective by name, PICK_ALGORITHMS_ALL if there is none;
 * list the names of all its algorithms. */
enum pick_algorithm pick_algorithm_of(enum pick_collective what, const char *name);
const char *pick_names(enum pick_collective what, char *text, size_t size);

/* Inputs of the selection that depend on the team, the job and the environment. */
struct pick_case {
    int npes, nodes;
    bool crowded; /* oversubscribed: more PEs on the node than processors */
    bool reproducible;
    enum pick_algorithm first;      /* requested; PICK_ALGORITHMS_ALL = none */
    const struct pick_table *table; /* or NULL */
};

/* Compute the plan of a collective.  Returns the number of entries, of which the last one
 * has most == PICK_ANY_BYTES; 0 if some size has no candidate.  *cut is set if the plan
 * needs more than TEAM_CHOICES entries and was truncated. */
int pick_choose(enum pick_collective what, const struct pick_case *c,
                struct team_choice plan[TEAM_CHOICES], bool *cut);

/* "flat to 8, last to 2048, slices". */
const char *pick_plan_text(const struct team_choice *plan, char *text, size_t size);

/* Force an algorithm for the next calls on the world team; PICK_ALGORITHMS_ALL returns to
 * the plan.  All PEs must call it alike.  For the tuner. */
void pick_force(enum pick_collective what, enum pick_algorithm algorithm);

/* Select an algorithm for `bytes` per block: the contribution of one PE; in an alltoall,
 * the block for one other PE; in a collect, the mean contribution.  The team must not be
 * an active set.  It is on one node, except for the inter-node collectives
 * (PICK_BRIDGE_*), which are for teams over several nodes. */
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

/* True if adaptive selection may use algorithm `other` on the team: no algorithm was
 * requested for the collective, and the team is within the limits of `other`. */
bool pick_adapts(enum pick_collective what, enum pick_algorithm other,
                 const struct shmem_team *team);
/* True if the user or the tuner has requested an algorithm for this collective. */
bool pick_asked(enum pick_collective what);

#endif
