/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alloc.h - a deterministic allocator of offsets: best fit with coalescing.
 *
 * Its records are in private memory and it never accesses the memory that it manages: an
 * overrun by the user cannot corrupt them, and unused memory stays uncommitted.  Equal
 * sequences of calls give equal offsets in every process.  Not thread-safe: the caller
 * holds a lock.  Cost: O(log blocks), but an aligned request that fits only into free
 * blocks between size and size + alignment examines each of those.
 * Uses: treap.  Used by: heap.
 */
#ifndef PGAS_CORE_ALLOC_H
#define PGAS_CORE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* Alignment of all blocks; blocks of at least a cache line are aligned to the line. */
#define ALLOC_GRAIN 16
#define ALLOC_LINE  64

struct alloc;

struct alloc_stats {
    size_t used_bytes, free_bytes, used_blocks, free_blocks, largest_free;
};

/* Creates an allocator of the offsets [begin, end), both multiples of ALLOC_GRAIN.  NULL:
 * out of memory. */
struct alloc *alloc_new(size_t begin, size_t end);
void alloc_delete(struct alloc *a);

/* Allocates the private memory that the next alloc_acquire() or alloc_resize() may need.
 * False: out of memory.  After success, the result of that call depends only on the
 * preceding calls and is equal in every process. */
bool alloc_reserve(struct alloc *a);

/* Allocates `size` > 0 bytes at a multiple of align (a power of two).  False: no free
 * block is large enough, or out of private memory; the state is unchanged. */
bool alloc_acquire(struct alloc *a, size_t size, size_t align, size_t *offset);

/* Frees the block that begins at offset.  False: no block begins there. */
bool alloc_release(struct alloc *a, size_t offset);

/* Resizes the block at offset in place to `size` > 0 bytes.  False: no space after it, no
 * block begins at offset, or out of private memory; the state is unchanged. */
bool alloc_resize(struct alloc *a, size_t offset, size_t size);

/* Size in bytes of the block that begins at offset, including padding; 0 if there is
 * none. */
size_t alloc_size(const struct alloc *a, size_t offset);

/* Bytes from offset to the requested end (without padding) of the block that contains it;
 * 0 if there is none. */
size_t alloc_block_rest(const struct alloc *a, size_t offset);

void alloc_count(const struct alloc *a, struct alloc_stats *out);

/* Walks all blocks; false if an invariant is violated.  For tests and assertions. */
bool alloc_valid(const struct alloc *a);

#endif
