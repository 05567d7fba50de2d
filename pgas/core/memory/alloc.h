/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alloc.h - a deterministic allocator of offsets: best fit, free neighbours joined.
 *
 * It never touches the memory that it manages: its records are in private memory, so a
 * user's overrun can't corrupt it and untouched memory stays uncommitted.  The same calls
 * give the same offsets in every process.  No lock: the caller has one.
 * Cost O(log blocks); an aligned request that only free blocks between size and size +
 * alignment could hold looks at each of those.  Uses: treap.  Used by: heap.
 */
#ifndef PGAS_CORE_ALLOC_H
#define PGAS_CORE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* Every block begins and ends on a multiple of this; blocks of a cache line and more
 * begin on a line. */
#define ALLOC_GRAIN 16
#define ALLOC_LINE  64

struct alloc;

struct alloc_stats {
    size_t used_bytes, free_bytes, used_blocks, free_blocks, largest_free;
};

/* Manage offsets begin..end, multiples of ALLOC_GRAIN.  NULL without memory. */
struct alloc *alloc_new(size_t begin, size_t end);
void alloc_delete(struct alloc *a);

/* Allocate the private memory that the next alloc_acquire() or alloc_resize() may need.
 * False: there is none.  After true neither fails for lack of private memory, so that its
 * result depends on the calls before it alone, and is the same in every process. */
bool alloc_reserve(struct alloc *a);

/* Take `size` > 0 bytes at a multiple of align (a power of two).  False: no space (or no
 * private memory); nothing is changed then. */
bool alloc_acquire(struct alloc *a, size_t size, size_t align, size_t *offset);

/* Give back the block that begins at offset.  False: no block begins there. */
bool alloc_release(struct alloc *a, size_t offset);

/* Make the block at offset `size` > 0 bytes long where it is.  False: can't be done
 * (or no block begins there); nothing is changed then. */
bool alloc_resize(struct alloc *a, size_t offset, size_t size);

/* Length in bytes of the block that begins at offset; 0 if none does. */
size_t alloc_size(const struct alloc *a, size_t offset);

/* Bytes from offset to the end of what was asked for when the block was taken in which it
 * lies; 0 if it lies in none. */
size_t alloc_block_rest(const struct alloc *a, size_t offset);

void alloc_count(const struct alloc *a, struct alloc_stats *out);

/* Walk everything; false if an invariant is broken (tests). */
bool alloc_valid(const struct alloc *a);

#endif
