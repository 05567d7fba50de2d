/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * starter.h - starts a node daemon on each node: by ssh or another agent command,
 * by one srun, or as a plain child for nodes on this machine.
 *
 * Uses loop.h.  Used by daemons.c.
 *
 * A daemon is run as `PATH --node-daemon`.  It reads the bootstrap line, which contains
 * the nonce, from standard input, so that the line appears on no command line and in no
 * file. The output of agents and daemons is read line by line and reported by event said.
 */
#ifndef OSHRUN_START_STARTER_H
#define OSHRUN_START_STARTER_H

#include "tools/oshrun/util/loop.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#define STARTER_ALL UINT32_MAX /* in place of a node: the one srun for all nodes */

enum starter_kind {
    STARTER_LOCAL, /* children on this machine */
    STARTER_AGENT, /* one agent command per node; local[] nodes are children */
    STARTER_SRUN,  /* one srun for all nodes */
};

struct starter_config {
    enum starter_kind kind;
    uint32_t nnodes;
    const char *const *host; /* per node: its name */
    const bool *local;       /* per node: it is this machine */
    const char *agent;       /* STARTER_AGENT: template; NULL = the default, ssh */
    const char *daemon_path; /* of oshrun on the hosts: absolute */
    const char *line; /* bootstrap line without newline; " node=I" is appended, but not
                         with srun, where the daemon sends its host name */
    int reaper_fd;
    struct rlimit files;
};

/* Called from the loop, never within starter_begin.  A callback must not call
 * starter_stop. */
struct starter_events {
    /* The agent of this node (or STARTER_ALL) has been started. */
    void (*started)(void *arg, uint32_t node);
    /* A daemon has started: its node, or WIRE_NONE and its host. */
    void (*up)(void *arg, uint32_t node, const char *host);
    /* A line that the agent or daemon of this node (or STARTER_ALL) wrote. */
    void (*said)(void *arg, uint32_t node, const char *line);
    /* The agent of this node (or STARTER_ALL) has ended, or could not be started.
     * why: "ssh ended with status 255: ssh: connect to host n7 port 22: No route to
     * host" (with the last line that it wrote); "/opt/oshrun is not there (status
     * 127)".  failed = false: exit status 0.  For srun it is also called when srun
     * reports the failure of a task before all daemons have connected; it is then
     * not called again. */
    void (*ended)(void *arg, uint32_t node, bool failed, const char *why);
};

struct starter;

/*
 * NULL after an error message (error.h).  Starts at most 32 agents at a time.  config is
 * copied.
 *
 * An agent command is run by sh.  In it %h stands for the host and %c for the command to
 * run there, each a single word, quoted or not; %% is a percent sign.  Without %c the
 * command is appended; without both, host and command are.
 */
struct starter *starter_begin(struct loop *loop, const struct starter_config *config,
                              const struct starter_events *events, void *arg);

/* The daemon of this node has connected: its agent no longer counts among the 32. */
void starter_arrived(struct starter *s, uint32_t node);

/* Calls the event `said`, which must not call this again, for what the agent of the node
 * has written, as far as it has arrived: what a daemon writes before it exits explains
 * the end of its connection, which may be read first. */
void starter_read(struct starter *s, uint32_t node);

/* Ends the remaining agents and frees s.  Blocks: half a second for agents whose daemons
 * had connected to exit by themselves, a second between SIGTERM and SIGKILL, and a
 * second after that.  Event said may still be called, ended not. */
void starter_stop(struct starter *s);

#endif
