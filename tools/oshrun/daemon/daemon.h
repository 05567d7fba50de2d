/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * daemon.h - the node daemon: hosts the PMIx server of one node, starts the PEs of the
 * job on it, watches them and carries their input and output.
 *
 * Uses job.h, loop.h, reaper.h, wire.h.  Used by daemons.c (one node: in the process of
 * the front end) and daemon_main.c (a process of its own on each of several nodes).
 *
 * A daemon receives commands and sends events, as frames: wire.def lists all of them.
 */
#ifndef OSHRUN_DAEMON_DAEMON_H
#define OSHRUN_DAEMON_DAEMON_H

#include "pgas/core/boot/node.h"
#include "tools/oshrun/util/job.h"
#include "tools/oshrun/util/loop.h"
#include "tools/oshrun/net/wire.h"
#include "tools/oshrun/reaper/reaper.h"

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

/* How a PE ended.  ENDED has the members in this order, bool as u8. */
struct daemon_end {
    uint32_t rank;
    int32_t pid;
    bool signalled;
    int code; /* exit status, or signal number */
    bool connected;
    bool finalized;
    bool failed; /* SHMEM_FT=continue: it is marked in the alive map of its node */
    uint64_t stage_ns[NODE_STAGES]; /* as in struct node_pe */
};

/* What REPORT_LINE tells of its PEs. */
enum daemon_line {
    DAEMON_LINE_PLACE, /* where these PEs are: "in ..." or "has ended" */
    DAEMON_LINE_STATE, /* the line of a PE in the table of states */
    DAEMON_LINE_STACK, /* several lines: the stack of these PEs */
    DAEMON_LINE_REMARK,
    DAEMON_LINE_BINDING, /* not part of a report */
    DAEMON_LINES
};

struct nonce;
struct daemon;

/* Starts the PMIx server; the loop starts the PEs when the job is registered.  Frames of
 * the daemon go to `out`.  window: limit of output that is not confirmed, in bytes per
 * stream.  nonce: of the job, used during the call; NULL: this is its only daemon.  0, or
 * the exit status for oshrun after an error message; then only daemon_stop is valid, as
 * after event FAILED. */
int daemon_start(struct daemon **d, const struct job *job, const struct tree *tree,
                 const struct net_out *out, uint64_t window, const struct nonce *nonce,
                 struct loop *loop, const struct reaper *reaper, struct rlimit files);

/* Executes a command, or handles a message for the PMIx server.  0, or -1: malformed. */
int daemon_recv(struct daemon *d, const struct frame *f);

/* True for a signal that is sent to end a job. */
bool daemon_is_fatal(int sig);

/* Prints what would be started. */
int daemon_dry_run(const struct job *job);

/* Kills the remaining PEs and frees the daemon. */
void daemon_stop(struct daemon *d);

#endif
