/* SPDX-License-Identifier: BSD-3-Clause */
/* leader_job.c - see leader_job.h. */
#include "config.h"

#include "pgas/coll/schedule/leader_job.h"
#include "pgas/core/boot/node.h"

int leader_job_node(const struct leader_job *j, int rank)
{
    return (j->root + rank) % j->team->nodes->leaders;
}

int leader_job_rank(const struct leader_job *j)
{
    const struct team_nodes *n = j->team->nodes;

    return (n->me - j->root + n->leaders) % n->leaders;
}

bool leader_job_arrived(void *job, const struct schedule_step *step)
{
    const struct leader_job *j = job;

    return leader_arrived(&j->exchange, step->tag);
}

void leader_job_await(void *job, const struct schedule_step *step)
{
    const struct leader_job *j = job;

    leader_await(&j->exchange, step->tag, leader_job_node(j, step->peer));
}

void leader_job_run(struct leader_job *j, struct schedule schedule,
                    const struct executor_ops *ops, bool all)
{
    struct executor e = {.schedule = schedule, .ops = ops, .job = j};

    e.schedule.nodes = j->team->nodes->leaders;
    e.schedule.rank = leader_job_rank(j);
    j->exchange = leader_exchange_begin(j->team, schedule_tags(&e.schedule), j->fn);
    executor_run(&e);
    leader_exchange_end(&j->exchange, all);
}
