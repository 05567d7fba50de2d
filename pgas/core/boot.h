/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * boot.h - who am I, who else is there and on which nodes, and what PEs tell each other
 * before they can reach each other's memory: a plain PMIx client, or a job of one PE.
 *
 * One thread at a time may call these.  get waits up to a day, barrier for ever, as only
 * the launcher can tell a PE that is late from one that is dead: it ends the job.
 * Uses: pgas.h, log.  Used by: init, nodeseg.
 */
#ifndef PGAS_CORE_BOOT_H
#define PGAS_CORE_BOOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A node is the PEs that the launcher says share one; those without PEs do not count.
 * Nodes are numbered by their lowest PEs, so PE 0 is on node 0, alike on all PEs. */
struct boot {
    uint32_t rank, size;
    uint32_t local_rank, local_size;
    uint32_t *local_pes; /* PE numbers of this node's PEs, by local rank */
    uint32_t node, nnodes;
    uint32_t *node_of; /* the node of each PE */
    bool launched;     /* there is a PMIx server */
};

/* Connect.  Ends the process with a sentence if a launcher is there but does not answer.
 */
void boot_connect(struct boot *b);

/* The host name of a node as the launcher has it; two nodes may have the same. */
void boot_node_name(const struct boot *b, uint32_t node, char *name, size_t size);

/* All nodes with their numbers of PEs, as in "n0: 2, n1: 2": as many as fit. */
void boot_nodes_text(const struct boot *b, char *text, size_t size);

/* Who can get what a PE puts: the PEs of its node at once, or all after a barrier. */
enum boot_scope { BOOT_NODE, BOOT_ALL };

/*
 * Publish len > 0 bytes under a key, once in a generation / get what PE `rank` has put in
 * this generation: its length, or -1 if it has more than `room` bytes.  A get from the
 * same node waits for the put.  put and barrier return 0.  All return -1 if PMIx fails:
 * boot_error says why.  A PE that runs alone has nobody to get anything from.
 */
int boot_put(enum boot_scope scope, const char *key, const void *data, size_t len);
ssize_t boot_get(uint32_t rank, const char *key, void *data, size_t room);

/* Wait for all PEs of the job.  What they put before can then be had without waiting. */
int boot_barrier(void);

/* What went wrong at the last call that returned -1. */
const char *boot_error(void);

/* Ask the launcher to end the whole job with this status. */
void boot_abort(int status, const char *why);

/* Disconnect; frees what connect filled, unless other threads may still read it. */
void boot_disconnect(struct boot *b, bool keep);

#endif
