/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch.h - what exactly is executed for the PEs of a program: path, arguments,
 * environment.
 *
 * Uses job.h, child.h.  Used by daemon.c.
 */
#ifndef OSHRUN_DAEMON_LAUNCH_H
#define OSHRUN_DAEMON_LAUNCH_H

#include "tools/oshrun/daemon/child.h"
#include "tools/oshrun/util/job.h"

#include <limits.h>

/* A program and its arguments. */
struct launch_command {
    char path[PATH_MAX];
    char **argv;
};

struct launch {
    struct launch_command plain; /* all PEs (under valgrind, if asked) */
    struct launch_command gdb;   /* the PE job->gdb_pe */
    char **env;                  /* of all its PEs; the strings are not owned */
    size_t env_len;
    char **added; /* which of them oshrun added or changed; NULL-terminated */
    size_t added_len;
    int wdir_fd; /* -1 = unchanged */
};

/* Prepares everything before a PE of program `app` is started.  0, or the exit status of
 * oshrun after an error message.  node_env and job_env are "NAME=value" and must outlive
 * l. */
int launch_prepare(struct launch *l, const struct job *job, uint32_t app, char *node_env,
                   char *job_env);
void launch_free(struct launch *l);

/* The command of PE rank. */
const struct launch_command *launch_of(const struct launch *l, const struct job *job,
                                       uint32_t rank);

/* The common environment and pmix, for one execve; free the array only. */
char **launch_env(const struct launch *l, char **pmix);

/* Prints the line of one PE for --dry-run; place may be NULL. */
void launch_print(const struct launch *l, const struct job *job, uint32_t rank,
                  const char *place);

#endif
