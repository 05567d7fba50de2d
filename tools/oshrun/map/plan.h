/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan.h - the hosts, the way to start daemons and the map, from options and environment.
 *
 * Uses options.h, hosts.h, map.h.  Used by front.c.
 */
#ifndef OSHRUN_MAP_PLAN_H
#define OSHRUN_MAP_PLAN_H

#include "tools/oshrun/map/map.h"
#include "tools/oshrun/front/options.h"

#include <stdbool.h>

enum plan_kind {
    PLAN_HERE,   /* one node, this machine: the daemon is oshrun itself */
    PLAN_VNODES, /* --vnodes: daemons as children */
    PLAN_HOSTS,  /* --host, --hostfile: by the agent */
    PLAN_SLURM,  /* inside an allocation: by srun */
};

struct plan {
    enum plan_kind kind;
    struct hosts hosts; /* as given, but localhost is replaced by the name of this host */
    bool *local;        /* per job->node[]: it is this machine */
};

/*
 * Fills plan and the map of job (npes, nnodes, node[], here, virtual_nodes).  --vnodes,
 * --host and --hostfile, of which one can be given, take precedence over
 * SHMEM_LAUNCH_VNODES, _HOSTS and _HOSTFILE, and these over a Slurm allocation
 * (SLURM_JOB_NODELIST), which is ignored if oshrun itself is a task of a step with
 * several tasks.  Otherwise the hosts are those of the rank file, or this machine.  If
 * all PEs are on this machine it is PLAN_HERE.  0, or oshrun's exit status after an
 * error message: 2 for bad options and variables SHMEM_LAUNCH_*, 1 for errors in a file
 * or in Slurm's variables.  Call plan_free in any case.
 */
int plan_make(struct plan *plan, const struct options *o, struct job *job);
void plan_free(struct plan *plan, struct job *job);

#endif
