/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_int.h - arguments of a reduction, and the functions that implement algorithms.
 * Uses: core/team, core/peer, mailbox, select, datatype/op.  Used by: reduce, reduce_*.
 */
#ifndef PGAS_COLL_REDUCE_INT_H
#define PGAS_COLL_REDUCE_INT_H

#include "pgas/coll/sync/arrival.h"
#include "pgas/coll/sync/mailbox.h"
#include "pgas/coll/select/select.h"
#include "pgas/core/memory/peer.h"
#include "pgas/core/team/team.h"
#include "pgas/datatype/op/op.h"

struct reduce_job {
    struct shmem_team *team;
    char *dest;
    const char *source;
    size_t n;    /* elements, at least 1 */
    size_t size; /* bytes of an element */
    int root;    /* team PE that receives the result in dest; -1 = all PEs */
    const struct op_fns *op;
    const char *fn;
};

static inline size_t reduce_bytes(const struct reduce_job *j)
{
    return j->n * j->size; /* overflow was excluded by rma_bytes */
}

static inline bool reduce_is_receiver(const struct reduce_job *j)
{
    return j->root < 0 || j->root == j->team->me;
}

/* Local mapping of `bytes` at symmetric address `here` of PE i of the team. */
static inline char *reduce_at(const struct reduce_job *j, const void *here, size_t bytes,
                              int i)
{
    return peer_at(here, bytes, team_world_pe(j->team, i), j->fn);
}

/* Algorithms for teams on one node; reduce_slices also serves active sets. */
void reduce_flat(const struct reduce_job *j);           /* every PE combines all slots */
void reduce_last(const struct reduce_job *j);           /* the last arriver combines */
void reduce_first(const struct reduce_job *j);          /* the first arriver combines */
void reduce_first_lines(const struct reduce_job *j);    /* first arriver, flag per PE */
void reduce_slices(const struct reduce_job *j);         /* each PE combines one slice */
void reduce_chain(const struct reduce_job *j);          /* chain in arrival order */
void reduce_tree(const struct reduce_job *j);           /* tree in arrival order */
void reduce_static(const struct reduce_job *j);         /* tree in PE order */
void reduce_groups(const struct reduce_job *j);         /* by groups of the PEs */
void reduce_groups_to(const struct reduce_job *j);      /* the same, to a root */
void reduce_chain_buffered(const struct reduce_job *j); /* buffered chain to a root */
void reduce_slices_to(const struct reduce_job *j);      /* slices, to a root */

/* Open a mailbox, and return this PE's slot in it, for algorithms in which a PE may leave
 * before others arrive.  All PEs have finished reading the slots of MAILBOX_SLOTS calls
 * ago.
 */
struct mailbox reduce_open_ahead(const struct reduce_job *j, char **slot);

/* The root's dest as mapped here.  The root publishes its offset (symaddr_encode) in
 * its slot of the mailbox. */
char *reduce_root_dest(const struct reduce_job *j, const struct mailbox *b);

/* Enter this PE in the arrival order of a call opened with reduce_open_ahead. */
struct arrival reduce_arrive_ahead(const struct mailbox *b);

/* to = the combination of all eager slots of the mailbox, in PE order. */
void reduce_slots(const struct reduce_job *j, char *to, const struct mailbox *b);

/* The rooted reduction of a team on one node that has mailboxes. */
void reduce_node_to(const struct reduce_job *j);

/* False if the algorithm combines in arrival order, which the operation or the
 * environment forbids, and it was not requested. */
bool reduce_permits(const struct reduce_job *j, enum select_algorithm a);

/* Teams over several nodes; reduce_internode_to is rooted, and serves active sets on one
 * node too. */
void reduce_internode(const struct reduce_job *j);
void reduce_internode_to(const struct reduce_job *j);
/* Allreduce in place at dest between the node leaders of the team.  The leader scratch
 * buffers (scratch.h) must exist. */
void reduce_leaders(const struct reduce_job *j, enum select_algorithm a);
/* The same in arrival order: INTERNODE_REDUCE_CHAIN. */
void reduce_leaders_chain(const struct reduce_job *j);
/* Reduction at symmetric address buf to the leader of node `node`.  The scratch buffer
 * must hold the data once for each level of the tree. */
void reduce_leaders_to(const struct reduce_job *j, char *buf, int node);

#endif
