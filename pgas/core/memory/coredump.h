/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coredump.h - selects the symmetric memory in a core file of this PE (SHMEM_CORE).
 *
 * The kernel faults in every page of a shared mapping that it dumps, so it would allocate
 * and write the whole address space of the heap, the teams and each mapped peer.
 * Therefore these mappings are excluded (MADV_DONTDUMP), except as selected by
 * SHMEM_CORE:
 * - small: nothing of the symmetric heap
 * - heap: this PE's heap up to the highest block ever allocated
 * - full: everything
 *
 * Global variables are always in the core file.  Uses: pgas.h, heap.h, log.
 */
#ifndef PGAS_CORE_COREDUMP_H
#define PGAS_CORE_COREDUMP_H

#include <stddef.h>

/* Reads SHMEM_CORE; an invalid value is reported and ends the job. */
void coredump_init(void);

/* Excludes a new mapping of symmetric memory unless the mode is full. */
void coredump_exclude(void *base, size_t len);

/* Includes a newly allocated block of this PE's heap.  The caller holds heap_lock. */
void coredump_include(size_t offset, size_t size);

#endif
