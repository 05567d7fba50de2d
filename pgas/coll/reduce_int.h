/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_int.h - a reduction as its algorithms see it.
 * Uses: core/team, core/peer, board, pick, datatype/op.  Used by: reduce, reduce_*.
 */
#ifndef PGAS_COLL_REDUCE_INT_H
#define PGAS_COLL_REDUCE_INT_H

#include "pgas/coll/arrival.h"
#include "pgas/coll/board.h"
#include "pgas/coll/pick.h"
#include "pgas/core/peer.h"
#include "pgas/core/team.h"
#include "pgas/datatype/op.h"

struct reduce_job {
    struct shmem_team *team;
    char *dest;
    const char *source;
    size_t n;    /* elements, at least 1 */
    size_t size; /* bytes of an element */
    int root;    /* the PE of the team that gets the result, dest is its own; -1: all */
    const struct op_fns *op;
    const char *fn;
};

static inline size_t reduce_bytes(const struct reduce_job *j)
{
    return j->n * j->size; /* has been checked to fit */
}

static inline bool reduce_gets(const struct reduce_job *j)
{
    return j->root < 0 || j->root == j->team->me;
}

/* `bytes` at symmetric address here, of PE i of the team. */
static inline char *reduce_at(const struct reduce_job *j, const void *here, size_t bytes,
                              int i)
{
    return peer_at(here, bytes, team_world_pe(j->team, i), j->fn);
}

/* Teams on one node; slices serve active sets too.  What chain,
 * tree, first and lines combine goes by the arrivals. */
void reduce_flat(const struct reduce_job *j);  /* all read the slots of all */
void reduce_last(const struct reduce_job *j);  /* who comes last combines the slots */
void reduce_first(const struct reduce_job *j); /* who comes first combines the slots */
void reduce_first_lines(const struct reduce_job *j); /* the same, a line for each PE */
void reduce_slices(const struct reduce_job *j); /* each combines a slice of the sources */
void reduce_chain(const struct reduce_job *j);  /* a chain in the order of arrival */
void reduce_tree(const struct reduce_job *j);   /* a tree in the order of arrival */
void reduce_static(const struct reduce_job *j); /* the same in the order of the PEs */
void reduce_relay(const struct reduce_job *j);  /* the same to a root */
void reduce_shares(const struct reduce_job *j); /* slices, to a root */

/* A board whose slots all PEs have read that they had TEAM_SLOTS calls ago, and this PE's
 * slot: for algorithms that a PE may leave before others come. */
struct board reduce_open_ahead(const struct reduce_job *j, char **slot);

/* The root's dest as mapped here.  The root shows its place (check_place) on the board.
 */
char *reduce_root_dest(const struct reduce_job *j, const struct board *b);

/* This PE's place among those that come to a call with a board of reduce_open_ahead. */
struct arrival reduce_arrive_ahead(const struct board *b);

/* to = what all PEs show on a board, in their order. */
void reduce_shown(const struct reduce_job *j, char *to, const struct board *b);

/* Over nodes; and the same to a root, also of an active set on one node. */
void reduce_far(const struct reduce_job *j);
void reduce_far_to(const struct reduce_job *j);
/* Between the leaders of a far team: what each has at dest becomes the combination of
 * all, there.  They have room (room.h). */
void reduce_hops(const struct reduce_job *j, enum pick_algorithm a);
/* The same to the leader of a node, at symmetric address buf; there is room for a piece
 * at each level. */
enum { REDUCE_LEVELS = 32 }; /* log2 of the most nodes */
void reduce_up(const struct reduce_job *j, char *buf, int node);

#endif
