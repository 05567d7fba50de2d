/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * model.h - executes a schedule (pgas/coll/schedule/schedule.h) of all leaders on a model
 * of their memories and messages, and proves that every execution has the same result.
 *
 * Method.  The steps are deterministic (no RECV accepts messages of several senders), so
 * all executions have the same events and the same happens-before relation.  The model
 * executes one of them with vector clocks (Lamport 1978; Mattern 1989) and checks that
 * every two conflicting accesses to a unit of memory are ordered, where a message reads
 * its source from the SEND until the RECV (with `copied`, only at the SEND) and writes
 * its target between SEND and RECV.  Then the contents at the end are those of each
 * execution.  In the schedules PULL_* it also checks that no rank ends while its memory
 * is read, and that a tag is used again only by a sender that knows that the message
 * before has been received; in these and in the chains, that contributions are combined
 * in the order of the ranks.  A
 * PUT is in progress until the next BARRIER, in which all ranks join their clocks.
 *
 * Cost: O(steps * nodes).
 */
#ifndef TESTS_COLL_SCHEDULE_MODEL_H
#define TESTS_COLL_SCHEDULE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pgas/coll/schedule/schedule.h"

typedef bool (*model_step)(const struct schedule *s, int i, struct schedule_step *step);

struct model_config {
    struct schedule schedule; /* rank is ignored */
    model_step step;          /* schedule_step, or a wrong schedule */
    size_t inbox;             /* units of an inbox */
    bool entered;             /* all leaders have entered before the first step */
    bool in_place;            /* SOURCE is the same memory as DATA */
    int words;                /* signal words of a leader; 0: one for each tag */
};

/* Of the leader with the most. */
struct model_counts {
    long rounds;   /* with one message per leader and round */
    long messages; /* sent by a leader */
    size_t units;  /* sent by a leader */
    bool all;      /* every leader's last step depends on the entry of all leaders */
};

/* True if the schedule is right; otherwise `why` says what is wrong. */
bool model_prove(const struct model_config *config, struct model_counts *counts,
                 char *why, size_t why_bytes);

#endif
