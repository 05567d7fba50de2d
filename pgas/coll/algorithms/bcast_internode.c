/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast_internode.c - broadcast of a team over several nodes.
 * Uses: core/team, bcast, mailbox, internode, leader_msg, select, slice, datatype/copy.
 *
 * N nodes, m bytes; nodes are numbered cyclically from the root's node.
 *
 * Small (bcast_eager): binomial tree of the leaders, ceil(log2 N) rounds, N - 1 messages
 * from eager slot to eager slot; no PE waits for its descendants.  A leader has
 * BCAST_PUSHES slots in its scratch memory.  Invariant: a slot is reused only after an
 * inter-node barrier, which a leader enters after it has forwarded the data of all
 * earlier calls and passed them to its node.
 *
 * Large: the root's node broadcasts as on a node; its leader sends to the other leaders
 * in segments, and each leader publishes every segment to its node on arrival.
 * - binomial, kary: pipelined tree; segments are forwarded on arrival.
 * - scatter: scatter + ring allgather (van de Geijn 1994): N - 1 rounds after the
 *   scatter; each leader sends at most 2 m bytes.
 *
 * Invariant: a leader's dest is written only after the leader has entered the call
 * (internode_barrier), and is not modified before its node has read all segments.
 */
#include "config.h"

#include <string.h>

#include "pgas/coll/algorithms/bcast.h"
#include "pgas/coll/algorithms/bcast_internode.h"
#include "pgas/coll/sync/mailbox.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/sync/leader_msg.h"
#include "pgas/coll/select/select.h"
#include "pgas/coll/algorithms/slice.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/memory/peer.h"
#include "pgas/datatype/copy.h"

enum {
    SEGMENT_BYTES = 128 * 1024,
    SEGMENTS_MAX = 1 << 15,
    ARITY = 4, /* of kary */
};

struct job {
    struct shmem_team *team;
    char *dest;
    const char *from; /* the data on a leader: dest, except on the root */
    size_t bytes;
    int nodes, root, vrank; /* root: its node; vrank: cyclic distance from that node */
    struct exchange exchange;
    struct mailbox mailbox; /* of this node, unless it is the root's */
    const char *fn;
};

static size_t bcast_inter_segment_bytes(const struct job *j)
{
    return SEGMENT_BYTES + j->bytes / SEGMENTS_MAX;
}

static struct slice bcast_inter_segment(const struct job *j, int i)
{
    size_t most = bcast_inter_segment_bytes(j), first = (size_t)i * most;

    return (struct slice){first, j->bytes - first < most ? j->bytes : first + most};
}

static int bcast_inter_segments(const struct job *j)
{
    return (int)((j->bytes - 1) / bcast_inter_segment_bytes(j)) + 1;
}

static int bcast_inter_node_of(const struct job *j, int vrank)
{
    return (j->root + vrank) % j->nodes;
}

static void bcast_inter_put(const struct job *j, int step, int vrank, struct slice s)
{
    leader_put(&j->exchange, step, bcast_inter_node_of(j, vrank), j->dest + s.first,
               j->from + s.first, s.end - s.first);
}

/* ---- node phase ------------------------------------------------------------------- */

static bool bcast_inter_has_local_pes(const struct job *j)
{
    return j->vrank != 0 && j->team->node_team->npes > 1;
}

/* Publish the first n segments to the node. */
static void bcast_inter_hand_out(const struct job *j, int n)
{
    if (bcast_inter_has_local_pes(j))
        mailbox_hand_over(&j->mailbox, (uint64_t)n);
}

static void bcast_inter_take_segments(const struct job *j)
{
    for (int i = 0; i < bcast_inter_segments(j); i++) {
        struct slice s = bcast_inter_segment(j, i);
        size_t bytes = s.end - s.first;
        mailbox_await_handed(&j->mailbox, 0, (uint64_t)i + 1);
        copy_bytes(j->dest + s.first,
                   peer_at(j->dest + s.first, bytes, internode_leader(j->team), j->fn),
                   bytes);
    }
}

/* ---- trees between leaders --------------------------------------------------------- */

/* Tree over virtual ranks: the i-th child (i < most) or -1, and the parent. */
struct tree {
    int most;
    int (*child)(int vrank, int i, int nodes);
    int (*parent)(int vrank);
};

static int bcast_inter_binomial_child(int vrank, int i, int nodes)
{
    int bit = 1 << i;

    return (vrank & (2 * bit - 1)) == 0 && bit < nodes - vrank ? vrank + bit : -1;
}

