/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collect_internode.c - see collect_internode.h.
 * Uses: core/team, core/check, core/peer, leader_job, mailbox, internode, scratch,
 * select, datatype/copy.
 *
 * Each leader copies the blocks of its node to its own dest and puts them to the dest of
 * the other leaders; the other PEs of a node copy from their leader's dest as blocks
 * arrive.  The algorithms between the leaders are schedules (schedule.h); in each, the
 * blocks arrive in descending cyclic node order, starting with the own node.
 *
 * Eager: the blocks travel from scratch memory to the scratch memory of the leaders,
 * where they lie in node order, so no leader waits until another one has entered the
 * call; all PEs copy from there.  A leader does not wait for the PEs of its node.
 * Invariant: it packs their blocks, and lets others write to its inbox again, after they
 * have read the last ones (leader_exchange_begin).
 */
#include "config.h"

#include "pgas/coll/schedule/leader_job.h"
#include "pgas/coll/sync/mailbox.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/algorithms/collect_internode.h"
#include "pgas/coll/select/select.h"
#include "pgas/coll/sync/scratch.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/check/check.h"
#include "pgas/core/memory/peer.h"
#include "pgas/datatype/copy.h"
#include "pgas/ft/ft_temp.h"

_Static_assert((int)COLLECT_NODES_MAX <= (int)MAILBOX_PARTS,
               "node numbers are part numbers");

struct job {
    struct leader_job leaders;
    struct shmem_team *team;
    char *dest;
    const void *source;
    const struct collect_layout *layout;
    int *order; /* PEs of the team in node order; NULL: team order is node order */
    struct mailbox mailbox;
    /* Eager: symmetric addresses of the inbox of this node's leader and of the packed
     * blocks of this node. */
    const char *inbox, *bundle;
    bool copied; /* eager: the blocks of this node are in dest */
    const char *fn;
};

static size_t collect_inter_at(const struct job *j, int i)
{
    return j->layout->at(j->layout, i);
}

/* ---- the blocks of a node -------------------------------------------------------- */

/* Contiguous bytes of dest: the blocks of PEs with consecutive numbers. */
struct run {
    size_t first, bytes;
};

static int collect_inter_pe_at(const struct job *j, int pos)
{
    return j->order != NULL ? j->order[pos] : pos;
}

/* The run of PEs that begins at *pos, which is advanced to the next run. */
static struct run collect_inter_next_run(const struct job *j, int *pos, int end)
{
    int first = collect_inter_pe_at(j, *pos), n = 1;

    while (*pos + n < end && collect_inter_pe_at(j, *pos + n) == first + n)
        n++;
    *pos += n;
    return (struct run){collect_inter_at(j, first),
                        collect_inter_at(j, first + n) - collect_inter_at(j, first)};
}

static void collect_inter_put_node(const struct job *j, int step, int to, int node)
{
    const int *begin = j->team->nodes->begin;
    int pos = begin[node], end = begin[node + 1];
    struct run r = collect_inter_next_run(j, &pos, end);

    if (pos == end) {
        leader_put(&j->leaders.exchange, step, to, j->dest + r.first, j->dest + r.first,
                   r.bytes);
        return;
    }
    for (;; r = collect_inter_next_run(j, &pos, end)) {
        if (r.bytes > 0)
            leader_add(&j->leaders.exchange, to, j->dest + r.first, j->dest + r.first,
                       r.bytes);
        if (pos == end)
            break;
    }
    leader_signal(&j->leaders.exchange, step, to);
}

/* ---- node phase ------------------------------------------------------------------- */

/* Publish an address to the leader, or on the leader, with the first part. */
static void collect_inter_publish(struct job *j, const void *address)
{
    j->mailbox = mailbox_open(j->team->node_team, sizeof(uint64_t), j->fn);
    *(uint64_t *)mailbox_own(&j->mailbox) = symaddr_encode(address);
    if (internode_is_leader(j->team))
        mailbox_publish(&j->mailbox);
    else
        mailbox_post_to(&j->mailbox, 0);
}

/* The source of local PE k, which has `bytes` bytes. */
static const char *collect_inter_source(const struct job *j, int k, size_t bytes)
{
    const uint64_t *symaddr = (const uint64_t *)mailbox_of(&j->mailbox, k);

    if (k == 0)
        return j->source; /* of the leader itself */
    return peer_at(symaddr_decode(*symaddr), bytes,
                   team_world_pe(j->team, j->team->nodes->local_pe[k]), j->fn);
}

