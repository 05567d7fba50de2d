/* SPDX-License-Identifier: BSD-3-Clause */
/* peer.c - see peer.h.  Uses: pgas.h, segment, heap, net, log. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/memory/coredump.h"
#include "pgas/core/memory/heap.h"
#include "pgas/core/base/log.h"
#include "pgas/core/progress/net.h"
#include "pgas/core/boot/nodeseg.h"
#include "pgas/core/memory/peer.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/memory/segment.h"
#include "pgas/ft/ft.h"

enum { REGIONS_TEXT_MAX = 384 };

int peer_init(const uint32_t *local_pes)
{
    struct pgas *g = &pgas_self;

    g->peer = calloc(g->npes, sizeof *g->peer);
    if (g->peer == NULL)
        return -1;
    for (uint32_t i = 0; i < g->local_size; i++) {
        PGAS_ASSERT(local_pes[i] < g->npes);
        PGAS_ASSERT(i == 0 || local_pes[i - 1] < local_pes[i]);
    }
    for (uint32_t i = 0; i < g->local_size; i++)
        g->peer[local_pes[i]].node = &g->node->pe[i];
    PGAS_ASSERT(g->heap_len >= PEER_HEAP_MIN);
    store_release_u32(&g->peers, g->npes);
    return 0;
}

void peer_fini(void)
{
    struct pgas *g = &pgas_self;

    store_relaxed_u32(&g->peers, 0); /* before what peer_quick relies on */
    fence_full();
    for (uint32_t i = 0; i < g->npes; i++) {
        if ((int)i == g->me)
            continue;
        if (g->peer[i].heap != NULL)
            segment_unmap(g->peer[i].heap, g->heap_len);
        if (g->peer[i].data != NULL)
            segment_unmap(g->peer[i].data, g->data_len);
    }
    free(g->peer);
    g->peer = NULL;
}

/* With SHMEM_FT=continue: a mapping in place of a segment of a PE that has died before
 * the first access to it.  All paths work, stores have no effect elsewhere, and loads
 * give 0, or what this PE has stored.  NULL if the PE has not died; errno is unchanged.
 */
static char *peer_map_sink(int pe, size_t len, size_t align)
{
    int reason = errno;
    bool dead = pgas_self.ft != NULL && (ft_pe_failed(pe) || nodeseg_await_end(pe));

    errno = reason;
    return dead ? segment_map_sink(len, align) : NULL;
}

/* A collective must not take the zeros of a sink for data of the PE, which has died. */
static void peer_end_collective(int pe)
{
    uint32_t dead = (uint32_t)pe;

    ft_map_fail(pgas_self.node, &dead, 1);
    if (pgas_thread.guard == NULL)
        return;
    pgas_thread.guard->team->ft_cache = 0; /* FT_CACHED_NONE: computed again */
    ft_check_guard();
}

/* Maps one segment of a peer and publishes the address.  NULL with errno.  May end a
 * collective (ft_unwind). */
