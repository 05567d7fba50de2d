/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_leaders.c - reductions between the node leaders of a team over several nodes, by
 * notified puts.  The algorithms are schedules (schedule.h).
 * Uses: core/team, executor, leader_msg, select, reduce_int, scratch.
 *
 * The data is processed in pieces that fit the leader scratch buffer.  No barrier is
 * needed at the beginning: a leader writes to the user buffer of another leader only
 * after the data there has been delivered to every leader that combines it; the scratch
 * buffer may be written at any time.
 */
#include "config.h"

#include "pgas/coll/algorithms/reduce_int.h"
#include "pgas/coll/schedule/executor.h"
#include "pgas/coll/sync/leader_msg.h"
#include "pgas/coll/sync/scratch.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/datatype/copy.h"

/* One piece of the data. */
struct piece {
    struct exchange exchange;
    const struct reduce_job *job;
    char *buf; /* same symmetric address on all leaders */
    int root;  /* node of rank 0 */
};

/* ---- operations of the executor -------------------------------------------------- */

static int reduce_leaders_node(const struct piece *p, int rank)
{
    return (p->root + rank) % p->job->team->nodes->leaders;
}

static char *reduce_leaders_at(const struct piece *p, int node,
                               const struct schedule_region *r)
{
    size_t at = r->first * p->job->size;

    return r->space == SPACE_DATA ? p->buf + at : leader_scratch(&p->exchange, node, at);
}

static char *reduce_leaders_here(const struct piece *p, const struct schedule_region *r)
{
    return reduce_leaders_at(p, p->job->team->nodes->me, r);
}

static void reduce_leaders_send(void *arg, const struct schedule_step *step)
{
    const struct piece *p = arg;
    int node = reduce_leaders_node(p, step->peer);

    (step->copied ? leader_put_now : leader_put)(
        &p->exchange, step->tag, node, reduce_leaders_at(p, node, &step->to),
        reduce_leaders_here(p, &step->from), step->from.count * p->job->size);
}

static bool reduce_leaders_arrived(const void *arg, const struct schedule_step *step)
{
    const struct piece *p = arg;

    return leader_arrived(&p->exchange, step->tag);
}

static void reduce_leaders_await(void *arg, const struct schedule_step *step)
{
    const struct piece *p = arg;

    leader_await(&p->exchange, step->tag, reduce_leaders_node(p, step->peer));
}

static void reduce_leaders_compute(void *arg, const struct schedule_step *step)
{
    const struct piece *p = arg;
    char *to = reduce_leaders_here(p, &step->to);
    const char *from = reduce_leaders_here(p, &step->from);

    if (step->kind == STEP_COPY)
        copy_bytes(to, from, step->to.count * p->job->size);
    else if (step->before)
        p->job->op->three(to, from, to, step->to.count);
    else
        p->job->op->two(to, from, step->to.count);
}

static const struct executor_ops ops = {.send = reduce_leaders_send,
                                        .arrived = reduce_leaders_arrived,
                                        .await = reduce_leaders_await,
                                        .compute = reduce_leaders_compute};

/* ---- reductions -------------------------------------------------------------------- */

/* Executes a schedule for n elements at buf; `all`: as in leader_exchange_end. */
static void reduce_leaders_run(const struct reduce_job *j, enum schedule_name name,
                               char *buf, size_t n, int root, bool all)
{
    const struct team_nodes *nodes = j->team->nodes;
    size_t line = j->size < NODE_LINE ? NODE_LINE / j->size : 1;
    struct piece p = {.job = j, .buf = buf, .root = root};
    struct executor e = {
        .schedule = {.name = name,
                     .nodes = nodes->leaders,
                     .rank = (nodes->me - root + nodes->leaders) % nodes->leaders,
                     .units = n,
                     .line = line},
        .ops = &ops,
        .job = &p};

    PGAS_ASSERT(schedule_inbox(&e.schedule) * j->size <= SCRATCH_BYTES);
    p.exchange = leader_exchange_begin(j->team, schedule_tags(&e.schedule), j->fn);
    executor_run(&e);
    leader_exchange_end(&p.exchange, all);
}

static const enum schedule_name schedules[] = {
    [INTERNODE_REDUCE_DIRECT] = SCHEDULE_REDUCE_DIRECT,
    [INTERNODE_REDUCE_RING] = SCHEDULE_REDUCE_RING,
    [INTERNODE_REDUCE_HALVING] = SCHEDULE_REDUCE_HALVING,
    [INTERNODE_REDUCE_DOUBLING] = SCHEDULE_REDUCE_DOUBLING,
};

void reduce_leaders(const struct reduce_job *j, enum select_algorithm a)
{
    size_t most = SCRATCH_PIECE / j->size;

    for (size_t first = 0; first < j->n; first += most)
        reduce_leaders_run(j, schedules[a], j->dest + first * j->size,
                           j->n - first < most ? j->n - first : most, 0, true);
}

void reduce_climb(const struct reduce_job *j, char *buf, int node)
{
    reduce_leaders_run(j, SCHEDULE_REDUCE_CLIMB, buf, j->n, node, false);
}
