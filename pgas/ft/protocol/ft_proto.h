/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_proto.h - the failure protocol of one node: heartbeat ring, reliable broadcast of
 * failure news and payloads, and agreement, composed into one step machine.
 *
 * The machine has no clock, no I/O and no threads, and allocates only in ft_proto_init.
 * Its host calls the input functions below from one thread (or under one lock) and
 * performs the outputs, which are calls of the table ft_callbacks made during an input.
 * The same code runs in libshmem, in the daemons of oshrun and in the simulator
 * (tests/ft).
 *
 *   now     nanoseconds of a monotonic clock; never decreases from one input to the next.
 *   nodes   0..nnodes-1; a node's agent is the process that runs the machine.  The
 * failure of the agent is the failure of the node and of all its PEs, and is permanent.
 *   PEs     numbers in SHMEM_TEAM_WORLD, 0..npes-1.
 *
 * Assumptions on the host and the network:
 *   - Frames between two nodes arrive whole, in order and unmodified, or not at all if
 * one of the agents fails.  A host that has dropped a frame to a node therefore reports
 * the node with ft_proto_node_lost (the contract of ft_mesh.h).  `from` is authenticated.
 * The contents are nevertheless checked: a malformed frame has no effect.
 *   - A frame of a live node is delivered within delta/2, including queueing in both
 * hosts and a reconnect.  A node that exceeds this (stopped, swapped) may be declared
 * failed; it then receives self_failed and must end its PEs.
 *   - The host passes frames that it has received to ft_proto_receive before it calls
 *     ft_proto_tick.  A tick that comes late does not lead to a wrong verdict: see
 * ft_ring.h.
 *
 * Guarantees while they hold (tests/ft checks them):
 *   - A node that fails is reported between delta and eta plus one delay after its
 * failure; a node that does not fail, and for which no frame was dropped, is never
 * reported.
 *   - If a surviving node delivers failure news, a payload or a decision, all surviving
 * nodes deliver it, for any number of failures: over the binomial graph directly, and
 * after more than degree - 1 failures through the exchange between new ring neighbours (a
 * log of log_bytes holds the latest payloads and decisions; failure sets are exchanged in
 * full).
 *     What only agents knew that were replaced (incarnation) is repeated for failures
 * and, by ft_proto_agree_restore, for decisions; for payloads that matter their hosts
 * repeat it.
 *   - Decisions of one agreement are equal on all surviving nodes.
 *
 * Uses: ft_ring, ft_bmg, ft_agree, ft_wire.  Used by: the agent hosts, tests/ft.
 */
#ifndef PGAS_FT_PROTO_H
#define PGAS_FT_PROTO_H

#include "pgas/ft/ft_types.h"

/* Outputs.  They are called during an input function and must not call input functions;
 * queries are permitted.  All pointers are valid only during the call. */
struct ft_callbacks {
    /* Sends a frame of at most ft_proto_message_max() bytes to node `to`.  Must not
     * block: the host copies or queues the frame.  Frames to a node are sent in the order
     * of the calls. A frame for a node that cannot be reached is dropped; ft_proto_closed
     * reports that. */
    void (*send)(void *host, uint32_t to, const void *frame, size_t len);

    /* Adds all PEs of `node` to `pes` (npes bits, empty at the call).  Called on the node
     * that has detected the failure of `node`. */
    void (*node_pes)(void *host, uint32_t node, uint64_t *pes);

    /* New failures, including those that this host reported with ft_proto_pe_failed.
     * Every PE and node is reported once.  The frames that spread the news were sent
     * before. */
    void (*failed)(void *host, const struct ft_news *news);

    /* A broadcast payload; also on the node that started the broadcast.  Once per
     * broadcast, except that a successor agent (incarnation > 0) may repeat what its
     * predecessor delivered. */
    void (*payload)(void *host, uint32_t initiator, uint32_t kind, const void *data,
                    size_t len);

    /* The decision of an agreement to which this node contributed.  Once per agreement,
     * except that ft_proto_agree may repeat it. */
    void (*decision)(void *host, const struct ft_decision *decision);

    /* Other nodes consider this node failed.  The host ends all its PEs.  After this call
     * the machine ignores all inputs. */
    void (*self_failed)(void *host);
};

struct ft_config {
    uint32_t me, nnodes, npes;

    /* The number of agents that ran on this node before this one.  A successor (> 0)
     * announces itself: other nodes repeat what its predecessor may have lost. */
    uint32_t incarnation;

    /* Ring order: a permutation of 0..nnodes-1 (ft_ring_order), equal on all nodes; NULL
     * is the order of node numbers.  Copied. */
    const uint32_t *order;

    uint64_t delta; /* heartbeat period; > 0 */
    uint64_t eta;   /* time of silence until a verdict; 0 means 2 * delta; >= 2 * delta */
    uint64_t grace; /* added to the first timeout after ft_proto_init */

    uint32_t
        agreements; /* instances stored, open or decided; 0 means 64.  At least twice the
                     * number of teams that have members here and agree concurrently. */
    size_t log_bytes; /* log of broadcasts for new ring neighbours; 0 means 64 KiB */

