/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ordered_internode.c - see ordered_internode.h.
 * Uses: core/team, core/peer, leader_job, leader_msg, mailbox, internode, scratch,
 * select, slice, datatype/copy.
 *
 * The leaders form a chain in team order (SCHEDULE_SCAN_CHAIN, SCHEDULE_REDUCE_ORDERED).
 * A leader receives the combination of all PEs on previous nodes in its scratch memory,
 * segment by segment; it adds the contributions of its PEs in PE order, which it reads
 * from their sources, and sends the combination to the next leader.  In a scan it writes
 * the results of the PEs of its node to their dests meanwhile.  In a reduction the
 * segments of the result return along the chain from the last leader to the dests of the
 * leaders, and the other PEs copy from their leader's dest.
 *
 * Small scans on many nodes (ordered_doubling): the leader adds the contributions of its
 * PEs in its scratch memory, the leaders scan these sums (SCHEDULE_SCAN_DOUBLING), and
 * then each writes the results of its PEs.
 *
 * Invariants:
 * - A leader reads the sources, and writes the dests, of the PEs of its node after they
 *   have posted to their mailbox (acquire), and before it publishes its last part
 *   (release), for which they wait.
 * - In a reduction a leader's dest is written by another leader only with the result,
 *   which depends on all sources; so dest may be the source.  The leader waits until the
 *   PEs of its node have copied from it.
 * - Between leaders: leader_msg.c.  No barrier is needed before the first message,
 *   because it goes to scratch memory.  A reduction returns the credit of its exchange; a
 *   scan does not, so a barrier of the leaders precedes every second exchange.
 */
#include "config.h"

#include <string.h>

#include "pgas/coll/ordered/ordered_internode.h"
#include "pgas/coll/algorithms/slice.h"
#include "pgas/coll/schedule/leader_job.h"
#include "pgas/coll/select/select.h"
#include "pgas/coll/sync/barrier.h"
#include "pgas/coll/sync/internode.h"
#include "pgas/coll/sync/mailbox.h"
#include "pgas/coll/sync/scratch.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/core/memory/peer.h"
#include "pgas/datatype/copy.h"

enum {
    CHUNK_BYTES = 8 * 1024, /* two buffers and one source chunk fit the L1 cache */
    ROUND_BYTES = 2 * SCRATCH_SEGMENT, /* of an exchange: the inbox holds all of it */
    SEGMENT_BYTES = 64 * 1024,
};

_Static_assert((int)ROUND_BYTES <= (int)SCRATCH_BYTES, "a round fits the inbox");
_Static_assert(2 * ROUND_BYTES / SEGMENT_BYTES <= LEADER_WORDS,
               "two tags of each segment have their own signal words");

/* A round: at most ROUND_BYTES of the data. */
struct ordered {
    struct leader_job leaders; /* first member: leader_job.h */
    const struct ordered_job *job;
    char *dest;
    const char *source;
    struct schedule schedule;
    struct mailbox mailbox; /* unused if this node has one PE only */
    char *sums;             /* doubling: this node's sums */
};

static bool ordered_shares(const struct ordered *o)
{
    return o->leaders.team->nodes->local_pes > 1;
}

/* ---- the contributions of a node --------------------------------------------------- */

/* n elements, at `at` in the source and dest of all PEs of the node, are added to the
 * combination `sum` of the previous nodes. */
struct chunk {
    const struct ordered *o;
    char *sum;
    size_t at, n, bytes;
    bool first; /* there are no previous nodes */
    bool last;  /* `sum` is not needed any more */
};

static char *ordered_chunk_of(const struct chunk *c, const char *here, int k)
{
    const struct shmem_team *team = c->o->leaders.team;

    return peer_at(here + c->at, c->bytes, team_world_pe(team, team->nodes->local_pe[k]),
                   c->o->leaders.fn);
}

/* The first contribution is copied: 0 + x would change a negative zero. */
static void ordered_reduce_chunk(const struct chunk *c)
{
    for (int k = 0; k < c->o->leaders.team->nodes->local_pes; k++) {
        const char *in = ordered_chunk_of(c, c->o->source, k);
        if (k == 0 && c->first)
            copy_bytes(c->sum, in, c->bytes);
        else
            c->o->job->op->two(c->sum, in, c->n);
    }
}

/* Each result is in the dest of a PE, from where the next one is computed. */
static void ordered_inscan_chunk(const struct chunk *c)
{
    const char *before = c->first ? NULL : c->sum;

    for (int k = 0; k < c->o->leaders.team->nodes->local_pes; k++) {
        const char *in = ordered_chunk_of(c, c->o->source, k);
        char *out = ordered_chunk_of(c, c->o->dest, k);
        if (before != NULL)
            c->o->job->op->three(out, before, in, c->n);
        else if (out != in)
            copy_bytes(out, in, c->bytes);
        before = out;
    }
    if (!c->last)
        copy_bytes(c->sum, before, c->bytes);
}

