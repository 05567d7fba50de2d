/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * select.h - algorithm selection: maps (collective, team, message size) to an algorithm.
 *
 * Precedence of the candidates: SHMEM_<COLLECTIVE>_ALGORITHM if it is usable on the team,
 * then the rows of the table file (select_table.h), then the built-in table.  The rows
 * that match a team are stored in it as its plan, in ascending order of bytes.
 *
 * Invariant: all PEs of a team select the same algorithm, because every input of the
 * selection is equal on all PEs; core/boot/agree.h verifies this.
 * Uses: core/team, core/env.  Used by: the collectives, life, oshmem_info.
 */
#ifndef PGAS_COLL_SELECT_H
#define PGAS_COLL_SELECT_H

#include <stdio.h>

#include "pgas/coll/select/select.def"
#include "pgas/coll/sync/leader_msg.h"
#include "pgas/core/base/env.h"
#include "pgas/core/team/team.h"
#include "pgas/threads/atomic.h"

#define SELECT_ANY_BYTES SIZE_MAX
#define SELECT_ANY_PES   INT32_MAX
/* Team size limits given by the sync area: */
enum {
    SELECT_COMBINER_PES = 65535,
    SELECT_FIRST_PES = 256,
    SELECT_CHAIN_PES = 2048,
    SELECT_ORDER_PES = 256,
};
/* Between node leaders: limits given by the scratch buffer (scratch.h) and by the number
 * of notified put steps (leader_msg.h). */
enum {
    SELECT_DOUBLING_BYTES = 16 * 1024,
    SELECT_EXCHANGE_BYTES = 64 * 1024,
    SELECT_EXCHANGE_NODES = 16,
    SELECT_ORDERED_NODES =
        16, /* chains in PE order; more nodes take longer to fill one */
    SELECT_EAGER_BYTES = 256 * 1024,
    SELECT_BRUCK_BYTES = 16 * 1024,
    SELECT_DIRECT_NODES = LEADER_WORDS / 2,
    SELECT_SCATTER_NODES = LEADER_WORDS,
};

#define X(NAME, name) SELECT_##NAME,
enum select_collective { SELECT_COLLECTIVES(X) SELECT_ALL };
#undef X
#define X(COLLECTIVE, NAME, name, bytes, pes, same) COLLECTIVE##_##NAME,
enum select_algorithm { SELECT_ALGORITHMS(X) SELECT_ALGORITHMS_ALL };
#undef X

/* The algorithm for at most `most` bytes per PE. */
struct select_choice {
    size_t most;
    int algorithm;
};

/* The plan of a team, in ascending order to SELECT_ANY_BYTES. */
enum { SELECT_CHOICES = 16 }; /* maximum size ranges of one collective */
struct select_plans {
    bool planned; /* the plan is valid */
    struct select_choice plan[SELECT_ALL][SELECT_CHOICES];
};

/* Read SHMEM_<COLLECTIVE>_ALGORITHM for all collectives.  Ends the job with an error
 * message if a value is not the name of an algorithm. */
void select_init(void);
/* SHMEM_INTERNODE_LEADER=first: see forwarder.h. */
bool select_first_leader(void);
/* Radix of the trees of broadcasts on a team over nodes: SHMEM_INTERNODE_RADIX, but not
 * more than the nodes. */
enum { SELECT_RADIX_MIN = 2, SELECT_RADIX_MAX = 64 };
int select_radix(const struct shmem_team *team);
/* Find and read the table file for this number of processors.  An invalid file ends the
 * job if SHMEM_COLL_TABLE names it; otherwise the file is ignored with a warning. */
struct select_table;
const struct select_table *select_init_table(unsigned processors);

/* Print the table file in use and the plan of the team (SHMEM_INFO). */
void select_print(FILE *out, struct shmem_team *team);

/* Compute the team's plan. */
void select_plan(struct shmem_team *team);

/* ---- the parts of a plan, for the tools and tests ---------------------------------- */

/* Limits of an algorithm; `same`: its result is bitwise independent of the arrival order.
 */
struct select_info {
    enum select_collective what;
    const char *name;
    size_t bytes; /* maximum per PE; for an alltoall, of all blocks together */
    int pes;      /* maximum team size */
    bool same;    /* bitwise reproducible */
};
const struct select_info *select_info(enum select_algorithm algorithm);
/* The maximum bytes per block on a team of npes PEs, the unit that plans use. */
size_t select_most_bytes(enum select_algorithm algorithm, int npes);

/* The name of a collective as in the table file, and the value of its variable. */
const char *select_name(enum select_collective what);
const char *select_requested(enum select_collective what, const struct env *env);

/* Look up an algorithm of the collective by name, SELECT_ALGORITHMS_ALL if there is none;
 * list the names of all its algorithms. */
enum select_algorithm select_algorithm_of(enum select_collective what, const char *name);
const char *select_names(enum select_collective what, char *text, size_t size);

/* Inputs of the selection that depend on the team, the job and the environment. */
struct select_case {
    int npes, nodes;
    bool oversubscribed; /* more PEs on the node than processors */
    bool caches;         /* many PEs in several caches (groups_have_caches) */
    bool reproducible;
    enum select_algorithm first;      /* requested; SELECT_ALGORITHMS_ALL = none */
    const struct select_table *table; /* or NULL */
};

/* Compute the plan of a collective.  Returns the number of entries, of which the last one
 * has most == SELECT_ANY_BYTES; 0 if some size has no candidate.  *cut is set if the plan
 * needs more than SELECT_CHOICES entries and was truncated. */
int select_choose(enum select_collective what, const struct select_case *c,
                  struct select_choice plan[SELECT_CHOICES], bool *cut);

/* "flat to 8, last to 2048, slices". */
const char *select_plan_text(const struct select_choice *plan, char *text, size_t size);

/* Force an algorithm for the next calls on the world team; SELECT_ALGORITHMS_ALL returns
 * to the plan.  All PEs must call it alike.  For the tuner. */
void select_force(enum select_collective what, enum select_algorithm algorithm);

/* True if adaptive selection may use algorithm `other` on the team: no algorithm was
 * requested for the collective, and the team is within the limits of `other`. */
bool select_adapts(enum select_collective what, enum select_algorithm other,
                   const struct shmem_team *team);
/* struct select_case.caches of the world team. */
bool select_world_has_caches(void);
/* True if the user or the tuner has requested this algorithm. */
bool select_is_requested(enum select_algorithm algorithm);
/* The selected algorithm among those whose results do not depend on the arrival order. */
enum select_algorithm select_same(const struct shmem_team *team,
                                  enum select_collective what, size_t bytes);

#endif