    /* What a successor agent knows from its predecessor (the alive map of the node), or
     * NULL.  Copied; not delivered again. */
    const uint64_t *failed_pes, *failed_nodes;

    const struct ft_callbacks *calls;
    void *host; /* first argument of the callbacks */
};

struct ft_proto;

/* Creates the machine and arms the detector: call it when the addresses of all nodes are
 * known.  Returns NULL if there is not enough memory or the configuration is invalid. May
 * call send. */
struct ft_proto *ft_proto_init(const struct ft_config *config, uint64_t now);
void ft_proto_free(struct ft_proto *p);

/* ---- inputs
 * ------------------------------------------------------------------------------ */

/* The time is now.  The host calls it at the latest at the time that ft_proto_wake
 * returned last; earlier calls are harmless.  Returns ft_proto_wake(). */
uint64_t ft_proto_tick(struct ft_proto *p, uint64_t now);

/* When the next tick is due; FT_NEVER: no tick is needed.  Any input may change it. */
uint64_t ft_proto_wake(const struct ft_proto *p);

/* A frame from node `from`.  Returns 0, or -1 if it is malformed: it has had no effect,
 * and the host should close the connection. */
int ft_proto_receive(struct ft_proto *p, uint64_t now, uint32_t from, const void *frame,
                     size_t len);

/* The connection to `node` was closed by the peer or could not be established.  Not a
 * verdict: it sends a request for a heartbeat (which makes the host reconnect) and
 * shortens the remaining timeout to delta. */
void ft_proto_closed(struct ft_proto *p, uint64_t now, uint32_t node);

/* Frames to `node` were dropped: it fails as if it had been silent for too long. */
void ft_proto_node_lost(struct ft_proto *p, uint64_t now, uint32_t node);

/* PEs of this node (or any PEs of which the host knows for certain) have failed. */
void ft_proto_pe_failed(struct ft_proto *p, uint64_t now, const uint32_t *pes, size_t n);

/* Broadcasts len <= FT_PAYLOAD_MAX bytes to all live nodes including this one; `kind` is
 * for the host.  Returns 0, or -1 if the payload is too long. */
int ft_proto_broadcast(struct ft_proto *p, uint64_t now, uint32_t kind, const void *data,
                       size_t len);

/* The contribution of this node to the agreement `key` is complete: the host has combined
 * those of all its live member PEs.  `members` are the nodes that have member PEs (nnodes
 * bits), including this one.  Report failures that the PEs know to ft_proto_pe_failed
 * before: the set of failed PEs is added here.  Calling it again with the same key has no
 * effect unless it is decided here: then the coordinator gets the decision, too, and the
 * callback is repeated.  May call `decision` before it returns.  Returns 0, or -1 if all
 * instances are in use or the arguments are invalid. */
int ft_proto_agree(struct ft_proto *p, uint64_t now, struct ft_key key,
                   const uint64_t *members, const struct ft_words *words);

/* All member PEs on the live node `node` have failed, so that it will not contribute to
 * `key`.  Every node that has contributed must call this when it learns of these failures
 * (callback `failed`); a node that contributes later leaves `node` out of `members`. */
void ft_proto_agree_exclude(struct ft_proto *p, uint64_t now, struct ft_key key,
                            uint32_t node);

/* For a successor agent: the decision that its predecessor delivered for the last
 * agreement of a team.  Open agreements are contributed again with ft_proto_agree.  Both
 * before the first receive.  Returns 0, or -1 as ft_proto_agree. */
int ft_proto_agree_restore(struct ft_proto *p, const struct ft_decision *decision,
                           const uint64_t *members);

/* The team is destroyed or has no live member PE here: forget its agreements. */
void ft_proto_agree_forget(struct ft_proto *p, uint64_t team);

/* The job is ending in order: detection stops on all nodes, so that agents may exit at
 * different times.  One node suffices; calls of several are harmless. */
void ft_proto_finish(struct ft_proto *p, uint64_t now);

/* ---- queries
 * ----------------------------------------------------------------------------- */

bool ft_proto_node_failed(const struct ft_proto *p, uint32_t node);
bool ft_proto_pe_is_failed(const struct ft_proto *p, uint32_t pe);
const uint64_t *ft_proto_failed_nodes(const struct ft_proto *p); /* nnodes bits */
const uint64_t *ft_proto_failed_pes(const struct ft_proto *p);   /* npes bits */
bool ft_proto_is_self_failed(const struct ft_proto *p);
bool ft_proto_is_finished(const struct ft_proto *p);

/* The longest frame that is sent or accepted. */
size_t ft_proto_message_max(const struct ft_proto *p);

/* Neighbours on the ring: the node that this one watches and the one that watches this
 * one; FT_NODE_NONE: none.  The host should keep connections to both. */
uint32_t ft_proto_observing(const struct ft_proto *p);
uint32_t ft_proto_observer(const struct ft_proto *p);

/* Frames rejected as malformed, and agreement frames dropped because all instances were
 * in use (the configuration is too small). */
uint64_t ft_proto_malformed(const struct ft_proto *p);
uint64_t ft_proto_dropped(const struct ft_proto *p);

#endif
