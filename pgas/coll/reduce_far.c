/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_far.c - reductions of a team over several nodes.
 * Uses: core/team, core/net, barrier, bridge, remote, slice, rma, datatype, reduce_int.
 */
#include "config.h"

#include "pgas/coll/barrier.h"
#include "pgas/coll/bridge.h"
#include "pgas/coll/reduce_int.h"
#include "pgas/coll/remote.h"
#include "pgas/coll/slice.h"
#include "pgas/core/net.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/rma.h"

enum {
    ALONE_BYTES = 16 * 1024,     /* so few may every PE combine for itself, */
    ALONE_ALL_BYTES = 32 * 1024, /* if those of all PEs are no more than this */
};

/* The sources have come with the barrier, and every PE combines them for itself. */
static void reduce_small(const struct reduce_job *j)
{
    size_t bytes = reduce_bytes(j);
    const char *box = bridge_gather(j->team, j->source, bytes, -1, j->fn);

    j->op->three(j->dest, bridge_part(j->team, box, bytes, 0),
                 bridge_part(j->team, box, bytes, 1), j->n);
    for (int i = 2; i < j->team->npes; i++)
        j->op->two(j->dest, bridge_part(j->team, box, bytes, i), j->n);
}

/* to = this chunk of all PEs, those of far PEs from r */
static void combine(const struct reduce_job *j, const struct remote *r, void *to)
{
    size_t bytes = r->n * j->size;
    const char *mine = j->source + r->first * j->size;

    for (int i = 0, far = 0; i < j->team->npes; i++) {
        int pe = team_world_pe(j->team, i);
        const void *in =
            net_far(pe) ? remote_chunk(r, far++) : peer_at(mine, bytes, pe, j->fn);
        if (i == 0)
            copy_bytes(to, in, bytes);
        else
            j->op->two(to, in, r->n);
    }
}

static void combine_slice(const struct reduce_job *j, struct slice s)
{
    struct remote r;

    remote_open(&r, j->team, j->source, j->size, s, j->fn);
    while (remote_next(&r)) {
        char *dest = j->dest + r.first * j->size;
        combine(j, &r, r.own[0]);
        for (int k = 0; k < j->team->npes; k++) {
            int i = (j->team->me + k) % j->team->npes;
            rma_put_nbi(SHMEM_CTX_DEFAULT, dest, r.own[0], r.n * j->size,
                        team_world_pe(j->team, i), j->fn);
        }
    }
    remote_close(&r);
}

/* Every PE combines all elements for itself. */
static void reduce_alone(const struct reduce_job *j)
{
    _Alignas(NODE_LINE) char acc[ALONE_BYTES];
    struct remote r;

    barrier_sync(j->team, j->fn); /* all sources are ready */
    remote_open(&r, j->team, j->source, j->size, (struct slice){0, j->n}, j->fn);
    while (remote_next(&r))
        combine(j, &r, acc + r.first * j->size);
    remote_close(&r);
    barrier_sync(j->team, j->fn); /* all sources have been read */
    copy_bytes(j->dest, acc, reduce_bytes(j));
}

static void reduce_shared(const struct reduce_job *j)
{
    barrier_sync(j->team, j->fn); /* all sources are ready */
    combine_slice(j, slice_of(j->n, j->size, j->team->me, j->team->npes));
    barrier_sync(j->team, j->fn); /* all dests are written, all sources have been read */
}

void reduce_far(const struct reduce_job *j)
{
    size_t bytes = reduce_bytes(j), npes = (size_t)j->team->npes;

    if (bridge_fits(j->team, npes, bytes))
        reduce_small(j);
    else if (bytes <= ALONE_BYTES && bytes <= ALONE_ALL_BYTES / npes)
        reduce_alone(j);
    else
        reduce_shared(j);
}

/* ---- to a root --------------------------------------------------------------------- */

/* All PEs' elements on the root, which are mapped there. */
static void combine_near(const struct reduce_job *j)
{
    _Alignas(NODE_LINE) char acc[ALONE_BYTES];
    struct remote none = {.first = 0};
    size_t most = sizeof acc / j->size;

    for (; none.first < j->n; none.first += none.n) {
        none.n = j->n - none.first < most ? j->n - none.first : most;
        combine(j, &none, acc);
        copy_bytes(j->dest + none.first * j->size, acc, none.n * j->size);
    }
}

static void combine_far(const struct reduce_job *j)
{
    struct remote r;

    remote_open(&r, j->team, j->source, j->size, (struct slice){0, j->n}, j->fn);
    while (remote_next(&r)) {
        combine(j, &r, r.own[0]);
        copy_bytes(j->dest + r.first * j->size, r.own[0], r.n * j->size);
    }
    remote_close(&r);
}

/* The root alone does it. */
void reduce_far_to(const struct reduce_job *j)
{
    barrier_sync(j->team, j->fn); /* all sources are ready */
    if (reduce_gets(j) && j->team->far)
        combine_far(j);
    else if (reduce_gets(j))
        combine_near(j);
    barrier_sync(j->team, j->fn); /* all sources have been read */
}
