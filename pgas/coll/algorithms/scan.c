/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scan.c - see scan.h.  Uses: core/team, core/net, barrier, internode, ordered_internode,
 * remote, select, slice, rma, datatype.
 *
 * Small data: every PE combines the contributions of its predecessors, from their eager
 * slots or piggybacked on a barrier.  Large data on one node: between two barriers each
 * PE accumulates its slice of all sources in PE order, and writes each prefix to the dest
 * of its PE.  Over nodes: a scan of the leaders (ordered_internode.c), or, if the PEs of
 * a node do not have consecutive numbers in the team, slices as on one node.
 *
 * All but `doubling` add the contributions one after the other in PE order, so the bits
 * of the results do not depend on the distribution over nodes.
 */
#include "config.h"

#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/sync/mailbox.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/select/select.h"
#include "pgas/coll/sync/remote.h"
#include "pgas/coll/ordered/ordered_internode.h"
#include "pgas/coll/algorithms/scan.h"
#include "pgas/coll/algorithms/slice.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/progress/net.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/rma.h"

enum { CHUNK_BYTES = 8 * 1024 }; /* two buffers and one source chunk fit the L1 cache */

struct job {
    const struct shmem_team *team;
    char *dest;
    const char *source;
    size_t size; /* bytes of an element */
    const struct op_fns *op;
    bool exclusive;
    const char *fn;
};

/* Scan one chunk of n elements at byte offset `at`.  The source of each PE is read before
 * its dest is written, because they may be the same. */
static void scan_chunk(const struct job *j, size_t at, size_t n)
{
    _Alignas(NODE_LINE) char sum[CHUNK_BYTES], before[CHUNK_BYTES];
    size_t bytes = n * j->size;

    memset(sum, 0, bytes);
    for (int i = 0; i < j->team->npes; i++) {
        int pe = team_world_pe(j->team, i);
        const void *in = peer_at(j->source + at, bytes, pe, j->fn);
        if (j->exclusive)
            copy_bytes(before, sum, bytes);
        if (i == 0)
            copy_bytes(sum, in, bytes); /* 0 + in would change a negative zero */
        else
            j->op->two(sum, in, n);
        copy_bytes(peer_at(j->dest + at, bytes, pe, j->fn), j->exclusive ? before : sum,
                   bytes);
    }
}

/* ---- over nodes ------------------------------------------------------------------ */

/* The barrier delivers all sources, and every PE sums those of the PEs before it. */
static void scan_small(struct shmem_team *team, const struct job *j, size_t n)
{
    size_t bytes = n * j->size;
    const char *buffer = internode_gather(team, j->source, bytes, -1, j->fn);
    int end = team->me + !j->exclusive;

    if (end == 0)
        memset(j->dest, 0, bytes);
    else
        copy_bytes(j->dest, internode_part(team, buffer, bytes, 0), bytes);
    for (int i = 1; i < end; i++)
        j->op->two(j->dest, internode_part(team, buffer, bytes, i), n);
}

/* Scan one chunk over several nodes.  The local copy of a remote PE's source is
 * overwritten with its result, and serves as the source of the put. */
static void scan_chunk_remote(const struct job *j, const struct remote *r)
{
    size_t at = r->first * j->size, bytes = r->n * j->size;
    char *sum = r->own[0], *before = r->own[1];

    memset(sum, 0, bytes);
    for (int i = 0, remote = 0; i < j->team->npes; i++) {
        int pe = team_world_pe(j->team, i);
        char *chunk = net_remote(pe) ? remote_chunk(r, remote++) : NULL;
        const void *in =
            chunk != NULL ? chunk : peer_at(j->source + at, bytes, pe, j->fn);
        if (j->exclusive)
            copy_bytes(before, sum, bytes);
        if (i == 0)
            copy_bytes(sum, in, bytes);
        else
            j->op->two(sum, in, r->n);
        const char *out = j->exclusive ? before : sum;
        if (chunk != NULL)
            out = memcpy(chunk, out, bytes);
        rma_put_nbi(CTX_LIBRARY, j->dest + at, out, bytes, pe, j->fn);
    }
}

static void scan_slices(struct shmem_team *team, const struct job *j, size_t n)
{
    struct remote r;

    barrier_sync(team, j->fn); /* all sources are ready */
    remote_open(&r, team, j->source, j->size, slice_of(n, j->size, team->me, team->npes),
                j->fn);
    while (remote_next(&r))
        scan_chunk_remote(j, &r);
    remote_close(&r);
    barrier_sync(team, j->fn); /* all dests are written, all sources have been read */
}

