/* SPDX-License-Identifier: BSD-3-Clause */
/* peer.c - see peer.h.  Uses: pgas.h, segment, heap, log. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/heap.h"
#include "pgas/core/log.h"
#include "pgas/core/peer.h"
#include "pgas/core/segment.h"

int peer_init(const uint32_t *local_pes)
{
    struct pgas *g = &pgas_self;

    g->peer = calloc(g->npes, sizeof *g->peer);
    if (g->peer == NULL)
        return -1;
    for (uint32_t i = 0; i < g->local_size; i++)
        g->peer[local_pes[i]].node = &g->node->pe[i];
    return 0;
}

void peer_fini(void)
{
    free(pgas_self.peer);
    pgas_self.peer = NULL;
}

/* Map one segment of a peer and publish it.  Called with peer_lock held. */
static char *map_segment(char **slot, int pe, int fd, size_t len, size_t align)
{
    if (*slot != NULL)
        return *slot;
    char *p = segment_map_peer(pgas_self.peer[pe].node->pid, fd, len, align);
    if (p == NULL)
        log_die("can't map the memory of PE %d (process %d) through /proc/%d/fd/%d: %s; "
                "the PEs of a node must share the PID namespace and the user "
                "(oshmem_info --check tests it)",
                pe, pgas_self.peer[pe].node->pid, pgas_self.peer[pe].node->pid, fd,
                strerror(errno));
    __atomic_store_n(slot, p, __ATOMIC_RELEASE);
    return p;
}

static char *heap_of(int pe)
{
    struct pgas *g = &pgas_self;
    struct peer *p = &g->peer[pe];

    pthread_mutex_lock(&g->peer_lock);
    if (p->heap == NULL && p->node->heap_len != g->heap_len)
        log_die("the symmetric heap has %zu bytes here and %llu on PE %d; set "
                "SHMEM_SYMMETRIC_SIZE to one value for all PEs",
                g->heap_len, (unsigned long long)p->node->heap_len, pe);
    char *base = map_segment(&p->heap, pe, p->node->heap_fd, g->heap_len, HEAP_ALIGN);
    pthread_mutex_unlock(&g->peer_lock);
    return base;
}

static char *data_of(int pe)
{
    struct pgas *g = &pgas_self;
    struct peer *p = &g->peer[pe];

    pthread_mutex_lock(&g->peer_lock);
    if (p->data == NULL &&
        (p->node->data_tag != g->data_tag || p->node->data_len != g->data_len))
        log_die("PE %d runs another executable, so that its global variables are not "
                "symmetric with ours; use memory from shmem_malloc",
                pe);
    char *base = map_segment(&p->data, pe, p->node->data_fd, g->data_len, 0);
    pthread_mutex_unlock(&g->peer_lock);
    return base;
}

/* `len` bytes at addr in a segment of `bytes` at base?  Their offset goes to *offset. */
static bool inside(uintptr_t base, size_t bytes, const void *addr, size_t len,
                   size_t *offset)
{
    *offset = (uintptr_t)addr - base;
    return *offset < bytes && len <= bytes - *offset;
}

void *peer_find(const void *addr, size_t len, int pe)
{
    const struct pgas *g = &pgas_self;
    size_t offset;

    if ((uint32_t)pe >= g->npes || g->peer[pe].node == NULL)
        return NULL;
    if (inside(g->heap_base, g->heap_len, addr, len, &offset))
        return heap_of(pe) + offset;
    if (inside(g->data_base, g->data_len, addr, len, &offset))
        return data_of(pe) + offset;
    return NULL;
}

void peer_check(int pe, const char *fn)
{
    if (pgas_self.life != LIFE_UP)
        log_die("%s: called %s", fn,
                pgas_self.life == LIFE_NEW ? "before shmem_init: call shmem_init first"
                                           : "after shmem_finalize");
    if ((uint32_t)pe >= pgas_self.npes)
        log_die("%s: argument 'pe' = %d, but team WORLD has PEs 0..%u", fn, pe,
                pgas_self.npes - 1);
}

void *peer_at_slow(const void *addr, size_t len, int pe, const char *fn)
{
    peer_check(pe, fn);
    void *p = peer_find(addr, len, pe);
    if (p != NULL)
        return p;
    if (len == 0)
        return pgas_self.peer[pgas_self.me].heap;
    log_die(
        "%s: %zu bytes at %p are not symmetric: neither in the symmetric heap "
        "(%p, %zu bytes) nor in the global variables of the executable (%p, %zu bytes); "
        "use shmem_malloc or a global or static variable",
        fn, len, addr, (void *)pgas_self.heap_base, pgas_self.heap_len,
        (void *)pgas_self.data_base, pgas_self.data_len);
}