/* A source is read before its dest is written, because they may be the same. */
static void ordered_exscan_chunk(const struct chunk *c)
{
    _Alignas(NODE_LINE) char buffer[CHUNK_BYTES];
    char *sum = c->sum, *next = buffer;

    for (int k = 0; k < c->o->leaders.team->nodes->local_pes; k++) {
        const char *in = ordered_chunk_of(c, c->o->source, k);
        char *out = ordered_chunk_of(c, c->o->dest, k);
        if (k == 0 && c->first) {
            copy_bytes(sum, in, c->bytes);
            memset(out, 0, c->bytes);
            continue;
        }
        c->o->job->op->three(next, sum, in, c->n);
        copy_bytes(out, sum, c->bytes);
        char *swap = sum;
        sum = next;
        next = swap;
    }
    if (sum != c->sum && !c->last)
        copy_bytes(c->sum, sum, c->bytes);
}

static void ordered_chunk(const struct chunk *c)
{
    switch (c->o->job->kind) {
    case ORDERED_REDUCE:
        ordered_reduce_chunk(c);
        break;
    case ORDERED_INSCAN:
        ordered_inscan_chunk(c);
        break;
    case ORDERED_EXSCAN:
        ordered_exscan_chunk(c);
        break;
    }
}

/* Elements r of the node, in chunks; `sum` has those of the combination. */
static void ordered_add_node(const struct ordered *o, const struct schedule_region *r,
                             char *sum)
{
    const struct team_nodes *n = o->leaders.team->nodes;
    size_t size = o->job->size, most = CHUNK_BYTES / size, count;

    for (size_t k = 0; k < r->count; k += count) {
        count = r->count - k < most ? r->count - k : most;
        ordered_chunk(&(struct chunk){.o = o,
                                      .sum = sum + k * size,
                                      .at = (r->first + k) * size,
                                      .n = count,
                                      .bytes = count * size,
                                      .first = n->me == 0,
                                      .last = n->me == n->leaders - 1});
    }
}

/* ---- operations of the executor ------------------------------------------------------
 */

static char *ordered_at(const struct ordered *o, int node,
                        const struct schedule_region *r)
{
    size_t at = r->first * o->job->size;

    return r->space == SPACE_DATA ? o->dest + at
                                  : leader_scratch(&o->leaders.exchange, node, at);
}

static bool ordered_send(void *arg, const struct schedule_step *step)
{
    const struct ordered *o = arg;
    int node = leader_job_node(&o->leaders, step->peer);

    leader_put(&o->leaders.exchange, step->tag, node, ordered_at(o, node, &step->to),
               ordered_at(o, o->leaders.team->nodes->me, &step->from),
               step->from.count * o->job->size);
    return true;
}

static bool ordered_compute(void *arg, const struct schedule_step *step)
{
    const struct ordered *o = arg;
    int me = o->leaders.team->nodes->me;

    if (step->from.space == SPACE_SOURCE)
        ordered_add_node(o, &step->to, ordered_at(o, me, &step->to));
    else
        copy_bytes(ordered_at(o, me, &step->to), ordered_at(o, me, &step->from),
                   step->to.count * o->job->size);
    return true;
}

static void ordered_ready(void *arg, const struct schedule_step *step)
{
    const struct ordered *o = arg;

    if (ordered_shares(o))
        mailbox_publish_parts(&o->mailbox,
                              (uint64_t)(step->to.first / o->schedule.segment) + 1);
}

static const struct executor_ops ops = {.send = ordered_send,
                                        .arrived = leader_job_arrived,
                                        .await = leader_job_await,
                                        .compute = ordered_compute,
                                        .ready = ordered_ready};

/* ---- scan by doubling: operations of the executor -------------------------------------
 */

static bool ordered_doubling_send(void *arg, const struct schedule_step *step)
{
    const struct ordered *o = arg;
    int node = leader_job_node(&o->leaders, step->peer);

    leader_put_now(&o->leaders.exchange, step->tag, node, ordered_at(o, node, &step->to),
                   o->sums, step->from.count * o->job->size);
    return true;
}

static bool ordered_doubling_compute(void *arg, const struct schedule_step *step)
{
    const struct ordered *o = arg;
    int me = o->leaders.team->nodes->me;
    char *to = step->to.space == SPACE_DATA ? o->sums : ordered_at(o, me, &step->to);

    o->job->op->three(to, ordered_at(o, me, &step->from), to, step->to.count);
    return true;
}

static const struct executor_ops doubling_ops = {.send = ordered_doubling_send,
                                                 .arrived = leader_job_arrived,
                                                 .await = leader_job_await,
                                                 .compute = ordered_doubling_compute};

