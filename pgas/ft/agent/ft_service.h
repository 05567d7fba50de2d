/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_service.h - what the agent of a node does for the PEs of the node: it reports their
 * failures to the protocol (ft_proto.h), combines their requests, and stores the outputs
 * of the protocol in the alive map (ft_map.h).
 *
 * No sockets, no threads, no clock: the host calls the functions below under one lock,
 * with the current time.  Hosts: the agent (ft_agent.h), simulated jobs (tests/sim).
 *
 * Generations.  Each shmem_init after a shmem_finalize starts the protocol anew, without
 * the failures of the detector that has finished.  The nodes do so at different times;
 * frames carry the generation: an older one is dropped, and a newer one starts the
 * protocol here as well, since its sender has passed the fence of shmem_init.
 * Uses: ft_proto, ft_ring_order, ft_map, core/boot/node.h.  Used by: ft_agent, tests/sim.
 */
#ifndef PGAS_FT_SERVICE_H
#define PGAS_FT_SERVICE_H

#include "pgas/core/boot/node.h"
#include "pgas/ft/ft_map.h"
#include "pgas/ft/protocol/ft_proto.h"

/* Outputs, called during the functions below; they must not call these. */
struct ft_service_calls {
    /* Sends a frame of this generation to the agent of another node (ft_callbacks). */
    void (*send)(void *host, uint32_t to, uint32_t generation, const void *frame,
                 size_t len);
    /* The node has failed: its connections can be closed. */
    void (*give_up)(void *host, uint32_t node);
};

/* A contribution of this node that is not decided: at most one for each mailbox. */
struct ft_open {
    struct ft_open *next;
    struct ft_key key;
    bool decided;
    uint64_t members[]; /* PEs */
};

/* A revoked team, as agents send it to each other. */
struct ft_revocation {
    uint64_t team;
    uint32_t slot; /* of the team, the same on all PEs */
    uint32_t zero;
};

/* An interrupted call of a team, as agents send it to each other. */
struct ft_commit_call {
    uint64_t team, call;
    uint32_t cause;  /* struct ft_call */
    uint32_t line;   /* of the team's slot, the same on all PEs; what a PE that crashes
                      * has sent may be wrong (ft_service_settle) */
    uint32_t again;  /* 1: the question is repeated, in FT_PAYLOAD_COMMIT_ASK */
    uint32_t unused; /* 0: no padding */
};

enum ft_commit_state {
    FT_COMMIT_ASKED,
    FT_COMMIT_OPEN,        /* the nodes shall contribute */
    FT_COMMIT_CLOSED,      /* no PE of the node enters the call any more */
    FT_COMMIT_CONTRIBUTED, /* all PEs of the node were settled */
    FT_COMMIT_DECIDED,
};

/* What this node knows of such a call (ft_service_commit.c). */
struct ft_commit {
    struct ft_commit *next;
    struct ft_commit_call what;
    enum ft_commit_state state;
    uint32_t success;  /* FT_COMMIT_DECIDED: the outcome */
    bool repeat;       /* an agent asks again: the coordinator opens the call again */
    bool reopened;     /* FT_COMMIT_DECIDED: it has done so */
    bool again;        /* the question is repeated */
    uint64_t asked_ns; /* when a PE of this node asked, or it was repeated; 0: never */
    uint64_t wait_ns;  /* from then to the next repeat */
};

enum { FT_COMMIT_SEQ = 0 }; /* of a key; the agreements of teams count from 1 */

