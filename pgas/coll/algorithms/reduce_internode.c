/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_internode.c - reductions of a team over several nodes.
 * Uses: core/team, core/net, barrier, bcast, internode, ordered_internode, select,
 * remote, scratch, slice, rma, datatype, reduce_int.
 *
 * Very small data is piggybacked on the barrier, and every PE combines all contributions.
 * Otherwise the reduction is hierarchical: a rooted reduction to the node leader's dest,
 * an inter-node allreduce between the node leaders, and a broadcast within each node.
 *
 * Active sets, and teams whose leaders have no scratch buffer, reduce between two
 * barriers, one slice per PE.
 *
 * With SHMEM_REPRODUCIBLE=1 the combining order is the PE order, so the result is bitwise
 * independent of the number of nodes: a chain of the leaders (ordered_internode.c); or
 * slices, for teams that cannot use it and with SHMEM_INTERNODE_REDUCE_ALGORITHM=barrier.
 */
#include "config.h"

#include "pgas/coll/schedule/schedule.h"
#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/algorithms/bcast.h"
#include "pgas/coll/ordered/ordered_internode.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/select/select.h"
#include "pgas/coll/algorithms/reduce_int.h"
#include "pgas/coll/algorithms/reduce.h"
#include "pgas/coll/sync/remote.h"
#include "pgas/coll/sync/scratch.h"
#include "pgas/coll/algorithms/slice.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/progress/net.h"
#include "pgas/datatype/copy.h"
#include "pgas/rma/rma.h"

enum {
    REDUNDANT_BYTES = 16 * 1024, /* limit per PE for combining redundantly on all PEs, */
    REDUNDANT_ALL_BYTES = 32 * 1024, /* and the limit for the data of all PEs together */
    PIGGYBACK_BYTES = 1024, /* data of all PEs that is piggybacked on the barrier */
};

/* ---- piggybacked on the barrier -------------------------------------------------- */

/* The barrier delivers all sources, and every PE combines them redundantly. */
static void reduce_small(const struct reduce_job *j)
{
    size_t bytes = reduce_bytes(j);
    const char *buffer = internode_gather(j->team, j->source, bytes, -1, j->fn);

    j->op->three(j->dest, internode_part(j->team, buffer, bytes, 0),
                 internode_part(j->team, buffer, bytes, 1), j->n);
    for (int i = 2; i < j->team->npes; i++)
        j->op->two(j->dest, internode_part(j->team, buffer, bytes, i), j->n);
}

/* ---- hierarchical ---------------------------------------------------------------- */

/* Reduce the contributions of this node to `result` of its leader. */
static void reduce_inter_combine_node(const struct reduce_job *j, char *result)
{
    struct reduce_job node = *j;

    node.team = j->team->node_team;
    node.dest = result;
    node.root = 0;
    reduce_node_to(&node);
}

/* Allgather between the leaders; each leader combines all contributions redundantly. */
static void reduce_inter_combine_gathered(const struct reduce_job *j)
{
    size_t bytes = reduce_bytes(j);
    const char *buffer = internode_gather_nodes(j->team, j->dest, bytes, j->fn);

    if (buffer == NULL)
        return;
    j->op->three(j->dest, buffer, buffer + bytes, j->n);
    for (int node = 2; node < j->team->nodes->leaders; node++)
        j->op->two(j->dest, buffer + (size_t)node * bytes, j->n);
}

static enum select_algorithm reduce_inter_algorithm_of(const struct reduce_job *j)
{
    enum select_algorithm a =
        select_algorithm(j->team, SELECT_INTERNODE_REDUCE, reduce_bytes(j));
    size_t nodes = (size_t)j->team->nodes->leaders;

    if (!reduce_permits(j, a))
        a = select_same(j->team, SELECT_INTERNODE_REDUCE, reduce_bytes(j));
    if (a == INTERNODE_REDUCE_GATHER &&
        !internode_fits(j->team, nodes, reduce_bytes(j), j->fn))
        return INTERNODE_REDUCE_DOUBLING;
    return a;
}

static void reduce_nodes(const struct reduce_job *j, enum select_algorithm a)
{
    barrier_guard(j->team, j->fn);
    internode_begin(j->team);
    reduce_inter_combine_node(j, j->dest);
    if (a == INTERNODE_REDUCE_GATHER)
        reduce_inter_combine_gathered(j);
    else if (internode_is_leader(j->team))
        reduce_leaders(j, a);
    if (j->team->node_team->npes > 1)
        bcast_node(j->team->node_team, j->dest, j->dest, reduce_bytes(j), 0, false,
                   j->fn);
    barrier_unguard(j->team, j->fn);
}

