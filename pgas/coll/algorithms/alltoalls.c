/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoalls.c - strided all-to-all exchange, see alltoall.h.
 * Uses: core/log, core/net, core/team, alltoall, alltoall_internode, arrival, barrier,
 * mailbox, select, bounce, rma, rma/order, rma/strided, datatype/copy.
 *
 * Algorithms as in alltoall.c: direct gets between two barriers; on a node also pairwise
 * exchange in arrival order; very small data packed and piggybacked on a barrier.  A
 * message costs far more than the bytes of a small gap: if the stride is small, remote
 * elements are fetched in one get with the gaps between them, and unpacked.
 */
#include "config.h"

#include "pgas/coll/algorithms/alltoall.h"
#include "pgas/coll/algorithms/alltoall_internode.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/sync/arrival.h"
#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/select/select.h"
#include "pgas/coll/sync/bounce.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/base/log.h"
#include "pgas/core/progress/net.h"
#include "pgas/datatype/copy.h"
#include "pgas/ft/ft_temp.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"
#include "pgas/rma/strided.h"

enum {
    STEP_MOST = 4096,      /* maximum stride in bytes for fetching with the gaps */
    SPAN_BYTES = 1 << 16,  /* maximum fetched from a PE at a time */
    SPANS_BYTES = 1 << 22, /* maximum from all PEs, but at least an element per PE */
};

/* Extent in bytes of n elements with that stride. */
static size_t alltoalls_span(size_t n, ptrdiff_t stride, const struct strides *x,
                             const char *fn)
{
    size_t bytes;

    if (n == 0)
        return 0;
    if (__builtin_mul_overflow(n - 1, (size_t)stride, &bytes) ||
        __builtin_mul_overflow(bytes, x->size, &bytes) ||
        __builtin_add_overflow(bytes, x->size, &bytes))
        log_misuse(
            "%s: %zu elements of %zu bytes with stride %td exceed the range of size_t",
            fn, n, x->size, stride);
    return bytes;
}

/* Copy n elements; a stride of 1 is contiguous. */
static void alltoalls_copy_elements(char *to, ptrdiff_t to_stride, const char *from,
                                    ptrdiff_t stride, size_t n, size_t size)
{
    size_t to_step = (size_t)to_stride * size, step = (size_t)stride * size;

    for (size_t e = 0; e < n; e++)
        copy_bytes(to + e * to_step, from + e * step, size);
}

/* ---- from remote PEs ------------------------------------------------------------- */

/* Destination and stride of this PE's block from each PE. */
struct fetch {
    const struct shmem_team *team;
    char *to;
    ptrdiff_t dst;
    const char *block; /* symmetric address of this PE's block in each source */
    struct strides x;
    const char *fn;
};

static size_t alltoalls_step_of(const struct fetch *f)
{
    return (size_t)f->x.sst * f->x.size;
}

static char *alltoalls_dest_of(const struct fetch *f, int i, size_t element)
{
    return f->to + ((size_t)i * f->x.n + element) * f->x.size * (size_t)f->dst;
}

/* Elements that are fetched from each remote PE at a time. */
static size_t alltoalls_span_elements(const struct fetch *f, size_t remote)
{
    size_t bytes = SPANS_BYTES / remote < SPAN_BYTES ? SPANS_BYTES / remote : SPAN_BYTES;
    size_t n = bytes / alltoalls_step_of(f);

    n = n < f->x.n ? n : f->x.n;
    return n > 0 ? n : 1;
}

/* Get elements first .. first + n - 1 of each remote PE with their gaps, to `space` bytes
 * of memory per PE. */
static void alltoalls_get_spans(const struct fetch *f, char *memory, size_t space,
                                size_t first, size_t n)
{
    for (int i = 0; i < f->team->npes; i++) {
        int pe = team_world_pe(f->team, i);
        if (!net_remote(pe))
            continue;
        rma_get_nbi(SHMEM_CTX_DEFAULT, memory, f->block + first * alltoalls_step_of(f),
                    (n - 1) * alltoalls_step_of(f) + f->x.size, pe, f->fn);
        memory += space;
    }
    order_quiet(SHMEM_CTX_DEFAULT, f->fn);
}

