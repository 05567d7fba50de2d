/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * starter_int.h - what the files of the starter share.
 *
 * Uses iobuf.h, loop.h.  Used by starter.c, agent.c, command.c, srun.c.
 */
#ifndef OSHRUN_START_STARTER_INT_H
#define OSHRUN_START_STARTER_INT_H

#include "tools/oshrun/daemon/child.h"
#include "tools/oshrun/util/iobuf.h"
#include "tools/oshrun/start/starter.h"

#include <limits.h>
#include <signal.h>
#include <stddef.h>

#define DAEMON_OPTION "--node-daemon"
#define LINE_BYTES    512 /* of a line of an agent that is told; longer ones in pieces */
#define NAME_BYTES    64

/* ---- agent.c: one process that brings a daemon to its node, or is one ------------- */

struct agent {
    struct starter *s;
    uint32_t node; /* STARTER_ALL: srun */
    bool local;
    char *host;
    pid_t pid; /* 0: not started.  A zombie until the end: nobody else gets its number */
    bool waited; /* started, and its daemon has not called yet: one of the 32 */
    bool arrived;
    bool ended;
    char *input; /* for its standard input; NULL: all is written */
    size_t input_len, input_sent;
    struct loop_watch in, out, end;
    struct iobuf half;     /* of a line */
    char last[LINE_BYTES]; /* what it said that may explain its end */
};

/* Prepares a zeroed one: nothing is open. */
void agent_init(struct agent *a, struct starter *s, uint32_t node);

/* Starts it with a->input, which it takes, on its standard input.  0, or -1 with errno
 * and *step. */
int agent_start(struct agent *a, struct child_spec *spec, const char **step);

/* No event comes of it any more. */
void agent_silence(struct agent *a);

/* Waits until it has ended, or until this time (loop_now_ns).  Tells what it writes. */
void agent_wait(struct agent *a, uint64_t until_ns);

/* Tells the rest, closes all, takes the exit status.  False: it is still there. */
bool agent_finish(struct agent *a);

/* ---- command.c, srun.c: command lines --------------------------------------------- */

/* The agent command, the same for all hosts. */
struct command {
    char *script;          /* for sh -c: $1 is the host, $2 the command for it */
    char *remote;          /* that command */
    char name[NAME_BYTES]; /* for sentences: "ssh" */
};

/* 0, or -1 after an error message.  form: NULL = ssh. */
int command_make(struct command *c, const char *form, const char *daemon_path);
void command_free(struct command *c);

/* form with %h and %c as "$1" and "$2"; NULL: no memory, or a sentence in why. */
char *command_script(const char *form, char *why, size_t len);

/* word, so that a shell reads it back as one. */
char *command_quote(const char *word);

/* What the agent gets for this host: IPv6 addresses without brackets. */
char *command_host(const char *host);

/* NULL: no memory.  Free with srun_free_argv; env is only a list. */
char **srun_argv(const struct starter_config *config);
void srun_free_argv(char **argv);
char **srun_env(void);

/* A line of srun that means nothing for us; that says only that a task has failed; that
 * says that the daemon cannot be executed. */
bool srun_is_noise(const char *line);
bool srun_is_task_end(const char *line);
bool srun_lacks_program(const char *line);

/* ---- starter.c -------------------------------------------------------------------- */

void starter_said(struct agent *a, const char *line);
void starter_ended(struct agent *a, const siginfo_t *how);
struct loop *starter_loop(const struct starter *s);

#endif