/* ---- between two barriers ---------------------------------------------------------- */

/* to = the combination of this chunk of all PEs; r holds the chunks of remote PEs. */
static void reduce_inter_combine(const struct reduce_job *j, const struct remote *r,
                                 void *to)
{
    size_t bytes = r->n * j->size;
    const char *mine = j->source + r->first * j->size;

    for (int i = 0, remote = 0; i < j->team->npes; i++) {
        int pe = team_world_pe(j->team, i);
        const void *in =
            net_remote(pe) ? remote_chunk(r, remote++) : peer_at(mine, bytes, pe, j->fn);
        if (i == 0)
            copy_bytes(to, in, bytes);
        else
            j->op->two(to, in, r->n);
    }
}

static void reduce_inter_combine_slice(const struct reduce_job *j, struct slice s)
{
    struct remote r;

    remote_open(&r, j->team, j->source, j->size, s, j->fn);
    while (remote_next(&r)) {
        char *dest = j->dest + r.first * j->size;
        reduce_inter_combine(j, &r, r.own[0]);
        for (int k = 0; k < j->team->npes; k++) {
            int i = (j->team->me + k) % j->team->npes;
            rma_put_nbi(CTX_LIBRARY, dest, r.own[0], r.n * j->size,
                        team_world_pe(j->team, i), j->fn);
        }
    }
    remote_close(&r);
}

/* Every PE combines all elements redundantly. */
static void reduce_redundant(const struct reduce_job *j)
{
    _Alignas(NODE_LINE) char acc[REDUNDANT_BYTES];
    struct remote r;

    barrier_sync(j->team, j->fn); /* all sources are ready */
    remote_open(&r, j->team, j->source, j->size, (struct slice){0, j->n}, j->fn);
    while (remote_next(&r))
        reduce_inter_combine(j, &r, acc + r.first * j->size);
    remote_close(&r);
    barrier_sync(j->team, j->fn); /* all sources have been read */
    copy_bytes(j->dest, acc, reduce_bytes(j));
}

static void reduce_sliced(const struct reduce_job *j)
{
    barrier_sync(j->team, j->fn); /* all sources are ready */
    reduce_inter_combine_slice(j, slice_of(j->n, j->size, j->team->me, j->team->npes));
    barrier_sync(j->team, j->fn); /* all dests are written, all sources have been read */
}

static void reduce_barrier(const struct reduce_job *j)
{
    size_t bytes = reduce_bytes(j);

    if (bytes <= REDUNDANT_BYTES && bytes <= REDUNDANT_ALL_BYTES / (size_t)j->team->npes)
        reduce_redundant(j);
    else
        reduce_sliced(j);
}

/* Combine in PE order, independent of the placement. */
static void reduce_in_order(const struct reduce_job *j)
{
    enum select_algorithm a = INTERNODE_REDUCE_BARRIER; /* of an active set */

    if (j->team->nodes != NULL)
        a = reduce_inter_algorithm_of(j);
    if (a == INTERNODE_REDUCE_GATHER &&
        internode_fits(j->team, (size_t)j->team->npes, reduce_bytes(j), j->fn))
        reduce_small(j);
    else if (a != INTERNODE_REDUCE_BARRIER &&
             j->team->nodes->leaders <= SELECT_ORDERED_NODES &&
             ordered_applies(j->team, j->fn))
        ordered_chain(&(struct ordered_job){.team = j->team,
                                            .dest = j->dest,
                                            .source = j->source,
                                            .n = j->n,
                                            .size = j->size,
                                            .op = j->op,
                                            .kind = ORDERED_REDUCE,
                                            .fn = j->fn});
    else
        reduce_barrier(j);
}

void reduce_internode(const struct reduce_job *j)
{
    size_t bytes = reduce_bytes(j), npes = (size_t)j->team->npes;

    if (j->team->nodes == NULL ||
        (pgas_self.env.reproducible == REPRODUCIBLE_ANYWHERE && !op_exact(j->op))) {
        reduce_in_order(j);
        return;
    }
    enum select_algorithm a = reduce_inter_algorithm_of(j);
    if (a == INTERNODE_REDUCE_GATHER && bytes <= PIGGYBACK_BYTES / npes)
        reduce_small(j);
    else if (a == INTERNODE_REDUCE_GATHER ||
             (a != INTERNODE_REDUCE_BARRIER && scratch_get(j->team, j->fn)))
        reduce_nodes(j, a);
    else
        reduce_barrier(j);
}

