/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * starter_int.h - what the files of the starter share.
 *
 * Uses iobuf.h, loop.h.  Used by starter.c, agent.c, command.c, srun.c.
 */
#ifndef OSHRUN_START_STARTER_INT_H
#define OSHRUN_START_STARTER_INT_H

#include "pgas/core/base/seal.h"
#include "tools/oshrun/daemon/child.h"
#include "tools/oshrun/util/iobuf.h"
#include "tools/oshrun/start/starter.h"

#include <limits.h>
#include <signal.h>
#include <stddef.h>

#define DAEMON_OPTION "--node-daemon"
#define LINE_BYTES    512 /* of a reported line of an agent; longer ones are split */
#define NAME_BYTES    64

/* ---- agent.c: a process that starts a daemon on its node, or is the daemon -------- */

struct agent {
    struct starter *s;
    uint32_t node; /* STARTER_ALL: srun */
    bool local;
    char *host;
    pid_t pid;   /* 0: not started; reaped in agent_finish only, to reserve the pid */
    bool waited; /* started, its daemon has not connected: one of the 32 */
    bool arrived;
    bool ended;
    /* For its standard input, in seal_memory of input_size bytes; NULL: all is written.
     */
    char *input;
    size_t input_size, input_len, input_written;
    struct loop_watch in, out, end;
    struct evbuffer *half; /* of a line, not complete; NULL: none */
    char last[LINE_BYTES]; /* last line that may explain its end */
};

/* Initializes an agent without open descriptors. */
void agent_init(struct agent *a, struct starter *s, uint32_t node);

/* Starts the process and sends a->input, which it will free, to its standard input.  0,
 * or -1 with errno and *step. */
int agent_start(struct agent *a, struct child_spec *spec, const char **step);

/* Reads the available output; calls starter_said for complete lines. */
void agent_drain(struct agent *a);

/* Disables all events of the agent. */
void agent_silence(struct agent *a);

/* Waits until it has ended, at most until until_ns (as loop_now_ns).  Reports its
 * output. */
void agent_wait(struct agent *a, uint64_t until_ns);

/* Reports the remaining output, closes all descriptors and reaps the process.  False: it
 * still runs. */
bool agent_finish(struct agent *a);

/* ---- command.c, srun.c: command lines --------------------------------------------- */

/* The agent command, the same for all hosts. */
struct command {
    char *script;          /* for sh -c: $1 is the host, $2 the command for it */
    char *remote;          /* that command */
    char name[NAME_BYTES]; /* for messages: "ssh" */
};

/* 0, or -1 after an error message.  form: NULL = ssh. */
int command_make(struct command *c, const char *form, const char *daemon_path);
void command_free(struct command *c);

/* form with %h and %c as "$1" and "$2".  NULL: an error message is in why. */
char *command_script(const char *form, char *why, size_t len);

/* Quotes word for a shell. */
char *command_quote(const char *word);

/* The name of the host for the agent: IPv6 addresses without brackets. */
char *command_host(const char *host);

/* Free with string_list_free; env is only a list. */
char **srun_argv(const struct starter_config *config);
char **srun_env(void);

/* Whether a line of srun is irrelevant; reports the end of a task; reports that the
 * daemon cannot be executed. */
bool srun_is_noise(const char *line);
bool srun_is_task_end(const char *line);
bool srun_lacks_program(const char *line);

/* ---- starter.c -------------------------------------------------------------------- */

void starter_said(struct agent *a, const char *line);
void starter_ended(struct agent *a, const siginfo_t *how);
struct loop *starter_loop(const struct starter *s);

#endif
