/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * placement.h - on which NUMA nodes the pages of the symmetric heap are, and their size.
 *
 * SHMEM_HEAP_NUMA:
 *   touch       on the node of the thread that touches a page first, which may be one of
 *               another PE (the kernel's default)
 *   local       on the node on which the PE runs in shmem_init, as long as it has memory
 *   interleave  page by page in turn on all nodes that the PE may use
 *   bind:LIST   on these nodes only, as in 0,2-3
 * The policy belongs to the shared memory: it holds for all PEs that touch it, and costs
 * nothing before pages are touched.
 *
 * Uses: pgas.h, log, number.  Used by: heap.
 */
#ifndef PGAS_CORE_PLACEMENT_H
#define PGAS_CORE_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PLACEMENT_NODES = 1024, PLACEMENT_WORDS = PLACEMENT_NODES / 64 };

struct placement {
    int mode; /* MPOL_*; MPOL_DEFAULT: no policy is set */
    uint64_t nodes[PLACEMENT_WORDS];
};

/* False if the value is not valid. */
bool placement_parse(struct placement *p, const char *value);

/* Applies SHMEM_HEAP_NUMA to the mapped shared memory, and asks for huge pages.  A value
 * that is not valid, or nodes that do not exist, end the job. */
void placement_apply(void *base, size_t len);

#endif
