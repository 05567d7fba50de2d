/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall.c - see alltoall.h.  Uses: core/team, core/net, barrier, stage, rma,
 * rma/order, rma/strided, datatype/copy.
 *
 * Every PE fetches its blocks from all others, beginning with its own, so that the PEs do
 * not all read from the same one at a time.
 */
#include "config.h"

#include "pgas/coll/alltoall.h"
#include "pgas/coll/barrier.h"
#include "pgas/coll/stage.h"
#include "pgas/core/log.h"
#include "pgas/core/net.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"
#include "pgas/rma/strided.h"

int alltoall(struct shmem_team *team, void *dest, const void *source, size_t n,
             size_t size, const char *fn)
{
    size_t each = rma_bytes(n, size, fn);
    size_t all = rma_bytes((size_t)team->npes, each, fn);
    char *to = stage_open(dest, all, source, all, all, fn);

    barrier_sync(team, fn); /* all sources are ready */
    for (int k = 0; k < team->npes && each > 0; k++) {
        int i = (team->me + k) % team->npes;
        const char *block = (const char *)source + (size_t)team->me * each;
        rma_get_nbi(SHMEM_CTX_DEFAULT, to + (size_t)i * each, block, each,
                    team_world_pe(team, i), fn);
    }
    if (unlikely(team->far))
        order_quiet(SHMEM_CTX_DEFAULT, fn);
    barrier_sync(team, fn); /* all sources have been read */
    stage_close(to, dest, all);
    return 0;
}

/* Bytes from the first to behind the last of n elements with that stride. */
static size_t span(size_t n, ptrdiff_t stride, const struct exchange *x, const char *fn)
{
    size_t bytes;

    if (n == 0)
        return 0;
    if (__builtin_mul_overflow(n - 1, (size_t)stride, &bytes) ||
        __builtin_mul_overflow(bytes, x->size, &bytes) ||
        __builtin_add_overflow(bytes, x->size, &bytes))
        log_die(
            "%s: %zu elements of %zu bytes with stride %td reach farther than a size_t "
            "holds",
            fn, n, x->size, stride);
    return bytes;
}

static void scatter(char *dest, const char *from, size_t n, const struct exchange *x)
{
    size_t step = (size_t)x->dst * x->size;

    for (size_t e = 0; e < n; e++)
        copy_bytes(dest + e * step, from + e * x->size, x->size);
}

/* From a far PE, element by element: here after the quiet. */
static void fetch_far(char *to, const char *block, const struct strided *s, int pe,
                      const char *fn)
{
    size_t to_step = (size_t)s->dst * s->size, step = (size_t)s->sst * s->size;

    for (size_t e = 0; e < s->nblocks; e++)
        rma_get_nbi(SHMEM_CTX_DEFAULT, to + e * to_step, block + e * step, s->size, pe,
                    fn);
}

/* Fetch this PE's blocks to `to`, where the elements have stride dst. */
static void fetch(const struct shmem_team *team, char *to, ptrdiff_t dst,
                  const char *source, const struct exchange *x, const char *fn)
{
    struct strided s = {dst, x->sst, 1, x->n, x->size};
    size_t to_block = x->n * x->size * (size_t)dst;
    const char *block = source + (size_t)team->me * x->n * x->size * (size_t)x->sst;

    for (int k = 0; k < team->npes; k++) {
        int i = (team->me + k) % team->npes, pe = team_world_pe(team, i);
        char *at = to + (size_t)i * to_block;
        if (unlikely(net_far(pe)))
            fetch_far(at, block, &s, pe, fn);
        else
            strided_get(SHMEM_CTX_DEFAULT, at, block, s, pe, fn);
    }
    if (unlikely(team->far))
        order_quiet(SHMEM_CTX_DEFAULT, fn); /* one for all */
}

int alltoalls(struct shmem_team *team, void *dest, const void *source, struct exchange x,
              const char *fn)
{
    if (x.dst == 1 && x.sst == 1)
        return alltoall(team, dest, source, x.n, x.size, fn);
    if (x.dst < 1 || x.sst < 1)
        log_die("%s: arguments 'dst' = %td, 'sst' = %td, but they must be at least 1", fn,
                x.dst, x.sst);
    size_t n = rma_bytes(x.n, (size_t)team->npes, fn);
    size_t dest_bytes = span(n, x.dst, &x, fn), source_bytes = span(n, x.sst, &x, fn);
    char *to =
        stage_open(dest, dest_bytes, source, source_bytes, rma_bytes(n, x.size, fn), fn);

    barrier_sync(team, fn); /* all sources are ready */
    fetch(team, to, to == dest ? x.dst : 1, source, &x, fn);
    barrier_sync(team, fn); /* all sources have been read */
    if (to != dest)
        scatter(dest, to, n, &x);
    stage_close(to, dest, 0);
    return 0;
}
