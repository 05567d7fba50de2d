/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coredump.h - what of the symmetric memory a core file of this PE contains (SHMEM_CORE).
 *
 * The kernel faults in every page of a shared mapping that it dumps: the whole address
 * space of the heap, of the teams and of each mapped peer would be allocated and written.
 * So these mappings are left out (MADV_DONTDUMP) but for what SHMEM_CORE wants:
 *   small  nothing of the symmetric heap
 *   heap   the part of this PE's heap up to the last block that was ever handed out
 *   full   everything
 * Global variables are in the core file always.  Uses: pgas.h, heap.h, log.
 */
#ifndef PGAS_CORE_COREDUMP_H
#define PGAS_CORE_COREDUMP_H

#include <stddef.h>

/* Read SHMEM_CORE; ends the job with a sentence if it is not valid. */
void coredump_init(void);

/* Leave a new mapping of symmetric memory out, unless the mode is full. */
void coredump_exclude(void *base, size_t len);

/* The block at offset .. offset + size of this PE's heap has been handed out.  Called
 * with heap_lock held. */
void coredump_include(size_t offset, size_t size);

#endif
