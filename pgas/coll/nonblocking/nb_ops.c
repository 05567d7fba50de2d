/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nb_ops.c - see nb.h: the schedules of the nonblocking collectives.
 * Uses: nb_int, schedule, core/heap, core/log, core/peer, rma, slice, bounce.
 *
 * - barrier: dissemination.
 * - broadcast: PULL_BCAST.
 * - fcollect, alltoall: PULL_GATHER, PULL_ALLTOALL.
 * - reduction to all: large, or with SHMEM_REPRODUCIBLE: PULL_DIRECT, in the order of
 *   the blocking reductions; else PULL_TREE and PULL_BCAST.
 * - reduction to one PE: PULL_TREE; if its root must be PE 0, then PULL_BCAST from there
 *   to the one PE.
 * - scan: PULL_SCAN, PULL_EXSCAN.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "pgas/coll/nonblocking/nb_int.h"
#include "pgas/coll/algorithms/slice.h"
#include "pgas/coll/sync/bounce.h"
#include "pgas/core/memory/heap.h"
#include "pgas/core/base/log.h"
#include "pgas/core/memory/peer.h"
#include "pgas/rma/rma.h"

enum {
    SLICE_BYTES = 4 * 1024,     /* minimum of a slice */
    CHUNK_BYTES = 64 * 1024,    /* maximum segment of one PE */
    CHUNKS_BYTES = 1024 * 1024, /* maximum of all PEs, but at least a line for each */
};

/* ---- arguments --------------------------------------------------------------------- */

static void nb_ops_check_array(const void *at, size_t bytes, const char *fn)
{
    (void)peer_at(at, bytes, pgas_self.me, fn);
}

static void nb_ops_check_root(const struct shmem_team *team, int root, const char *fn)
{
    if (root < 0 || root >= team->npes)
        log_misuse("%s: argument 'PE_root' = %d, but the team has PEs 0..%d", fn, root,
                   team->npes - 1);
}

static void *nb_ops_alloc(size_t bytes, const char *fn)
{
    void *p = calloc(1, bytes);

    if (p == NULL)
        log_die("%s: no memory for %zu bytes of a nonblocking collective", fn, bytes);
    return p;
}

/* A phase of all PEs; rank 0 is PE `root`. */
static void nb_ops_add(struct nb *r, enum schedule_name name, int root)
{
    int npes = r->team->npes, rank = (int)(((int64_t)r->team->me - root + npes) % npes);

    nb_phase_add(
        r, &(struct nb_phase){
               .name = name, .nodes = npes, .rank = rank, .root = root, .stride = 1});
}

/* Inbox of `parts` segments. */
static void nb_ops_alloc_inbox(struct nb *r, int parts, size_t segment)
{
    r->segment = segment;
    r->inbox = nb_ops_alloc((size_t)parts * segment * r->size, r->fn);
    r->part = nb_ops_alloc((size_t)parts * sizeof *r->part, r->fn);
}

/* ---- barrier, broadcast --------------------------------------------------------------
 */

struct nb *nb_barrier(struct shmem_team *team, const char *fn)
{
    struct nb r = {.team = team, .fn = fn, .synchronizes = true};

    nb_ops_add(&r, SCHEDULE_DISSEMINATION, 0);
    return nb_start(&r);
}

struct nb *nb_bcast(struct shmem_team *team, void *dest, const void *source, size_t bytes,
                    int root, const char *fn)
{
    struct nb r = {.team = team,
                   .fn = fn,
                   .dest = dest,
                   .source = source,
                   .n = bytes,
                   .size = 1,
                   .line = 1,
                   .segment = bytes,
                   .data = dest,
                   .root_data = source,
                   .root = root,
                   .bytes = bytes};

    nb_ops_check_root(team, root, fn);
    if (bytes == 0)
        return nb_start(&r);
    nb_ops_check_array(team->me == root ? source : dest, bytes, fn);
    nb_ops_add(&r, SCHEDULE_PULL_BCAST, root);
    if (team->me == root && dest != source)
        r.deliver = source;
    return nb_start(&r);
}

/* ---- fcollect, alltoall ----------------------------------------------------------- */

static struct nb nb_ops_blocks(struct shmem_team *team, void *dest, const void *source,
                               size_t bytes, const char *fn)
{
    return (struct nb){.team = team,
                       .fn = fn,
                       .dest = dest,
                       .source = source,
                       .n = (size_t)team->npes,
                       .size = bytes,
                       .line = 1,
                       .segment = 1,
                       .data = dest,
                       .root_data = dest,
                       .bytes = rma_bytes((size_t)team->npes, bytes, fn),
                       .synchronizes = bytes > 0};
}

/* The other PEs read this PE's block in dest. */
struct nb *nb_fcollect(struct shmem_team *team, void *dest, const void *source,
                       size_t bytes, const char *fn)
{
    struct nb r = nb_ops_blocks(team, dest, source, bytes, fn);

    if (bytes == 0)
        return nb_start(&r);
    nb_ops_check_array(dest, r.bytes, fn);
    if (source != NULL) {
        nb_ops_check_array(source, bytes, fn);
        memmove(r.data + (size_t)team->me * bytes, source, bytes);
    }
    nb_ops_add(&r, SCHEDULE_PULL_GATHER, 0);
    return nb_start(&r);
}

