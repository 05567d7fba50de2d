/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_net.h - messages between the PMIx servers of a job: fences and groups (gather.c),
 * data of a remote PE (direct modex), events and queries.
 *
 * Uses pmix_host.h, gather.h, wire.h, pack.h.  Used by daemon.c, daemon_wire.c.
 *
 * With one node fences and groups complete at once.
 */
#ifndef OSHRUN_PMIX_PMIX_NET_H
#define OSHRUN_PMIX_PMIX_NET_H

#include "tools/oshrun/util/job.h"
#include "tools/oshrun/util/loop.h"
#include "tools/oshrun/net/pack.h"
#include "tools/oshrun/net/wire.h"
#include "tools/oshrun/pmix/pmix_host.h"

struct pmix_net;

/* Returns NULL without memory. */
struct pmix_net *pmix_net_new(struct pmix_host *h, const struct job *job,
                              const struct tree *tree, const struct net_out *out,
                              struct loop *loop);
void pmix_net_free(struct pmix_net *n);

/* Registers the job and the PEs of this node with libpmix.  Does not wait: the loop calls
 * done when libpmix has finished, with 0, or with -1 after an error message; never if the
 * call itself returns -1, after an error message. */
int pmix_net_register(struct pmix_net *n, void (*done)(void *arg, int rc), void *arg);

/* Handles a message of the types GATHER_* to QUERY_ANSWER.  0, or -1: malformed, or no
 * memory. */
int pmix_net_recv(struct pmix_net *n, const struct frame *f);

/* A PE of this node has connected to the server, or disconnected from it. */
void pmix_net_connected(struct pmix_net *n, uint32_t rank, bool connected);

/* A PE of this node has ended: answers the requests for its data. */
void pmix_net_ended(struct pmix_net *n, uint32_t rank);

/* A PE of any node has failed (SHMEM_FT=continue): notifies the PEs of this node by the
 * event PMIX_ERR_PROC_ABORTED.  Call once per PE. */
void pmix_net_failed(struct pmix_net *n, uint32_t rank);

/* Tests whether libpmix's thread still runs, and calls `stuck` in the loop if it has not
 * answered after 2.5 s.  libpmix 4.2 can deadlock when a process is killed while it
 * connects: its thread then waits for a mutex in memory that it has released. */
void pmix_net_probe(struct pmix_net *n, void (*stuck)(void *arg), void *arg);

/* True if all members of a collective on a node have failed.  key: of a message of
 * gather.c, or any bytes. */
bool pmix_net_is_absent(const void *key, size_t len, const struct job_node *node,
                        const bool *failed);

/* A node is lost: the requests that depend on it fail; with SHMEM_FT=continue only those
 * for data of its PEs. */
void pmix_net_lost(struct pmix_net *n, uint32_t node);

#endif