static void alltoalls_unpack_spans(const struct fetch *f, const char *memory,
                                   size_t space, size_t first, size_t n)
{
    for (int i = 0; i < f->team->npes; i++) {
        if (!net_remote(team_world_pe(f->team, i)))
            continue;
        alltoalls_copy_elements(alltoalls_dest_of(f, i, first), f->dst, memory, f->x.sst,
                                n, f->x.size);
        memory += space;
    }
}

static void alltoalls_fetch_with_gaps(const struct fetch *f)
{
    size_t remote = (size_t)team_count_remote(f->team),
           most = alltoalls_span_elements(f, remote);
    size_t space = most * alltoalls_step_of(f);
    char *memory = ft_temp_alloc(remote * space);

    if (memory == NULL)
        log_die("%s: no memory for %zu bytes of each of %zu PEs", f->fn, space, remote);
    for (size_t first = 0, n; first < f->x.n; first += n) {
        n = f->x.n - first < most ? f->x.n - first : most;
        alltoalls_get_spans(f, memory, space, first, n);
        alltoalls_unpack_spans(f, memory, space, first, n);
    }
    ft_temp_free(memory);
}

static void alltoalls_fetch_elements(const struct fetch *f)
{
    for (int i = 0; i < f->team->npes; i++) {
        int pe = team_world_pe(f->team, i);
        for (size_t e = 0; net_remote(pe) && e < f->x.n; e++)
            rma_get_nbi(SHMEM_CTX_DEFAULT, alltoalls_dest_of(f, i, e),
                        f->block + e * alltoalls_step_of(f), f->x.size, pe, f->fn);
    }
    order_quiet(SHMEM_CTX_DEFAULT, f->fn);
}

/* ---- between two barriers -------------------------------------------------------- */

static void alltoalls_fetch(const struct fetch *f)
{
    const struct strided s = {f->dst, f->x.sst, 1, f->x.n, f->x.size};

    for (int k = 0; k < f->team->npes; k++) {
        int i = (f->team->me + k) % f->team->npes, pe = team_world_pe(f->team, i);
        if (likely(!net_remote(pe)))
            strided_get(SHMEM_CTX_DEFAULT, alltoalls_dest_of(f, i, 0), f->block, s, pe,
                        f->fn);
    }
    if (likely(!f->team->remote))
        return;
    if (alltoalls_step_of(f) <= STEP_MOST)
        alltoalls_fetch_with_gaps(f);
    else
        alltoalls_fetch_elements(f);
}

/* n: number of elements of all blocks of a PE. */
static void alltoalls_exchange_barrier(struct shmem_team *team, void *dest,
                                       const char *source, size_t n,
                                       const struct strides *x, const char *fn)
{
    size_t dest_bytes = alltoalls_span(n, x->dst, x, fn),
           source_bytes = alltoalls_span(n, x->sst, x, fn);
    char *to = bounce_open(dest, dest_bytes, source, source_bytes,
                           rma_bytes(n, x->size, fn), fn);
    const char *block = source + (size_t)team->me * x->n * x->size * (size_t)x->sst;

    barrier_sync(team, fn); /* all sources are ready */
    alltoalls_fetch(&(struct fetch){team, to, to == dest ? x->dst : 1, block, *x, fn});
    barrier_sync(team, fn); /* all sources have been read */
    if (to != dest)
        alltoalls_copy_elements(dest, x->dst, to, 1, n, x->size);
    bounce_close(to, dest, 0);
}

/* ---- in arrival order ------------------------------------------------------------ */

struct blocks {
    const struct shmem_team *team;
    char *dest;
    const char *source;
    struct strides x;
    const char *fn;
};

/* Offset of block i in an array with that stride. */
static size_t alltoalls_block_at(const struct blocks *b, int i, ptrdiff_t stride)
{
    return (size_t)i * b->x.n * b->x.size * (size_t)stride;
}

static void alltoalls_get_block(const struct blocks *b, int i)
{
    const struct strided s = {b->x.dst, b->x.sst, 1, b->x.n, b->x.size};

    strided_get(SHMEM_CTX_DEFAULT, b->dest + alltoalls_block_at(b, i, b->x.dst),
                b->source + alltoalls_block_at(b, b->team->me, b->x.sst), s,
                team_world_pe(b->team, i), b->fn);
}

