/* SPDX-License-Identifier: BSD-3-Clause */
/* job_int.h - shared by job.c (the job), boot.c (its launcher), os.c (its clock) and
 * segment.c (its memory). */
#ifndef TESTS_SIM_JOB_INT_H
#define TESTS_SIM_JOB_INT_H

#include <stdatomic.h>
#include <stddef.h>

#include "tests/sim/job.h"

/* A value that a PE has put (boot_put). */
struct job_value {
    struct job_value *next;
    const char *key;
    size_t len;
    unsigned char bytes[];
};

struct job {
    struct job_config config;
    struct sim *sim;
    int npes;
    uint32_t *node_of, *pes;          /* the node of each PE; the PEs of node 0, 1, .. */
    uint32_t *begin;                  /* boot.h's node_begin, for all PEs */
    struct pgas **instance;           /* of each PE */
    struct job_value **put;           /* by PE */
    _Atomic uint32_t arrived, passed; /* at the barrier; number of barriers passed */
    uint64_t random;                  /* of the faults */
    struct failure *failure;          /* with SHMEM_FT=continue (failure.c) */
    bool *dead, *node_dead;           /* by PE; by node: its kernel, too */
    struct boot_fence *fences;        /* boot.c */
};

/* Streams of the seed; 0 is the sim transport's. */
enum { JOB_STREAM_FAULTS = 1, JOB_STREAM_FAILURES = 4 };

/* The time at the start; 0 means "no time" to the library. */
#define JOB_FIRST_NS UINT64_C(1000000000)

/* The job that runs, or NULL. */
extern struct job *job_running;

/* job.c: plan the loss of a PE or node, kill_ns after shmem_init. */
void job_plan_kill(struct job *job);
/* Never NULL. */
void *job_alloc(size_t n, size_t size);
/* boot.c */
void job_free_values(struct job *job);
/* segment.c: the job has ended; its segments can be used again. */
void segment_free_all(void);

/* failure.c: a PE has woken the sleepers on a word; whether a PE knows that another one
 * has failed. */
void failure_woken(const _Atomic uint32_t *word);
bool failure_known(const struct job *job, int at, int pe);
struct ft_service;
/* failure_calls.c: ends the program if the agent has closed a call without having its
 * cause in the map; true for a frame with a broadcast about an interrupted call. */
void failure_check_calls(const struct ft_service *s);
bool failure_is_of_call(const void *frame, size_t len);
void failure_free(struct job *job);

#endif
