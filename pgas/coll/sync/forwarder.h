/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * forwarder.h - the PE that forwards the data of a broadcast from its node to the child
 * nodes.  The data arrive in slots of the node's leader, which all PEs of the node map.
 *
 * Static leaders: the leader of the node.  With select_first_leader: on the root's node
 * the root; on another node the leader, or, if the leader has not entered the call when
 * the (first) data arrive in its slot, the first PE that claims the call.
 * Both ways the other PEs wait for the leader's signal word.  A PE that waits longer than
 * TIMING_LEADER_LATE for a leader that has not entered the call watches that word
 * (block_watch), so that the progress thread of the leader receives the data and wakes
 * it.
 *
 * Bit n % slots of forwarder_words.claimed, in the leader's memory, belongs to call n.
 * The first PE that claims the call inverts it: to 1 in the first use of the bit, to 0 in
 * the second, and so on.  Invariants: with select_first_leader each call inverts its bit
 * once.  Between two calls with the same bit the leaders execute a barrier, because each
 * call fills at least one slot.  A PE claims call n only when its data have
 * arrived in a slot, hence after the barrier of the leaders that returned the credit for
 * the slot, and before it closes its mailbox call, for which the leader waits before it
 * enters that barrier; so all PEs that claim a call find the bit of that use.  The root
 * waits for the credit before it claims.  Model: tests/models/forwarder.pml.
 *
 * Uses: core/team, core/block, internode, leader_msg, probe, select.
 * Used by: bcast_internode.
 */
#ifndef PGAS_COLL_FORWARDER_H
#define PGAS_COLL_FORWARDER_H

#include <stdbool.h>
#include <stdint.h>

#include "pgas/coll/algorithms/bcast_internode.h"
#include "pgas/core/team/team.h"

/* A broadcast of a team over nodes. */
struct forwarder_call {
    struct shmem_team *team;
    struct forwarder_words *words; /* of this node's leader, mapped */
    uint64_t number;               /* of the call: 1, 2, .. */
    unsigned slots;                /* the bits of `claimed` in use */
    uint64_t last;                 /* number of the last slot that the call fills */
    bool first;                    /* select_first_leader */
    const char *fn;
};

/* A signal word of the leaders (its symmetric address), which is set to `value` when the
 * data are in the slot. */
struct forwarder_signal {
    uint64_t *word, value;
};

/* True if the data are in the slot of this node's leader. */
bool forwarder_arrived(const struct forwarder_call *c, const struct forwarder_signal *s);
/* Waits until the data are there; on the leader, the message comes from node `from`. */
void forwarder_await(const struct forwarder_call *c, const struct forwarder_signal *s,
                     int from);

/* On a node other than the root's, once a call: waits for the first data.  True if this
 * PE forwards them. */
bool forwarder_enter(const struct forwarder_call *c, const struct forwarder_signal *s,
                     int from);
/* Wakes the PEs of the node, but the leader, that sleep in forwarder_await; network
 * progress wakes the leader. */
void forwarder_wake_node(const struct forwarder_call *c,
                         const struct forwarder_signal *s);

/* The root forwards for its node: waits until its leader has credit for the call, so that
 * the slots of all leaders may be written, and claims the call. */
void forwarder_claim_root(const struct forwarder_call *c);

#endif
