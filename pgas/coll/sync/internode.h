/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * internode.h - barrier of a team over several nodes (team_nodes), and allgather of small
 * data piggybacked on it.
 * Uses: core/team, core/block, rma, probe, barrier, scratch, leader_msg, bcast_internode
 * (its constants).  Used by: barrier, bcast, collect, alltoall, reduce, scan, their
 * *_internode, leader_msg, scratch, allgather.
 */
#ifndef PGAS_COLL_INTERNODE_H
#define PGAS_COLL_INTERNODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pgas/coll/algorithms/bcast_internode.h"
#include "pgas/coll/sync/scratch.h"
#include "pgas/core/boot/node.h"
#include "pgas/core/team/team.h"

enum {
    INTERNODE_BUFFER = 32768, /* maximum bytes of all PEs in a piggybacked collective */
    INTERNODE_BUFFER_SMALL = 1024, /* maximum without scratch memory */
};

/* On each leader, by round. */
struct internode_round {
    /* By epoch modulo 2: the first byte is the epoch, modulo 256, of the partner's last
     * message.  A put with signal writes all four bytes alike.  `source`: of this
     * leader's own one-byte puts. */
    _Alignas(NODE_LINE) uint32_t signal[2];
    uint8_t source[2];
};

/* Invariant: the counters are equal on all PEs of the team, `epoch` on all leaders. */
struct internode_state {
    uint64_t counts; /* barriers counted on this node (barrier_words.arrived) */
    enum { NODE_PHASE_UNKNOWN, NODE_PHASE_COUNTER, NODE_PHASE_GROUPS } phase;
    uint64_t epoch; /* leader barriers so far */
    /* Piggybacked collectives so far; they alternate between two buffers. */
    uint64_t buffers;
    struct internode_words *leader; /* words of this node's leader; NULL: not used yet */
    /* On leaders: mailbox call of the node team until whose end the PEs of the node may
     * read this leader's scratch memory; 0: none. */
    uint64_t unread;
    struct scratch eager; /* struct internode_eager of each leader, after the first use */
};

/* Scratch memory of a leader for piggyback buffers and eager broadcasts. */
struct internode_eager {
    _Alignas(NODE_LINE) char buffer[2][INTERNODE_BUFFER];
    _Alignas(NODE_LINE) char slot[BCAST_EAGER_SLOTS][BCAST_EAGER_BYTES];
};

/* Implement barrier_sync and barrier_last for a team over several nodes. */
void internode_barrier_sync(struct shmem_team *team, const char *fn);
void internode_barrier_last(struct shmem_team *team, const char *fn);

/* True if the team has a piggyback buffer that `parts` blocks of `bytes` fit; equal on
 * all PEs.  All PEs must call it alike: the first call for more than
 * INTERNODE_BUFFER_SMALL bytes allocates the buffers (internode_has_eager). */
bool internode_fits(struct shmem_team *team, size_t parts, size_t bytes, const char *fn);
/* True if all leaders have a struct internode_eager; collective as internode_fits. */
bool internode_has_eager(struct shmem_team *team, const char *fn);
/* Bytes of a small piggyback buffer; at least 1 for each node. */
size_t internode_small_bytes(void);

/*
 * Barrier with allgather: returns the `bytes` at `mine` of all PEs in node order
 * (internode_part), or those of PE root only if root is not -1.  The result is valid
 * until this PE calls it again for the team, and is aligned for any type whose size
 * divides bytes.  Requires internode_fits; bytes may be 0.
 */
const char *internode_gather(struct shmem_team *team, const void *mine, size_t bytes,
                             int root, const char *fn);

/* The block of PE i in the result of internode_gather with root -1. */
static inline const char *internode_part(const struct shmem_team *team, const char *all,
                                         size_t bytes, int i)
{
    return all + (size_t)team_pos(team, i) * bytes;
}

/*
 * Two-level collectives: a node phase in the node team (team->node_team), and an
 * inter-node phase in which only the leaders communicate.  All PEs begin with
 * internode_begin, so that a waiting PE can determine which PEs departed before they
 * entered the collective.
 */
void internode_begin(struct shmem_team *team);
struct mailbox;
/* A leader returns from a collective while the PEs of its node may still read its scratch
 * memory, until all of them have closed the mailbox. */
void internode_set_unread(struct shmem_team *team, const struct mailbox *b);
/* Waits until they have.  A leader calls it before it writes to its scratch memory, or
 * lets others write to it, again. */
void internode_await_read(struct shmem_team *team, const char *fn);
/* Barrier among the leaders; returns at once on other PEs. */
void internode_barrier(struct shmem_team *team, const char *fn);
/* Barrier with allgather among the leaders: returns `bytes` of each node, in node order;
 * valid until any leader begins the second next piggybacked collective of the team. All
 * PEs call it; NULL on PEs other than leaders.  Requires internode_fits(nodes, bytes). */
const char *internode_gather_nodes(struct shmem_team *team, const void *mine,
                                   size_t bytes, const char *fn);

/* Barrier (barrier_sync) with allgather among the leaders whose result, `bytes` of each
 * leader in node order, is returned on all PEs. It must fit a small buffer. */
const char *internode_gather_leaders(struct shmem_team *team, const void *mine,
                                     size_t bytes, const char *fn);

/* Called during a wait for the leader of a node: probes at intervals whether that leader
 * has departed, and ends the job if so. */
struct probe_timer;
void internode_probe(const struct shmem_team *team, int node, struct probe_timer *timer,
                     const char *fn);

/* The same for the PEs of this node. */
void internode_probe_local(const struct shmem_team *team, const char *fn);
/* Waits until a word of a PE of this node is >= value; `here` is its symmetric address.
 */
void internode_wait_on_node(const struct shmem_team *team, const uint64_t *word,
                            const void *here, uint64_t value, const char *fn);
/* The words of this node's leader, mapped. */
struct internode_words *internode_leaders_words(const struct shmem_team *team);

/* Wakes the PEs of the node that sleep until a word of the leader changes (its symmetric
 * address), but not the leader. */
void internode_wake_node(const struct shmem_team *team, const void *word, size_t size);

/* Array of the team's PEs in node order, to be freed; NULL: team order is node order. */
int *internode_order(const struct shmem_team *team, const char *fn);

/* World PE of the leader of this node; true if this PE is that leader. */
int internode_leader(const struct shmem_team *team);
bool internode_is_leader(const struct shmem_team *team);

#endif
