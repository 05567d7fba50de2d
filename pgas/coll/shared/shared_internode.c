/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * shared_internode.c - node-shared results: inter-node phase.
 * Uses: core/team, core/log, barrier, internode, slice, rma, rma/order, rma/signal,
 * datatype/copy.
 *
 * Invariant: a call begins with a barrier of the team (shared_enter), before which every
 * leader has completed its gets from other nodes' copies in the previous call; so the
 * copies may be written.  Data cross the network once per node, by gets between copies.
 *
 * N nodes, m bytes.
 * - Broadcast: the root signals N - 1 leaders, which get m bytes from its node.
 * - Fcollect: direct; each leader gets the blocks of each other node.
 * - Reduce: reduce-scatter + allgather with direct gets.  Each node combines the elements
 *   of its PEs in its copy; leader i combines slice i of all nodes in node order into its
 *   own copy (no PE reads slice i of that copy in this phase); then all leaders get the
 *   other slices.  2 (N - 1) gets and 2 m (N - 1) / N bytes per leader.  All nodes get
 *   the same bits.
 */
#include "config.h"

#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/shared/shared_int.h"
#include "pgas/coll/algorithms/slice.h"
#include "pgas/core/base/log.h"
#include "pgas/core/memory/peer.h"
#include "pgas/datatype/copy.h"
#include "pgas/ft/ft_temp.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"
#include "pgas/rma/signal.h"

enum {
    PART_BYTES = 64 * 1024,    /* maximum chunk of a node's elements */
    PARTS_BYTES = 1024 * 1024, /* maximum of all nodes, at least a line per node */
};

/* Symmetric address of byte `at` of a node's copy, in its leader's memory. */
static char *shared_inter_copy_at(const struct shmemx_shared *s, int node, size_t at)
{
    return (char *)pgas_self.heap_base + s->offset[node] + sizeof(struct shared_head) +
           at;
}

static int shared_inter_leader_of(const struct shmemx_shared *s, int node)
{
    return team_world_pe(s->team, s->team->nodes->leader[node]);
}

/* Start a nonblocking get of n bytes from byte `at` of a node's copy. */
static void shared_inter_get(const struct shmemx_shared *s, void *to, int node, size_t at,
                             size_t n, const char *fn)
{
    if (n > 0)
        rma_get_nbi(CTX_LIBRARY, to, shared_inter_copy_at(s, node, at), n,
                    shared_inter_leader_of(s, node), fn);
}

/* Complete the leader's gets and publish the result to its node. */
static void shared_inter_finish(const struct shmemx_shared *s, const char *fn)
{
    if (!internode_is_leader(s->team)) {
        shared_await_ready(s, fn);
        return;
    }
    order_quiet(CTX_LIBRARY, fn);
    shared_release(s);
}

/* ---- broadcast ------------------------------------------------------------------- */

/* Signal the other leaders that the root's node has a complete copy. */
static void shared_inter_announce(const struct shmemx_shared *s, const char *fn)
{
    const struct team_nodes *n = s->team->nodes;

    order_fence(CTX_LIBRARY, fn);
    for (int k = 1; k < n->leaders; k++) {
        int node = (n->me + k) % n->leaders;
        char *head = shared_inter_copy_at(s, node, 0) - sizeof(struct shared_head);
        signal_update(CTX_LIBRARY,
                      (uint64_t *)(head + offsetof(struct shared_head, remote_ready)),
                      s->calls, SHMEM_SIGNAL_SET, shared_inter_leader_of(s, node), fn);
    }
}

void shared_internode_broadcast(struct shmemx_shared *s, const void *source, size_t bytes,
                                int root, const char *fn)
{
    int node = team_node(s->team, root);

    if (node == s->team->nodes->me) {
        shared_node_broadcast(s, source, bytes, root, fn);
        if (s->team->me == root)
            shared_inter_announce(s, fn);
        return;
    }
    if (internode_is_leader(s->team)) {
        shared_await_remote_ready(s, fn);
        shared_inter_get(s, s->copy, node, 0, bytes, fn);
    }
    shared_inter_finish(s, fn);
}

/* ---- fcollect -------------------------------------------------------------------- */

