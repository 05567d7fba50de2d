/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * symheap.h - symmetric memory (9.3): the local heap allocator combined with a barrier,
 * so that a block is allocated on all PEs when a routine returns, and is no longer in use
 * on any PE when it is freed. Uses: core/heap, barrier.  Used by: api_life.
 */
#ifndef PGAS_COLL_SYMHEAP_H
#define PGAS_COLL_SYMHEAP_H

#include <stddef.h>
#include <stdint.h>

/* On failure each allocation routine returns NULL on all PEs, and PE 0 prints a warning
 * once.  A size of 0 returns NULL without a barrier. */
void *symheap_malloc(size_t size, size_t align, const char *fn);
void *symheap_malloc_with_hints(size_t size, long hints, const char *fn);
void *symheap_calloc(size_t count, size_t size, const char *fn);
void *symheap_realloc(void *p, size_t size, const char *fn);
void symheap_free(void *p, const char *fn);

/*
 * With SHMEM_FT=continue a failure may interrupt a routine on some PEs and not on others,
 * but the heaps of the survivors must stay equal.  Each change of the heap therefore
 * follows a barrier: if any PE has applied change n, every PE has entered the routine,
 * and knows the change.  shmemx_team_shrink of the world computes the maximum of
 * symheap_applied, and a PE that is behind by its pending change applies it.  The minimum
 * of symheap_agreed may be higher by one: no PE has freed the old block of a
 * shmem_realloc, but all have returned the new one, so all free it.
 */
uint64_t symheap_applied(void);
uint64_t symheap_agreed(void);
void symheap_catch_up(uint64_t applied, uint64_t agreed);

#endif
