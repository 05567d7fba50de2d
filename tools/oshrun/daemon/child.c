/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * child.c - vfork, set up, exec.
 *
 * Uses reaper.c.  Used by daemon.c, stacks.c and agent.c.
 *
 * vfork instead of fork: a daemon with PMIx's threads and memory starts 256 PEs three
 * times faster, and the child can report a failed exec in the parent's memory (struct
 * trial).  In return, between vfork and exec it may only make system calls, and must not
 * change any other state.
 */
#include "config.h"

#include "tools/oshrun/daemon/child.h"
#include "tools/oshrun/daemon/reaper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_DEFAULT "/usr/local/bin:/usr/bin:/bin"

/* Progress of a child; volatile because parent and child share it across vfork. */
struct trial {
    const char *volatile step;
    volatile int err;
};

/* Signals whose disposition a launcher or a shell may have changed for us. */
static const int reset_signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE, SIGTERM,
                                    SIGCHLD, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU,
                                    SIGUSR1, SIGUSR2, SIGXFSZ};

/* From here on all mechanisms that end jobs apply to the child: the reaper knows its
 * group, and it is killed when its parent dies. */
static int child_join_job(const struct child_spec *s, pid_t parent)
{
    if ((s->session ? setsid() < 0 : setpgid(0, 0) != 0) ||
        prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return -1;
    if (getppid() != parent)
        _exit(CHILD_NOT_RUNABLE);
    reaper_announce(s->reaper_fd, getpid());
    if (s->terminal)
        tcsetpgrp(STDIN_FILENO, getpid()); /* all signals are blocked here */
    return 0;
}

static int child_set_up_files(const struct child_spec *s)
{
    for (int i = 0; i <= STDERR_FILENO; i++)
        if (s->fd[i] != i && dup2(s->fd[i], i) < 0)
            return -1;
    return setrlimit(RLIMIT_NOFILE, &s->files);
}

static int child_set_up_signals(void)
{
    const struct sigaction dfl = {.sa_handler = SIG_DFL};
    for (size_t i = 0; i < sizeof reset_signals / sizeof *reset_signals; i++)
        sigaction(reset_signals[i], &dfl, NULL);
    sigset_t none;
    sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void child_run(const struct child_spec *s, pid_t parent, char **sh_argv,
                                struct trial *t)
{
    t->step = "set up the process group";
    if (child_join_job(s, parent) != 0)
        goto leave;
    t->step = "change to the working directory";
    if (s->wdir_fd >= 0 && fchdir(s->wdir_fd) != 0)
        goto leave;
    t->step = "bind to processors";
    if (s->cpus != NULL && sched_setaffinity(0, s->cpus_size, s->cpus) != 0)
        goto leave;
    t->step = "connect the standard files";
    if (child_set_up_files(s) != 0)
        goto leave;
    t->step = "reset signals";
    if (child_set_up_signals() != 0)
        goto leave;
    t->step = "execute";
    execve(s->path, s->argv, s->envp);
    if (errno == ENOEXEC) /* like execvp, runs a script without a #! line by sh */
        execve("/bin/sh", sh_argv, s->envp);
leave:
    t->err = errno;
    _exit(CHILD_NOT_RUNABLE);
}

/* Not inlined: vfork returns twice, which could corrupt local variables of the caller. */
__attribute__((noinline)) static pid_t child_vfork(const struct child_spec *s,
                                                   char **sh_argv, struct trial *t)
{
    pid_t parent = getpid();
    pid_t pid = vfork();
    if (pid == 0)
        child_run(s, parent, sh_argv, t);
    return pid;
}

pid_t child_start(const struct child_spec *spec, const char **step)
{
    size_t argc = 0;
    while (spec->argv[argc] != NULL)
        argc++;
    char **sh_argv = calloc(argc + 2, sizeof *sh_argv);
    *step = "find memory";
    if (sh_argv == NULL)
        return -1;
    sh_argv[0] = (char *)(uintptr_t) "/bin/sh";
    sh_argv[1] = (char *)(uintptr_t)spec->path;
    for (size_t i = 1; i < argc; i++)
        sh_argv[i + 1] = spec->argv[i];

    /* Blocks all signals in the child until exec: SIGTTOU from its tcsetpgrp would stop
     * it, and us with it, since vfork returns only after exec. */
    sigset_t all, was;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &was);
    struct trial trial = {.step = "fork"};
    pid_t pid = child_vfork(spec, sh_argv, &trial);
    sigprocmask(SIG_SETMASK, &was, NULL);
    int err = pid < 0 ? errno : trial.err;
    free(sh_argv);
    *step = trial.step;
    if (pid > 0 && err == 0)
        return pid;
    errno = err;
    return -1;
}

/* 0, or an errno that tells why path, relative to wdir_fd, cannot be executed. */
static int child_check_executable(int wdir_fd, const char *path)
{
    struct stat st;
    if (fstatat(wdir_fd, path, &st, 0) != 0)
        return errno;
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    return faccessat(wdir_fd, path, X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

/* Searches the directories for an executable name.  Like execvp, it prefers to return an
 * error other than "not found", of the last directory that gave one. */
static int child_search(int wdir_fd, const char *dir, const char *name, char *buf,
                        size_t len)
{
    int err = ENOENT;
    if (dir == NULL)
        dir = PATH_DEFAULT;
    for (;;) {
        size_t n = strcspn(dir, ":");
        int w = n ? snprintf(buf, len, "%.*s/%s", (int)n, dir, name)
                  : snprintf(buf, len, "./%s", name);
        if (w > 0 && (size_t)w < len) {
            int why = child_check_executable(wdir_fd, buf);
            if (why == 0)
                return 0;
            if (why != ENOENT && why != ENOTDIR && why != EISDIR)
                err = why;
        }
        if (dir[n] == '\0')
            return err;
        dir += n + 1;
    }
}

int child_find(int wdir_fd, const char *dirs, const char *name, char *buf, size_t len)
{
    int err;
    if (strchr(name, '/') == NULL) {
        err = name[0] ? child_search(wdir_fd, dirs, name, buf, len) : ENOENT;
    } else if (strlen(name) >= len) {
        err = ENAMETOOLONG;
    } else {
        memcpy(buf, name, strlen(name) + 1);
        err = child_check_executable(wdir_fd, name);
    }
    errno = err;
    if (err == 0)
        return 0;
    return err == ENOENT || err == ENOTDIR ? CHILD_NOT_FOUND : CHILD_NOT_RUNABLE;
}