struct nb *nb_alltoall(struct shmem_team *team, void *dest, const void *source,
                       size_t bytes, const char *fn)
{
    struct nb r = nb_ops_blocks(team, dest, source, bytes, fn);
    size_t mine = (size_t)team->me * bytes;

    if (bytes == 0)
        return nb_start(&r);
    nb_ops_check_array(dest, r.bytes, fn);
    nb_ops_check_array(source, r.bytes, fn);
    if (bounce_overlap(dest, r.bytes, source, r.bytes))
        r.deliver = r.data = r.stage = nb_ops_alloc(r.bytes, fn);
    memcpy(r.data + mine, r.source + mine, bytes);
    nb_ops_add(&r, SCHEDULE_PULL_ALLTOALL, 0);
    return nb_start(&r);
}

/* ---- reductions, scans --------------------------------------------------------------
 */

static struct nb nb_ops_elements(struct shmem_team *team, void *dest, const void *source,
                                 size_t n, size_t size, const struct op_fns *op,
                                 const char *fn)
{
    return (struct nb){.team = team,
                       .fn = fn,
                       .dest = dest,
                       .source = source,
                       .n = n,
                       .size = size,
                       .line = slice_line(size),
                       .segment = n,
                       .op = op,
                       .data = dest,
                       .root_data = dest,
                       .bytes = rma_bytes(n, size, fn)};
}

static void nb_ops_plan_direct(struct nb *r)
{
    int npes = r->team->npes;
    size_t bytes = CHUNKS_BYTES / (size_t)npes, most = slice_most(r->n, r->line, npes);

    bytes = bytes > CHUNK_BYTES ? CHUNK_BYTES : bytes < NODE_LINE ? NODE_LINE : bytes;
    nb_ops_alloc_inbox(r, npes, most < bytes / r->size ? most : bytes / r->size);
    nb_ops_add(r, SCHEDULE_PULL_DIRECT, 0);
    r->synchronizes = true;
}

/* A PE whose dest does not receive the sum has it in heap memory. */
static void nb_ops_plan_tree(struct nb *r, int to)
{
    int npes = r->team->npes, me = r->team->me, vrank = (me - r->root + npes) % npes;
    bool has_children = vrank % 2 == 0 && vrank + 1 < npes;
    bool in_dest = to == NB_ALL || (me == r->root && r->root == to);

    if (has_children && !in_dest && !heap_alloc_result(r->bytes, &r->memory))
        log_die("%s: no space for %zu bytes of a nonblocking reduction. Increase "
                "SHMEM_SHARED_SIZE (now %zu bytes).",
                r->fn, r->bytes, pgas_self.env.shared_size);
    if (r->memory != 0)
        r->data = (char *)pgas_self.heap_base + r->memory;
    nb_ops_alloc_inbox(r, 1, r->n < CHUNK_BYTES / r->size ? r->n : CHUNK_BYTES / r->size);
    nb_ops_add(r, SCHEDULE_PULL_TREE, r->root);
    if (to == NB_ALL) {
        nb_ops_add(r, SCHEDULE_PULL_BCAST, r->root);
        r->synchronizes = true;
    } else if (to != r->root) {
        nb_phase_add(r, &(struct nb_phase){.name = SCHEDULE_PULL_BCAST,
                                           .nodes = 2,
                                           .rank = me == r->root ? 0
                                                   : me == to    ? 1
                                                                 : -1,
                                           .root = r->root,
                                           .stride = (to - r->root + npes) % npes});
        if (me == to && r->memory != 0)
            r->deliver = r->data;
    }
}

struct nb *nb_reduce(struct shmem_team *team, int root, void *dest, const void *source,
                     size_t n, size_t size, const struct op_fns *op, const char *fn)
{
    struct nb r = nb_ops_elements(team, dest, source, n, size, op, fn);
    bool ordered = pgas_self.env.reproducible == REPRODUCIBLE_ANYWHERE;

    if (root != NB_ALL)
        nb_ops_check_root(team, root, fn);
    if (r.bytes == 0)
        return nb_start(&r);
    nb_ops_check_array(source, r.bytes, fn);
    if (root == NB_ALL || root == team->me)
        nb_ops_check_array(dest, r.bytes, fn);
    r.root = ordered || root == NB_ALL ? 0 : root;
    if (team->npes == 1)
        r.deliver = source;
    else if (root == NB_ALL && (ordered || r.bytes / (size_t)team->npes >= SLICE_BYTES))
        nb_ops_plan_direct(&r);
    else
        nb_ops_plan_tree(&r, root);
    return nb_start(&r);
}

/* The other PEs read sums in dest, which are those of PE 0 .. me at the end. */
struct nb *nb_scan(struct shmem_team *team, void *dest, const void *source, size_t n,
                   size_t size, const struct op_fns *op, bool exclusive, const char *fn)
{
    struct nb r = nb_ops_elements(team, dest, source, n, size, op, fn);

    if (r.bytes == 0)
        return nb_start(&r);
    nb_ops_check_array(source, r.bytes, fn);
    nb_ops_check_array(dest, r.bytes, fn);
    memmove(dest, source, r.bytes);
    nb_ops_alloc_inbox(&r, 1, n);
    nb_ops_add(&r, exclusive ? SCHEDULE_PULL_EXSCAN : SCHEDULE_PULL_SCAN, 0);
    r.zeros = exclusive && team->me == 0;
    return nb_start(&r);
}
