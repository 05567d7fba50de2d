/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * executor.h - executes a schedule on this leader.
 *
 *     struct executor e = {.schedule = {..}, .ops = &ops, .job = &job};
 *     executor_run(&e);                   blocking
 *     while (!executor_advance(&e)) ..    nonblocking
 *
 * The operations of a collective translate ranks, tags and regions to nodes, signal words
 * and memory.  An executor belongs to one thread at a time.
 * Uses: schedule.  Used by: internode, leader_job, bcast_internode, alltoall,
 * nb.
 */
#ifndef PGAS_COLL_EXECUTOR_H
#define PGAS_COLL_EXECUTOR_H

#include "pgas/coll/schedule/schedule.h"

/* Implementation of the steps; NULL: the schedule has no step of that kind, or the step
 * needs no operation.  False: the step cannot be executed now, and the executor repeats
 * it later; in executor_run only `arrived` returns false. */
struct executor_ops {
    bool (*send)(void *job, const struct schedule_step *step);
    /* RECV: test for the message (acquire), and wait for it. */
    bool (*arrived)(void *job, const struct schedule_step *step);
    void (*await)(void *job, const struct schedule_step *step);
    bool (*get)(void *job, const struct schedule_step *step);
    bool (*put)(void *job, const struct schedule_step *step);
    bool (*barrier)(void *job, const struct schedule_step *step);
    bool (*compute)(void *job, const struct schedule_step *step); /* REDUCE and COPY */
    void (*ready)(void *job, const struct schedule_step *step);
};

struct executor {
    struct schedule schedule;
    const struct executor_ops *ops;
    void *job;
    int next; /* the next step; 0 at the beginning */
    struct schedule_step step;
};

/* Executes steps until one cannot be executed; true: the schedule has ended. */
bool executor_advance(struct executor *e);
/* Executes all steps; waits in `await`. */
void executor_run(struct executor *e);

#endif
