/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net_help.h - runs the event loop of a test for a while.
 *
 * Lower limits of times are exact; upper limits are so wide that load does not matter.
 */
#ifndef TESTS_UNIT_NET_HELP_H
#define TESTS_UNIT_NET_HELP_H

#include <criterion/criterion.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "tools/oshrun/util/loop.h"

enum { PATIENT_MS = 20000 };

static struct loop loop;

static void on_time(void *arg)
{
    *(bool *)arg = true;
    loop.stop = true;
}

/* Run until the loop is stopped; false if ms have passed. */
static inline bool run(uint64_t ms)
{
    bool late = false;
    struct loop_timer t = {.fn = on_time, .arg = &late};
    loop.stop = false;
    loop_after(&loop, &t, ms);
    loop_run(&loop);
    loop_cancel(&loop, &t);
    return !late;
}

static inline void sleep_ms(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * NS_PER_MS};
    while (nanosleep(&t, &t) != 0 && errno == EINTR)
        continue;
}

static inline uint64_t now_ms(void)
{
    return loop_now_ns() / NS_PER_MS;
}

/* A process that does not outlive a test that fails. */
static inline pid_t fork_helper(void)
{
    pid_t pid = fork();
    cr_assert_geq(pid, 0);
    if (pid == 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    return pid;
}

#endif