/* ---- rooted ------------------------------------------------------------------------ */

/* The root combines the sources of all PEs, all of which are mapped. */
static void reduce_inter_combine_on_node(const struct reduce_job *j)
{
    _Alignas(NODE_LINE) char acc[REDUNDANT_BYTES];
    struct remote none = {.first = 0};
    size_t most = sizeof acc / j->size;

    for (; none.first < j->n; none.first += none.n) {
        none.n = j->n - none.first < most ? j->n - none.first : most;
        reduce_inter_combine(j, &none, acc);
        copy_bytes(j->dest + none.first * j->size, acc, none.n * j->size);
    }
}

static void reduce_inter_combine_remote(const struct reduce_job *j)
{
    struct remote r;

    remote_open(&r, j->team, j->source, j->size, (struct slice){0, j->n}, j->fn);
    while (remote_next(&r)) {
        reduce_inter_combine(j, &r, r.own[0]);
        copy_bytes(j->dest + r.first * j->size, r.own[0], r.n * j->size);
    }
    remote_close(&r);
}

/* Only the root combines, between two barriers. */
static void reduce_barrier_to(const struct reduce_job *j)
{
    barrier_sync(j->team, j->fn); /* all sources are ready */
    if (reduce_is_receiver(j) && j->team->remote)
        reduce_inter_combine_remote(j);
    else if (reduce_is_receiver(j))
        reduce_inter_combine_on_node(j);
    barrier_sync(j->team, j->fn); /* all sources have been read */
}

/* Pass the result from the leader of the root's node to the root. */
static void reduce_inter_pass_to_root(const struct reduce_job *j, const char *result)
{
    struct shmem_team *node_team = j->team->node_team;
    bool is_leader = internode_is_leader(j->team);
    struct mailbox b = mailbox_open(node_team, 0, j->fn);

    if (is_leader) {
        (void)mailbox_own(&b);
        mailbox_post(&b);
    }
    if (reduce_is_receiver(j)) {
        (void)mailbox_of(&b, 0);
        copy_bytes(j->dest,
                   peer_at(result, reduce_bytes(j), internode_leader(j->team), j->fn),
                   reduce_bytes(j));
    }
    if (is_leader)
        mailbox_await_all_closed(&b);
    mailbox_close(&b);
}

/* Reduce a segment that fits the leader scratch buffer: within each node to the leader,
 * then up a binomial tree of the leaders. */
static void reduce_segment_to(const struct reduce_job *j)
{
    const struct team_nodes *n = j->team->nodes;
    char *result = scratch_at(&j->team->coll->scratch, n->me, SCRATCH_OWN);
    int node = team_node(j->team, j->root);

    internode_begin(j->team);
    internode_await_read(j->team, j->fn);
    reduce_inter_combine_node(j, result);
    if (internode_is_leader(j->team))
        reduce_leaders_to(j, result, node);
    if (node == n->me)
        reduce_inter_pass_to_root(j, result);
}

/* Bytes of a segment: the scratch buffer must hold one segment for each level of the
 * tree. */
static size_t reduce_inter_segment_bytes(const struct shmem_team *team)
{
    size_t most = SCRATCH_BYTES / (size_t)schedule_log2(team->nodes->leaders);

    most = most / NODE_LINE * NODE_LINE;
    return most < SCRATCH_SEGMENT ? most : SCRATCH_SEGMENT;
}

static void reduce_nodes_to(const struct reduce_job *j)
{
    struct reduce_job segment = *j;
    size_t most = reduce_inter_segment_bytes(j->team) / j->size;

    barrier_guard(j->team, j->fn);
    for (size_t first = 0; first < j->n; first += most) {
        segment.n = j->n - first < most ? j->n - first : most;
        segment.source = j->source + first * j->size;
        segment.dest = reduce_is_receiver(j) ? j->dest + first * j->size : NULL;
        reduce_segment_to(&segment);
    }
    barrier_unguard(j->team, j->fn);
}

void reduce_internode_to(const struct reduce_job *j)
{
    if (j->team->nodes != NULL && pgas_self.env.reproducible != REPRODUCIBLE_ANYWHERE &&
        reduce_inter_algorithm_of(j) != INTERNODE_REDUCE_BARRIER &&
        scratch_get(j->team, j->fn))
        reduce_nodes_to(j);
    else
        reduce_barrier_to(j);
}