static char *peer_map_segment(char **slot, int pe, int fd, size_t len, size_t align)
{
    struct pgas *g = &pgas_self;
    bool sink = false;

    pthread_mutex_lock(&g->peer_lock);
    char *p = *slot;
    if (p == NULL) {
        PGAS_ASSERT(pe != g->me && g->peer[pe].node != NULL);
        if (!ft_pe_failed(pe)) /* the kernel may have reused its process ID */
            p = segment_map_peer(g->peer[pe].node->pid, fd, len, align);
        if (p == NULL) {
            p = peer_map_sink(pe, len, align);
            sink = p != NULL;
        }
        if (p != NULL)
            coredump_exclude(p, len); /* it belongs in the peer's core file */
        __atomic_store_n(slot, p, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&g->peer_lock);
    if (unlikely(sink))
        peer_end_collective(pe);
    return p;
}

/* True if the PE's heap has the same size as ours.  A remote PE's is checked when this
 * PE connects to it. */
static bool peer_same_heap(int pe)
{
    return net_remote(pe) || pgas_self.peer[pe].node->heap_len == pgas_self.heap_len;
}

/* True if the PE's globals have the same layout as ours. */
static bool peer_same_data(int pe)
{
    const struct node_pe *n = pgas_self.peer[pe].node;

    if (net_remote(pe)) {
        net_connect(pe);
        uint32_t program = load_acquire_u32(&pgas_self.peer[pe].program);
        return program == PROGRAM_SAME ||
               (program == PROGRAM_UNKNOWN && ft_pe_failed(pe));
    }
    return n->data_tag == pgas_self.data_tag && n->data_len == pgas_self.data_len;
}

static bool peer_reachable(int pe)
{
    return (uint32_t)pe < pgas_self.peers && pgas_self.peer[pe].node != NULL;
}

void *peer_find(const void *addr, size_t len, int pe)
{
    const struct pgas *g = &pgas_self;
    char *base = NULL;
    size_t offset;

    if (!peer_reachable(pe))
        return NULL;
    struct peer *p = &g->peer[pe];
    enum transport_segment segment = symaddr_find(addr, len, &offset);
    if (segment == SEGMENT_HEAP && peer_same_heap(pe))
        base = peer_map_segment(&p->heap, pe, p->node->heap_fd, g->heap_len, HEAP_ALIGN);
    else if (segment == SEGMENT_DATA && peer_same_data(pe))
        base = peer_map_segment(&p->data, pe, p->node->data_fd, g->data_len, 0);
    return base != NULL ? base + offset : NULL;
}

const char *peer_life_text(void)
{
    if (pgas_self.life == LIFE_NEW)
        return "before shmem_init: call shmem_init first";
    if (pgas_self.life == LIFE_FORKED)
        return "in a child of fork(), which is not a PE";
    return "after shmem_finalize";
}

void peer_check(int pe, const char *fn)
{
    if (pgas_self.life != LIFE_UP)
        log_misuse("%s: called %s", fn, peer_life_text());
    if ((uint32_t)pe >= pgas_self.npes)
        log_misuse("%s: argument 'pe' = %d, but team WORLD has PEs 0..%u", fn, pe,
                   pgas_self.npes - 1);
}

const char *peer_regions(char *text, size_t size)
{
    const struct pgas *g = &pgas_self;

    snprintf(text, size,
             "neither in the symmetric heap (%p, %zu bytes) nor in the global variables "
             "of the executable (%p, %zu bytes; not those of shared libraries); use "
             "shmem_malloc or a global or static variable of the executable",
             (void *)(g->heap_base + g->heap_user), g->heap_len - g->heap_user,
             (void *)g->data_base, g->data_len);
    return text;
}

/* Reports why peer_find returned NULL, and ends the job. */
static _Noreturn void peer_explain(const void *addr, size_t len, int pe, const char *fn)
{
    const struct pgas *g = &pgas_self;
    int reason = errno;
    char where[REGIONS_TEXT_MAX];
    size_t offset;
    enum transport_segment segment = symaddr_find(addr, len, &offset);
    bool heap = segment == SEGMENT_HEAP, data = segment == SEGMENT_DATA;

    if (heap && !peer_same_heap(pe))
        log_die(
            "%s: the symmetric heap has %zu bytes here and %llu on PE %d; set "
            "SHMEM_SYMMETRIC_SIZE, SHMEM_TEAM_SIZE and SHMEM_SHARED_SIZE to one value "
            "for all PEs",
            fn, g->heap_len, (unsigned long long)g->peer[pe].node->heap_len, pe);
    if (data && !peer_same_data(pe))
        log_misuse("%s: PE %d runs another executable, so its global variables are not "
                   "symmetric with ours; use memory from shmem_malloc",
                   fn, pe);
    if ((heap || data) && nodeseg_await_end(pe))
        log_lost("%s: PE %d (process %d) has ended", fn, pe, (int)g->peer[pe].node->pid);
    if (heap || data)
        log_die(
            "%s: cannot map the memory of PE %d through /proc/%d/fd: %s; the PEs of a "
            "node must share the PID namespace and the user (oshmem_info --check)",
            fn, pe, (int)g->peer[pe].node->pid, strerror(reason));
    log_misuse("%s: %zu bytes at %p are not symmetric: %s", fn, len, addr,
               peer_regions(where, sizeof where));
}

struct transport_symaddr peer_symaddr(const void *addr, size_t len, int pe,
                                      const char *fn)
{
    size_t offset;
    enum transport_segment segment = symaddr_find(addr, len, &offset);

    if (unlikely(segment == SEGMENTS ||
                 (segment == SEGMENT_DATA && !peer_same_data(pe)))) {
        peer_check(pe, fn);
        peer_explain(addr, len, pe, fn);
    }
    return (struct transport_symaddr){.pe = pe, .segment = segment, .offset = offset};
}

bool peer_accessible(const void *addr, int pe)
{
    size_t offset;

    if (!net_remote(pe))
        return peer_find(addr, 1, pe) != NULL;
    enum transport_segment segment = symaddr_find(addr, 1, &offset);
    return segment == SEGMENT_HEAP || (segment == SEGMENT_DATA && peer_same_data(pe));
}

void *peer_at_slow(const void *addr, size_t len, int pe, const char *fn)
{
    peer_check(pe, fn);
    void *p = peer_find(addr, len, pe);
    if (p != NULL)
        return p;
    if (len == 0)
        return pgas_self.peer[pgas_self.me].heap;
    if (net_remote(pe))
        log_die("%s: internal error: cannot map the memory of PE %d, which is on another "
                "node; please report it",
                fn, pe);
    peer_explain(addr, len, pe, fn);
}
