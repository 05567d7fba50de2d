/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heap.h - the symmetric heap of this PE: one sealed memfd that all PEs of the node map.
 *
 * Layout: the library's own symmetric words (HEAP_RESERVED bytes); those of user teams
 * (team.h; env.team_size of address space); aligned to HEAP_ALIGN, node-shared results
 * (env.shared_size of address space, allocated per PE); aligned to HEAP_ALIGN, the user's
 * blocks (env.symmetric_size).  Pages are committed when touched.
 * Uses: pgas.h, segment, alloc, log.
 * Used by: peer, coll/life, coll/symheap, coll/shared.
 */
#ifndef PGAS_CORE_HEAP_H
#define PGAS_CORE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEAP_ALIGN    ((size_t)2 << 20) /* a huge page */
#define HEAP_RESERVED ((size_t)2 << 20)
#define HEAP_TEAMS    (HEAP_RESERVED / 2) /* until here: words of the predefined teams */
#define HEAP_PROFILE  (HEAP_RESERVED / 8 * 5) /* from here on: for pgas/profile */
/* A word that is 1 on PEs with SHMEM_PROFILE_ARRIVAL; set before the PEs synchronise. */
#define HEAP_PROFILED (HEAP_RESERVED - sizeof(uint64_t))

/* Creates and maps the heap for env.symmetric_size bytes.  Returns 0, or -1 with errno.
 */
int heap_init(void);
void heap_fini(void);

/* Local parts of the memory routines, without synchronisation of PEs.  Thread-safe. */
void *heap_alloc(size_t size, size_t align);
bool heap_free(void *p);
/* Resizes in place; false: not possible. */
bool heap_resize(void *p, size_t size);
/* Bytes of the block that begins at p; 0 if none does. */
size_t heap_size(const void *p);
/* Bytes from p to the end of the block that contains it; 0 if no block does. */
size_t heap_block_rest(const void *p);

/* Allocate and free page-aligned memory of this PE for a node-shared result, as an offset
 * in the heap.  False: no space.  Thread-safe. */
bool heap_alloc_result(size_t size, size_t *offset);
void heap_free_result(size_t offset);

#endif