/* The leader copies the blocks of its node to its dest. */
static void collect_inter_fill(const struct job *j)
{
    const struct team_nodes *n = j->team->nodes;

    for (int k = 0; k < n->local_pes; k++) {
        int i = n->local_pe[k];
        size_t bytes = collect_inter_at(j, i + 1) - collect_inter_at(j, i);
        if (bytes > 0)
            copy_bytes(j->dest + collect_inter_at(j, i),
                       collect_inter_source(j, k, bytes), bytes);
    }
}

static void collect_inter_copy_node(const struct job *j, int node)
{
    const int *begin = j->team->nodes->begin;

    for (int pos = begin[node]; pos < begin[node + 1];) {
        struct run r = collect_inter_next_run(j, &pos, begin[node + 1]);
        if (r.bytes > 0)
            copy_bytes(
                j->dest + r.first,
                peer_at(j->dest + r.first, r.bytes, internode_leader(j->team), j->fn),
                r.bytes);
    }
}

static int collect_inter_node_before(const struct job *j, int distance)
{
    const struct team_nodes *n = j->team->nodes;

    return (n->me - distance + n->leaders) % n->leaders;
}

static void collect_inter_copy_all(const struct job *j)
{
    for (int k = 0; k < j->team->nodes->leaders; k++) {
        mailbox_await_parts(&j->mailbox, 0, (uint64_t)k + 1); /* one part per node */
        collect_inter_copy_node(j, collect_inter_node_before(j, k));
    }
}

/* ---- inter-node phase -------------------------------------------------------------- */

static bool collect_inter_send(void *arg, const struct schedule_step *step)
{
    collect_inter_put_node(arg, step->tag, step->peer, (int)step->from.first);
    return true;
}

/* One part for each node. */
static void collect_inter_ready(void *arg, const struct schedule_step *step)
{
    const struct job *j = arg;
    const struct team_nodes *n = j->team->nodes;
    int before = (n->me - (int)step->to.first + n->leaders) % n->leaders;

    mailbox_publish_parts(&j->mailbox, (uint64_t)before + 1);
}

static const struct executor_ops ops = {.send = collect_inter_send,
                                        .arrived = leader_job_arrived,
                                        .await = leader_job_await,
                                        .ready = collect_inter_ready};

static void collect_inter_exchange(struct job *j)
{
    size_t mean = collect_inter_at(j, j->team->npes) / (size_t)j->team->npes;
    bool direct = select_algorithm(j->team, SELECT_INTERNODE_COLLECT, mean) !=
                  INTERNODE_COLLECT_RING;

    leader_job_run(
        &j->leaders,
        (struct schedule){.name = direct ? SCHEDULE_GATHER_DIRECT : SCHEDULE_GATHER_RING},
        &ops, true);
}

/* ---- eager ------------------------------------------------------------------------ */

/* Offset of a node's blocks in an inbox; all blocks have the same size. */
static size_t collect_eager_at(const struct job *j, int node)
{
    return (size_t)j->team->nodes->begin[node] * j->layout->each;
}

static size_t collect_eager_bytes(const struct job *j, int node)
{
    return collect_eager_at(j, node + 1) - collect_eager_at(j, node);
}

/* The leader packs the blocks of its node, unless its source is all of them. */
static void collect_eager_pack(struct job *j)
{
    const struct team_nodes *n = j->team->nodes;
    size_t each = j->layout->each;

    j->bundle = n->local_pes == 1
                    ? j->source
                    : scratch_at(&j->team->coll->scratch, n->me, SCRATCH_OWN);
    for (int k = 0; n->local_pes > 1 && k < n->local_pes; k++)
        copy_bytes((char *)j->bundle + (size_t)k * each, collect_inter_source(j, k, each),
                   each);
}

/* Copy the blocks of a node from the leader's memory. */
static void collect_eager_copy(const struct job *j, int node)
{
    const int *begin = j->team->nodes->begin;
    const char *from =
        node == j->team->nodes->me ? j->bundle : j->inbox + collect_eager_at(j, node);

    from = peer_at(from, collect_eager_bytes(j, node), internode_leader(j->team), j->fn);
    for (int pos = begin[node]; pos < begin[node + 1];) {
        struct run r = collect_inter_next_run(j, &pos, begin[node + 1]);
        copy_bytes(j->dest + r.first, from, r.bytes);
        from += r.bytes;
    }
}

