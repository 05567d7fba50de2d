/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoalls.c - strided all-to-all exchange, see alltoall.h.
 * Uses: core/log, core/team, alltoall, alltoall_internode, arrival, barrier, mailbox,
 * select, bounce, rma, rma/order, rma/strided.
 *
 * On a node as alltoall.c: direct gets between two barriers, or pairwise exchange in
 * arrival order.  Over several nodes gather exchanges packed blocks, direct and bruck
 * pack while they make bundles, pairwise is a strided put to each PE between two
 * barriers, and barrier a strided get from each.
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
#include "pgas/ft/ft_temp.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"
#include "pgas/rma/strided.h"

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

/* Copy n elements between local arrays. */
static void alltoalls_copy(char *to, ptrdiff_t dst, const char *from, ptrdiff_t sst,
                           size_t n, size_t size)
{
    strided_copy(to, from, &(struct strided){dst, sst, 1, n, size});
}

static char *alltoalls_alloc(size_t bytes, const char *fn)
{
    char *memory = ft_temp_alloc(bytes);

    if (memory == NULL)
        log_die("%s: no memory to pack %zu bytes", fn, bytes);
    return memory;
}

/* ---- between two barriers -------------------------------------------------------- */

/* Gets from the PEs of the node, packed ones from remote PEs.
 * n: number of elements of all blocks of a PE. */
static void alltoalls_exchange_barrier(struct shmem_team *team, void *dest,
                                       const char *source, size_t n,
                                       const struct strides *x, const char *fn)
{
    size_t dest_bytes = alltoalls_span(n, x->dst, x, fn),
           source_bytes = alltoalls_span(n, x->sst, x, fn);
    char *to = bounce_open(dest, dest_bytes, source, source_bytes,
                           rma_bytes(n, x->size, fn), fn);
    const char *block = source + (size_t)team->me * x->n * x->size * (size_t)x->sst;
    const struct strided s = {to == dest ? x->dst : 1, x->sst, 1, x->n, x->size};

    barrier_sync(team, fn); /* all sources are ready */
    for (int k = 0; k < team->npes; k++) {
        int i = (team->me + k) % team->npes;
        strided_get(CTX_LIBRARY, to + (size_t)i * x->n * x->size * (size_t)s.dst, block,
                    s, team_world_pe(team, i), fn);
    }
    barrier_sync(team, fn); /* all sources have been read */
    if (to != dest)
        alltoalls_copy(dest, x->dst, to, 1, n, x->size);
    bounce_close(to, dest, 0);
}

/* Puts, which are packed between nodes and need not be waited for one by one.  All PEs
 * have entered the call before one writes to another's destination; so a source that
 * overlaps the destination is copied first. */
static void alltoalls_exchange_puts(struct shmem_team *team, char *dest,
                                    const char *source, size_t n, const struct strides *x,
                                    const char *fn)
{
    struct strided s = {x->dst, x->sst, 1, x->n, x->size};
    char *copy = NULL;

    if (bounce_overlap(dest, alltoalls_span(n, x->dst, x, fn), source,
                       alltoalls_span(n, x->sst, x, fn))) {
        copy = alltoalls_alloc(rma_bytes(n, x->size, fn), fn);
        alltoalls_copy(copy, 1, source, x->sst, n, x->size);
        s.sst = 1;
    }
    size_t from_step = x->n * x->size * (size_t)s.sst,
           at = (size_t)team->me * x->n * x->size * (size_t)x->dst;
    barrier_sync(team, fn);
    for (int k = 1; k <= team->npes; k++) { /* the own block while others are sent */
        int i = (team->me + k) % team->npes;
        strided_put(CTX_LIBRARY, dest + at,
                    (copy != NULL ? copy : source) + (size_t)i * from_step, s,
                    team_world_pe(team, i), fn);
    }
    order_quiet(CTX_LIBRARY, fn);
    barrier_sync(team, fn);
    ft_temp_free(copy);
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

    strided_get(CTX_LIBRARY, b->dest + alltoalls_block_at(b, i, b->x.dst),
                b->source + alltoalls_block_at(b, b->team->me, b->x.sst), s,
                team_world_pe(b->team, i), b->fn);
}

/* Copy the blocks between PE i and this PE in both directions. */
static void alltoalls_swap_blocks(const void *job, int i)
{
    const struct blocks *b = job;
    const struct strided s = {b->x.dst, b->x.sst, 1, b->x.n, b->x.size};

    alltoalls_get_block(b, i);
    strided_put(CTX_LIBRARY, b->dest + alltoalls_block_at(b, b->team->me, b->x.dst),
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

/* ---- over several nodes ---------------------------------------------------------- */

/* Pack, exchange contiguous blocks, unpack. */
static void alltoalls_exchange_gathered(struct shmem_team *team, char *dest,
                                        const char *source, size_t n,
                                        const struct strides *x, const char *fn)
{
    size_t bytes = n * x->size;
    char *packed = alltoalls_alloc(2 * bytes, fn), *received = packed + bytes;

    alltoalls_copy(packed, 1, source, x->sst, n, x->size);
    alltoall_gather(team, received, packed, x->n * x->size, fn);
    alltoalls_copy(dest, x->dst, received, 1, n, x->size);
    ft_temp_free(packed);
}

static void alltoalls_exchange_remote(struct shmem_team *team, char *dest,
                                      const char *source, size_t n,
                                      const struct strides *x, enum select_algorithm a,
                                      const char *fn)
{
    if (a == INTERNODE_ALLTOALL_GATHER)
        alltoalls_exchange_gathered(team, dest, source, n, x, fn);
    else if (a == INTERNODE_ALLTOALL_DIRECT || a == INTERNODE_ALLTOALL_BRUCK)
        alltoall_bundles(team, a, dest, source, x, fn);
    else if (a == INTERNODE_ALLTOALL_PAIRWISE)
        alltoalls_exchange_puts(team, dest, source, n, x, fn);
    else
        alltoalls_exchange_barrier(team, dest, source, n, x, fn);
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
    bool remote = team->remote && team->nodes != NULL;
    enum select_algorithm a = INTERNODE_ALLTOALL_BARRIER;
    barrier_guard(team, fn);
    if (remote) /* may exchange offsets */
        a = alltoall_internode_algorithm(team, rma_bytes(x.n, x.size, fn), fn);
    if (remote)
        alltoalls_exchange_remote(team, dest, source, n, &x, a, fn);
    else if (alltoalls_by_arrival(team, dest, source, n, &x, fn))
        alltoalls_exchange_arrival(team, dest, source, &x, fn);
    else
        alltoalls_exchange_barrier(team, dest, source, n, &x, fn);
    barrier_unguard(team, fn);
    return 0;
}
