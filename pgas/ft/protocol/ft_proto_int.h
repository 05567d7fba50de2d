/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_proto_int.h - the state of the failure protocol, shared by ft_proto.c (state, inputs
 * of the host), ft_proto_send.c (frames out) and ft_proto_receive.c (frames in).
 *
 * Frames, after the header (ft_wire.h); sets: a set of nodes, then a set of PEs:
 *   BEAT                                       heartbeat
 *   REQUEST       flags (1), sets              send me heartbeats from now on
 *   SYNC          flags (1), sets              what I know as failed
 *   CAST          initiator (4), seq (8), kind (1), then by kind
 *     NEWS          sets                       failures
 *     PAYLOAD       kind (4), length (2), bytes
 *     DECIDED       decision
 *     RESUMED       incarnation (4), sets      the initiator has a new agent
 *     FINISH                                   the job ends: no detection any more
 *   CONTRIBUTION  key, view (8), decided view (8), words, set of PEs
 *   ASK           key, view (8)
 *   DECISION      decision                     to one late member
 *   VERDICT                                    you have been declared failed
 * key: team (8), seq (4); words: n_and (1), n_max (1), 8 bytes each; decision: key, view
 * (8), words, set of PEs.
 *
 * Failure news are forwarded by content: NEWS that contain anything new are forwarded, so
 * every node that knows of a failure has sent it to all its neighbours.  Hence nothing
 * else may mark a PE or node as failed (agreement sets do not); news that arrive in
 * REQUEST and SYNC are broadcast as this node's own. Uses: ft_ring, ft_bmg, ft_agree,
 * ft_wire.
 */
#ifndef PGAS_FT_PROTO_INT_H
#define PGAS_FT_PROTO_INT_H

#include "pgas/ft/protocol/ft_agree.h"
#include "pgas/ft/protocol/ft_bmg.h"
#include "pgas/ft/protocol/ft_proto.h"
#include "pgas/ft/protocol/ft_ring.h"
#include "pgas/ft/protocol/ft_wire.h"

enum ft_frame {
    FT_FRAME_BEAT = 1,
    FT_FRAME_REQUEST,
    FT_FRAME_SYNC,
    FT_FRAME_CAST,
    FT_FRAME_CONTRIBUTION,
    FT_FRAME_ASK,
    FT_FRAME_DECISION,
    FT_FRAME_VERDICT,
};
enum ft_cast {
    FT_CAST_NEWS = 1,
    FT_CAST_PAYLOAD,
    FT_CAST_DECIDED,
    FT_CAST_RESUMED,
    FT_CAST_FINISH
};
enum {
    FT_FLAG_PROBE = 1,
    FT_FLAG_REPLY = 1
}; /* REQUEST: only a heartbeat; SYNC: reply */

/* A set of failed nodes and a set of failed PEs. */
struct ft_sets {
    uint64_t *nodes, *pes;
};

struct ft_proto {
    uint32_t me, nnodes, npes, incarnation;
    struct ft_callbacks calls;
    void *host;
    uint64_t now; /* of the current input */
    bool self_failed, finished;
    struct ft_ring ring;
    struct ft_bmg bmg;
    struct ft_agree agree;
    struct ft_sets failed; /* known: all were sent to all neighbours */
    struct ft_sets in,
        fresh;         /* scratch: parsed, or reported; and the new ones among them */
    uint64_t *tell_at; /* of each node: VERDICT may be sent again from then on */
    uint32_t *order, *pos;
    uint64_t seq;       /* of this node's last broadcast */
    uint64_t malformed; /* frames */
    uint8_t *out;       /* [message_max]: the frame being built */
    size_t message_max;
};

/* ---- ft_proto.c ---- */

/* Failures `in` were reported.  cast: the NEWS or RESUMED frame to forward, whose
 * initiator is `root`; NULL: this node initiates the broadcast.  Returns whether there
 * was news. */
bool ft_proto_merge(struct ft_proto *p, uint32_t root, const uint8_t *cast, size_t len);

/* Sends VERDICT to a failed node, at most once per delta: the host drops it if no
 * connection is open, but a live node goes on sending, and gets the next one.  A node
 * declared failed that is alive must learn it: its observer, which made the verdict, and
 * the node that it observes tell it, and every node to which it sends a frame. */
void ft_proto_tell(struct ft_proto *p, uint32_t node);

/* Other nodes consider this node failed: the last output of the machine. */
void ft_proto_set_self_failed(struct ft_proto *p);

/* ---- ft_proto_send.c ---- */

void ft_proto_send_simple(struct ft_proto *p, uint32_t to, enum ft_frame type);
void ft_proto_send_sets(struct ft_proto *p, uint32_t to, enum ft_frame type,
                        unsigned flags);
void ft_proto_send_log(struct ft_proto *p, uint32_t to);
void ft_proto_forward(struct ft_proto *p, uint32_t root, const uint8_t *frame,
                      size_t len);
void ft_proto_cast_news(struct ft_proto *p, const struct ft_sets *sets);
void ft_proto_cast_payload(struct ft_proto *p, uint32_t kind, const void *data,
                           size_t len);
void ft_proto_cast_resumed(struct ft_proto *p);
void ft_proto_cast_finish(struct ft_proto *p);
extern const struct ft_agree_outputs ft_proto_agree_outputs;

#endif