static void scan_leaders(struct shmem_team *team, const struct job *j, size_t n,
                         bool doubling)
{
    (doubling ? ordered_doubling : ordered_chain)(
        &(struct ordered_job){.team = team,
                              .dest = j->dest,
                              .source = j->source,
                              .n = n,
                              .size = j->size,
                              .op = j->op,
                              .kind = j->exclusive ? ORDERED_EXSCAN : ORDERED_INSCAN,
                              .fn = j->fn});
}

_Static_assert(INTERNODE_BUFFER / 2 <= SELECT_DOUBLING_BYTES, "doubling replaces gather");

/* Equal on all PEs. */
static enum select_algorithm scan_inter_algorithm(struct shmem_team *team,
                                                  const struct job *j, size_t bytes)
{
    if (team->nodes == NULL)
        return INTERNODE_SCAN_BARRIER; /* an active set */
    enum select_algorithm a = select_algorithm(team, SELECT_INTERNODE_SCAN, bytes);
    bool any_grouping = pgas_self.env.reproducible != REPRODUCIBLE_ANYWHERE;
    if (a == INTERNODE_SCAN_GATHER &&
        !internode_fits(team, (size_t)team->npes, bytes, j->fn))
        a = team->nodes->leaders <= SELECT_ORDERED_NODES ? INTERNODE_SCAN_CHAIN
                                                         : INTERNODE_SCAN_DOUBLING;
    if (a == INTERNODE_SCAN_DOUBLING && !any_grouping && !op_exact(j->op))
        a = INTERNODE_SCAN_CHAIN;
    if (a != INTERNODE_SCAN_GATHER && a != INTERNODE_SCAN_BARRIER &&
        !ordered_applies(team, j->fn))
        a = INTERNODE_SCAN_BARRIER;
    return a;
}

static void scan_remote(struct shmem_team *team, const struct job *j, size_t n)
{
    enum select_algorithm a = scan_inter_algorithm(team, j, n * j->size);

    if (a == INTERNODE_SCAN_GATHER)
        scan_small(team, j, n);
    else if (a == INTERNODE_SCAN_BARRIER)
        scan_slices(team, j, n);
    else
        scan_leaders(team, j, n, a == INTERNODE_SCAN_DOUBLING);
}

/* ---- on one node ------------------------------------------------------------------ */

/* Every PE sums the eager slots of the PEs before it. */
static void scan_mailbox(struct shmem_team *team, const struct job *j, size_t n)
{
    size_t bytes = n * j->size;
    struct mailbox b = mailbox_open(team, bytes, j->fn);
    int end = team->me + !j->exclusive;

    copy_bytes(mailbox_own(&b), j->source, bytes);
    mailbox_post(&b);
    if (end == 0)
        memset(j->dest, 0, bytes);
    else
        copy_bytes(j->dest, mailbox_of(&b, 0), bytes);
    for (int i = 1; i < end; i++)
        j->op->two(j->dest, mailbox_of(&b, i), n);
    mailbox_close(&b);
}

static void scan_barrier(struct shmem_team *team, const struct job *j, size_t n)
{
    struct slice s = slice_of(n, j->size, team->me, team->npes);
    size_t chunk = CHUNK_BYTES / j->size;

    barrier_sync(team, j->fn); /* all sources are ready */
    for (size_t first = s.first; first < s.end; first += chunk)
        scan_chunk(j, first * j->size, s.end - first < chunk ? s.end - first : chunk);
    barrier_sync(team, j->fn); /* all dests are written, all sources have been read */
}

static void scan_on_node(struct shmem_team *team, const struct job *j, size_t n)
{
    barrier_guard(team, j->fn);
    if (select_algorithm(team, SELECT_SCAN, n * j->size) == SCAN_MAILBOX)
        scan_mailbox(team, j, n);
    else
        scan_barrier(team, j, n);
    barrier_unguard(team, j->fn);
}

/* ---- all ------------------------------------------------------------------------- */

static int scan(struct shmem_team *team, const struct job *j, size_t n)
{
    size_t bytes = rma_bytes(n, j->size, j->fn);

    if (bytes == 0)
        return 0;
    (void)peer_at(j->source, bytes, pgas_self.me, j->fn); /* check the whole range */
    (void)peer_at(j->dest, bytes, pgas_self.me, j->fn);
    if (unlikely(team->remote))
        scan_remote(team, j, n);
    else if (mailbox_has(team))
        scan_on_node(team, j, n);
    else
        scan_barrier(team, j, n);
    return 0;
}

int scan_inclusive(struct shmem_team *team, void *dest, const void *source, size_t n,
                   size_t size, const struct op_fns *op, const char *fn)
{
    return scan(team, &(struct job){team, dest, source, size, op, false, fn}, n);
}

int scan_exclusive(struct shmem_team *team, void *dest, const void *source, size_t n,
                   size_t size, const struct op_fns *op, const char *fn)
{
    return scan(team, &(struct job){team, dest, source, size, op, true, fn}, n);
}
