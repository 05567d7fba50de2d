/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce_leaders.c - reductions between the node leaders of a team over several nodes, by
 * notified puts.  The algorithms are schedules (schedule.h), except for the one in
 * arrival order (reduce_leaders_chain.c).
 * Uses: core/team, leader_job, select, reduce_int, scratch, slice.
 *
 * The data is processed in segments that fit the leader scratch buffer.  No barrier is
 * needed at the beginning: a leader writes to the user buffer of another leader only
 * after the data there has been delivered to every leader that combines it; the scratch
 * buffer may be written at any time.
 */
#include "config.h"

#include "pgas/coll/algorithms/reduce_int.h"
#include "pgas/coll/algorithms/slice.h"
#include "pgas/coll/schedule/leader_job.h"
#include "pgas/coll/sync/scratch.h"
#include "pgas/coll/sync/team_coll.h"
#include "pgas/datatype/copy.h"

/* One segment of the data. */
struct segment {
    struct leader_job leaders;
    const struct reduce_job *job;
    char *buf; /* same symmetric address on all leaders */
};

/* ---- operations of the executor -------------------------------------------------- */

static char *reduce_leaders_at(const struct segment *p, int node,
                               const struct schedule_region *r)
{
    size_t at = r->first * p->job->size;

    return r->space == SPACE_DATA ? p->buf + at
                                  : leader_scratch(&p->leaders.exchange, node, at);
}

static char *reduce_leaders_here(const struct segment *p, const struct schedule_region *r)
{
    return reduce_leaders_at(p, p->job->team->nodes->me, r);
}

static bool reduce_leaders_send(void *arg, const struct schedule_step *step)
{
    const struct segment *p = arg;
    int node = leader_job_node(&p->leaders, step->peer);

    (step->copied ? leader_put_now : leader_put)(
        &p->leaders.exchange, step->tag, node, reduce_leaders_at(p, node, &step->to),
        reduce_leaders_here(p, &step->from), step->from.count * p->job->size);
    return true;
}

static bool reduce_leaders_compute(void *arg, const struct schedule_step *step)
{
    const struct segment *p = arg;
    char *to = reduce_leaders_here(p, &step->to);
    const char *from = reduce_leaders_here(p, &step->from);

    if (step->kind == STEP_COPY)
        copy_bytes(to, from, step->to.count * p->job->size);
    else if (step->before)
        p->job->op->three(to, from, to, step->to.count);
    else
        p->job->op->two(to, from, step->to.count);
    return true;
}

static const struct executor_ops ops = {.send = reduce_leaders_send,
                                        .arrived = leader_job_arrived,
                                        .await = leader_job_await,
                                        .compute = reduce_leaders_compute};

/* ---- reductions -------------------------------------------------------------------- */

/* Executes a schedule for n elements at buf; `all`: as in leader_exchange_end. */
static void reduce_leaders_run(const struct reduce_job *j, enum schedule_name name,
                               char *buf, size_t n, int root, bool all)
{
    struct segment p = {
        .leaders = {.team = j->team, .fn = j->fn, .root = root}, .job = j, .buf = buf};
    struct schedule s = {.name = name,
                         .nodes = j->team->nodes->leaders,
                         .units = n,
                         .line = slice_line(j->size)};

    PGAS_ASSERT(schedule_inbox(&s) * j->size <= SCRATCH_BYTES);
    leader_job_run(&p.leaders, s, &ops, all);
}

static const enum schedule_name schedules[] = {
    [INTERNODE_REDUCE_EXCHANGE] = SCHEDULE_REDUCE_EXCHANGE,
    [INTERNODE_REDUCE_DIRECT] = SCHEDULE_REDUCE_DIRECT,
    [INTERNODE_REDUCE_RING] = SCHEDULE_REDUCE_RING,
    [INTERNODE_REDUCE_HALVING] = SCHEDULE_REDUCE_HALVING,
    [INTERNODE_REDUCE_DOUBLING] = SCHEDULE_REDUCE_DOUBLING,
};

void reduce_leaders(const struct reduce_job *j, enum select_algorithm a)
{
    size_t most = SCRATCH_SEGMENT / j->size;

    if (a == INTERNODE_REDUCE_CHAIN) {
        reduce_leaders_chain(j);
        return;
    }
    for (size_t first = 0; first < j->n; first += most)
        reduce_leaders_run(j, schedules[a], j->dest + first * j->size,
                           j->n - first < most ? j->n - first : most, 0, true);
}

void reduce_leaders_to(const struct reduce_job *j, char *buf, int node)
{
    reduce_leaders_run(j, SCHEDULE_REDUCE_TREE, buf, j->n, node, false);
}
