/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * binding.h - processor sets, and the initial placement of PEs on oversubscribed nodes.
 * Uses: pgas.h.  Used by: coll/life, nodeseg, net_thread, coll/barrier.
 */
#ifndef PGAS_CORE_PLACE_H
#define PGAS_CORE_PLACE_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A set of processors, of the size of the kernel's masks. */
struct place_cpus {
    cpu_set_t *set;
    size_t bytes;
};

/* Reads the affinity mask of a process (0: the calling thread).  True: place_free it. */
bool place_read(pid_t pid, struct place_cpus *cpus);
void place_free(struct place_cpus *cpus);
int place_count(const struct place_cpus *cpus);

/* The processors that the PEs of this node may use together: those of the calling thread
 * and, as the launcher may have bound this PE, those of its parent that the cgroup of
 * this process allows.  True: place_free it. */
bool place_job(struct place_cpus *cpus);

/* Migrates this PE to processor (local rank modulo processors) of its affinity mask and
 * restores the mask: PEs start evenly distributed and unbound.  The kernel alone may
 * leave 3 and 1 of 4 PEs on two processors for seconds, which doubles the time of each
 * barrier. */
void binding_spread(void);

/* True if this PE may run on that processor; always false before binding_spread. */
bool binding_allowed(int cpu);

/* Migrates to an allowed processor; unbound afterwards. */
void binding_move(int cpu);

#endif
