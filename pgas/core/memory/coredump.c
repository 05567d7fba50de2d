/* SPDX-License-Identifier: BSD-3-Clause */
/* coredump.c - see coredump.h. */
#include "config.h"

#include <string.h>
#include <sys/mman.h>

#include "pgas/core/memory/coredump.h"
#include "pgas/core/memory/heap.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/pgas.h"
#include "pgas/core/base/pgas_assert.h"

static enum { MODE_SMALL, MODE_HEAP, MODE_FULL } mode;

/* Heap offset up to which the user's part is included in core files; 0: nothing yet.
 * Protected by heap_lock.  It grows in steps of HEAP_ALIGN and never shrinks, so that the
 * kernel splits the heap into at most three mappings and few allocations need a system
 * call. */
static size_t included_end;

void coredump_init(void)
{
    static const char *const names[] = {
        [MODE_SMALL] = "small", [MODE_HEAP] = "heap", [MODE_FULL] = "full"};
    const char *value = pgas_self.env.core;

    included_end = 0; /* each generation has its own heap */
    for (mode = MODE_SMALL; mode <= MODE_FULL; mode++)
        if (strcmp(value, names[mode]) == 0)
            return;
    log_die("SHMEM_CORE=\"%s\" is not valid: it takes full, heap or small", value);
}

/* Failure is harmless: core files are larger. */
void coredump_exclude(void *base, size_t len)
{
    if (mode != MODE_FULL)
        madvise(base, len, MADV_DONTDUMP);
}

void coredump_include(size_t offset, size_t size)
{
    const struct pgas *g = &pgas_self;
    size_t begin = included_end > 0 ? included_end : g->heap_user;
    size_t end = (offset + size + HEAP_ALIGN - 1) / HEAP_ALIGN * HEAP_ALIGN;

    PGAS_ASSERT(offset >= g->heap_user && size <= g->heap_len - offset);
    PGAS_ASSERT(begin % HEAP_ALIGN == 0 || begin == g->heap_len);
    if (mode != MODE_HEAP || end <= begin)
        return;
    if (end > g->heap_len)
        end = g->heap_len;
    madvise((void *)(g->heap_base + begin), end - begin, MADV_DODUMP);
    included_end = end;
}
