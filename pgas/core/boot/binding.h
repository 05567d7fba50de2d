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

/* A CPU set that is as large as the kernel's affinity masks. */
struct place_cpus {
    cpu_set_t *set;
    size_t bytes;
};

/* Reads the affinity mask of a process (0: the calling thread).  If true, the caller
 * frees *cpus with place_free. */
bool place_read(pid_t pid, struct place_cpus *cpus);
void place_free(struct place_cpus *cpus);
int place_count(const struct place_cpus *cpus);

/* The processors that the PEs of this node may use together.  The launcher may have bound
 * this PE to some of them, so this is the union of the calling thread's mask and its
 * parent's, restricted to the cgroup of this process.  If true, the caller frees *cpus
 * with place_free. */
bool place_job(struct place_cpus *cpus);

/* On an oversubscribed node: migrates this PE to processor (local rank modulo number of
 * processors) of its affinity mask and restores the mask, so that PEs start evenly
 * distributed but unbound.  Otherwise the kernel may run 3 of 4 PEs on one of two
 * processors for seconds, which doubles the time of each barrier. */
void binding_spread(void);

/* True if binding_move may migrate this PE to that processor; false before
 * binding_spread, on a node that is not oversubscribed and with a single processor. */
bool binding_allowed(int cpu);

/* Migrates the calling thread to an allowed processor and leaves it unbound.  Does
 * nothing after the program has changed the affinity mask itself. */
void binding_move(int cpu);

#endif
