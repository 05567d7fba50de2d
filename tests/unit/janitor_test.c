/* SPDX-License-Identifier: BSD-3-Clause */
/* janitor_test.c - the watch over an oshrun that is stopped. */
#include "config.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pgas/core/node.h"
#include "tools/oshrun/loop.h"
#include "tools/oshrun/node/janitor.h"

enum {
    LIMIT_MS = 1200, /* a loaded machine may hold a tick for most of it */
    SLACK_MS = 1000,
    MS = 1000000,
    TRIES = 100,
    WAIT_MS = 10000,
    STEP_US = 5000
};

/* What the process that is watched tells us. */
struct told {
    pid_t self, group, janitor;
    char dir[PATH_MAX];
};

/* A process in a group of its own, that no signal of its parent's death ends. */
static pid_t start_group(int janitor_fd)
{
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        close(janitor_fd); /* as exec does */
        for (;;)
            pause();
    }
    setpgid(pid, pid);
    janitor_announce(janitor_fd, pid);
    return pid;
}

static void tick_for(int fd, int ms)
{
    for (int i = 0; i < ms / (LIMIT_MS / 4); i++) {
        janitor_announce(fd, JANITOR_TICK);
        usleep(LIMIT_MS / 4 * 1000);
    }
}

typedef void life_fn(const struct janitor *j);

/* An oshrun with a janitor and one group; we are told of both by the pipe. */
static void start_watched(life_fn *life, struct told *told)
{
    int fd[2];
    cr_assert_eq(pipe(fd), 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* so that zombies are ours */
    pid_t pid = fork();
    if (pid == 0) {
        struct janitor j;
        struct told mine = {.self = getpid()};
        if (janitor_start(&j) != 0)
            _exit(1);
        mine.janitor = j.pid;
        memcpy(mine.dir, j.dir, sizeof mine.dir);
        mine.group = start_group(j.fd);
        if (write(fd[1], &mine, sizeof mine) != sizeof mine)
            _exit(1);
        life(&j);
        janitor_stop(&j);
        _exit(0);
    }
    cr_assert_eq(read(fd[0], told, sizeof *told), sizeof *told);
    close(fd[0]);
    close(fd[1]);
}

/* Milliseconds until the process has ended; the status of its end.  Ends it, and what the
 * janitor should have ended, when it lives for too long. */
static uint64_t wait_for(const struct told *told, int *status)
{
    uint64_t start = loop_now_ns(), ms = 0;
    while (waitpid(told->self, status, WNOHANG) == 0 && ms < WAIT_MS) {
        usleep(STEP_US);
        ms = (loop_now_ns() - start) / MS;
    }
    if (ms >= WAIT_MS) {
        kill(told->self, SIGKILL);
        kill(-told->group, SIGKILL);
        cr_assert(false, "it lives after %d ms", (int)ms);
    }
    return ms;
}

static bool is_gone(const struct told *told)
{
    return kill(-told->group, 0) != 0 && access(told->dir, F_OK) != 0 &&
           kill(told->janitor, 0) != 0;
}

static void expect_gone(const struct told *told)
{
    for (int i = 0; i < TRIES && !is_gone(told); i++) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            continue;
        usleep(MS / TRIES);
    }
    cr_assert_neq(kill(-told->group, 0), 0, "the group is left");
    cr_assert_neq(access(told->dir, F_OK), 0, "%s is left", told->dir);
    cr_assert_neq(kill(told->janitor, 0), 0, "the janitor is left");
}

TestSuite(janitor, .timeout = 30);

static void be_stopped(const struct janitor *j)
{
    janitor_watch(j->fd, LIMIT_MS);
    tick_for(j->fd, LIMIT_MS * 2);
    raise(SIGSTOP);
}

Test(janitor, ends_one_that_is_stopped_and_its_groups)
{
    struct told told;
    int status;
    start_watched(be_stopped, &told);
    uint64_t ms = wait_for(&told, &status);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "%d", status);
    cr_assert_geq(ms, LIMIT_MS * 2 + LIMIT_MS / 2, "after %d ms", (int)ms);
    cr_assert_leq(ms, LIMIT_MS * 3 + SLACK_MS, "after %d ms", (int)ms);
    expect_gone(&told);
}

static void tick_on(const struct janitor *j)
{
    janitor_watch(j->fd, LIMIT_MS);
    tick_for(j->fd, LIMIT_MS * 3);
}

Test(janitor, lets_one_live_that_ticks)
{
    struct told told;
    int status;
    start_watched(tick_on, &told);
    wait_for(&told, &status);
    cr_assert_eq(status, 0);
    expect_gone(&told);
}

static void say_nothing(const struct janitor *j)
{
    (void)j;
    usleep(LIMIT_MS * 2 * 1000);
}

Test(janitor, watches_only_when_asked_to)
{
    struct told told;
    int status;
    start_watched(say_nothing, &told);
    wait_for(&told, &status);
    cr_assert_eq(status, 0);
}

static void end_the_watch(const struct janitor *j)
{
    janitor_watch(j->fd, LIMIT_MS);
    tick_for(j->fd, LIMIT_MS);
    janitor_watch(j->fd, 0);
    usleep(LIMIT_MS * 2 * 1000);
}

Test(janitor, ends_the_watch_when_asked_to)
{
    struct told told;
    int status;
    start_watched(end_the_watch, &told);
    wait_for(&told, &status);
    cr_assert_eq(status, 0);
}

/* All processes stand still together for longer than the limit, as if the machine did. */
Test(janitor, does_not_count_time_in_which_nothing_ran)
{
    struct told told;
    int status;
    start_watched(tick_on, &told);
    usleep(LIMIT_MS * 1000);
    kill(told.janitor, SIGSTOP);
    kill(told.self, SIGSTOP);
    usleep(LIMIT_MS * 2 * 1000);
    kill(told.janitor, SIGCONT);
    usleep(LIMIT_MS / 8 * 1000); /* the janitor wakes first */
    kill(told.self, SIGCONT);
    wait_for(&told, &status);
    cr_assert_eq(status, 0, "%d", status);
}