/* ---- all PEs ----------------------------------------------------------------------- */

static void ordered_await_node(const struct ordered *o)
{
    for (int k = 1; k < o->leaders.team->nodes->local_pes; k++)
        (void)mailbox_of(&o->mailbox, k);
}

static void ordered_lead(struct ordered *o)
{
    bool reduces = o->job->kind == ORDERED_REDUCE, shares = ordered_shares(o);

    ordered_await_node(o);
    leader_job_run(&o->leaders, o->schedule, &ops, reduces);
    if (shares && reduces)
        mailbox_await_all_closed(&o->mailbox);
    else if (shares)
        mailbox_publish_parts(&o->mailbox, 1);
}

/* Others may write to the inbox again when this leader has begun its next exchange. */
static void ordered_doubling_lead(struct ordered *o)
{
    struct shmem_team *team = o->leaders.team;
    struct schedule_region all = {.count = o->job->n};
    size_t bytes = o->job->n * o->job->size;

    ordered_await_node(o);
    internode_await_read(team, o->leaders.fn);
    o->sums = scratch_at(&team->coll->scratch, team->nodes->me, SCRATCH_OWN);
    ordered_reduce_chunk(&(struct chunk){
        .o = o, .sum = o->sums, .n = o->job->n, .bytes = bytes, .first = true});
    leader_job_run(&o->leaders, o->schedule, &doubling_ops, false);
    ordered_add_node(o, &all, leader_scratch(&o->leaders.exchange, team->nodes->me, 0));
    if (ordered_shares(o))
        mailbox_publish_parts(&o->mailbox, 1);
}

static void ordered_follow(struct ordered *o)
{
    int leader = internode_leader(o->leaders.team);
    size_t size = o->job->size;

    (void)mailbox_own(&o->mailbox);
    mailbox_post_to(&o->mailbox, 0);
    if (o->job->kind != ORDERED_REDUCE) {
        mailbox_await_parts(&o->mailbox, 0, 1);
        return;
    }
    for (int i = 0; i < schedule_segments(&o->schedule); i++) {
        struct schedule_region r = schedule_segment(&o->schedule, i);
        char *dest = o->dest + r.first * size;
        mailbox_await_parts(&o->mailbox, 0, (uint64_t)i + 1);
        copy_bytes(dest, peer_at(dest, r.count * size, leader, o->leaders.fn),
                   r.count * size);
    }
}

static void ordered_round(struct ordered *o)
{
    struct shmem_team *team = o->leaders.team;
    bool shares = ordered_shares(o);

    internode_begin(team);
    if (shares)
        o->mailbox = mailbox_open(team->node_team, 0, o->leaders.fn);
    if (internode_is_leader(team))
        (o->schedule.name == SCHEDULE_SCAN_DOUBLING ? ordered_doubling_lead
                                                    : ordered_lead)(o);
    else
        ordered_follow(o);
    if (shares)
        mailbox_close(&o->mailbox);
}

bool ordered_applies(struct shmem_team *team, const char *fn)
{
    /* Without `pos` the order of the nodes is the team order. */
    return team->nodes != NULL && team->nodes->pos == NULL && scratch_get(team, fn);
}

void ordered_chain(const struct ordered_job *j)
{
    size_t most = ROUND_BYTES / j->size;

    barrier_guard(j->team, j->fn);
    for (size_t first = 0; first < j->n; first += most)
        ordered_round(&(struct ordered){
            .leaders = {.team = j->team, .fn = j->fn},
            .job = j,
            .dest = j->dest + first * j->size,
            .source = j->source + first * j->size,
            .schedule = {.name = j->kind == ORDERED_REDUCE ? SCHEDULE_REDUCE_ORDERED
                                                           : SCHEDULE_SCAN_CHAIN,
                         .nodes = j->team->nodes->leaders,
                         .units = j->n - first < most ? j->n - first : most,
                         .line = slice_line(j->size),
                         .segment = SEGMENT_BYTES / j->size}});
    barrier_unguard(j->team, j->fn);
}

void ordered_doubling(const struct ordered_job *j)
{
    PGAS_ASSERT(j->kind != ORDERED_REDUCE &&
                j->n * j->size <= (size_t)SELECT_DOUBLING_BYTES);
    barrier_guard(j->team, j->fn);
    ordered_round(&(struct ordered){.leaders = {.team = j->team, .fn = j->fn},
                                    .job = j,
                                    .dest = j->dest,
                                    .source = j->source,
                                    .schedule = {.name = SCHEDULE_SCAN_DOUBLING,
                                                 .units = j->n,
                                                 .line = slice_line(j->size),
                                                 .segment = j->n}});
    barrier_unguard(j->team, j->fn);
}
