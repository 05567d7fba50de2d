/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * leader_job.h - a schedule that is executed by leader messages.
 *
 * struct leader_job is the first member of the job of such a collective.  Its operations
 * (executor.h) are leader_job_arrived, leader_job_await and its own send, compute and
 * ready.
 * Uses: core/team, executor, leader_msg.  Used by: bcast_internode, collect_internode,
 * alltoall_internode, reduce_leaders.
 */
#ifndef PGAS_COLL_LEADER_JOB_H
#define PGAS_COLL_LEADER_JOB_H

#include "pgas/coll/schedule/executor.h"
#include "pgas/coll/sync/leader_msg.h"

struct leader_job {
    struct shmem_team *team;
    const char *fn;
    int root; /* node of rank 0 */
    struct exchange exchange;
};

/* The node of a rank, and the rank of this node. */
int leader_job_node(const struct leader_job *j, int rank);
int leader_job_rank(const struct leader_job *j);

bool leader_job_arrived(void *job, const struct schedule_step *step);
void leader_job_await(void *job, const struct schedule_step *step);

/* Executes the schedule, whose nodes and rank it sets, in an exchange of its own; `all`:
 * as in leader_exchange_end.  Only leaders call it. */
void leader_job_run(struct leader_job *j, struct schedule schedule,
                    const struct executor_ops *ops, bool all);

#endif