static int bcast_inter_binomial_parent(int vrank)
{
    return vrank & (vrank - 1);
}

static int bcast_inter_kary_child(int vrank, int i, int nodes)
{
    int64_t child = (int64_t)vrank * ARITY + 1 + i;

    return child < nodes ? (int)child : -1;
}

static int bcast_inter_kary_parent(int vrank)
{
    return (vrank - 1) / ARITY;
}

static const struct tree binomial = {30, bcast_inter_binomial_child,
                                     bcast_inter_binomial_parent};
static const struct tree kary = {ARITY, bcast_inter_kary_child, bcast_inter_kary_parent};

/* Largest subtree first. */
static void bcast_inter_put_to_children(const struct job *j, const struct tree *t, int i)
{
    for (int k = t->most - 1; k >= 0; k--) {
        int child = t->child(j->vrank, k, j->nodes);
        if (child >= 0)
            bcast_inter_put(j, i, child, bcast_inter_segment(j, i));
    }
}

static void bcast_inter_spread_tree(const struct job *j, const struct tree *t)
{
    for (int i = 0; i < bcast_inter_segments(j); i++) {
        if (j->vrank != 0)
            leader_await(&j->exchange, i, bcast_inter_node_of(j, t->parent(j->vrank)));
        bcast_inter_hand_out(j, i + 1); /* before the puts, which may wait */
        bcast_inter_put_to_children(j, t, i);
    }
}

static void bcast_inter_spread_binomial(const struct job *j)
{
    bcast_inter_spread_tree(j, &binomial);
}

static void bcast_inter_spread_kary(const struct job *j)
{
    bcast_inter_spread_tree(j, &kary);
}

/* ---- scatter + ring allgather ------------------------------------------------------ */

static struct slice bcast_inter_slice_of_vrank(const struct job *j, int vrank)
{
    return slice_of(j->bytes, 1, (vrank + j->nodes) % j->nodes, j->nodes);
}

/* The root has all slices, so its predecessor sends it nothing. */
static void bcast_inter_spread_scatter(const struct job *j)
{
    int before = bcast_inter_node_of(j, j->vrank - 1 + j->nodes), after = j->vrank + 1;

    for (int k = 1; j->vrank == 0 && k < j->nodes; k++)
        bcast_inter_put(j, 0, k, bcast_inter_slice_of_vrank(j, k));
    if (j->vrank != 0)
        leader_await(&j->exchange, 0, j->root);
    for (int k = 1; k < j->nodes; k++) {
        if (after < j->nodes)
            bcast_inter_put(j, k, after, bcast_inter_slice_of_vrank(j, j->vrank + 1 - k));
        if (j->vrank != 0)
            leader_await(&j->exchange, k, before);
    }
    bcast_inter_hand_out(j, bcast_inter_segments(j));
}

/* ---- large broadcast --------------------------------------------------------------- */

static void (*const algorithms[])(const struct job *) = {
    [INTERNODE_BROADCAST_BINOMIAL] = bcast_inter_spread_binomial,
    [INTERNODE_BROADCAST_KARY] = bcast_inter_spread_kary,
    [INTERNODE_BROADCAST_SCATTER] = bcast_inter_spread_scatter,
};

static void bcast_inter_spread(struct job *j)
{
    enum select_algorithm a =
        select_algorithm(j->team, SELECT_INTERNODE_BROADCAST, j->bytes);

    internode_barrier(j->team, j->fn); /* all leaders have entered: dest is writable */
    j->exchange = leader_exchange_begin(
        j->team, a == INTERNODE_BROADCAST_SCATTER ? j->nodes : bcast_inter_segments(j),
        j->fn);
    algorithms[a](j);
    leader_exchange_end(&j->exchange, false);
}

/* On the root's node all PEs get the data in dest; the root only if `copies`. */
static void bcast_inter_share(struct job *j, const void *source, int root, bool copies)
{
    struct shmem_team *node_team = j->team->node_team;
    int i = team_index(node_team, team_world_pe(j->team, root));

    if (node_team->npes > 1 && copies)
        bcast(node_team, j->dest, source, j->bytes, 1, i, j->fn);
    else if (node_team->npes > 1)
        bcast_set(node_team, j->dest, source, j->bytes, 1, i, j->fn);
    else if (copies)
        memmove(j->dest, source, j->bytes);
    if (!copies && j->team->me == root)
        j->from = source;
}

