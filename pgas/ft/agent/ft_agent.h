/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_agent.h - the agent of a node: a thread that runs the failure protocols (ft_proto.h)
 * with the agents of the other nodes, over TCP connections of its own.
 *
 * oshrun's node daemon hosts it; under another launcher the lowest live PE of the node
 * does.  Host and PEs communicate with it only through the alive map (ft_map.h):
 *
 *   map->agent  NONE       the host has called ft_agent_start
 *               LISTENING  the agent has stored its addresses in map->own
 *               ARMED      the leader PE has stored the endpoints of all nodes, the node
 *                          of each PE, the PE of each local rank, and, unless the
 *                          host has it, the secret
 *               RUNNING    the heartbeat ring is active
 *               STOPPED    all live PEs of the node have left shmem_finalize, and the
 *                          other agents know it: silence of this node is no failure.  The
 *                          agent serves on, and runs again when it is ARMED for the next
 *                          generation
 *               FAILED     see below
 *
 * An agent that takes over from one whose process has failed finds ARMED, RUNNING or
 * STOPPED: it reads everything from the map, and tells the other agents its addresses.
 *
 * The agent marks failed PEs with ft_map_fail (those that others report, and, by their
 * pidfds, those of its node that have ended without leaving shmem_finalize), completes
 * mailboxes with ft_map_complete, and kills the PEs of its node (SIGKILL to the processes
 * that had the pids in the node segment when it was armed) if it learns that the others
 * consider this node failed; then it sets FAILED and calls self_failed, upon which the
 * host ends.
 *
 * Threads: the functions here may be called by one thread of the host.  The agent has
 * two: one sleeps until a socket is ready or a timer expires, the other on map->event.
 * The one that wakes does the work, under a lock, so that neither has to wake the other.
 * They run on different processors, if there are two, and the second one takes the steps
 * of the first one, too, when these are late by an eighth of the period: the hypervisor
 * may pause one processor of a virtual machine for longer than the timeout.
 * Uses: ft_proto, ft_map, ft_mesh, core/boot/node.h.  Used by: tools/oshrun/daemon,
 * coll/api.
 */
#ifndef PGAS_FT_AGENT_H
#define PGAS_FT_AGENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ft_agent;
struct node;

struct ft_agent_options {
    struct node *node;      /* the mapped node segment, which outlives the agent */
    const char *interfaces; /* interfaces or subnets of SHMEM_LAUNCH_IF; NULL: all */
    bool loopback;          /* all nodes are virtual nodes of this host */
    unsigned period_ms, timeout_ms; /* used if the leader PE stores none in the map */
    const uint8_t *secret; /* FT_SECRET bytes that outlive the agent; NULL: map->secret */
    const char *domain; /* text that identifies the failure domain of this node; read at
                           the start only */
    void (*self_failed)(void *arg); /* called in a thread of the agent; NULL: none */
    void *arg;
};

/* Starts the agent's threads with all signals blocked, and real-time priority or a
 * negative nice value if the system permits it.  NULL: not possible; why[] has the
 * reason. */
struct ft_agent *ft_agent_start(const struct ft_agent_options *o, char *why, size_t size);

/* Ends the threads and closes the connections.  If the agent runs and PEs of the node
 * live, the others will consider this node failed. */
void ft_agent_stop(struct ft_agent *agent);

#endif
