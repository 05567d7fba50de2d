/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reaper.c - cleans up processes and files when oshrun ends or is killed.
 *
 * Uses pgas/core/boot/node.h (NODE_ENV).  Used by main.c, front.c, daemon.c,
 * daemon_main.c, watchdog.c, starter.c and child.c.
 *
 * The reaper is forked before anything else, has its own session, blocks every signal,
 * and reads a pipe whose write end only oshrun has.  Nothing is left behind at
 * whatever moment oshrun dies:
 *  - the directory is made by the reaper itself, which therefore always knows it;
 *  - every child announces its own process group on the inherited write end before it
 *    executes anything; it keeps that end open until exec, so the reaper cannot see the
 *    end of the pipe while a child is between fork and exec;
 *  - a running child is killed by PR_SET_PDEATHSIG, set before exec; a child forked just
 *    before the death of oshrun checks getppid() after the prctl and exits;
 *  - a process that left its group is found by its NODE_ENV variable, which contains the
 *    pid of oshrun;
 *  - the pipe reaches end of file when the last thread of oshrun has exited, so that
 *    nothing can create files while the directory is removed.
 *
 * On request it is also a watchdog (reaper_watch).  It counts polls that timed out and
 * does not read a clock: if the whole machine was suspended, or the reaper alone was
 * stopped, that counts as one period at most.
 */
#include "config.h"

#include "pgas/core/boot/node.h"
#include "tools/oshrun/reaper/reaper.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WAIT_STEP_NS   1000000 /* poll interval: 1 ms */
#define GROUP_WAIT_MAX 1000    /* steps to wait for killed groups */
#define REMOVE_MAX     20      /* attempts to remove it while others create files */
#define STOP_WAIT_MS   1500    /* how long oshrun waits for the reaper */
#define GROUPS_FIRST   64
#define QUIET_MAX      4    /* periods of silence until the watchdog fires */
#define KILLED_WAIT_MS 1000 /* for end of file after oshrun was killed */
#define WATCH_MAX_MS   86400000u
#define SEARCH_MAX     100 /* scans of /proc; each finds what was forked since */
#define MARK_BYTES     64
#define PROC_PATH      32
#define NAME           "oshrun-reaper"
#define NAME_BYTES     16 /* of a process name, with newline or zero */

/* Of the reaper. */
struct state {
    pid_t *group;
    size_t count;
    size_t capacity;
    bool spare;   /* do not kill processes outside the groups */
    int oshrun;   /* pidfd */
    int quiet_ms; /* period of the watchdog; -1: disarmed */
    char dir[PATH_MAX];
    char mark[MARK_BYTES]; /* prefix of a variable of all processes of the job */
};

static void reaper_step(void)
{
    nanosleep(&(struct timespec){.tv_nsec = WAIT_STEP_NS}, NULL);
}

static void reaper_add_group(struct state *d, pid_t group)
{
    if (d->count == d->capacity) {
        size_t capacity = d->capacity ? d->capacity * 2 : GROUPS_FIRST;
        pid_t *more = reallocarray(d->group, capacity, sizeof *more);
        if (more == NULL)
            return; /* the reaper goes on: PR_SET_PDEATHSIG still ends the PE itself */
        d->group = more;
        d->capacity = capacity;
    }
    d->group[d->count++] = group;
}

static void reaper_handle(struct state *d, const struct reaper_message *m)
{
    switch (m->kind) {
    case REAPER_GROUP:
        reaper_add_group(d, m->value);
        break;
    case REAPER_FORGET:
        d->count = 0;
        break;
    case REAPER_SPARE:
        d->spare = true;
        break;
    case REAPER_LIMIT:
        d->quiet_ms = m->value <= 0 ? -1 : (m->value - 1) / QUIET_MAX + 1;
        break;
    default: /* REAPER_TICK */
        break;
    }
}

/* Reads messages, of which none is split.  False: end of file. */
static bool reaper_recv(struct state *d, int fd)
{
    struct reaper_message m[GROUPS_FIRST];
    ssize_t n = read(fd, m, sizeof m);
    if (n < 0 && errno == EINTR)
        return true;
    for (ssize_t i = 0; i < n / (ssize_t)sizeof *m; i++)
        reaper_handle(d, &m[i]);
    return n > 0;
}

