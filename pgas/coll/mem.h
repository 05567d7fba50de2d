/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mem.h - symmetric memory (9.3): the local allocator and a barrier, so that memory is
 * there on all PEs when a routine returns, and out of use on all before it is given back.
 * Uses: core/heap, barrier.  Used by: api_life.
 */
#ifndef PGAS_COLL_MEM_H
#define PGAS_COLL_MEM_H

#include <stddef.h>

/* Each returns NULL on all PEs if there is no room, and PE 0 says so once; size 0 gives
 * NULL without a barrier.
 */
void *mem_take(size_t size, size_t align, const char *fn);
void *mem_take_with_hints(size_t size, long hints, const char *fn);
void *mem_take_zeroed(size_t count, size_t size, const char *fn);
void *mem_resize(void *p, size_t size, const char *fn);
void mem_give(void *p, const char *fn);

#endif
