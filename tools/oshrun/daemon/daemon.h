/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * daemon.h - the node daemon: hosts the PMIx server of one node, starts the PEs of the
 * job on it, watches them and carries their input and output.
 *
 * Uses job.h, loop.h, reaper.h, pmix_net.h.  Used by nodes.c (one node: in the process
 * of the front) and daemon_main.c (a process of its own on each of several nodes).
 *
 * Everything that crosses this seam is a call with plain data, so that it can be a
 * message: commands go down by daemon_*, events come up by struct daemon_events.
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

/* What a daemon does, in order of time.  X(name, text) */
#define DAEMON_STAGE_TABLE(X)                                                            \
    X(CALLED, "node daemons have called")                                                \
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

/* Events.  None may call back into the daemon in a way that ends it; all others may. */
struct daemon_events {
    /* Whole lines of one PE (or a piece of a line that is too long); len = 0: the end. */
    void (*output)(void *front, uint32_t rank, enum daemon_stream s, const char *text,
                   size_t len);
    /* PE rank has connected to PMIx: it, or what a PE that ended left behind. */
    void (*connected)(void *front, uint32_t rank);
    void (*finalized)(void *front, uint32_t rank);
    void (*ended)(void *front, const struct daemon_end *end);
    void (*aborted)(void *front, uint32_t rank, int status, const char *text);
    /* The input buffer is empty: send more.  open = false: nobody reads any more. */
    void (*input)(void *front, bool open);
    /* A line without newline of daemon_report, or of how a PE is bound.  rank: of the PE
     * that it is about, JOB_NO_PE where it is about none or several. */
    void (*report)(void *front, uint32_t rank, const char *line);
    void (*reported)(void *front);
    void (*stage)(void *front, enum daemon_stage stage);
    void (*drained)(void *front); /* all PEs have ended and all output was sent */
    void (*started)(void *front, uint32_t rank, int32_t pid);
    /* A PE wants (PMIx job control) this signal sent to PEs of the job; count = 0: all.
     */
    void (*control)(void *front, int sig, const uint32_t *rank, uint32_t count);
    void (*say)(void *front, const char *sentence); /* for the user */
    /* It cannot start what it was told to; why was reported an error of.  status: for
     * oshrun. Nothing follows but daemon_stop. */
    void (*failed)(void *front, int status);
};

/* How the daemon is connected to those of other nodes. */
struct daemon_net {
    struct tree tree;
    struct net_out out;
};

struct daemon;

/* Begins to start everything; the PEs come one after the other from the loop.  net =
 * NULL: there is one node.  0, or the exit status for oshrun after an error message. */
int daemon_start(struct daemon **d, const struct job *job,
                 const struct daemon_events *events, void *front, struct loop *loop,
                 const struct reaper *reaper, struct rlimit files,
                 const struct daemon_net *net);

/* A message for the PMIx server (GATHER_* to QUERY_ANSWER).  0, or -1: not a right one.
 */
int daemon_take(struct daemon *d, const struct frame *f);

/* Another node is gone. */
void daemon_lost(struct daemon *d, uint32_t node);

/* True for a signal that is sent to end a job. */
bool daemon_is_fatal(int sig);

/* To the process group of every live PE.  A fatal one: no further PEs are started. */
void daemon_signal(struct daemon *d, int sig);

/* To those of them that are in rank[0, count); count = 0: all. */
void daemon_control(struct daemon *d, int sig, const uint32_t *rank, uint32_t count);

/* Stops or resumes reading what the PEs write (back-pressure). */
void daemon_flow(struct daemon *d, enum daemon_stream s, bool go);

/* Nobody wants this stream any more: PEs that write to it get EPIPE. */
void daemon_close_output(struct daemon *d, enum daemon_stream s);

/* Input for the PE that gets it; only after event input(open).  len = 0: end of file. */
void daemon_input(struct daemon *d, const char *text, size_t len);

/* Writes a table of PEs by event report, with their stacks if asked; then reported. */
void daemon_report(struct daemon *d, bool stacks);

/* Prints what would be started. */
int daemon_dry_run(const struct job *job);

/* Ends what is left and frees the daemon. */
void daemon_stop(struct daemon *d);

#endif
