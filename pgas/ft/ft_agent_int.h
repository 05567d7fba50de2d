/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_agent_int.h - what the files of the agent share: ft_agent.c (threads, start and end,
 * outputs of the protocol) and ft_agent_pe.c (the PEs of the node: failures, requests,
 * decisions).
 */
#ifndef PGAS_FT_AGENT_INT_H
#define PGAS_FT_AGENT_INT_H

#include <pthread.h>

#include "pgas/core/boot/node.h"
#include "pgas/ft/ft_agent.h"
#include "pgas/ft/ft_map.h"
#include "pgas/ft/ft_mesh.h"
#include "pgas/ft/ft_proto.h"

/* Contributions of this node that are not decided: at most one for each mailbox. */
struct ft_open {
    struct ft_open *next;
    struct ft_key key;
    bool decided;
    uint64_t members[]; /* PEs */
};

enum ft_payload { FT_PAYLOAD_REVOKE = 1 }; /* with the unique ID of a team */

/* The lock protects all but the options, `poke` and `stop`. */
struct ft_agent {
    struct ft_agent_options options;
    struct node *node;
    struct ft_map *map;
    pthread_t poller, waiter;
    pthread_mutex_t lock;
    int poke; /* eventfd that wakes the poller */
    _Atomic bool stop;
    uint64_t due_ns; /* until which the poller sleeps */
    uint32_t incarnation;
    uint32_t generation;    /* of the protocol; 0: not armed */
    struct ft_mesh *mesh;   /* NULL: one node */
    struct ft_proto *proto; /* NULL: not armed */
    uint32_t *order;        /* of the ring */
    struct ft_open *open;
    bool recheck; /* failures may complete agreements */
    bool self_failed, told_host;
    int *pidfd;     /* of each local rank; -1: none */
    uint32_t *list; /* npes entries, scratch */
    uint64_t *set;  /* nnodes bits, scratch */
    uint64_t *pes;  /* npes bits, scratch */
};

/* ---- ft_agent_pe.c ------------------------------------------------------------------
 */
/* Opens the pidfds of the PEs of the node. */
void ft_agent_watch_pes(struct ft_agent *agent);
void ft_agent_kill_pes(struct ft_agent *agent);
/* True if every PE of the node that has not failed has left shmem_finalize, and there is
 * one. */
bool ft_agent_pes_left(const struct ft_agent *agent);
/* Tells the protocol about failures in the map, and kills PEs that SHMEM_FT_WATCHDOG
 * considers dead. */
void ft_agent_report_failures(struct ft_agent *agent, uint64_t now);
uint64_t ft_agent_check_alive(struct ft_agent *agent, uint64_t now);
/* Processes the requests in the mailboxes. */
void ft_agent_serve_mailboxes(struct ft_agent *agent, uint64_t now);
/* Stores a decision and completes the mailboxes that wait for it. */
void ft_agent_decide(struct ft_agent *agent, const struct ft_decision *decision);
/* Gives the protocol the decisions of the predecessor. */
void ft_agent_restore(struct ft_agent *agent);
void ft_agent_free_open(struct ft_agent *agent, bool all);

#endif