static void bcast_inter_spread_from(struct job *j, const void *source, int root,
                                    bool copies)
{
    bcast_inter_share(j, source, root, copies);
    if (internode_is_leader(j->team))
        bcast_inter_spread(j);
}

static void bcast_inter_receive(struct job *j)
{
    bool local_pes = bcast_inter_has_local_pes(j), leads = internode_is_leader(j->team);

    if (local_pes)
        j->mailbox = mailbox_open(j->team->node_team, 0, j->fn);
    if (leads)
        bcast_inter_spread(j);
    else
        bcast_inter_take_segments(j);
    if (local_pes && leads)
        mailbox_await_all_closed(&j->mailbox);
    if (local_pes)
        mailbox_close(&j->mailbox);
}

static struct job bcast_inter_job_of(struct shmem_team *team, void *dest, size_t bytes,
                                     int root, const char *fn)
{
    const struct team_nodes *n = team->nodes;
    int node = team_node(team, root);

    return (struct job){.team = team,
                        .dest = dest,
                        .from = dest,
                        .bytes = bytes,
                        .nodes = n->leaders,
                        .root = node,
                        .vrank = (n->me - node + n->leaders) % n->leaders,
                        .fn = fn};
}

void bcast_internode(struct shmem_team *team, void *dest, const void *source,
                     size_t bytes, int root, bool copies, const char *fn)
{
    struct job j = bcast_inter_job_of(team, dest, bytes, root, fn);

    internode_begin(team);
    if (j.vrank == 0)
        bcast_inter_spread_from(&j, source, root, copies);
    else
        bcast_inter_receive(&j);
}

/* ---- small broadcast --------------------------------------------------------------- */

struct push {
    uint64_t number;
    uint64_t *word; /* same symmetric address on all leaders */
};

static struct push bcast_inter_eager_begin(const struct job *j)
{
    struct internode_words *w = internode_words(j->team, j->team->me);
    struct credit *eager = &j->team->coll->bcast.eager;

    if (!credit_available(eager, BCAST_PUSHES))
        internode_barrier(j->team, j->fn); /* returns the credit of leaders */
    uint64_t number = credit_begin(eager);
    return (struct push){number, &w->bcast.pushed[number % BCAST_PUSHES]};
}

/* Symmetric address of the slot of a node's leader. */
static char *bcast_inter_slot(const struct job *j, const struct push *p, int node)
{
    return scratch_at(&j->team->coll->internode.eager, node,
                      offsetof(struct internode_eager, push[p->number % BCAST_PUSHES]));
}

static void bcast_inter_eager_to_children(const struct job *j, const struct push *p)
{
    const char *mine = bcast_inter_slot(j, p, j->team->nodes->me);

    for (int k = binomial.most - 1; k >= 0; k--) {
        int child = binomial.child(j->vrank, k, j->nodes);
        int node = child >= 0 ? bcast_inter_node_of(j, child) : -1;
        if (child >= 0)
            leader_push(j->team, node, bcast_inter_slot(j, p, node), mine, j->bytes,
                        p->word, p->number, j->fn);
    }
}

static void bcast_inter_eager_send(struct job *j, const struct push *p,
                                   const void *source, int root, bool copies)
{
    bcast_inter_share(j, source, root, copies);
    if (!internode_is_leader(j->team))
        return;
    copy_bytes(bcast_inter_slot(j, p, j->team->nodes->me), j->from, j->bytes);
    bcast_inter_eager_to_children(j, p);
}

static void bcast_inter_eager_recv(const struct job *j, const struct push *p)
{
    const char *slot = bcast_inter_slot(j, p, j->team->nodes->me); /* of the leader */

    if (internode_is_leader(j->team)) {
        int parent = bcast_inter_node_of(j, binomial.parent(j->vrank));
        leader_await_push(j->team, parent, p->word, p->number, j->fn);
        bcast_inter_eager_to_children(j, p);
    }
    if (j->team->node_team->npes > 1)
        bcast(j->team->node_team, j->dest, slot, j->bytes, 1, 0, j->fn);
    else
        copy_bytes(j->dest, slot, j->bytes);
}

void bcast_eager(struct shmem_team *team, void *dest, const void *source, size_t bytes,
                 int root, bool copies, const char *fn)
{
    struct job j = bcast_inter_job_of(team, dest, bytes, root, fn);

    internode_begin(team);
    struct push p = bcast_inter_eager_begin(&j);
    if (j.vrank == 0)
        bcast_inter_eager_send(&j, &p, source, root, copies);
    else
        bcast_inter_eager_recv(&j, &p);
}
