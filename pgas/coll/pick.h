/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pick.h - which algorithm a collective uses on a team, for so many bytes.
 *
 * One built-in table says it for each collective, in the order of the bytes of a PE; a
 * team keeps the rows that fit its PEs (its plan).  The rows of a table file
 * (pick_table.h) come before these, and SHMEM_<COLLECTIVE>_ALGORITHM before all, where
 * that can be used.  All PEs of a team decide alike: what they look at is equal on all of
 * them, which core/agree.h makes sure of.
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
/* PEs for which there is room in what they share: */
enum {
    PICK_LEAD_PES = 65535,
    PICK_FIRST_PES = 256,
    PICK_CHAIN_PES = 2048,
    PICK_ORDER_PES = 256,
};
/* Between leaders: bytes and nodes for which there is room (room.h, hop.h). */
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

/* Look at what is set in the environment; ends the job with a sentence if a variable
 * names no algorithm. */
void pick_init(void);

/* Find and read the table file, for this number of processors.  A mistake ends the job if
 * SHMEM_COLL_TABLE names the file; else a sentence says that it is ignored. */
struct pick_table;
const struct pick_table *pick_init_table(unsigned processors);

/* Say for SHMEM_INFO what is in effect: the table file, and the plan of the team. */
void pick_print(FILE *out, struct shmem_team *team);

/* Make the team's plan. */
void pick_plan(struct shmem_team *team);

/* ---- the parts of a plan, for the tools and tests ---------------------------------- */

/* What an algorithm takes at most, and whether it has the same bits whatever the order of
 * arrival. */
struct pick_info {
    enum pick_collective what;
    const char *name;
    size_t bytes; /* of a PE; of an exchange, of all its blocks */
    int pes;      /* of the team */
    bool same;
};
const struct pick_info *pick_info(enum pick_algorithm algorithm);
/* The bytes that it takes at most on a team, as a plan counts them: of one block. */
size_t pick_most_bytes(enum pick_algorithm algorithm, int npes);

/* The name of a collective, as in the table file; the value of its variable. */
const char *pick_name(enum pick_collective what);
const char *pick_wish(enum pick_collective what, const struct env *env);

/* Its algorithm with that name; PICK_ALGORITHMS_ALL if it has none / all their names. */
enum pick_algorithm pick_algorithm_of(enum pick_collective what, const char *name);
const char *pick_names(enum pick_collective what, char *text, size_t size);

/* A team, and what comes before the built-in table. */
struct pick_case {
    int npes, nodes;
    bool crowded; /* more PEs on the node than processors */
    bool reproducible;
    enum pick_algorithm first;      /* PICK_ALGORITHMS_ALL: none is asked for */
    const struct pick_table *table; /* or NULL */
};

/* Its plan for a collective: how many choices, the last one is for any bytes.  0 if there
 * is no algorithm for some.  *cut: there was no room for all. */
int pick_choose(enum pick_collective what, const struct pick_case *c,
                struct team_choice plan[TEAM_CHOICES], bool *cut);

/* "flat to 8, last to 2048, slices". */
const char *pick_plan_text(const struct team_choice *plan, char *text, size_t size);

/* Use this algorithm for the world's next calls, PICK_ALGORITHMS_ALL: the plan's; on all
 * PEs.  For the tuner. */
void pick_force(enum pick_collective what, enum pick_algorithm algorithm);

/* For so many bytes of one block: what a PE gives; in an exchange, to one other PE; in a
 * collect, in the mean.  Only for teams that are no active sets: on one node, or for
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
/* Has the user (or the tuner) named the algorithm of this collective? */
bool pick_asked(enum pick_collective what);

#endif