static void collect_eager_copy_own(struct job *j)
{
    if (!j->copied)
        collect_eager_copy(j, j->team->nodes->me);
    j->copied = true;
}

static bool collect_eager_send(void *arg, const struct schedule_step *step)
{
    const struct job *j = arg;
    int node = j->team->nodes->me;
    char *there =
        leader_scratch(&j->leaders.exchange, step->peer, collect_eager_at(j, node));

    leader_put(&j->leaders.exchange, step->tag, step->peer, there, j->bundle,
               collect_eager_bytes(j, node));
    return true;
}

/* The leader copies the blocks of its own node while it waits. */
static void collect_eager_await(void *arg, const struct schedule_step *step)
{
    collect_eager_copy_own(arg);
    leader_job_await(arg, step);
}

static void collect_eager_ready(void *arg, const struct schedule_step *step)
{
    struct job *j = arg;

    if (j->team->nodes->local_pes > 1)
        collect_inter_ready(j, step);
    collect_eager_copy(j, (int)step->to.first);
}

static const struct executor_ops eager_ops = {.send = collect_eager_send,
                                              .arrived = leader_job_arrived,
                                              .await = collect_eager_await,
                                              .ready = collect_eager_ready};

static void collect_eager_lead(struct job *j)
{
    bool shares = j->team->nodes->local_pes > 1;

    internode_await_read(j->team, j->fn);
    collect_inter_publish(j, leader_next_scratch(j->team));
    j->inbox = leader_next_scratch(j->team);
    collect_eager_pack(j);
    if (shares)
        mailbox_publish_parts(&j->mailbox, 1);
    leader_job_run(&j->leaders, (struct schedule){.name = SCHEDULE_GATHER_DIRECT},
                   &eager_ops, true);
    collect_eager_copy_own(j);
    if (shares)
        internode_set_unread(j->team, &j->mailbox);
}

static void collect_eager_follow(struct job *j)
{
    collect_inter_publish(j, j->source);
    mailbox_await_parts(&j->mailbox, 0, 1);
    j->inbox = symaddr_decode(*(const uint64_t *)mailbox_of(&j->mailbox, 0));
    j->bundle = scratch_at(&j->team->coll->scratch, j->team->nodes->me, SCRATCH_OWN);
    for (int k = 0; k < j->team->nodes->leaders; k++) {
        mailbox_await_parts(&j->mailbox, 0, (uint64_t)k + 1);
        collect_eager_copy(j, collect_inter_node_before(j, k));
    }
}

/* ---- all PEs ----------------------------------------------------------------------- */

static struct job collect_inter_job(struct shmem_team *team, void *dest,
                                    const void *source,
                                    const struct collect_layout *layout, const char *fn)
{
    internode_begin(team);
    return (struct job){.leaders = {.team = team, .fn = fn},
                        .team = team,
                        .dest = dest,
                        .source = source,
                        .layout = layout,
                        .order = internode_order(team, fn),
                        .fn = fn};
}

bool collect_eager_fits(struct shmem_team *team, size_t all, const char *fn)
{
    return all <= SCRATCH_SEGMENT && scratch_get(team, fn);
}

void collect_eager(struct shmem_team *team, void *dest, const void *source, size_t each,
                   const char *fn)
{
    struct collect_layout equal = {collect_at_equal, NULL, each};
    struct job j = collect_inter_job(team, dest, source, &equal, fn);

    if (internode_is_leader(team))
        collect_eager_lead(&j);
    else
        collect_eager_follow(&j);
    mailbox_close(&j.mailbox);
    ft_temp_free(j.order);
}

void collect_internode(struct shmem_team *team, void *dest, const void *source,
                       const struct collect_layout *layout, bool synced, const char *fn)
{
    struct job j = collect_inter_job(team, dest, source, layout, fn);

    collect_inter_publish(&j, source);
    if (internode_is_leader(team)) {
        if (!synced)
            internode_barrier(team, fn);
        collect_inter_fill(&j);
        mailbox_publish_parts(&j.mailbox, 1);
        collect_inter_exchange(&j);
        mailbox_await_all_closed(&j.mailbox);
    } else {
        collect_inter_copy_all(&j);
    }
    mailbox_close(&j.mailbox);
    ft_temp_free(j.order);
}
