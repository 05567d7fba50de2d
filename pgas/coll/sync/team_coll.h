/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * team_coll.h - state of the collectives of a team: this PE's private state, and the
 * team's symmetric words.  Each module defines its own members in its header.
 *
 * The words are at the same heap offset on all PEs of the team (team->words_offset), and
 * all zero when the team begins.  A team over nodes has struct internode_words; a team
 * on one node, and the `node_team` of a team over nodes, have struct node_words.  Layout
 * of a slot, by kind of job:
 *
 *     one node:       [node_words][team_extent]
 *     several nodes:  [internode_words and two small buffers]
 *                     [node_words without cpu][team_extent]
 *
 * The pages of an extent are allocated when a collective first uses them.  Larger buffers
 * are allocated at their first use (scratch.h).
 * Uses: core/team, the headers of the modules.  Used by: all of coll, profile.
 */
#ifndef PGAS_COLL_TEAM_COLL_H
#define PGAS_COLL_TEAM_COLL_H

#include "pgas/coll/algorithms/alltoall.h"
#include "pgas/coll/algorithms/bcast_internode.h"
#include "pgas/coll/algorithms/reduce.h"
#include "pgas/coll/api/split.h"
#include "pgas/coll/api/verify.h"
#include "pgas/coll/groups/node_barrier.h"
#include "pgas/coll/nonblocking/nb.h"
#include "pgas/coll/select/adapt.h"
#include "pgas/coll/select/select.h"
#include "pgas/coll/sync/allgather.h"
#include "pgas/coll/sync/arrival.h"
#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/groups/groups.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/sync/leader_msg.h"
#include "pgas/coll/sync/mailbox.h"
#include "pgas/coll/sync/scratch.h"
#include "pgas/core/team/team.h"
#include "pgas/threads/atomic.h"

/* Words of every team.  `barrier` is used on the first PE; in a team over nodes on the
 * leader of each node. */
struct team_words {
    struct barrier_words barrier;
    struct departure_words departure;
    struct split_words split;
    _Alignas(NODE_LINE) struct descriptor descriptor;
    _Alignas(NODE_LINE) struct verify_call call;
};

/* Words of a team on one node. */
struct node_words {
    struct team_words team;
    struct mailbox_words mailbox;
    struct adapt_words adapt;
    struct arrival_words arrival;
    struct reduce_words reduce;
    struct barrier_round round[BARRIER_ROUNDS];
    struct barrier_tree_words tree;
    struct node_barrier_words phase;
    struct mailbox_line line[MAILBOX_LINES];
    struct barrier_cpu cpu[BARRIER_CPUS]; /* only in a job on one node */
};

/* Words of a team over nodes; all but `team` and `alltoall` are used on leaders. */
struct internode_words {
    struct team_words team;
    struct alltoall_words alltoall;
    struct internode_round round[BARRIER_ROUNDS];
    struct leader_words leader;
    struct bcast_words bcast;
    struct chain_words chain;
    _Alignas(NODE_LINE) char buffer[]; /* two piggyback buffers (internode_small_bytes) */
};

/* The slots are those of the team on one node, or of `node_team`. */
struct team_extent {
    struct mailbox_slot slot[MAILBOX_SLOTS];
    struct nb_slot nb[NB_SLOTS];
};

enum { TEAM_BYTES_MAX = 18 * 1024 }; /* of the words, in jobs of up to 1024 nodes */
_Static_assert(sizeof(struct internode_words) + 2 * INTERNODE_BUFFER_SMALL +
                       offsetof(struct node_words, cpu) <=
                   TEAM_BYTES_MAX,
               "words of a team over nodes");
_Static_assert(sizeof(struct node_words) <= TEAM_BYTES_MAX,
               "words of a team on one node");

/* Private state of this PE in a team.  An active set has none. */
struct team_coll {
    struct barrier_state barrier;
    struct mailbox_state mailbox;
    size_t extent; /* offset of struct team_extent from the team's words */
    struct select_plans select;
    struct groups groups;
    struct adapt_state adapt;
    struct reduce_state reduce;
    struct split_state split;
    struct nb_queue nb;
    /* Of a team over nodes. */
    struct internode_state internode;
    struct leader_state leader;
    struct bcast_state bcast;
    struct alltoall_state alltoall;
    struct scratch scratch; /* of the leaders, for large messages (leader_msg.h) */
};

/* The words of PE i of the team, which must be mapped. */
struct team_words *team_words(const struct shmem_team *team, int i);

/* team_words with the type for a team on one node, and for a team over nodes. */
static inline struct node_words *node_words(const struct shmem_team *team, int i)
{
    return (struct node_words *)team_words(team, i);
}
static inline struct internode_words *internode_words(const struct shmem_team *team,
                                                      int i)
{
    return (struct internode_words *)team_words(team, i);
}
static inline struct internode_words *internode_own_words(const struct shmem_team *team)
{
    return (struct internode_words *)((char *)pgas_self.heap_base + team->words_offset);
}

/* Select an algorithm for `bytes` per block: the contribution of one PE; in an alltoall,
 * the block for one other PE; in a collect, the mean contribution.  The team must not be
 * an active set.  It is on one node, except for the inter-node collectives
 * (SELECT_INTERNODE_*), which are for teams over several nodes. */
static inline enum select_algorithm
select_algorithm(struct shmem_team *team, enum select_collective what, size_t bytes)
{
    struct select_plans *s = &team->coll->select;

    if (unlikely(!s->planned))
        select_plan(team);
    const struct select_choice *c = s->plan[what];
    while (bytes > c->most)
        c++;
    return (enum select_algorithm)c->algorithm;
}

/* Allocates the private state of a team and of its `node_team`.  False: no memory. */
bool team_coll_attach(struct shmem_team *team);
/* Frees that state and the team's scratch memory, which no PE may access any more. */
void team_coll_detach(struct shmem_team *team);

/* team_new and team_free of a team with collectives. */
struct shmem_team *team_coll_new(const struct shmem_team *parent,
                                 const struct team_set *set);
void team_coll_free(struct shmem_team *team);
/* As team_coll_free, but the slot and the scratch memory stay allocated. */
void team_coll_abandon(struct shmem_team *team);
/* Assigns the slot, clears this PE's words, and makes the handle valid.  Other PEs may
 * use the words after a barrier. */
void team_coll_begin(struct shmem_team *team, uint32_t slot);

/* Bytes of the words of a team, without extent; offset of the words of `node_team` from
 * those of its team.
 */
size_t team_coll_words_bytes(bool remote);
size_t team_coll_node_team_offset(void);

/* Creates the predefined teams; frees all teams. */
void team_coll_init(void);
void team_coll_fini(void);
/* Marks this PE as departed in the words of all its teams. */
void team_coll_leave(void);

/* Number of barriers of the world team that this PE has begun. */
uint64_t team_world_epoch(void);

#endif
