/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * starter.h - gets a node daemon running on each node: by ssh or another agent command,
 * by one srun, or as a plain child for nodes on this machine.
 *
 * Uses loop.h, node/child.h, node/reaper.h.  Used by daemons.c.
 *
 * A daemon is `PATH --node-daemon`; all else it reads as one line from its standard
 * input, which so appears on no command line and in no file.  What an agent or a daemon
 * writes is read line by line and told.
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
    const char *line;        /* for the daemons, without newline; " node=I" is appended,
                                but not with srun, where the daemon tells its host */
    int reaper_fd;
    struct rlimit files;
};

/* They come from the loop, none from starter_begin.  None may call starter_stop. */
struct starter_events {
    /* The agent of this node (or STARTER_ALL) has been started. */
    void (*started)(void *arg, uint32_t node);
    /* A daemon's process runs: its node, or WIRE_NONE and its host. */
    void (*up)(void *arg, uint32_t node, const char *host);
    /* A line that the agent or daemon of this node (or STARTER_ALL) wrote. */
    void (*said)(void *arg, uint32_t node, const char *line);
    /* The agent of this node (or STARTER_ALL) has ended, or could not be started.  why:
     * "ssh ended with status 255: ssh: connect to host n7 port 22: No route to host" -
     * the last lines it wrote make up the reason; "/opt/oshrun is not there (status
     * 127)". failed = false: it ended with 0.  For srun also, and then not again, when it
     * says that a task failed before all daemons have called. */
    void (*ended)(void *arg, uint32_t node, bool failed, const char *why);
};

struct starter;

/*
 * NULL after an error message (error.h).  Starts at most 32 agents at a time.  config is
 * copied.
 *
 * An agent command runs by sh.  %h in it is the host and %c the command for it, each one
 * word, in quotes or not; %% is a percent sign.  Without %c the command is appended,
 * without both the host before it.
 */
struct starter *starter_begin(struct loop *loop, const struct starter_config *config,
                              const struct starter_events *events, void *arg);

/* The daemon of this node has called: its agent counts no longer among the 32. */
void starter_arrived(struct starter *s, uint32_t node);

/* Ends agents that are left, and frees.  Blocks: half a second for agents whose daemons
 * had called to end by themselves, a second between SIGTERM and SIGKILL.  Lines may still
 * come by said, but no end. */
void starter_stop(struct starter *s);

#endif
