/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * child.h - starts one process of the job in a group of its own.
 *
 * Uses reaper.h.  Used by daemon.c (PEs), tool.c, agent.c, and main.c; child_find also by
 * launch.c, command.c, starter.c and tool.c.
 */
#ifndef OSHRUN_DAEMON_CHILD_H
#define OSHRUN_DAEMON_CHILD_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#define CHILD_NOT_FOUND   127 /* exit status if the program does not exist */
#define CHILD_NOT_RUNABLE 126 /* ... if it exists but cannot be run */

struct child_spec {
    const char *path; /* program to execute; not searched for in PATH */
    char *const *argv;
    char *const *envp;
    int fd[3];             /* become 0, 1, 2 */
    int wdir_fd;           /* working directory, -1 = unchanged */
    int reaper_fd;         /* write end of the reaper's pipe */
    bool terminal;         /* its group becomes the terminal's foreground group */
    bool session;          /* in a session of its own, without a terminal */
    const cpu_set_t *cpus; /* NULL = unchanged */
    size_t cpus_size;
    struct rlimit files; /* RLIMIT_NOFILE as oshrun was given it */
};

/* Reserves the descriptors that make child_start independent of the number of open ones.
 * Call first, before this process opens others; without it child_start copies all. */
void child_reserve(void);

/* Returns the pid, or -1 with errno and, in *step, what failed (exec included). */
pid_t child_start(const struct child_spec *spec, const char **step);

#define CHILD_REAP_STEPS                                                                 \
    2000 /* milliseconds for a process that was sent SIGKILL to end */

/* Reaps a child that was sent SIGKILL, with at most *steps steps of a millisecond, which
 * it counts down.  False: it is stuck in the kernel, and remains to the reaper. */
bool child_reap(pid_t pid, int *steps);

/* Finds name as execvp would with PATH = dirs (NULL: the usual directories); relative
 * paths start at wdir_fd (AT_FDCWD: the current directory). 0 and the path in buf, or
 * CHILD_NOT_FOUND / CHILD_NOT_RUNABLE with errno. */
int child_find(int wdir_fd, const char *dirs, const char *name, char *buf, size_t len);

#endif
