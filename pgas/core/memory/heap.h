/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heap.h - the symmetric heap of this PE: one sealed memfd that the PEs of the node map.
 *
 * Layout in ascending order (the last two parts are aligned to HEAP_ALIGN; pages are
 * committed when touched):
 *   HEAP_RESERVED bytes        symmetric data of the library
 *   env.team_size bytes        sync areas of user teams (team.h)
 *   env.shared_size bytes      node-shared results, allocated per PE
 *   env.symmetric_size bytes   the user's blocks
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
/* Offsets in the reserved part: the sync areas of the predefined teams end at HEAP_TEAMS;
 * pgas/profile uses the part from HEAP_PROFILE on. */
#define HEAP_TEAMS   (HEAP_RESERVED / 2)
#define HEAP_PROFILE (HEAP_RESERVED / 8 * 5)
/* Offset of a word that is 1 on PEs with SHMEM_PROFILE_ARRIVAL; set before the PEs
 * synchronise. */
#define HEAP_PROFILED (HEAP_RESERVED - sizeof(uint64_t))

/* Creates and maps the heap.  Returns 0, or -1 with errno. */
int heap_init(void);
void heap_fini(void);

/* Local part of the memory routines, without synchronisation of PEs.  Thread-safe. */
void *heap_alloc(size_t size, size_t align);
bool heap_free(void *p);
/* Resizes in place; false: not possible. */
bool heap_resize(void *p, size_t size);
/* Size in bytes of the block that begins at p, including padding; 0 if there is none. */
size_t heap_size(const void *p);
/* Bytes from p to the requested end (without padding) of the block that contains it; 0 if
 * there is none. */
size_t heap_block_rest(const void *p);

/* Allocate and free page-aligned memory of this PE for a node-shared result; *offset is
 * its heap offset.  False: no space.  Thread-safe. */
bool heap_alloc_result(size_t size, size_t *offset);
void heap_free_result(size_t offset);

#endif
