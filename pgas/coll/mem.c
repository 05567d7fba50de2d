/* SPDX-License-Identifier: BSD-3-Clause */
/* mem.c - see mem.h.  Uses: core/heap, core/log, barrier. */
#include "config.h"

#include <string.h>

#include "pgas/coll/barrier.h"
#include "pgas/coll/mem.h"
#include "pgas/core/check.h"
#include "pgas/core/heap.h"
#include "pgas/core/log.h"
#include "pgas/core/pgas.h"

enum { POISON = 0xdb }; /* what SHMEM_DEBUG=2 leaves in memory that has been freed */

static void meet(const char *fn)
{
    barrier(team_of(SHMEM_TEAM_WORLD, fn), fn);
}

static void *take(size_t size, size_t align, const char *fn)
{
    void *p = heap_take(size, align);

    if (p == NULL)
        log_debug("%s: no room for %zu bytes in the symmetric heap of %zu bytes; set "
                  "SHMEM_SYMMETRIC_SIZE to a larger size",
                  fn, size, pgas_self.env.symmetric_size);
    return p;
}

void *mem_take(size_t size, size_t align, const char *fn)
{
    struct shmem_team *world = team_of(SHMEM_TEAM_WORLD, fn);

    /* An alignment must be a power of two and a multiple of a pointer's size. */
    if (align == 0 || (align & (align - 1)) != 0 || align % sizeof(void *) != 0 ||
        size == 0)
        return NULL;
    void *p = take(size, align, fn);
    barrier(world, fn);
    return p;
}

void *mem_take_zeroed(size_t count, size_t size, const char *fn)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    struct shmem_team *world = team_of(SHMEM_TEAM_WORLD, fn);
    void *p = bytes > 0 ? take(bytes, sizeof(void *), fn) : NULL;
    if (p != NULL)
        memset(p, 0, bytes);
    if (bytes > 0)
        barrier(world, fn);
    return p;
}

static void check_block(void *p, const char *fn)
{
    if (heap_size(p) == 0)
        log_die(
            "%s: argument 'ptr' = %p is not the beginning of a block from shmem_malloc "
            "(or it has been freed already)",
            fn, p);
}

void mem_give(void *p, const char *fn)
{
    if (p == NULL)
        return;
    meet(fn); /* nobody uses the block any more */
    check_block(p, fn);
    if (check_deep())
        memset(p, POISON, heap_size(p));
    heap_give(p);
}

void *mem_resize(void *p, size_t size, const char *fn)
{
    if (p == NULL)
        return mem_take(size, sizeof(void *), fn);
    if (size == 0) {
        mem_give(p, fn);
        return NULL;
    }
    meet(fn);
    check_block(p, fn);
    size_t old = heap_size(p);
    void *moved = p;
    if (!heap_resize(p, size)) {
        moved = take(size, sizeof(void *), fn);
        if (moved != NULL) {
            memcpy(moved, p, old < size ? old : size);
            heap_give(p);
        }
    }
    meet(fn);
    return moved;
}
