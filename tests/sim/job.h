/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job.h - a simulated job: PEs of several nodes in one process, each a fiber with its own
 * runtime instance, on the virtual clock of the sim transport.
 *
 * The PEs run the library's own code (PGAS_SIM): shmem_init to shmem_finalize, waiting,
 * memory, teams, collectives.  Replaced are only what a simulation defines itself: system
 * calls that wait (os.c); the launcher, the affinity of processes, the mapping of globals
 * and the progress thread (boot.c).  Symmetric memory is the heap; globals are common to
 * all PEs and therefore not symmetric.
 *
 * Equal configurations give equal runs, event by event.  PEs switch only where the
 * library waits or, with SHMEM_STRESS, delays: other interleavings of the loads and
 * stores of a node are for tests/coll/threads.sh.
 */
#ifndef TESTS_SIM_JOB_H
#define TESTS_SIM_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "pgas/transport/test/sim.h"

struct job_config {
    int nodes, pes_per_node;
    /* Each PE has a processor, and so many consecutive PEs of a node share a cache; 0:
     * the node has one processor. */
    int pes_per_cache;
    bool cyclic; /* PE i is on node i % nodes; else the PEs of a node are consecutive */
    uint64_t seed;
    /* Of messages: see struct sim_config. */
    uint64_t latency_ns, jitter_ns, slow_ns;
    double bytes_per_ns;
    /* One wait in so many (0: none) ends early without a wake-up; one is followed by a
     * stop of the PE for up to stop_ns. */
    int early, stops;
    uint64_t stop_ns;
    /* At kill_ns after shmem_init (0: never) PE kill_pe ends: operations on it fail, and
     * the launcher ends the job soon after with status JOB_KILLED.  `silent`: instead its
     * node is cut off. */
    uint64_t kill_ns;
    int kill_pe;
    bool silent;
    bool agent_in_pe;  /* with SHMEM_FT=continue: not in a daemon of the node */
    uint64_t limit_ns; /* of virtual time: 0 = JOB_LIMIT_NS */
    void (*body)(void *arg);
    void *arg;
};

enum { JOB_KILLED = 137 };
#define JOB_LIMIT_NS UINT64_C(600000000000)

enum job_end {
    JOB_DONE,   /* every PE has returned from shmem_finalize */
    JOB_EXITED, /* a PE has ended the job with `status` */
    JOB_STUCK,  /* PEs still wait at the time limit */
    JOB_ENDS
};

struct job_result {
    enum job_end end;
    int status, pe; /* JOB_EXITED; JOB_STUCK: pe is one that waits */
    int waiting;    /* JOB_STUCK: number of PEs */
    uint64_t ns;    /* virtual time */
    uint64_t digest;
};

/* Run shmem_init, body and shmem_finalize in each PE.  The SHMEM_ variables of the
 * environment apply. */
struct job_result job_run(const struct job_config *config);

/* The node of a PE, and PE k of a node. */
int job_node(const struct job_config *config, int pe);
int job_pe_of_node(const struct job_config *config, int node, int k);

/* Inside body: the running job. */
const struct job_config *job_config(void);
struct sim *job_sim(void);
/* Inside body, with SHMEM_FT=continue: after delay_ns PE pe dies, or its node with all
 * PEs of it, or the PE with the agent of its node, in the middle of a step of the agent
 * (PE pe if the agent is in no PE); unless it has left shmem_finalize by then.
 * JOB_QUEUE_FILLS: perhaps another node drops messages to its node soon after. */
enum job_death { JOB_PE_DIES, JOB_NODE_DIES, JOB_AGENT_DIES, JOB_QUEUE_FILLS };
void job_fail(int pe, enum job_death kind, uint64_t delay_ns);
bool job_is_dead(int pe);
/* Its node has failed, but the agent of the node runs. */
bool job_has_stray_agent(int pe);

#endif
