/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * child.h - starts one process of the job in a group of its own.
 *
 * Uses reaper.h.  Used by daemon.c (PEs), stacks.c (debuggers) and agent.c.
 */
#ifndef OSHRUN_DAEMON_CHILD_H
#define OSHRUN_DAEMON_CHILD_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#define CHILD_NOT_FOUND   127 /* exit status when there is no such program */
#define CHILD_NOT_RUNABLE 126 /* ... when it is there and cannot be run */

struct child_spec {
    const char *path; /* what to execute: found, not looked up */
    char *const *argv;
    char *const *envp;
    int fd[3];             /* become 0, 1, 2 */
    int wdir_fd;           /* working directory, -1 = as it is */
    int reaper_fd;         /* where the group is announced */
    bool terminal;         /* its group becomes the terminal's foreground group */
    bool session;          /* its own: it has no terminal */
    const cpu_set_t *cpus; /* NULL = as it is */
    size_t cpus_size;
    struct rlimit files; /* RLIMIT_NOFILE as oshrun was given it */
};

/* The pid, or -1 with errno of what failed (exec included) and *step naming it. */
pid_t child_start(const struct child_spec *spec, const char **step);

/* Finds name as execvp would with this PATH (NULL: the usual directories), seen from
 * directory wdir_fd (AT_FDCWD for the own one).
 * 0 and the path in buf, or CHILD_NOT_FOUND / CHILD_NOT_RUNABLE with errno. */
int child_find(int wdir_fd, const char *dirs, const char *name, char *buf, size_t len);

#endif