/* Reads up to end of file.  Gives up if an oshrun that was killed is stuck in the
 * kernel. */
static void reaper_recv_until_eof(struct state *d, int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int quiet = 0;
    for (;;) {
        int n = poll(&p, 1, d->quiet_ms);
        if (n > 0) {
            quiet = 0;
            if (!reaper_recv(d, fd))
                return;
        } else if (n == 0 && ++quiet == QUIET_MAX) {
            pidfd_send_signal(d->oshrun, SIGKILL, NULL, 0);
            d->quiet_ms = KILLED_WAIT_MS;
        } else if (n == 0 && quiet > QUIET_MAX) {
            return;
        }
    }
}

static void reaper_end_groups(const struct state *d)
{
    for (size_t i = 0; i < d->count; i++)
        kill(-d->group[i], SIGKILL);
    for (size_t i = 0, steps = 0; i < d->count && steps < GROUP_WAIT_MAX; steps++) {
        while (i < d->count && kill(-d->group[i], 0) != 0)
            i++;
        if (i < d->count)
            reaper_step();
    }
}

static FILE *reaper_open_proc(const char *pid, const char *name)
{
    char path[PROC_PATH];
    int n = snprintf(path, sizeof path, "/proc/%s/%s", pid, name);
    return n > 0 && (size_t)n < sizeof path ? fopen(path, "re") : NULL;
}

/* True for the reaper of an oshrun within the job: it must do its own cleanup. */
static bool reaper_is_reaper(const char *pid)
{
    char name[NAME_BYTES];
    FILE *f = reaper_open_proc(pid, "comm");
    if (f == NULL)
        return false;
    bool found =
        fgets(name, sizeof name, f) != NULL && strncmp(name, NAME, strlen(NAME)) == 0;
    fclose(f);
    return found;
}

static bool reaper_has_mark(const char *pid, const char *mark)
{
    char *variable = NULL;
    size_t capacity = 0;
    bool found = false;
    FILE *f = reaper_open_proc(pid, "environ");
    if (f == NULL)
        return false;
    while (!found && getdelim(&variable, &capacity, '\0', f) > 0)
        found = strncmp(variable, mark, strlen(mark)) == 0;
    free(variable);
    fclose(f);
    return found;
}

/* Kills all processes of the job, in any group and session.  False: there were none. */
static bool reaper_end_marked(const char *mark)
{
    bool found = false;
    struct dirent *e;
    DIR *proc = opendir("/proc");
    if (proc == NULL)
        return false;
    while ((e = readdir(proc)) != NULL) {
        if (!isdigit((unsigned char)e->d_name[0]) || !reaper_has_mark(e->d_name, mark) ||
            reaper_is_reaper(e->d_name))
            continue;
        found = true;
        kill((pid_t)atoi(e->d_name), SIGKILL);
    }
    closedir(proc);
    return found;
}

/* Symbolic links are removed, not followed. */
static void reaper_remove_dir(const char *path)
{
    char *paths[] = {(char *)(uintptr_t)path, NULL};
    for (int i = 0; i < REMOVE_MAX; i++) {
        FTS *tree = fts_open(paths, FTS_PHYSICAL, NULL);
        for (FTSENT *e; tree != NULL && (e = fts_read(tree)) != NULL;)
            if (e->fts_info != FTS_D)
                remove(e->fts_accpath);
        if (tree != NULL)
            fts_close(tree);
        if (access(path, F_OK) != 0 && errno == ENOENT)
            return;
        reaper_step();
    }
}

static void reaper_leave_terminal(void)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    prctl(PR_SET_NAME, NAME);
    int null = open("/dev/null", O_RDWR);
    for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
}

/* Creates the directory; on failure dir is empty and errno set. */
static void reaper_make_dir(char *dir)
{
    const char *tmp = getenv("TMPDIR");
    if (tmp == NULL || tmp[0] != '/')
        tmp = "/tmp";
    int n = snprintf(dir, PATH_MAX, "%s/oshrun.XXXXXX", tmp);
    if (n < 0 || n >= PATH_MAX)
        errno = ENAMETOOLONG;
    if (n < 0 || n >= PATH_MAX || mkdtemp(dir) == NULL)
        dir[0] = '\0';
}

