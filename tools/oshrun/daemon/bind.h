/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bind.h - which PE runs on which processors.
 *
 * Uses job.h and hwloc.  Used by daemon.c.
 */
#ifndef OSHRUN_DAEMON_BIND_H
#define OSHRUN_DAEMON_BIND_H

#include "tools/oshrun/util/job.h"

#include <sched.h>

#define BIND_TEXT 160

struct bind_place {
    cpu_set_t cpus;
    char text[BIND_TEXT]; /* "core 1 (cpu 2,3)", "cores 4-7 (cpu 4-7)" */
};

struct bind_plan {
    struct bind_place *place; /* one per PE of the node; NULL = no PE is bound */
};

/* Processors in oshrun's own affinity mask. */
uint32_t bind_cpu_count(void);

/* Processors for the PEs of the daemon's node: all of them, or the share of this node if
 * virtual nodes share them; at least 1. */
uint32_t bind_cpu_share(const struct job *job);
/* Whether the PEs that share these processors are more than the processors. */
bool bind_is_oversubscribed(const struct job *job);

/* The objects [first, end) of a machine */
struct bind_range {
    uint32_t first, end;
};

/* The cores or NUMA nodes of PE `pe` of the `sharers` PEs of a machine with `places` of
 * them.  By NUMA node: consecutive PEs share one.  By core: one, round-robin.  By
 * default: an equal share of the cores, which are neighbours; then sharers <= places. */
struct bind_range bind_share(enum job_bind bind, uint32_t pe, uint32_t sharers,
                             uint32_t places);

/* Binds the PEs of node job->here: by default to their shares of its cores, unless PEs
 * outnumber these.  PEs of virtual nodes come after those of the
 * preceding nodes.  Processors from a rank file take precedence over job->bind.  0, or
 * -1 after an error message. */
int bind_make(struct bind_plan *plan, const struct job *job);
void bind_free(struct bind_plan *plan);

#endif
