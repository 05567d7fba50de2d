/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_agent_int.h - what the files of the agent share: ft_agent.c (threads, start and end,
 * connections) and ft_agent_pe.c (the processes of the PEs of the node).
 */
#ifndef PGAS_FT_AGENT_INT_H
#define PGAS_FT_AGENT_INT_H

#include <pthread.h>

#include "pgas/core/boot/node.h"
#include "pgas/ft/agent/ft_agent.h"
#include "pgas/ft/ft_map.h"
#include "pgas/ft/agent/ft_mesh.h"
#include "pgas/ft/agent/ft_service.h"

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
    struct ft_mesh *mesh; /* NULL: one node */
    struct ft_service service;
    bool joined; /* the mesh knows the other agents */
    bool host_notified;
    bool warned; /* that there is no memory for a generation */
    int *pidfd;  /* of each local rank; -1: none */
    int exits;   /* epoll set of the pidfds of the PEs that have not ended */
};

/* ---- ft_agent_pe.c ------------------------------------------------------------------
 */
/* Opens the pidfds of the PEs of the node. */
void ft_agent_watch_pes(struct ft_agent *agent);
void ft_agent_kill_pes(struct ft_agent *agent);
/* Marks the PEs that have ended without leaving shmem_finalize as failed. */
void ft_agent_check_exits(struct ft_agent *agent);
/* Kills PEs that SHMEM_FT_WATCHDOG considers dead; returns the time of the next check. */
uint64_t ft_agent_check_alive(struct ft_agent *agent, uint64_t now);
#endif
