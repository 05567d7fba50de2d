/* SPDX-License-Identifier: BSD-3-Clause */
/* symheap.c - see symheap.h.  Uses: core/heap, core/log, threads/atomic, barrier. */
#include "config.h"

#include <string.h>

#include "pgas/coll/api/coll_state.h"
#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/api/symheap.h"
#include "pgas/core/check/check.h"
#include "pgas/core/memory/heap.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/pgas.h"
#include "pgas/core/team/team.h"
#include "pgas/ft/ft.h"
#include "pgas/threads/atomic.h"

enum { POISON = 0xdb }; /* fill pattern of freed memory with SHMEM_DEBUG=2 */

/* False on all live PEs: a failure has interrupted the barrier (ft_commit.h). */
static __attribute__((noinline)) bool symheap_barrier(const char *fn)
{
    FT_GUARD(guard, ft_guard_open_team(&guard, team_live()), guard.status == 0);
    barrier(team_live(), fn);
    return true;
}

/* True if this PE shall print a warning: all PEs get the same result, so only PE 0 warns,
 * and only in the first call with this `warned`. */
static bool symheap_warns(uint32_t *warned)
{
    return pgas_self.me == 0 && swap_acq_rel_u32(warned, 1) == 0;
}

/* NULL on all PEs: a failure, or no memory. */
static void *symheap_alloc(size_t size, size_t align, const char *fn)
{
    if (unlikely(pgas_self.ft != NULL) && !symheap_barrier(fn))
        return NULL;
    void *p = heap_alloc(size, align);

    if (p == NULL && symheap_warns(&coll_self.symheap.no_memory_warned))
        log_warn(
            "%s: cannot allocate %zu bytes in the symmetric heap of %zu bytes; NULL is "
            "returned; set SHMEM_SYMMETRIC_SIZE to a larger size (reported once)",
            fn, size, pgas_self.heap_len - pgas_self.heap_user);
    return p;
}

/* The barrier after an allocation; NULL: a failure has interrupted it, and the block is
 * freed, on all PEs. */
static void *symheap_end_alloc(void *p, const char *fn)
{
    if (likely(symheap_barrier(fn)) || p == NULL)
        return p;
    heap_free(p);
    return NULL;
}

void *symheap_malloc(size_t size, size_t align, const char *fn)
{
    if (align == 0 || (align & (align - 1)) != 0 || size == 0)
        return NULL;
    return symheap_end_alloc(symheap_alloc(size, align, fn), fn);
}

void *symheap_malloc_with_hints(size_t size, long hints, const char *fn)
{
    const long known = SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE;

    if ((hints & ~known) != 0 && symheap_warns(&coll_self.symheap.hints_warned))
        log_warn(
            "%s: argument 'hints' has unknown bits (0x%lx), which are ignored; known "
            "are SHMEM_MALLOC_ATOMICS_REMOTE and SHMEM_MALLOC_SIGNAL_REMOTE (0x%lx; "
            "reported once)",
            fn, (unsigned long)(hints & ~known), (unsigned long)known);
    /* All symmetric memory supports atomics and signals, so hints have no effect. */
    return symheap_malloc(size, sizeof(void *), fn);
}

void *symheap_calloc(size_t count, size_t size, const char *fn)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes) || bytes == 0)
        return NULL;
    void *p = symheap_alloc(bytes, sizeof(void *), fn);
    if (p != NULL)
        memset(p, 0, bytes);
    return symheap_end_alloc(p, fn);
}

static void symheap_check_block(void *p, const char *fn)
{
    if (heap_size(p) == 0)
        log_misuse(
            "%s: argument 'ptr' = %p is not the beginning of a block from shmem_malloc "
            "(or it has been freed already)",
            fn, p);
}

void symheap_free(void *p, const char *fn)
{
    if (p == NULL)
        return;
    if (!symheap_barrier(fn)) /* no PE uses the block any more */
        return;
    symheap_check_block(p, fn);
    if (check_deep())
        memset(p, POISON, heap_size(p));
    heap_free(p);
}

/* As symheap_realloc, by two barriers with a uniform outcome: if a failure interrupts
 * the second one, the new block is freed and the old one stays, on all PEs. */
static void *symheap_move(void *p, size_t size, const char *fn)
{
    symheap_check_block(p, fn);
    size_t old = heap_size(p);
    void *moved = symheap_alloc(size, sizeof(void *), fn);
    if (moved == NULL)
        return NULL;
    memcpy(moved, p, old < size ? old : size);
    moved = symheap_end_alloc(moved, fn);
    if (moved != NULL)
        heap_free(p);
    return moved;
}

void *symheap_realloc(void *p, size_t size, const char *fn)
{
    if (p == NULL)
        return symheap_malloc(size, sizeof(void *), fn);
    if (size == 0) {
        symheap_free(p, fn);
        return NULL;
    }
    if (unlikely(pgas_self.ft != NULL))
        return symheap_move(p, size, fn);
    (void)symheap_barrier(fn);
    symheap_check_block(p, fn);
    size_t old = heap_size(p);
    void *moved = p;
    if (!heap_resize(p, size)) {
        moved = symheap_alloc(size, sizeof(void *), fn);
        if (moved != NULL) {
            memcpy(moved, p, old < size ? old : size);
            heap_free(p);
        }
    }
    (void)symheap_barrier(fn);
    return moved;
}