static _Noreturn void reaper_main(int listen_fd, int answer_fd, pid_t oshrun)
{
    static struct state d;
    reaper_leave_terminal();
    snprintf(d.mark, sizeof d.mark, NODE_ENV "=/proc/%d/", (int)oshrun);
    d.quiet_ms = -1;
    d.oshrun = pidfd_open(oshrun, 0);
    if (getppid() != oshrun && d.oshrun >= 0) {
        close(d.oshrun); /* oshrun is dead and its pid may have been reused */
        d.oshrun = -1;
    }
    reaper_make_dir(d.dir);
    int err = d.dir[0] ? 0 : errno;
    if (write(answer_fd, &err, sizeof err) != sizeof err ||
        write(answer_fd, d.dir, strlen(d.dir) + 1) < 0)
        err = errno; /* oshrun is dead: the pipe will be at end of file */
    close(answer_fd);
    if (chdir("/") == 0)
        reaper_recv_until_eof(&d, listen_fd);
    reaper_end_groups(&d);
    for (int i = 0; !d.spare && i < SEARCH_MAX && reaper_end_marked(d.mark); i++)
        reaper_step();
    if (d.dir[0] != '\0')
        reaper_remove_dir(d.dir);
    _exit(0);
}

/* Reads the reaper's answer (errno, directory) up to end of file, and closes fd. */
static int reaper_read_answer(struct reaper *j, int fd)
{
    int err = ECHILD;
    size_t len = 0;
    FILE *f = fdopen(fd, "r");
    if (f == NULL) {
        close(fd);
        return -1;
    }
    if (fread(&err, sizeof err, 1, f) == 1)
        len = fread(j->dir, 1, sizeof j->dir, f);
    fclose(f);
    if (err == 0 && len > 0 && j->dir[len - 1] == '\0')
        return 0;
    errno = err != 0 ? err : ECHILD;
    return -1;
}

static int reaper_fork(struct reaper *j)
{
    int messages[2], answer[2];
    if (pipe2(messages, O_CLOEXEC) != 0)
        return -1;
    if (pipe2(answer, O_CLOEXEC) != 0)
        goto close_messages;
    pid_t self = getpid();
    j->pid = fork();
    if (j->pid < 0)
        goto close_answer;
    if (j->pid == 0) {
        close(messages[1]);
        close(answer[0]);
        reaper_main(messages[0], answer[1], self);
    }
    close(messages[0]);
    close(answer[1]);
    j->fd = messages[1];
    return reaper_read_answer(j, answer[0]);
close_answer:
    close(answer[0]);
    close(answer[1]);
close_messages:
    close(messages[0]);
    close(messages[1]);
    return -1;
}

int reaper_start(struct reaper *j)
{
    *j = (struct reaper){.pid = -1, .fd = -1};
    if (reaper_fork(j) == 0)
        return 0;
    const char *tmp = getenv("TMPDIR");
    fprintf(stderr,
            "oshrun: cannot make a directory for the PMIx server in %s (%s); "
            "set TMPDIR to one that can be written\n",
            tmp != NULL && tmp[0] == '/' ? tmp : "/tmp", strerror(errno));
    return -1;
}

void reaper_send(int fd, enum reaper_kind kind, int32_t value)
{
    const struct reaper_message m = {(int32_t)kind, value};
    /* A write of this size to a pipe is atomic.  On an error the reaper is gone. */
    if (write(fd, &m, sizeof m) < 0)
        return;
}

void reaper_watch(int fd, uint32_t ms)
{
    reaper_send(fd, REAPER_LIMIT, (int32_t)(ms < WATCH_MAX_MS ? ms : WATCH_MAX_MS));
}

void reaper_stop(struct reaper *j)
{
    close(j->fd);
    struct pollfd end = {.fd = pidfd_open(j->pid, 0), .events = POLLIN};
    if (end.fd >= 0) {
        poll(&end, 1, STOP_WAIT_MS);
        close(end.fd);
    }
    waitpid(j->pid, NULL, WNOHANG);
    reaper_remove_dir(j->dir); /* in case the reaper was killed */
}
