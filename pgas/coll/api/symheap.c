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

#define STATE coll_self.symheap

static void symheap_barrier(const char *fn)
{
    barrier(team_live(), fn);
}

/* The barrier before a change of the heap, which a failure may end. */
static void symheap_begin_change(enum symheap_change change, const char *fn)
{
    STATE.pending = change;
    symheap_barrier(fn);
    STATE.pending = SYMHEAP_NONE;
    STATE.applied++;
}

uint64_t symheap_applied(void)
{
    return STATE.applied;
}

uint64_t symheap_agreed(void)
{
    return STATE.applied + (STATE.pending == SYMHEAP_MOVED);
}

void symheap_catch_up(uint64_t applied, uint64_t agreed)
{
    uint64_t target = applied > agreed ? applied : agreed;

    if (STATE.applied < target && STATE.pending == SYMHEAP_ALLOC)
        (void)heap_alloc(STATE.size, STATE.align); /* NULL was returned for it */
    else if (STATE.applied < target && STATE.pending != SYMHEAP_NONE)
        heap_free(STATE.block);
    STATE.pending = SYMHEAP_NONE;
    STATE.applied = target;
}

/* True if this PE shall print a warning: all PEs get the same result, so only PE 0 warns,
 * and only in the first call with this `warned`. */
static bool symheap_warns(uint32_t *warned)
{
    return pgas_self.me == 0 && swap_acq_rel_u32(warned, 1) == 0;
}

static void *symheap_alloc(size_t size, size_t align, const char *fn)
{
    if (unlikely(pgas_self.ft != NULL)) {
        STATE.size = size;
        STATE.align = align;
        symheap_begin_change(SYMHEAP_ALLOC, fn);
    }
    void *p = heap_alloc(size, align);

    if (p == NULL && symheap_warns(&coll_self.symheap.no_memory_warned))
        log_warn(
            "%s: cannot allocate %zu bytes in the symmetric heap of %zu bytes; NULL is "
            "returned; set SHMEM_SYMMETRIC_SIZE to a larger size (reported once)",
            fn, size, pgas_self.heap_len - pgas_self.heap_user);
    return p;
}

void *symheap_malloc(size_t size, size_t align, const char *fn)
{
    if (align == 0 || (align & (align - 1)) != 0 || size == 0)
        return NULL;
    void *p = symheap_alloc(size, align, fn);
    symheap_barrier(fn);
    return p;
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

    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    void *p = bytes > 0 ? symheap_alloc(bytes, sizeof(void *), fn) : NULL;
    if (p != NULL)
        memset(p, 0, bytes);
    if (bytes > 0)
        symheap_barrier(fn);
    return p;
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
    STATE.block = p;
    symheap_begin_change(SYMHEAP_FREE, fn); /* no PE uses the block any more */
    symheap_check_block(p, fn);
    if (check_deep())
        memset(p, POISON, heap_size(p));
    heap_free(p);
}

/* Frees the old block of a realloc unless a failure comes before: then the shrink frees
 * it if all survivors have got the new one. */
static __attribute__((noinline)) void symheap_free_moved(void *p, const char *fn)
{
    STATE.block = p;
    STATE.pending = SYMHEAP_MOVED;
    FT_GUARD(guard, ft_guard_open_team(&guard, team_live()), );
    symheap_begin_change(SYMHEAP_MOVED, fn);
    heap_free(p);
}

/* As symheap_realloc, by two changes.  A failure may end the first one on some PEs: they
 * return NULL.  No PE passes the barrier of the second change unless all have the new
 * block, so where some PE has returned NULL the old block stays allocated, with its
 * contents, on all PEs; the second change does not alter the result. */
static void *symheap_move(void *p, size_t size, const char *fn)
{
    symheap_check_block(p, fn);
    size_t old = heap_size(p);
    void *moved = symheap_alloc(size, sizeof(void *), fn);
    if (moved == NULL)
        return NULL;
    memcpy(moved, p, old < size ? old : size);
    symheap_free_moved(p, fn);
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
    symheap_barrier(fn);
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
    symheap_barrier(fn);
    return moved;
}
