/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * match_regions.h - memory that a heater (match_heater.h) keeps in a shared cache: a
 * table of regions, which any thread may add and free while one thread reads them.
 *
 * A region is memory of malloc or aligned_alloc, aligned to MATCH_LINE.  From
 * match_regions_add until match_regions_free it belongs to both sides; the owner may
 * write it, because the reader only prefetches lines and never uses a value.
 *
 * Invariants: `word` is 0 (free), MATCH_REGION_CLAIMED (an owner fills it in), or the
 * address with flags.  The reader touches memory only while it has set READING, and sets
 * it only by a compare-and-swap from the plain address.  Freeing sets RETIRED: the owner
 * frees the memory if READING was not set, or else the reader when it clears READING.  So
 * exactly one of them frees it, no memory is read after that, and neither waits.
 *
 * Orders: the address is stored with release and claimed with acquire, so that the reader
 * sees `lines`; both flags are changed by acquire-release operations, so that the
 * reader's accesses precede the owner's free. Uses: atomic.  Used by: match_nodes,
 * match_heater, tests.
 */
#ifndef COMPAT_MPI_MATCH_REGIONS_H
#define COMPAT_MPI_MATCH_REGIONS_H

#include <stddef.h>

#include "pgas/threads/atomic.h"

enum { MATCH_REGIONS_MAX = 256, MATCH_NO_REGION = UINT16_MAX };

struct match_region {
    uint64_t word;
    uint64_t lines; /* of MATCH_LINE bytes */
};

struct match_regions {
    uint32_t limit;   /* further regions are not added: they do not pay */
    uint32_t refused; /* regions beyond it so far */
    struct match_region region[MATCH_REGIONS_MAX];
};

/* Returns the number of the region, or MATCH_NO_REGION beyond the limit. */
uint16_t match_regions_add(struct match_regions *r, void *memory, size_t bytes);

/* Frees the memory, which may have no region, at once or after it has been read. */
void match_regions_free(struct match_regions *r, uint16_t region, void *memory);

/* Touches each line of a region unless it is free.  Called by one thread at a time. */
void match_regions_read(struct match_regions *r, uint16_t region);

#endif