struct ft_service {
    struct node *node; /* the mapped node segment */
    struct ft_map *map;
    const struct ft_service_calls *calls;
    void *host;
    uint64_t delta_ns, eta_ns, grace_ns; /* of the ring (ft_config) */
    uint32_t generation;                 /* of the protocol; 0: it has not been started */
    struct ft_proto *proto;              /* NULL: not started */
    uint32_t *order;                     /* of the ring */
    struct ft_open *open;
    struct ft_commit *commits; /* the latest first */
    bool commits_changed;      /* a message or a decision has changed one of them */
    /* When ft_service_serve is to be called again; FT_NEVER: at an event. */
    uint64_t due_ns;
    bool recheck;     /* failures may complete agreements */
    bool self_failed; /* this node is failed for the others, or will be: its PEs must end
                       */
    uint32_t *list;   /* npes entries, scratch */
    uint64_t *set;    /* nnodes bits, scratch */
    uint64_t *pes;    /* npes bits, scratch */
};

/* False: no memory; ft_service_fini may follow. */
bool ft_service_init(struct ft_service *s, struct node *node,
                     const struct ft_service_calls *calls, void *host);
void ft_service_fini(struct ft_service *s);

/* Starts the protocol.  The map has the endpoints of all nodes (of which this uses the
 * failure domain), the node of each PE and the PE of each local rank.  incarnation: see
 * ft_config; a predecessor, or a former generation, has left failures in the map.  False:
 * no memory; the protocol of a former generation may have ended. */
bool ft_service_start(struct ft_service *s, uint64_t now, uint32_t generation,
                      uint32_t incarnation);

/* A frame of another agent; false: no memory to start its generation, which the next
 * frame tries again.  The connection of the agent was closed. */
bool ft_service_receive(struct ft_service *s, uint64_t now, uint32_t from,
                        uint32_t generation, const void *frame, size_t len);
void ft_service_closed(struct ft_service *s, uint64_t now, uint32_t node);
/* Frames to the node were dropped: it fails. */
void ft_service_node_lost(struct ft_service *s, uint64_t now, uint32_t node);

/* Processes failures in the map and requests in the mailboxes.  The host calls it after
 * each change of map->event, and when s->due_ns has come, before ft_proto_tick. */
void ft_service_serve(struct ft_service *s, uint64_t now);
/* Serves again after `ns` at the latest. */
static inline void ft_service_retry_after(struct ft_service *s, uint64_t now, uint64_t ns)
{
    s->due_ns = now + ns < s->due_ns ? now + ns : s->due_ns;
}
/* True if every PE of the node that has not failed has left shmem_finalize, and there is
 * one. */
bool ft_service_pes_departed(const struct ft_service *s);
bool ft_service_is_live(const struct ft_service *s, uint32_t local);
/* The node of a PE.  A crashed PE may have damaged the map. */
uint32_t ft_service_node_of(const struct ft_service *s, uint32_t pe);

/* ---- ft_service_pe.c ----------------------------------------------------------------
 */

/* Processes the requests in the mailboxes. */
void ft_service_serve_mailboxes(struct ft_service *s, uint64_t now);
/* Stores a decision and completes the mailboxes that wait for it. */
void ft_service_decide(struct ft_service *s, const struct ft_decision *decision);
/* Gives the protocol the decisions of the predecessor. */
void ft_service_restore(struct ft_service *s);
void ft_service_free_open(struct ft_service *s, bool all);

/* ---- ft_service_commit.c ------------------------------------------------------------
 */

/* Processes the questions of the PEs for outcomes, and those of other nodes. */
void ft_service_serve_commits(struct ft_service *s, uint64_t now);
/* A payload of kind FT_PAYLOAD_COMMIT_... */
void ft_service_on_commit(struct ft_service *s, uint32_t kind, const void *data,
                          size_t len);
/* There may be another coordinator: questions are repeated soon. */
void ft_service_expect_answers(struct ft_service *s);
/* False: the decision is not one of an outcome. */
bool ft_service_decide_commit(struct ft_service *s, const struct ft_decision *decision);
void ft_service_free_commits(struct ft_service *s);

enum ft_payload {
    FT_PAYLOAD_REVOKE = 1, /* struct ft_revocation */
    FT_PAYLOAD_COMMIT_ASK, /* these: struct ft_commit_call */
    FT_PAYLOAD_COMMIT_OPEN,
};

#endif
