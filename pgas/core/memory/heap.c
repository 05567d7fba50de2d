/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.c - see heap.h.  Uses: pgas.h, segment, alloc, coredump, placement, log,
 * pgas_assert. */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <unistd.h>

#include "pgas/core/memory/alloc.h"
#include "pgas/core/memory/coredump.h"
#include "pgas/core/memory/heap.h"
#include "pgas/core/memory/placement.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/pgas.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/memory/segment.h"

static size_t heap_round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static void heap_delete_allocs(void)
{
    alloc_delete(pgas_self.alloc);
    alloc_delete(pgas_self.results);
    pgas_self.alloc = pgas_self.results = NULL;
}

int heap_init(void)
{
    struct pgas *g = &pgas_self;
    size_t shared = heap_round_up(HEAP_RESERVED + g->env.team_size, HEAP_ALIGN);
    size_t begin = shared + heap_round_up(g->env.shared_size, HEAP_ALIGN);
    size_t len =
        begin + heap_round_up(g->env.symmetric_size, (size_t)sysconf(_SC_PAGESIZE));

    g->heap_fd = segment_create("pgas-heap", len);
    if (g->heap_fd < 0)
        return -1;
    char *base = segment_map(g->heap_fd, len, HEAP_ALIGN);
    if (base == NULL)
        goto close_fd;
    placement_apply(base, len);
    coredump_exclude(base, len);
    g->alloc = alloc_new(begin, len);
    g->results = alloc_new(shared, begin);
    if (g->alloc == NULL || g->results == NULL)
        goto unmap;
    PGAS_ASSERT((uintptr_t)base % HEAP_ALIGN == 0 && begin % HEAP_ALIGN == 0);
    PGAS_ASSERT(HEAP_RESERVED <= shared && shared <= begin && begin <= len);
    g->heap_base = (uintptr_t)base;
    g->heap_len = len;
    g->heap_user = begin;
    return 0;

unmap:
    heap_delete_allocs();
    segment_unmap(base, len);
close_fd:;
    int reason = errno;
    close(g->heap_fd);
    g->heap_fd = -1;
    errno = reason;
    return -1;
}

void heap_fini(void)
{
    struct pgas *g = &pgas_self;

    if (g->heap_fd < 0)
        return;
    heap_delete_allocs();
    segment_unmap((void *)g->heap_base, g->heap_len);
    close(g->heap_fd);
    g->heap_fd = -1;
    g->heap_base = 0;
    g->heap_len = 0;
}

/* Called with heap_lock held.  All PEs make the same calls and rely on equal offsets.  If
 * a PE that cannot record a block continued, its later offsets would differ from those of
 * its peers, which would silently overwrite its memory; therefore the job ends. */
static void heap_reserve_or_die(struct alloc *a)
{
    if (!alloc_reserve(a))
        log_die("no private memory to record a block of the symmetric heap, whose layout "
                "must be the same on all PEs; raise the memory limit of this process "
                "(ulimit -v, cgroup) or use fewer PEs on this node");
}

void *heap_alloc(size_t size, size_t align)
{
    struct pgas *g = &pgas_self;
    size_t offset;

    pthread_mutex_lock(&g->heap_lock);
    heap_reserve_or_die(g->alloc);
    bool taken = alloc_acquire(g->alloc, size, align, &offset);
    if (taken)
        coredump_include(offset, size);
    pthread_mutex_unlock(&g->heap_lock);
    PGAS_ASSERT(!taken || (offset >= g->heap_user && size <= g->heap_len - offset));
    return taken ? (char *)g->heap_base + offset : NULL;
}

static size_t heap_offset_of(const void *p)
{
    return (uintptr_t)p - pgas_self.heap_base;
}

bool heap_free(void *p)
{
    struct pgas *g = &pgas_self;

    pthread_mutex_lock(&g->heap_lock);
    bool given = alloc_release(g->alloc, heap_offset_of(p));
    pthread_mutex_unlock(&g->heap_lock);
    return given;
}

bool heap_resize(void *p, size_t size)
{
    struct pgas *g = &pgas_self;

    pthread_mutex_lock(&g->heap_lock);
    heap_reserve_or_die(g->alloc);
    bool resized = alloc_resize(g->alloc, heap_offset_of(p), size);
    if (resized)
        coredump_include(heap_offset_of(p), size);
    pthread_mutex_unlock(&g->heap_lock);
    return resized;
}

bool heap_alloc_result(size_t size, size_t *offset)
{
    struct pgas *g = &pgas_self;

    pthread_mutex_lock(&g->heap_lock);
    bool taken = alloc_acquire(g->results, size, (size_t)sysconf(_SC_PAGESIZE), offset);
    pthread_mutex_unlock(&g->heap_lock);
    PGAS_ASSERT(!taken || (*offset >= HEAP_RESERVED && *offset + size <= g->heap_user));
    return taken;
}

void heap_free_result(size_t offset)
{
    struct pgas *g = &pgas_self;

    pthread_mutex_lock(&g->heap_lock);
    bool given = alloc_release(g->results, offset);
    pthread_mutex_unlock(&g->heap_lock);
    PGAS_ASSERT(given);
    (void)given;
}

size_t heap_size(const void *p)
{
    struct pgas *g = &pgas_self;

    pthread_mutex_lock(&g->heap_lock);
    size_t size = alloc_size(g->alloc, heap_offset_of(p));
    pthread_mutex_unlock(&g->heap_lock);
    return size;
}

size_t heap_block_rest(const void *p)
{
    struct pgas *g = &pgas_self;

    pthread_mutex_lock(&g->heap_lock);
    size_t rest = alloc_block_rest(g->alloc, heap_offset_of(p));
    pthread_mutex_unlock(&g->heap_lock);
    return rest;
}
