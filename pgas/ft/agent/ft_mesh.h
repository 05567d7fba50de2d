/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_mesh.h - TCP connections between the agents of all nodes: at most one for each pair,
 * opened when the first message is sent.
 *
 * Both ends of a connection prove that they know the secret of the job (ft_mesh_auth.c);
 * from then on each frame is sealed (core/base/seal.h).  A frame that is not authentic,
 * or not the next one, closes the connection, and so does a reply to the connector that
 * begins as one but is not authentic; they are reported once for each node.  The next
 * connection has other keys, and gets what was not acknowledged.  If messages are not
 * acknowledged for FT_MESH_VERIFY probe_ns, the mesh asks the other end to, so that it
 * finds out if frames at the end were taken away.
 * Messages between two agents arrive once and in order, also if a connection is lost:
 * each end keeps messages until the other one has acknowledged them, and sends them again
 * over the next connection, which is opened while there are such messages.
 * All functions return without waiting; ft_mesh_step processes what is ready.
 *
 * Contract.  An accepted message is never dropped while both agents run and neither
 * considers the other one failed.  If a node does not acknowledge `queue` bytes, or there
 * is no memory for its messages, one of the two therefore fails: its messages are
 * dropped, its connection is closed, and `failed` is called before any later message is
 * sent to it. The host ends its own PEs if it has no memory.  Otherwise it reports the
 * node as failed (ft_proto_node_lost) and from then on sends it nothing but this verdict,
 * upon which the node ends its PEs.
 *
 * TCP sends a lost segment again after at least 200 ms if it knows of no later one that
 * has arrived (RFC 6298, RFC 8985), and a heartbeat is a single segment.  If a message is
 * not acknowledged within probe_ns, the mesh sends a probe, some empty frames, each a
 * segment of its own; their selective acknowledgements cause TCP to send the lost one
 * again at once.  That fails if the congestion window, which shrinks with each loss and
 * does not grow with so little traffic, has no space for a probe.  So after some probes
 * the mesh opens another connection, which replaces the first one when the other end
 * accepts it.
 *
 * If two agents connect to each other at the same time, both keep the connection of the
 * lower node.  An agent whose process replaces that of another agent of the same node has
 * a higher incarnation: the others replace the endpoint of the node and its connection.
 *
 * Limits: FT_MESH_MESSAGE bytes for each message; FT_MESH_QUEUE bytes, or those of the
 * job, that a node has not acknowledged; FT_MESH_PENDING connections that are not yet
 * authenticated, each for FT_MESH_PROVE_MS.
 *
 * Threads: one at a time.  Uses: ft_map.h, core/base/address.h, core/base/seal.h.
 * Used by: ft_agent.
 */
#ifndef PGAS_FT_MESH_H
#define PGAS_FT_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pgas/ft/ft_map.h"

enum {
    FT_MESH_MESSAGE = 4 << 20,
    FT_MESH_QUEUE = 8 << 20,
    FT_MESH_PENDING = 64,
    FT_MESH_PROVE_MS = 2000,
    FT_MESH_VERIFY = 64,
};

struct ft_mesh;

/* The job, which is known only after the agents have listened. */
struct ft_mesh_job {
    uint32_t node, nnodes, incarnation; /* of this agent */
    uint32_t attempt_ms;                /* for one address of a node to accept */
    uint64_t probe_ns;     /* for TCP to get an acknowledgement, before probes are sent */
    size_t queue;          /* bytes that a node need not acknowledge; 0: FT_MESH_QUEUE */
    const uint8_t *secret; /* FT_SECRET bytes */
    struct ft_endpoint *endpoint; /* of each node; the mesh replaces those that change */
    /* Called by ft_mesh_step only; all may call the functions below. */
    void (*message)(void *arg, uint32_t node, uint32_t tag, const void *bytes, size_t n);
    /* The connection has been closed, or could not be opened. */
    void (*closed)(void *arg, uint32_t node);
    /* Messages to the node have been dropped, once for each node: with the next one, its
     * queue would have had so many bytes, which is more than the limit, or for which
     * there is no memory.  The node counts as given up. */
    void (*failed)(void *arg, uint32_t node, size_t bytes, size_t limit);
    /* The connection to the node has been changed by somebody; once for each node. */
    void (*forged)(void *arg, uint32_t node);
    void *arg;
};

/* Listens at the addresses that `which` selects (address_choose in core/base/address.h;
 * NULL: of all interfaces) and stores at most FT_ADDRESSES of them in *own.  NULL: an
 * error message is in why. */
struct ft_mesh *ft_mesh_open(const char *which, struct ft_endpoint *own, char *why,
                             size_t size);
void ft_mesh_close(struct ft_mesh *mesh);

/* From now on connections are accepted and opened.  The job is copied, but not what it
 * points to.  False: no memory. */
bool ft_mesh_join(struct ft_mesh *mesh, const struct ft_mesh_job *job);

/* Sends a message of n > 0 bytes with a number for the receiver, or queues it until the
 * node is connected. */
void ft_mesh_send(struct ft_mesh *mesh, uint32_t node, uint32_t tag, const void *bytes,
                  size_t n);

/* Connects to the node, although there is no message: it must learn the endpoint of this
 * agent. */
void ft_mesh_connect(struct ft_mesh *mesh, uint32_t node);

/* The node has failed: drops what is queued and opens no further connection to it.  An
 * existing connection, and one that the node opens, serve on: a node that runs
 * nevertheless must learn that the others consider it failed. */
void ft_mesh_give_up(struct ft_mesh *mesh, uint32_t node);

/* Readable when there is something to process. */
int ft_mesh_fd(const struct ft_mesh *mesh);
/* CLOCK_MONOTONIC nanoseconds at which ft_mesh_step must be called in any case. */
uint64_t ft_mesh_due(const struct ft_mesh *mesh);
void ft_mesh_step(struct ft_mesh *mesh, uint64_t now);

/* True if the kernel has all messages to nodes that are connected or being connected. */
bool ft_mesh_idle(const struct ft_mesh *mesh);

#endif
