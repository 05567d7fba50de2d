/* SPDX-License-Identifier: BSD-3-Clause */
/* failure_int.h - shared by failure.c and failure_full.c. */
#ifndef TESTS_SIM_FAILURE_INT_H
#define TESTS_SIM_FAILURE_INT_H

#include <setjmp.h>

#include "pgas/ft/agent/ft_service.h"
#include "tests/sim/job_int.h"

/* The queue of an agent for one other node, which overflows (ft_mesh.h). */
struct failure_full {
    int to;        /* the other node */
    bool armed;    /* it will overflow */
    uint32_t left; /* .. after so many more frames */
    bool dropped;  /* it has; all frames but a verdict are lost */
    bool report;   /* the protocol does not know it yet */
};

struct failure_frame {
    struct failure_frame *next, *previous;
    struct failure *f;
    int from, to;
    uint32_t generation;
    size_t len;
    bool lost;   /* the sender has died before the kernel had it, or has dropped it */
    bool held;   /* counted in `held` of the sender */
    bool closed; /* no frame: tells `to` that its connection to `from` is closed */
    unsigned char bytes[];
};

struct failure_agent {
    struct failure *f;
    struct ft_service service;
    int node, host; /* host: the PE in which it runs, or -1 */
    uint32_t incarnation;
    bool runs, woken;
    uint32_t fuse; /* outputs until its process dies; 0: it does not */
    jmp_buf die;   /* .. in the step that runs */
    bool dies;
    uint64_t forget_ns; /* until then frames about calls are lost */
    uint64_t due;
    uint64_t *arrival; /* by node: of the last frame to it */
    uint32_t *held;    /* by node: frames that wait for an agent */
    struct failure_full full;
};

struct failure {
    struct job *job;
    struct failure_agent *agent;    /* by node */
    struct failure_agent *stepping; /* the agent whose code runs, or NULL */
    struct failure_frame *frames;   /* all that are not delivered */
    bool *watching;                 /* by PE */
    bool *told;                     /* by PE: a notice is under way */
    uint64_t random;
};

/* ---- failure_full.c -------------------------------------------------------------------
 */

/* True if the queue of the agent drops the frame. */
bool failure_full_drops(struct failure_agent *a, int to, const void *bytes);
/* After a step of the agent: reports the node whose frames were dropped. */
void failure_full_report(struct failure_agent *a);
/* The queue of some agent to the node of the PE overflows soon, if at all. */
void failure_full_arm(struct failure *f, int pe);

/* ---- failure.c ----------------------------------------------------------------------
 */

/* The time of the agents. */
uint64_t failure_clock(const struct failure *f);
/* The PEs of a node end, but not its agent; the node does not detect it. */
void failure_strand(struct failure *f, int node);

#endif
