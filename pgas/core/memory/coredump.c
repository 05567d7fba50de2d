/* SPDX-License-Identifier: BSD-3-Clause */
/* coredump.c - see coredump.h. */
#include "config.h"

#include <string.h>
#include <sys/mman.h>

#include "pgas/core/core_state.h"
#include "pgas/core/memory/coredump.h"
#include "pgas/core/memory/heap.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/pgas.h"
#include "pgas/core/base/pgas_assert.h"

#define STATE core_self.coredump

void coredump_init(void)
{
    static const char *const names[] = {
        [COREDUMP_SMALL] = "small", [COREDUMP_HEAP] = "heap", [COREDUMP_FULL] = "full"};
    const char *value = pgas_self.env.core;

    STATE.included_end = 0; /* each generation has its own heap */
    for (STATE.mode = COREDUMP_SMALL; STATE.mode <= COREDUMP_FULL; STATE.mode++)
        if (strcmp(value, names[STATE.mode]) == 0)
            return;
    log_die("SHMEM_CORE=\"%s\" is not valid: it takes full, heap or small", value);
}

/* Failure is harmless: core files are larger. */
void coredump_exclude(void *base, size_t len)
{
    if (STATE.mode != COREDUMP_FULL)
        madvise(base, len, MADV_DONTDUMP);
}

void coredump_include(size_t offset, size_t size)
{
    const struct pgas *g = &pgas_self;
    size_t begin = STATE.included_end > 0 ? STATE.included_end : g->heap_user;
    size_t end = (offset + size + HEAP_ALIGN - 1) / HEAP_ALIGN * HEAP_ALIGN;

    PGAS_ASSERT(offset >= g->heap_user && size <= g->heap_len - offset);
    PGAS_ASSERT(begin % HEAP_ALIGN == 0 || begin == g->heap_len);
    if (STATE.mode != COREDUMP_HEAP || end <= begin)
        return;
    if (end > g->heap_len)
        end = g->heap_len;
    madvise((void *)(g->heap_base + begin), end - begin, MADV_DODUMP);
    STATE.included_end = end;
}
