/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * symheap.h - symmetric memory (9.3): the local heap allocator combined with a barrier,
 * so that a block is allocated on all PEs when a routine returns, and is no longer in use
 * on any PE when it is freed. Uses: core/heap, barrier.  Used by: api_life.
 */
#ifndef PGAS_COLL_SYMHEAP_H
#define PGAS_COLL_SYMHEAP_H

#include <stddef.h>

/* On failure each allocation routine returns NULL on all PEs, and PE 0 prints a warning
 * once.  A size of 0 returns NULL without a barrier. */
void *symheap_malloc(size_t size, size_t align, const char *fn);
void *symheap_malloc_with_hints(size_t size, long hints, const char *fn);
void *symheap_calloc(size_t count, size_t size, const char *fn);
void *symheap_realloc(void *p, size_t size, const char *fn);
void symheap_free(void *p, const char *fn);

/*
 * With SHMEM_FT=continue a failure may interrupt a routine.  The heaps of the survivors
 * stay equal: each change of a heap follows a barrier that succeeds on all live PEs or on
 * none (ft/ft_commit.h).  An allocation whose last barrier fails is undone on all of
 * them.
 */

#endif
