/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * locality.h - the last-level cache and the NUMA node on which a PE runs.
 *
 * Read from sysfs, because to load an hwloc topology in each of hundreds of PEs would
 * take longer than the rest of shmem_init.
 * Uses: binding.  Used by: nodeseg, coll/groups/groups.
 */
#ifndef PGAS_CORE_LOCALITY_H
#define PGAS_CORE_LOCALITY_H

#include <stdint.h>

/* Nodes with at most this many PEs have no use for it: no PE reads it there. */
enum { LOCALITY_PES = 16 };

/* Equal on two PEs of a node if they have the same cache (node).  0: unknown. */
struct locality {
    int32_t cache; /* 1 + the lowest processor that shares it */
    int32_t numa;  /* 1 + the number of the NUMA node */
};

/* Of this PE.  The cache is known if the PE is bound to processors that share one. */
struct locality locality_read(void);

/* Of a processor, from a directory such as /sys/devices/system/cpu. */
struct place_cpus;
struct locality locality_of_cpus(const char *directory, const struct place_cpus *cpus);

#endif
