/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * daemon.h - the node daemon: hosts the PMIx server of one node, starts the PEs of the
 * job on it, watches them and carries their input and output.
 *
 * Uses job.h, loop.h, reaper.h, pmix_net.h.  Used by nodes.c (one node: in the process
 * of the front) and daemon_main.c (a process of its own on each of several nodes).
 *
 * All calls of this interface pass plain data, so that they can be sent as messages:
 * commands go down by daemon_*, events come up by struct daemon_events.
 */
#ifndef OSHRUN_DAEMON_DAEMON_H
#define OSHRUN_DAEMON_DAEMON_H

#include "pgas/core/boot/node.h"
#include "tools/oshrun/util/job.h"
#include "tools/oshrun/util/loop.h"
#include "tools/oshrun/net/tree.h"
#include "tools/oshrun/daemon/reaper.h"
#include "tools/oshrun/pmix/pmix_net.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

enum daemon_stream { DAEMON_STDOUT, DAEMON_STDERR, DAEMON_STREAMS };

/* Stages of a daemon, in order of time.  X(name, text) */
#define DAEMON_STAGE_TABLE(X)                                                            \
    X(CALLED, "node daemons connected")                                                  \
    X(PLAN, "node segment and binding made")                                             \
    X(SERVER, "PMIx server up")                                                          \
    X(REGISTER, "job registered with PMIx")                                              \
    X(SPAWN, "PEs forked")                                                               \
    X(CONNECT, "all PEs connected to PMIx")                                              \
    X(FINALIZE, "all PEs finalized PMIx")                                                \
    X(ENDED, "all PEs ended")                                                            \
    X(DRAINED, "output forwarded")

#define X(name, text) DAEMON_STAGE_##name,
enum daemon_stage { DAEMON_STAGE_TABLE(X) DAEMON_STAGES };
#undef X

/* How a PE ended. */
struct daemon_end {
    uint32_t rank;
    int32_t pid;
    bool signalled;
    int code; /* exit status, or signal number */
    bool connected;
    bool finalized;
    uint64_t stage_ns[NODE_STAGES]; /* as in struct node_pe */
};

/* What event report tells. */
enum daemon_line {
    DAEMON_LINE_PLACE, /* where these PEs are: "in ..." or "has ended" */
    DAEMON_LINE_STATE, /* the line of a PE in the table of states */
    DAEMON_LINE_STACK, /* several lines: the stack of these PEs */
    DAEMON_LINE_REMARK,
    DAEMON_LINE_BINDING, /* not part of a report */
    DAEMON_LINES
};

/* Events.  A callback may call any daemon_* function except daemon_stop. */
struct daemon_events {
    /* Whole lines of one PE (or part of a line that is too long); len = 0: end of
     * file. */
    void (*output)(void *front, uint32_t rank, enum daemon_stream s, const char *text,
                   size_t len);
    /* PE rank has connected to PMIx: the process that was started or, after its exit, a
     * descendant. */
    void (*connected)(void *front, uint32_t rank);
    void (*finalized)(void *front, uint32_t rank);
    void (*ended)(void *front, const struct daemon_end *end);
    void (*aborted)(void *front, uint32_t rank, int status, const char *text);
    /* The input buffer is empty: send more.  open = false: no PE reads input any more. */
    void (*input)(void *front, bool open);
    /* A text, without newline at its end, of daemon_report or about the binding of a PE.
     * rank[0, count): the PEs concerned. */
    void (*report)(void *front, enum daemon_line line, const uint32_t *rank,
                   uint32_t count, const char *text);
    void (*reported)(void *front);
    void (*stage)(void *front, enum daemon_stage stage);
    void (*drained)(void *front); /* all PEs have ended and all output was sent */
    void (*started)(void *front, uint32_t rank, int32_t pid);
    /* A PE requests by PMIx job control to send this signal to PEs of the job; count =
     * 0: to all. */
    void (*control)(void *front, int sig, const uint32_t *rank, uint32_t count);
    void (*say)(void *front, const char *error_text); /* for the user */
    /* The PEs cannot be started; the reason was given to error_report.  status: for
     * oshrun. No event follows; the only valid call is daemon_stop. */
    void (*failed)(void *front, int status);
};

/* Connection to the daemons of other nodes. */
struct daemon_net {
    struct tree tree;
    struct net_out out;
};

struct daemon;

/* Starts the PMIx server; the loop then starts the PEs.  net = NULL: there is one node.
 * 0, or the exit status for oshrun after an error message. */
int daemon_start(struct daemon **d, const struct job *job,
                 const struct daemon_events *events, void *front, struct loop *loop,
                 const struct reaper *reaper, struct rlimit files,
                 const struct daemon_net *net);

/* Handles a message for the PMIx server (GATHER_* to QUERY_ANSWER).  0, or -1:
 * malformed. */
int daemon_take(struct daemon *d, const struct frame *f);

/* Another node is lost. */
void daemon_lost(struct daemon *d, uint32_t node);

/* True for a signal that is sent to end a job. */
bool daemon_is_fatal(int sig);

/* Sends sig to the process groups of all PEs.  A fatal sig also cancels the start of
 * PEs. */
void daemon_signal(struct daemon *d, int sig);

/* Sends sig to the process groups of the PEs in rank[0, count); count = 0: of all PEs. */
void daemon_control(struct daemon *d, int sig, const uint32_t *rank, uint32_t count);

/* Pauses or resumes reading the output of the PEs (flow control). */
void daemon_flow(struct daemon *d, enum daemon_stream s, bool go);

/* Closes a stream: PEs that write to it get EPIPE. */
void daemon_close_output(struct daemon *d, enum daemon_stream s);

/* Input for PE job->stdin_pe; call only after event input(open = true).  len = 0: end of
 * file. */
void daemon_input(struct daemon *d, const char *text, size_t len);

/* Reports where the PEs are and, if `verbose`, their states and stacks, by event report;
 * then sends event reported.  A report that is in progress is abandoned. */
void daemon_report(struct daemon *d, bool verbose);

/* Prints what would be started. */
int daemon_dry_run(const struct job *job);

/* Kills the remaining PEs and frees the daemon. */
void daemon_stop(struct daemon *d);

#endif