/* Copy the blocks between PE i and this PE in both directions. */
static void alltoalls_swap_blocks(const void *job, int i)
{
    const struct blocks *b = job;
    const struct strided s = {b->x.dst, b->x.sst, 1, b->x.n, b->x.size};

    alltoalls_get_block(b, i);
    strided_put(SHMEM_CTX_DEFAULT, b->dest + alltoalls_block_at(b, b->team->me, b->x.dst),
                b->source + alltoalls_block_at(b, i, b->x.sst), s,
                team_world_pe(b->team, i), b->fn);
}

/* n: number of elements of all blocks of a PE.  No algorithm uses eager slots with
 * strides, so small blocks use the algorithm of the smallest block that exceeds a slot.
 */
static bool alltoalls_by_arrival(struct shmem_team *team, const void *dest,
                                 const void *source, size_t n, const struct strides *x,
                                 const char *fn)
{
    size_t npes = (size_t)team->npes, block = rma_bytes(n, x->size, fn) / npes;
    size_t mailbox = MAILBOX_SLOT_BYTES / npes;

    if (block <= mailbox)
        block = mailbox + 1;
    return mailbox_has(team) &&
           select_algorithm(team, SELECT_ALLTOALL, block) == ALLTOALL_ARRIVAL &&
           !bounce_overlap(dest, alltoalls_span(n, x->dst, x, fn), source,
                           alltoalls_span(n, x->sst, x, fn));
}

static void alltoalls_exchange_arrival(struct shmem_team *team, char *dest,
                                       const char *source, const struct strides *x,
                                       const char *fn)
{
    struct blocks b = {team, dest, source, *x, fn};

    alltoalls_get_block(&b, team->me);
    arrival_exchange(team, alltoalls_swap_blocks, &b, fn);
}

/* ---- packed ---------------------------------------------------------------------- */

static bool alltoalls_gathers(struct shmem_team *team, const struct strides *x, size_t n,
                              const char *fn)
{
    return team->remote && team->nodes != NULL && n <= INTERNODE_BUFFER / x->size &&
           alltoall_gathers(team, x->n * x->size, fn);
}

static void alltoalls_exchange_gathered(struct shmem_team *team, char *dest,
                                        const char *source, size_t n,
                                        const struct strides *x, const char *fn)
{
    char *packed = ft_temp_alloc(2 * n * x->size), *received = packed + n * x->size;

    if (packed == NULL)
        log_die("%s: no memory to pack %zu bytes", fn, n * x->size);
    alltoalls_copy_elements(packed, 1, source, x->sst, n, x->size);
    alltoall_gather(team, received, packed, x->n * x->size, fn);
    alltoalls_copy_elements(dest, x->dst, received, 1, n, x->size);
    ft_temp_free(packed);
}

int alltoalls(struct shmem_team *team, void *dest, const void *source, struct strides x,
              const char *fn)
{
    if (x.dst == 1 && x.sst == 1)
        return alltoall(team, dest, source, x.n, x.size, fn);
    if (x.dst < 1 || x.sst < 1)
        log_misuse("%s: arguments 'dst' = %td, 'sst' = %td, but they must be at least 1",
                   fn, x.dst, x.sst);
    size_t n = rma_bytes(x.n, (size_t)team->npes, fn);
    if (n == 0)
        return 0;
    (void)peer_at(dest, alltoalls_span(n, x.dst, &x, fn), pgas_self.me, fn);
    (void)peer_at(source, alltoalls_span(n, x.sst, &x, fn), pgas_self.me, fn);
    barrier_guard(team, fn);
    if (alltoalls_gathers(team, &x, n, fn))
        alltoalls_exchange_gathered(team, dest, source, n, &x, fn);
    else if (alltoalls_by_arrival(team, dest, source, n, &x, fn))
        alltoalls_exchange_arrival(team, dest, source, &x, fn);
    else
        alltoalls_exchange_barrier(team, dest, source, n, &x, fn);
    barrier_unguard(team, fn);
    return 0;
}
