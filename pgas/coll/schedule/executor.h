/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * executor.h - executes a schedule on this leader.
 *
 *     struct executor e = {.schedule = {..}, .ops = &ops, .job = &job};
 *     executor_run(&e);                   blocking
 *     while (!executor_advance(&e)) ..    nonblocking
 *
 * The operations of a collective translate ranks, tags and regions to nodes, signal words
 * and memory.  An executor belongs to one thread.
 * Uses: schedule.  Used by: internode, leader_job, bcast_internode.
 */
#ifndef PGAS_COLL_EXECUTOR_H
#define PGAS_COLL_EXECUTOR_H

#include "pgas/coll/schedule/schedule.h"

/* Implementation of the steps; NULL: the schedule has no step of that kind.  `ready` may
 * always be NULL (no operation). */
struct executor_ops {
    void (*send)(void *job, const struct schedule_step *step);
    /* RECV: test for the message (acquire), and wait for it. */
    bool (*arrived)(const void *job, const struct schedule_step *step);
    void (*await)(void *job, const struct schedule_step *step);
    void (*compute)(void *job, const struct schedule_step *step); /* REDUCE and COPY */
    void (*ready)(void *job, const struct schedule_step *step);
};

struct executor {
    struct schedule schedule;
    const struct executor_ops *ops;
    void *job;
    int next; /* the next step; 0 at the beginning */
    struct schedule_step step;
};

/* Executes steps up to a RECV whose message has not arrived (false), or to the end
 * (true). */
bool executor_advance(struct executor *e);
/* Executes all steps. */
void executor_run(struct executor *e);

#endif
