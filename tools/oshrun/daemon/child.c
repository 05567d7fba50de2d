/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * child.c - clone as vfork does, set up, exec.
 *
 * Uses reaper.c.
 *
 * As after vfork, the child runs in the memory of the parent until exec: a daemon with
 * PMIx's threads and memory starts 256 PEs three times faster, and the child can report a
 * failed exec there (struct trial).  In return it may only make system calls, and must
 * not change any other state.
 *
 * A daemon has four descriptors per PE, so that a copy of its table for each PE would
 * make the start of n PEs on a node take O(n^2) time.  The child therefore shares the
 * table (CLONE_FILES) until it makes a table of its own of the lowest descriptors only
 * (CLOSE_RANGE_UNSHARE).  Those that it needs are copied to reserved low numbers.
 */
#include "config.h"

#include "tools/oshrun/daemon/child.h"
#include "tools/oshrun/reaper/reaper.h"
#include "tools/oshrun/util/mem.h"

#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_DEFAULT "/usr/local/bin:/usr/bin:/bin"
#define STACK_BYTES  32768
#define STEP_US      1000

/* Reserved descriptors: copies of fd[], wdir_fd and reaper_fd during child_start, else of
 * SLOT_IDLE, which is /dev/null. */
enum slot { SLOT_FD, SLOT_WDIR = 3, SLOT_REAPER, SLOT_IDLE, SLOTS };
static int slot[SLOTS]; /* ascending; 0: not reserved */

/* Progress of a child; volatile because parent and child share it until exec. */
struct trial {
    const char *volatile step;
    volatile int err;
};

/* Signals whose disposition a launcher or a shell may have changed for us. */
static const int reset_signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE, SIGTERM,
                                    SIGCHLD, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU,
                                    SIGUSR1, SIGUSR2, SIGXFSZ, SIGALRM};

/* From here on all mechanisms that end jobs apply to the child: the reaper knows its
 * group, and it is killed when its parent dies. */
static int child_join_job(const struct child_spec *s, pid_t parent)
{
    if ((s->session ? setsid() < 0 : setpgid(0, 0) != 0) ||
        prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
        return -1;
    if (getppid() != parent)
        _exit(CHILD_NOT_RUNABLE);
    reaper_send(s->reaper_fd, REAPER_GROUP, getpid());
    if (s->terminal)
        tcsetpgrp(STDIN_FILENO, getpid()); /* all signals are blocked here */
    return 0;
}

/* Gives the child a descriptor table of its own. */
static int child_unshare_files(void)
{
    if (slot[SLOT_IDLE] <= 0 ||
        close_range((unsigned)slot[SLOT_IDLE], ~0u, CLOSE_RANGE_UNSHARE) == 0)
        return 0;
    return unshare(CLONE_FILES);
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
    t->step = "copy the descriptors";
    if (child_unshare_files() != 0)
        goto leave;
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

struct child_args {
    const struct child_spec *spec;
    pid_t parent;
    char **sh_argv;
    struct trial *trial;
};

static int child_main(void *arg)
{
    const struct child_args *a = arg;
    child_run(a->spec, a->parent, a->sh_argv, a->trial);
}

/* Not inlined: vfork returns twice, which could corrupt local variables of the caller. */
__attribute__((noinline)) static pid_t child_vfork(struct child_args *args)
{
    pid_t pid = vfork();
    if (pid == 0)
        child_main(args);
    return pid;
}

/* Returns when the child has executed its program or has exited. */
static pid_t child_clone(const struct child_spec *s, char **sh_argv, struct trial *t)
{
    _Alignas(max_align_t) char stack[STACK_BYTES];
    struct child_args args = {s, getpid(), sh_argv, t};
    if (slot[SLOT_IDLE] <= 0)
        return child_vfork(&args);
    return clone(child_main, stack + sizeof stack,
                 CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, &args);
}

/* ---- reserved descriptors --------------------------------------------------------- */

/* The highest open descriptor. */
static int child_highest_fd(void)
{
    struct dirent *e;
    int highest = STDERR_FILENO;
    DIR *dir = opendir("/proc/self/fd");
    while (dir != NULL && (e = readdir(dir)) != NULL)
        if (atoi(e->d_name) > highest)
            highest = atoi(e->d_name);
    if (dir != NULL)
        closedir(dir);
    return highest;
}

/* valgrind does not support a clone that shares the descriptors. */
static bool child_in_valgrind(void)
{
    const char *preload = getenv("LD_PRELOAD");
    return preload != NULL && strstr(preload, "/vgpreload_") != NULL;
}

void child_reserve(void)
{
    if (child_in_valgrind())
        return;
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC), last = child_highest_fd();
    for (int i = 0; i < SLOTS && null >= 0; i++) {
        slot[i] = last = fcntl(null, F_DUPFD_CLOEXEC, last + 1);
        if (last < 0)
            slot[SLOT_IDLE] = 0;
        if (last < 0)
            break;
    }
    if (null >= 0)
        close(null);
}

/* Copies fd, unless it is a standard file or -1, to the slot, and returns that. */
static int child_use_slot(int fd, enum slot s)
{
    if (slot[SLOT_IDLE] <= 0 || fd <= STDERR_FILENO || dup3(fd, slot[s], O_CLOEXEC) < 0)
        return fd;
    return slot[s];
}

static struct child_spec child_use_slots(const struct child_spec *spec)
{
    struct child_spec s = *spec;
    for (int i = 0; i <= STDERR_FILENO; i++)
        s.fd[i] = child_use_slot(s.fd[i], (enum slot)(SLOT_FD + i));
    s.wdir_fd = child_use_slot(s.wdir_fd, SLOT_WDIR);
    s.reaper_fd = child_use_slot(s.reaper_fd, SLOT_REAPER);
    return s;
}

static void child_free_slots(void)
{
    for (int i = 0; i < SLOT_IDLE && slot[SLOT_IDLE] > 0; i++)
        dup3(slot[SLOT_IDLE], slot[i], O_CLOEXEC);
}

pid_t child_start(const struct child_spec *spec, const char **step)
{
    size_t argc = 0;
    while (spec->argv[argc] != NULL)
        argc++;
    char **sh_argv = mem_calloc(argc + 2, sizeof *sh_argv);
    sh_argv[0] = (char *)(uintptr_t) "/bin/sh";
    sh_argv[1] = (char *)(uintptr_t)spec->path;
    for (size_t i = 1; i < argc; i++)
        sh_argv[i + 1] = spec->argv[i];

    /* Blocks all signals in the child until exec: SIGTTOU from its tcsetpgrp would stop
     * it, and us with it, since the parent continues only after exec. */
    sigset_t all, was;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &was);
    struct trial trial = {.step = "fork"};
    struct child_spec slots = child_use_slots(spec);
    pid_t pid = child_clone(&slots, sh_argv, &trial);
    child_free_slots();
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

bool child_reap(pid_t pid, int *steps)
{
    while (waitpid(pid, NULL, WNOHANG) == 0) {
        if ((*steps)-- <= 0)
            return false;
        usleep(STEP_US);
    }
    return true;
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
