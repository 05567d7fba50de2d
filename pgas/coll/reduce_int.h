/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_int.h - a reduction as its algorithms see it.
 * Uses: core/team, core/peer, board, pick, datatype/op.  Used by: reduce, reduce_*.
 */
#ifndef PGAS_COLL_REDUCE_INT_H
#define PGAS_COLL_REDUCE_INT_H

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
    const struct op_fns *op;
    const char *fn;
};

static inline size_t reduce_bytes(const struct reduce_job *j)
{
    return j->n * j->size; /* has been checked to fit */
}

/* `bytes` at symmetric address here, of PE i of the team. */
static inline char *reduce_at(const struct reduce_job *j, const void *here, size_t bytes,
                              int i)
{
    return peer_at(here, bytes, team_world_pe(j->team, i), j->fn);
}

/* Teams on one node; slices serve active sets too.  All but chain and first combine in
 * the order of the PEs. */
void reduce_flat(const struct reduce_job *j);   /* all read the slots of all */
void reduce_last(const struct reduce_job *j);   /* who comes last combines the slots */
void reduce_first(const struct reduce_job *j);  /* who comes first combines the slots */
void reduce_slices(const struct reduce_job *j); /* each combines a slice of the sources */
void reduce_chain(const struct reduce_job *j);  /* a chain in the order of arrival */

/* dest = what all PEs show on a board, in their order. */
void reduce_shown(const struct reduce_job *j, const struct board *b);

/* On whatever team. */
void reduce_run(const struct reduce_job *j);

/* Over nodes. */
void reduce_far(const struct reduce_job *j);
/* Between the leaders of a far team: what each has at dest becomes the combination of
 * all, there.  They have room (room.h). */
void reduce_hops(const struct reduce_job *j, enum pick_algorithm a);

#endif
