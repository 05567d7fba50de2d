/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job.h - a job of nodes without OpenSHMEM: each node has a segment, an agent in a
 * process of its own, and PEs that are processes which sleep.  The test program itself
 * plays the leader PEs, the local watch and the callers of agreements.
 */
#ifndef TESTS_FT_AGENT_JOB_H
#define TESTS_FT_AGENT_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "pgas/core/boot/node.h"
#include "pgas/ft/agent/ft_agent.h"
#include "pgas/ft/ft_map.h"

enum {
    NODES_MAX = 8,
    LOCAL = 2,          /* PEs of a node; PE = LOCAL * node + local rank */
    PATIENT_MS = 20000, /* upper limit of waits that load may prolong */
};

/* Of the heartbeat ring: longer if the agents get no real-time priority. */
extern unsigned period_ms, timeout_ms;
void job_choose_times(void);

struct job {
    uint32_t nnodes;
    size_t bytes; /* of a segment */
    struct node *node[NODES_MAX];
    struct ft_map *map[NODES_MAX];
    pid_t agent[NODES_MAX]; /* 0: ended */
    pid_t pe[NODES_MAX * LOCAL];
};

/* Prints the message and ends all processes of the test with status 1. */
_Noreturn void job_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

void job_start(struct job *j, uint32_t nnodes);
void job_end(struct job *j);
/* Starts an agent process for the node, and waits until it serves. */
void job_start_agent(struct job *j, uint32_t node);
void job_kill_agent(struct job *j, uint32_t node);
/* Stores all addresses and the generation in all maps, and waits until all run. */
void job_arm(struct job *j, uint32_t generation);

uint64_t job_now_ns(void);
void job_sleep_ms(unsigned ms);
/* Waits until the condition holds; dies with `what` after PATIENT_MS. */
#define JOB_AWAIT(condition, what)                                                       \
    do {                                                                                 \
        uint64_t job_end_ns = job_now_ns() + PATIENT_MS * UINT64_C(1000000);             \
        while (!(condition))                                                             \
            job_pause(job_end_ns, what);                                                 \
    } while (0)
void job_pause(uint64_t end_ns, const char *what);

/* True if the map of the node says that the PE has failed. */
bool job_failed(const struct job *j, uint32_t node, uint32_t pe);
/* Fails if a live node knows a failure that is not in the set; with status 75 if the
 * agents did not get their processors. */
void job_check_no_other_failure(const struct job *j, uint64_t set);

/* Posts an agreement of all PEs of the job as a PE.  word[0]: and, word[1]: maximum. */
void job_post(struct job *j, uint32_t pe, uint64_t team, uint32_t seq, uint64_t and,
              uint64_t max);
bool job_done(const struct job *j, uint32_t pe);
/* Takes the result of a completed agreement. */
void job_take(struct job *j, uint32_t pe, uint64_t *and, uint64_t *max, uint64_t *failed);

#endif
