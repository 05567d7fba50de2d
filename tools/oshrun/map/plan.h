/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan.h - from the options and the environment: on which hosts, started how, what where.
 *
 * Uses options.h, hosts.h, map.h.  Used by front.c.
 */
#ifndef OSHRUN_MAP_PLAN_H
#define OSHRUN_MAP_PLAN_H

#include "tools/oshrun/map/map.h"
#include "tools/oshrun/options.h"

#include <stdbool.h>

enum plan_kind {
    PLAN_HERE,   /* one node, this machine: the daemon is oshrun itself */
    PLAN_VNODES, /* --vnodes: daemons as children */
    PLAN_HOSTS,  /* --host, --hostfile: by the agent */
    PLAN_SLURM,  /* inside an allocation: by srun */
};

struct plan {
    enum plan_kind kind;
    struct hosts hosts; /* as they were named */
    bool *local;        /* per job.node: it is this machine */
};

/*
 * Fills plan and the map of job.  --vnodes comes before --host and --hostfile, these
 * before SHMEM_LAUNCH_HOSTS and SHMEM_LAUNCH_HOSTFILE, these before a Slurm allocation
 * (SLURM_JOB_NODELIST), which counts only if oshrun is not itself a task of a step with
 * several tasks.  A single host that is this machine is PLAN_HERE.  0, or oshrun's exit
 * status (2 for bad options, 1 for what a file or a variable says) after a complaint.
 */
int plan_make(struct plan *plan, const struct options *o, struct job *job);
void plan_free(struct plan *plan, struct job *job);

#endif