/* Get the blocks of other nodes; consecutive PEs of a node in one get. */
static void shared_inter_get_blocks(const struct shmemx_shared *s, size_t bytes,
                                    const char *fn)
{
    const struct shmem_team *team = s->team;

    for (int i = 0, end; i < team->npes; i = end) {
        int node = team_node(team, i);
        for (end = i + 1; end < team->npes && team_node(team, end) == node;)
            end++;
        size_t at = (size_t)i * bytes, n = (size_t)(end - i) * bytes;
        if (node != team->nodes->me)
            shared_inter_get(s, s->copy + at, node, at, n, fn);
    }
}

void shared_internode_fcollect(struct shmemx_shared *s, const void *source, size_t bytes,
                               const char *fn)
{
    shared_put_block(s, source, bytes);
    barrier_sync(s->team, fn); /* all nodes have the blocks of their PEs */
    if (internode_is_leader(s->team))
        shared_inter_get_blocks(s, bytes, fn);
    shared_inter_finish(s, fn);
}

/* ---- reduction ------------------------------------------------------------------- */

/* Elements of a chunk. */
static size_t shared_inter_part_of(const struct shared_sum *sum)
{
    size_t bytes = PARTS_BYTES / (size_t)sum->s->team->nodes->leaders;

    bytes = bytes > PART_BYTES ? PART_BYTES : bytes < NODE_LINE ? NODE_LINE : bytes;
    return bytes / sum->size;
}

/* Combine n elements of all nodes in node order into this node's copy.  The elements of
 * node i are at part + i * bytes, except this node's, which are in the copy. */
static void shared_inter_combine_part(const struct shared_sum *sum, char *part,
                                      size_t first, size_t n)
{
    const struct team_nodes *nodes = sum->s->team->nodes;
    size_t bytes = n * sum->size;
    char *mine = sum->s->copy + first * sum->size;
    char *acc = nodes->me == 0 ? mine : part;

    for (int i = 1; i < nodes->leaders; i++)
        sum->op->two(acc, i == nodes->me ? mine : part + (size_t)i * bytes, n);
    if (acc != mine)
        copy_bytes(mine, acc, bytes);
}

static void shared_inter_combine_parts(const struct shared_sum *sum, struct slice slice)
{
    const struct team_nodes *nodes = sum->s->team->nodes;
    size_t most = shared_inter_part_of(sum);
    char *part = ft_temp_alloc((size_t)nodes->leaders * most * sum->size);

    if (part == NULL)
        log_die("%s: no memory for the elements of %d nodes", sum->fn, nodes->leaders);
    for (size_t first = slice.first; first < slice.end; first += most) {
        size_t n = slice.end - first < most ? slice.end - first : most;
        size_t at = first * sum->size, bytes = n * sum->size;
        for (int k = 1; k < nodes->leaders; k++) {
            int node = (nodes->me + k) % nodes->leaders;
            shared_inter_get(sum->s, part + (size_t)node * bytes, node, at, bytes,
                             sum->fn);
        }
        order_quiet(CTX_LIBRARY, sum->fn);
        shared_inter_combine_part(sum, part, first, n);
    }
    ft_temp_free(part);
}

static struct slice shared_inter_slice_of_node(const struct shared_sum *sum, int node)
{
    return slice_of(sum->n, sum->size, node, sum->s->team->nodes->leaders);
}

static void shared_inter_get_slices(const struct shared_sum *sum)
{
    const struct team_nodes *nodes = sum->s->team->nodes;

    for (int k = 1; k < nodes->leaders; k++) {
        int node = (nodes->me + k) % nodes->leaders;
        struct slice slice = shared_inter_slice_of_node(sum, node);
        size_t at = slice.first * sum->size;
        shared_inter_get(sum->s, sum->s->copy + at, node, at,
                         (slice.end - slice.first) * sum->size, sum->fn);
    }
}

void shared_internode_reduce(const struct shared_sum *sum)
{
    struct shmem_team *team = sum->s->team;
    struct slice slice = shared_inter_slice_of_node(sum, team->nodes->me);

    shared_combine(sum);
    barrier_sync(team, sum->fn); /* all nodes have combined the elements of their PEs */
    if (internode_is_leader(team) && slice.first < slice.end)
        shared_inter_combine_parts(sum, slice);
    barrier_sync(team, sum->fn); /* all slices are combined */
    if (internode_is_leader(team))
        shared_inter_get_slices(sum);
    shared_inter_finish(sum->s, sum->fn);
}
