/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cluster.h - a simulated cluster: N failure protocols (pgas/ft/protocol/ft_proto.h) in
 * virtual time, with the hosts, network and faults around them.
 *
 * The network delivers frames in order per pair of nodes, each within `delay_max`; frames
 * to failed nodes are lost, and those of the last moments before a failure may be.  A
 * stopped node processes nothing; afterwards its due tick comes before or after the
 * frames that arrived.  A queue that overflows loses frames of the last moments and all
 * later ones; the protocol of the sender is told.  The model knows the truth (which nodes
 * and PEs have failed) and checks every output against it at once; cluster_check does the
 * rest at the end.  A violation is recorded in `wrong`.
 */
#ifndef TESTS_FT_CLUSTER_H
#define TESTS_FT_CLUSTER_H

#include "pgas/ft/protocol/ft_proto.h"
#include "tests/ft/protocol/queue.h"

enum {
    TEAMS_MAX = 3,
    ROUNDS_MAX = 4,    /* agreements of each team, one after the other */
    PAYLOADS_MAX = 16, /* broadcasts of a run */
    WRONG_MAX = 200,
};

enum cluster_event {
    EVENT_FRAME,
    EVENT_TICK,
    EVENT_CLOSED,     /* node: who learns; from: whose connection closed */
    EVENT_KILL,       /* node */
    EVENT_KILL_AFTER, /* node dies after `len` more frames */
    EVENT_PE,         /* PE `from` of node `node` fails */
    EVENT_STOP,       /* node, until sent */
    EVENT_CONTINUE,
    EVENT_CAST,       /* node broadcasts payload `from` */
    EVENT_CONTRIBUTE, /* node contributes to team `from` */
    EVENT_RESTART, /* the agent of node fails, if from > 0 after from - 1 more frames; a
                    * successor runs after `sent` */
    EVENT_SUCCESSOR,
    EVENT_FULL, /* the queue of node to node `from` overflows after `len` more frames */
    EVENT_FINISH,
};

struct cluster_config {
    uint32_t nnodes, pes_per_node;
    bool cyclic; /* PE i is on node i % nnodes, otherwise i / pes_per_node */
    const uint32_t *order;
    uint64_t delta, eta, grace;
    uint64_t delay_min, delay_max;
    bool bursts;        /* most delays are short, some are delay_max */
    uint64_t late_max;  /* of ticks */
    uint64_t port_time; /* single-port model: a node sends one frame per port_time */
    bool closes;        /* failures close connections, which peers may notice */
    bool loses_last;    /* frames sent within delay_max before a failure may be lost */
    uint32_t agreements;
    size_t log_bytes;
    uint64_t seed;
    bool trace;
};

struct team {
    uint32_t rounds;
    uint64_t members[FT_SET_WORDS(64)];
    uint64_t think_max; /* time between a decision and the next contribution */
};

/* What a node's host has seen of one agreement. */
struct outcome {
    bool contributed, decided;
    uint64_t view, at;
    struct ft_words words;
    uint64_t failed[FT_SET_WORDS(256)];
};

struct agent {
    struct cluster *cluster;
    uint32_t id, incarnation;
    struct ft_proto *p;
    bool dead, self_failed, absent, stopped, long_stop;
    bool declared;                          /* another node has delivered its failure */
    uint64_t continue_at, died_at, born_at; /* born_at: of the current agent */
    uint64_t sends_left;                    /* UINT64_MAX: does not die by count */
    uint64_t restart_gap; /* > 0: a successor runs so long after the end */
    uint64_t tick_at, port_free;
    uint32_t full_to;    /* FT_NODE_NONE: no queue overflows */
    uint64_t full_after; /* frames until it does; then those sent from .. */
    uint64_t full_since; /* .. this time on are lost; FT_NEVER: it does not yet */
    bool full_report;
    uint64_t *map_nodes, *map_pes; /* what its host delivered to the PEs */
    uint64_t *cut;           /* frames to each node sent at or after this are lost */
    bool recheck;            /* exclude nodes without live PEs from agreements */
    uint32_t seq[TEAMS_MAX]; /* agreements contributed to */
    struct outcome outcome[TEAMS_MAX][ROUNDS_MAX];
    uint8_t payloads[PAYLOADS_MAX]; /* times delivered */
    uint32_t payloads_restart;      /* payloads delivered before the last restart: mask */
    uint64_t informed_at;           /* time of the last payload or failure news */
};

struct cluster {
    struct cluster_config config;
    uint32_t npes;
    uint64_t now, random;
    struct queue queue;
    struct agent *agent; /* [nnodes] */
    uint64_t *fifo;      /* [nnodes * nnodes]: last arrival; NULL: constant delays */
    uint64_t *dead_pes;  /* truth */
    struct team team[TEAMS_MAX];
    uint32_t nteams, npayloads;
    uint32_t payload_root[PAYLOADS_MAX];
    uint64_t frames;        /* sent, without heartbeats */
    uint64_t first_verdict; /* time at which a node failure was first delivered */
    bool finished;
    char wrong[WRONG_MAX]; /* the first violation; empty if none */
};

/* Starts all agents at time 0.  config is copied (except order). */
struct cluster *cluster_open(const struct cluster_config *config);
void cluster_close(struct cluster *c);

void cluster_at(struct cluster *c, uint64_t at, enum cluster_event kind, uint32_t node,
                uint32_t from, uint64_t arg);
uint32_t cluster_add_team(struct cluster *c, const struct team *team);
uint32_t cluster_add_payload(struct cluster *c, uint64_t at, uint32_t node);

/* Processes all events before `until`, or until something is wrong. */
void cluster_run(struct cluster *c, uint64_t until);

/* Whether live nodes know exactly the failures and have all decisions and payloads. */
bool cluster_is_quiet(struct cluster *c);

/* Checks the final state; sets `wrong`. */
void cluster_check(struct cluster *c);

uint32_t cluster_node_of(const struct cluster *c, uint32_t pe);
bool cluster_alive(const struct cluster *c,
                   uint32_t node); /* neither dead nor declared so */
void cluster_wrong(struct cluster *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void cluster_trace(struct cluster *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
