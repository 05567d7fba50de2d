/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * collect_internode.c - see collect_internode.h.
 * Uses: core/team, core/check, core/peer, leader_job, mailbox, internode, select,
 * datatype/copy.
 *
 * Each leader copies the blocks of its node to its own dest and puts them to the dest of
 * the other leaders; the other PEs of a node copy from their leader's dest as blocks
 * arrive.  The algorithms between the leaders are schedules (schedule.h); in each, the
 * blocks arrive in descending cyclic node order, starting with the own node.
 */
#include "config.h"

#include "pgas/coll/schedule/leader_job.h"
#include "pgas/coll/sync/mailbox.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/algorithms/collect_internode.h"
#include "pgas/coll/select/select.h"
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

/* Publish the address of this PE's source. */
static void collect_inter_publish_source(struct job *j)
{
    j->mailbox = mailbox_open(j->team->node_team, sizeof(uint64_t), j->fn);
    *(uint64_t *)mailbox_own(&j->mailbox) = symaddr_encode(j->source);
    mailbox_post(&j->mailbox);
}

/* The leader copies the blocks of its node to its dest. */
static void collect_inter_fill(const struct job *j)
{
    const struct team_nodes *n = j->team->nodes;

    for (int k = 0; k < n->local_pes; k++) {
        int i = n->local_pe[k];
        size_t bytes = collect_inter_at(j, i + 1) - collect_inter_at(j, i);
        const char *symaddr = mailbox_of(&j->mailbox, k);
        if (bytes > 0)
            copy_bytes(j->dest + collect_inter_at(j, i),
                       peer_at(symaddr_decode(*(const uint64_t *)symaddr), bytes,
                               team_world_pe(j->team, i), j->fn),
                       bytes);
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
    bool direct = select_algorithm(j->team, SELECT_INTERNODE_COLLECT, mean) ==
                  INTERNODE_COLLECT_DIRECT;

    leader_job_run(
        &j->leaders,
        (struct schedule){.name = direct ? SCHEDULE_GATHER_DIRECT : SCHEDULE_GATHER_RING},
        &ops, true);
}

/* ---- all PEs ----------------------------------------------------------------------- */

void collect_internode(struct shmem_team *team, void *dest, const void *source,
                       const struct collect_layout *layout, bool synced, const char *fn)
{
    struct job j = {.leaders = {.team = team, .fn = fn},
                    .team = team,
                    .dest = dest,
                    .source = source,
                    .layout = layout,
                    .order = internode_order(team, fn),
                    .fn = fn};

    internode_begin(team);
    collect_inter_publish_source(&j);
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
