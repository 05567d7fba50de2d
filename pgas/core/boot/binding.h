/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * binding.h - sets of processors; where a PE starts when there are fewer of them than
 * PEs. Uses: pgas.h.  Used by: init, nodeseg, net_thread, coll/barrier.
 */
#ifndef PGAS_CORE_PLACE_H
#define PGAS_CORE_PLACE_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A set of processors, as long as the kernel's masks. */
struct place_cpus {
    cpu_set_t *set;
    size_t bytes;
};

/* The affinity mask of a process (0: the calling thread).  True: to be freed. */
bool place_read(pid_t pid, struct place_cpus *cpus);
void place_free(struct place_cpus *cpus);
int place_count(const struct place_cpus *cpus);

/* The processors that the PEs of this node may use together: those of the calling thread,
 * and, as the launcher may have bound this PE, those of its parent that the cgroup of
 * this process allows.  True: to be freed. */
bool place_job(struct place_cpus *cpus);

/* Move this PE to processor (local rank modulo processors) of its affinity mask and let
 * it go again: the PEs begin evenly spread, and bound to nothing.  The kernel alone may
 * leave 3 and 1 of 4 PEs on two processors for seconds, which makes each barrier twice as
 * long. */
void binding_spread(void);

/* May this PE run on that processor?  False for all before binding_spread moved it. */
bool binding_allowed(int cpu);

/* Move to that processor, bound to nothing afterwards.  For binding_allowed ones. */
void binding_move(int cpu);

#endif
