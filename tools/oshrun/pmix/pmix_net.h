/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_net.h - what the PMIx servers of a job's nodes say to each other: fences and
 * groups (gather.c), data of a remote PE (direct modex), events, queries and job control.
 *
 * Uses pmix_host.h, gather.h, wire.h, pack.h.  Used by daemon.c.
 *
 * With one node there is no net: fences and groups are answered at once, the rest
 * locally.
 */
#ifndef OSHRUN_PMIX_PMIX_NET_H
#define OSHRUN_PMIX_PMIX_NET_H

#include "tools/oshrun/util/job.h"
#include "tools/oshrun/util/loop.h"
#include "tools/oshrun/net/pack.h"
#include "tools/oshrun/net/wire.h"
#include "tools/oshrun/pmix/pmix_host.h"

/* How a message leaves this daemon: routed over the tree to f->to. */
struct net_out {
    void (*send)(void *arg, const struct frame *f);
    void *arg;
};

/* What the daemon of the only node knows; with several nodes the front is asked. */
struct pmix_net_local {
    /* All PEs, as in a QUERY_ANSWER behind its number. */
    void (*procs)(void *arg, struct pack *answer);
    void *arg;
};

struct pmix_net;

/* out = NULL: one node, without a net; then local is needed.  NULL: no memory. */
struct pmix_net *pmix_net_new(struct pmix_host *h, const struct job *job,
                              const struct tree *tree, const struct net_out *out,
                              const struct pmix_net_local *local, struct loop *loop);
void pmix_net_free(struct pmix_net *n);

/* A post of pmix_host_take that wants an answer or concerns other nodes; frees it. */
void pmix_net_post(struct pmix_net *n, struct pmix_host_post *post);

/* A message of the types GATHER_* .. QUERY_ANSWER.  0, or -1 if it is not a right one. */
int pmix_net_take(struct pmix_net *n, const struct frame *f);

/* A PE of this node has ended: who waits for its data gets an answer. */
void pmix_net_ended(struct pmix_net *n, uint32_t rank);

/* A node is gone: who waits for it gets an error. */
void pmix_net_lost(struct pmix_net *n, uint32_t node);

#endif
