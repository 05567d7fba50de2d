/* SPDX-License-Identifier: BSD-3-Clause */
/* reaper_test.c - the reaper of an oshrun that is stopped. */
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

#include "pgas/core/boot/node.h"
#include "tools/oshrun/util/loop.h"
#include "tools/oshrun/reaper/reaper.h"

enum {
    LIMIT_MS = 1200, /* load may delay a tick for most of it */
    SLACK_MS = 20000,
    MS = 1000000,
    TRIES = 2000,
    WAIT_MS = 25000,
    STEP_US = 5000
};

/* Messages of the watched process. */
struct pids {
    pid_t self, group, reaper;
    char dir[PATH_MAX];
};

/* A process in its own group that does not end with its parent. */
static pid_t start_group(int reaper_fd)
{
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        close(reaper_fd); /* as exec does */
        for (;;)
            pause();
    }
    setpgid(pid, pid);
    reaper_send(reaper_fd, REAPER_GROUP, pid);
    return pid;
}

static void tick_for(int fd, int ms)
{
    for (int i = 0; i < ms / (LIMIT_MS / 4); i++) {
        reaper_send(fd, REAPER_TICK, 0);
        usleep(LIMIT_MS / 4 * 1000);
    }
}

typedef void life_fn(const struct reaper *j);

/* An oshrun with a reaper and one group, both of which report through the pipe. */
static void start_watched(life_fn *life, struct pids *pids)
{
    int fd[2];
    cr_assert_eq(pipe(fd), 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* orphaned zombies become our children */
    pid_t pid = fork();
    if (pid == 0) {
        struct reaper j;
        struct pids mine = {.self = getpid()};
        if (reaper_start(&j) != 0)
            _exit(1);
        mine.reaper = j.pid;
        memcpy(mine.dir, j.dir, sizeof mine.dir);
        mine.group = start_group(j.fd);
        if (write(fd[1], &mine, sizeof mine) != sizeof mine)
            _exit(1);
        life(&j);
        reaper_stop(&j);
        _exit(0);
    }
    cr_assert_eq(read(fd[0], pids, sizeof *pids), sizeof *pids);
    close(fd[0]);
    close(fd[1]);
}

/* Milliseconds until the process has ended, and its status.  After the limit it is
 * killed, with the processes that the reaper should have killed. */
static uint64_t wait_for(const struct pids *pids, int *status)
{
    uint64_t start = loop_now_ns(), ms = 0;
    while (waitpid(pids->self, status, WNOHANG) == 0 && ms < WAIT_MS) {
        usleep(STEP_US);
        ms = (loop_now_ns() - start) / MS;
    }
    if (ms >= WAIT_MS) {
        kill(pids->self, SIGKILL);
        kill(-pids->group, SIGKILL);
        cr_assert(false, "it lives after %d ms", (int)ms);
    }
    return ms;
}

static bool is_gone(const struct pids *pids)
{
    return kill(-pids->group, 0) != 0 && access(pids->dir, F_OK) != 0 &&
           kill(pids->reaper, 0) != 0;
}

static void expect_gone(const struct pids *pids)
{
    for (int i = 0; i < TRIES && !is_gone(pids); i++) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            continue;
        usleep(10000);
    }
    cr_assert_neq(kill(-pids->group, 0), 0, "the group still exists");
    cr_assert_neq(access(pids->dir, F_OK), 0, "%s still exists", pids->dir);
    cr_assert_neq(kill(pids->reaper, 0), 0, "the reaper still runs");
}

TestSuite(reaper, .timeout = 60);

static void be_stopped(const struct reaper *j)
{
    reaper_watch(j->fd, LIMIT_MS);
    tick_for(j->fd, LIMIT_MS * 2);
    raise(SIGSTOP);
}

Test(reaper, kills_a_stopped_oshrun_and_its_groups)
{
    struct pids pids;
    int status;
    start_watched(be_stopped, &pids);
    uint64_t ms = wait_for(&pids, &status);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "%d", status);
    cr_assert_geq(ms, LIMIT_MS * 2 + LIMIT_MS / 2, "after %d ms", (int)ms);
    cr_assert_leq(ms, LIMIT_MS * 3 + SLACK_MS, "after %d ms", (int)ms);
    expect_gone(&pids);
}

static void tick_on(const struct reaper *j)
{
    reaper_watch(j->fd, LIMIT_MS);
    tick_for(j->fd, LIMIT_MS * 3);
}

Test(reaper, spares_an_oshrun_that_ticks)
{
    struct pids pids;
    int status;
    start_watched(tick_on, &pids);
    wait_for(&pids, &status);
    cr_assert_eq(status, 0);
    expect_gone(&pids);
}

static void send_nothing(const struct reaper *j)
{
    (void)j;
    usleep(LIMIT_MS * 2 * 1000);
}

Test(reaper, watches_only_on_request)
{
    struct pids pids;
    int status;
    start_watched(send_nothing, &pids);
    wait_for(&pids, &status);
    cr_assert_eq(status, 0);
}

static void end_the_watch(const struct reaper *j)
{
    reaper_watch(j->fd, LIMIT_MS);
    tick_for(j->fd, LIMIT_MS);
    reaper_watch(j->fd, 0);
    usleep(LIMIT_MS * 2 * 1000);
}

Test(reaper, ends_the_watch_on_request)
{
    struct pids pids;
    int status;
    start_watched(end_the_watch, &pids);
    wait_for(&pids, &status);
    cr_assert_eq(status, 0);
}

/* All processes are stopped for longer than the limit, as on a suspended machine. */
Test(reaper, does_not_count_time_in_which_nothing_ran)
{
    struct pids pids;
    int status;
    start_watched(tick_on, &pids);
    usleep(LIMIT_MS * 1000);
    kill(pids.reaper, SIGSTOP);
    kill(pids.self, SIGSTOP);
    usleep(LIMIT_MS * 2 * 1000);
    kill(pids.reaper, SIGCONT);
    usleep(LIMIT_MS / 8 * 1000); /* the reaper wakes first */
    kill(pids.self, SIGCONT);
    wait_for(&pids, &status);
    cr_assert_eq(status, 0, "%d", status);
}
