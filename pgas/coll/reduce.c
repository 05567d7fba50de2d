/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce.c - see reduce.h.  Uses: core/team, core/net, barrier, bridge, remote, slice,
 * rma, datatype.
 *
 * Elements are combined in the order of the PEs, whoever does it: all PEs get the same
 * bits, whatever their order of arrival, and wherever they are.
 */
#include "config.h"

#include "pgas/coll/barrier.h"
#include "pgas/coll/bridge.h"
#include "pgas/coll/reduce.h"
#include "pgas/coll/remote.h"
#include "pgas/coll/slice.h"
#include "pgas/core/net.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/rma.h"

enum {
    CHUNK_BYTES = 16 * 1024, /* fits the first-level cache with one source chunk */
    SMALL_BYTES = 1024,      /* so few are combined by every PE for itself */
    FAR_BYTES = 32 * 1024,   /* the same over nodes, of all sources together */
};

struct job {
    const struct shmem_team *team;
    char *dest;
    const char *source;
    size_t size; /* bytes of an element */
    op_kernel op;
    const char *fn;
};

/* acc = elements first .. first + n - 1 of all PEs, combined */
static void combine(const struct job *j, void *acc, size_t first, size_t n)
{
    const char *mine = j->source + first * j->size;

    for (int i = 0; i < j->team->npes; i++) {
        const void *in = peer_at(mine, n * j->size, team_world_pe(j->team, i), j->fn);
        if (i == 0)
            copy_bytes(acc, in, n * j->size);
        else
            j->op(acc, in, n);
    }
}

/* acc -> elements first .. first + n - 1 of dest on all PEs */
static void spread(const struct job *j, const void *acc, size_t first, size_t n)
{
    char *mine = j->dest + first * j->size;

    for (int i = 0; i < j->team->npes; i++)
        copy_bytes(peer_at(mine, n * j->size, team_world_pe(j->team, i), j->fn), acc,
                   n * j->size);
}

static void combine_slice(const struct job *j, void *acc, struct slice s)
{
    size_t chunk = CHUNK_BYTES / j->size;

    for (size_t first = s.first; first < s.end; first += chunk) {
        size_t now = s.end - first < chunk ? s.end - first : chunk;
        combine(j, acc, first, now);
        spread(j, acc, first, now);
    }
}

/* ---- over nodes ------------------------------------------------------------------ */

/* The sources have come with the barrier, and every PE combines them for itself. */
static void reduce_small(struct shmem_team *team, const struct job *j, size_t n)
{
    size_t bytes = n * j->size;
    const char *box = bridge_gather(team, j->source, bytes, -1, j->fn);

    if (bytes > 0) /* else dest may be NULL */
        copy_bytes(j->dest, bridge_part(team, box, bytes, 0), bytes);
    for (int i = 1; i < team->npes && bytes > 0; i++)
        j->op(j->dest, bridge_part(team, box, bytes, i), n);
}

/* combine, with the sources of far PEs from r */
static void combine_far(const struct job *j, const struct remote *r, void *acc)
{
    size_t bytes = r->n * j->size;
    const char *mine = j->source + r->first * j->size;

    for (int i = 0, far = 0; i < j->team->npes; i++) {
        int pe = team_world_pe(j->team, i);
        const void *in =
            net_far(pe) ? remote_chunk(r, far++) : peer_at(mine, bytes, pe, j->fn);
        if (i == 0)
            copy_bytes(acc, in, bytes);
        else
            j->op(acc, in, r->n);
    }
}

static void reduce_slice_far(const struct job *j, struct slice s)
{
    struct remote r;

    remote_open(&r, j->team, j->source, j->size, s, j->fn);
    while (remote_next(&r)) {
        char *dest = j->dest + r.first * j->size;
        combine_far(j, &r, r.own[0]);
        for (int k = 0; k < j->team->npes; k++) {
            int i = (j->team->me + k) % j->team->npes;
            rma_put_nbi(SHMEM_CTX_DEFAULT, dest, r.own[0], r.n * j->size,
                        team_world_pe(j->team, i), j->fn);
        }
    }
    remote_close(&r);
}

/* Every PE combines all elements for itself. */
static void reduce_alone(struct shmem_team *team, const struct job *j, char *acc,
                         size_t n)
{
    struct remote r;

    barrier_sync(team, j->fn); /* all sources are ready */
    remote_open(&r, team, j->source, j->size, (struct slice){0, n}, j->fn);
    while (remote_next(&r))
        combine_far(j, &r, acc + r.first * j->size);
    remote_close(&r);
    barrier_sync(team, j->fn); /* all sources have been read */
    copy_bytes(j->dest, acc, n * j->size);
}

static void reduce_shared(struct shmem_team *team, const struct job *j, size_t n)
{
    barrier_sync(team, j->fn); /* all sources are ready */
    reduce_slice_far(j, slice_of(n, j->size, team->me, team->npes));
    barrier_sync(team, j->fn); /* all dests are written, all sources have been read */
}

/* acc: CHUNK_BYTES of memory */
static int reduce_far(struct shmem_team *team, const struct job *j, char *acc, size_t n)
{
    size_t bytes = n * j->size, npes = (size_t)team->npes;

    if (bridge_fits(team, npes, bytes))
        reduce_small(team, j, n);
    else if (bytes <= CHUNK_BYTES && bytes <= FAR_BYTES / npes)
        reduce_alone(team, j, acc, n);
    else
        reduce_shared(team, j, n);
    return 0;
}

/* ---- all ------------------------------------------------------------------------- */

int reduce(struct shmem_team *team, void *dest, const void *source, size_t n, size_t size,
           const struct op_fns *op, const char *fn)
{
    _Alignas(NODE_LINE) char acc[CHUNK_BYTES];
    struct job j = {team, dest, source, size, op->two, fn};
    size_t bytes = rma_bytes(n, size, fn);
    bool small = bytes <= SMALL_BYTES;

    if (bytes > 0) /* before n is cut up */
        (void)peer_at(source, bytes, pgas_self.me, fn);
    if (unlikely(team->far))
        return reduce_far(team, &j, acc, n);
    barrier_sync(team, fn); /* all sources are ready */
    if (!small)
        combine_slice(&j, acc, slice_of(n, size, team->me, team->npes));
    else if (bytes > 0)
        combine(&j, acc, 0, n);
    barrier_sync(team, fn); /* all sources have been read */
    if (small)
        copy_bytes(dest, acc, bytes);
    return 0;
}
