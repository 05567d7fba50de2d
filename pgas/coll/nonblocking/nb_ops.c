/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nb_ops.c - see nb.h: the programs of the nonblocking collectives.
 * Uses: nb_int, core/heap, core/log, core/peer, rma, slice, bounce.
 *
 * n PEs, m bytes; all data move by gets (nb_data.c).
 * - broadcast: binomial tree.
 * - fcollect, alltoall: direct, n - 1 gets between two barriers.
 * - reduction to all: small: each PE combines all sources (n m bytes); large: each PE
 *   combines a slice of all sources, then gets the other slices (2 m bytes); medium:
 *   binomial tree up and down.  With slices dest may be source: no other PE reads this
 *   PE's slice of its source, and the other slices are written after a barrier.
 * - reduction to one PE: binomial tree.
 * - scan: each PE combines the sources of its predecessors.
 */
#include "config.h"

#include <stdlib.h>

#include "pgas/coll/nonblocking/nb_int.h"
#include "pgas/coll/algorithms/slice.h"
#include "pgas/coll/sync/bounce.h"
#include "pgas/core/memory/heap.h"
#include "pgas/core/base/log.h"
#include "pgas/core/memory/peer.h"
#include "pgas/rma/rma.h"

enum {
    ALONE_BYTES = 8 * 1024,      /* maximum for combining all sources on each PE, */
    ALONE_ALL_BYTES = 32 * 1024, /* and maximum of all PEs together */
    SLICE_BYTES = 4 * 1024,      /* minimum of a slice */
    CHUNK_BYTES = 64 * 1024,     /* maximum chunk of one PE */
    CHUNKS_BYTES = 1024 * 1024,  /* maximum of all PEs, but at least a line for each */
};

static const struct nb_program nothing = {.meets = false};
static const struct nb_program meeting = {{nb_barrier_step}, true};
static const struct nb_program broadcasting = {{nb_take, nb_pass, nb_keep}, false};
static const struct nb_program collecting = {
    {nb_barrier_step, nb_collect, nb_barrier_step, nb_deliver}, true};
static const struct nb_program exchanging = {
    {nb_barrier_step, nb_exchange, nb_barrier_step, nb_deliver}, true};
static const struct nb_program alone = {
    {nb_barrier_step, nb_combine, nb_barrier_step, nb_deliver}, true};
static const struct nb_program slices = {
    {nb_barrier_step, nb_combine, nb_barrier_step, nb_slices, nb_barrier_step}, true};
static const struct nb_program up_down = {{nb_gather, nb_give, nb_take, nb_pass}, true};
static const struct nb_program up = {{nb_gather, nb_give, nb_tree_step}, false};

static void nb_ops_check_array(const void *at, size_t bytes, const char *fn)
{
    (void)peer_at(at, bytes, pgas_self.me, fn);
}

static void nb_ops_check_root(const struct shmem_team *team, int root, const char *fn)
{
    if (root < 0 || root >= team->npes)
        log_die("%s: argument 'PE_root' = %d, but the team has PEs 0..%d", fn, root,
                team->npes - 1);
}

static void *nb_ops_take_memory(size_t bytes, const char *fn)
{
    void *p = malloc(bytes);

    if (p == NULL)
        log_die("%s: no memory for %zu bytes of a nonblocking collective", fn, bytes);
    return p;
}

static void nb_ops_take_stage(struct nb *r, size_t bytes)
{
    r->stage = nb_ops_take_memory(bytes, r->fn);
    r->stage_bytes = bytes;
}

struct nb *nb_barrier(struct shmem_team *team, const char *fn)
{
    return nb_start(&(struct nb){.team = team, .fn = fn, .program = &meeting});
}

struct nb *nb_bcast(struct shmem_team *team, void *dest, const void *source, size_t bytes,
                    int root, const char *fn)
{
    struct nb r = {.team = team,
                   .fn = fn,
                   .program = bytes > 0 ? &broadcasting : &nothing,
                   .dest = dest,
                   .source = source,
                   .bytes = bytes,
                   .root = root};

    nb_ops_check_root(team, root, fn);
    if (bytes > 0)
        nb_ops_check_array(team->me == root ? source : dest, bytes, fn);
    return nb_start(&r);
}

/* ---- fcollect, alltoall ----------------------------------------------------------- */

static struct nb *nb_ops_start_blocks(struct nb *r, size_t from_bytes, size_t all_bytes)
{
    if (r->bytes == 0)
        return nb_start(r);
    nb_ops_check_array(r->dest, all_bytes, r->fn);
    if (r->source == NULL)
        return nb_start(r);
    nb_ops_check_array(r->source, from_bytes, r->fn);
    if (bounce_overlap(r->dest, all_bytes, r->source, from_bytes))
        nb_ops_take_stage(r, all_bytes);
    return nb_start(r);
}

struct nb *nb_fcollect(struct shmem_team *team, void *dest, const void *source,
                       size_t bytes, const char *fn)
{
    struct nb r = {.team = team,
                   .fn = fn,
                   .program = bytes > 0 ? &collecting : &nothing,
                   .dest = dest,
                   .source = source,
                   .bytes = bytes};

    return nb_ops_start_blocks(&r, bytes, rma_bytes((size_t)team->npes, bytes, fn));
}

struct nb *nb_alltoall(struct shmem_team *team, void *dest, const void *source,
                       size_t bytes, const char *fn)
{
    size_t all_bytes = rma_bytes((size_t)team->npes, bytes, fn);
    struct nb r = {.team = team,
                   .fn = fn,
                   .program = bytes > 0 ? &exchanging : &nothing,
                   .dest = dest,
                   .source = source,
                   .bytes = bytes};

    return nb_ops_start_blocks(&r, all_bytes, all_bytes);
}

/* ---- reductions ------------------------------------------------------------------- */

/* Allocate a chunk for each of `pes` PEs. */
static void nb_ops_take_chunks(struct nb *r, int pes)
{
    size_t bytes = CHUNKS_BYTES / (size_t)pes, n = r->count;

    bytes = bytes > CHUNK_BYTES ? CHUNK_BYTES : bytes < NODE_LINE ? NODE_LINE : bytes;
    r->chunk = n < bytes / r->size ? n : bytes / r->size;
    if (r->chunk > 0)
        r->chunks = nb_ops_take_memory((size_t)pes * r->chunk * r->size, r->fn);
}

/* nb_combine: these elements of the first `pes` PEs. */
static void nb_ops_plan_range(struct nb *r, int pes, struct slice slice, char *result)
{
    r->pes = pes;
    r->first = slice.first;
    r->count = slice.end - slice.first;
    r->result = result;
    nb_ops_take_chunks(r, r->team->remote ? pes + 1 : 1);
}

static void nb_ops_plan_alone(struct nb *r, int pes)
{
    r->program = &alone;
    nb_ops_take_stage(r, r->bytes);
    nb_ops_plan_range(r, pes, (struct slice){0, r->n}, r->stage);
}

static void nb_ops_plan_slices(struct nb *r)
{
    struct slice mine = slice_of(r->n, r->size, r->team->me, r->team->npes);

    r->program = &slices;
    nb_ops_plan_range(r, r->team->npes, mine, r->dest + mine.first * r->size);
}

/* A PE whose dest does not receive the result combines in heap memory. */
static void nb_ops_plan_tree(struct nb *r)
{
    bool in_dest = r->to == NB_ALL || (r->team->me == r->root && r->root == r->to);

    r->program = r->to == NB_ALL ? &up_down : &up;
    r->count = r->n;
    r->sum = r->dest;
    if (r->team->remote)
        nb_ops_take_chunks(r, 1);
    if (in_dest || !nb_has_children(r))
        return;
    if (!heap_alloc_result(r->bytes, &r->memory))
        log_die("%s: no space for %zu bytes of a nonblocking reduction. Increase "
                "SHMEM_SHARED_SIZE (now %zu bytes).",
                r->fn, r->bytes, pgas_self.env.shared_size);
    r->sum = (char *)pgas_self.heap_base + r->memory;
}

static void nb_ops_plan(struct nb *r)
{
    size_t npes = (size_t)r->team->npes;

    if (r->to == NB_ALL && r->bytes <= ALONE_BYTES && r->bytes <= ALONE_ALL_BYTES / npes)
        nb_ops_plan_alone(r, r->team->npes);
    else if (r->to == NB_ALL && r->bytes / npes >= SLICE_BYTES)
        nb_ops_plan_slices(r);
    else
        nb_ops_plan_tree(r);
}

static void nb_ops_check_reduction(const struct nb *r)
{
    nb_ops_check_array(r->source, r->bytes, r->fn);
    if (r->to == NB_ALL || r->to == r->team->me)
        nb_ops_check_array(r->dest, r->bytes, r->fn);
}

struct nb *nb_reduce(struct shmem_team *team, int root, void *dest, const void *source,
                     size_t n, size_t size, const struct op_fns *op, const char *fn)
{
    struct nb r = {.team = team,
                   .fn = fn,
                   .program = &nothing,
                   .dest = dest,
                   .source = source,
                   .bytes = rma_bytes(n, size, fn),
                   .n = n,
                   .size = size,
                   .op = op,
                   .root = pgas_self.env.reproducible == REPRODUCIBLE_ANYWHERE ||
                                   root == NB_ALL
                               ? 0
                               : root,
                   .to = root};

    if (root != NB_ALL)
        nb_ops_check_root(team, root, fn);
    if (r.bytes > 0) {
        nb_ops_check_reduction(&r);
        nb_ops_plan(&r);
    }
    return nb_start(&r);
}

struct nb *nb_scan(struct shmem_team *team, void *dest, const void *source, size_t n,
                   size_t size, const struct op_fns *op, bool exclusive, const char *fn)
{
    struct nb r = {.team = team,
                   .fn = fn,
                   .program = &nothing,
                   .dest = dest,
                   .source = source,
                   .bytes = rma_bytes(n, size, fn),
                   .n = n,
                   .size = size,
                   .op = op,
                   .to = NB_ALL};

    if (r.bytes > 0) {
        nb_ops_check_reduction(&r);
        nb_ops_plan_alone(&r, team->me + !exclusive);
    }
    return nb_start(&r);
}
