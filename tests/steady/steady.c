/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * steady.c - implements steady.h: reads the counts of a watch, and starts one if
 * necessary.
 */
#include "config.h"

#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/steady/steady.h"

enum {
    SHARE = 10, /* of the judged time; a longer delay makes the judgement void */
    LINE = 80,
    NAP_MS = 10,
    NAPS = 2000, /* for the next samples of the watch, which may be delayed too */
    NS_PER_MS = 1000000,
};

static int steady_fd = -1;

/* Runs the program watch in an empty environment, so that tests which look for processes
 * that they have left behind do not find it. */
static bool steady_run_watch(pid_t root, const char *path)
{
    const char *build = getenv("top_builddir");
    char program[4096], pid[16];
    char *argv[] = {program, pid, (char *)(uintptr_t)path, NULL}, *environment[] = {NULL};
    pid_t child;
    int status;

    if (build == NULL)
        return false;
    snprintf(program, sizeof program, "%s/tests/steady/watch", build);
    snprintf(pid, sizeof pid, "%d", (int)root);
    if (posix_spawn(&child, program, NULL, NULL, argv, environment) != 0)
        return false;
    return waitpid(child, &status, 0) == child && status == 0;
}

static void steady_open(pid_t root)
{
    const char *shared = getenv("PGAS_STEADY"), *dir = getenv("TMPDIR");
    char path[4096];

    if (shared != NULL) {
        steady_fd = open(shared, O_RDONLY | O_CLOEXEC);
        return;
    }
    snprintf(path, sizeof path, "%s/steady.XXXXXX", dir != NULL ? dir : "/tmp");
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return;
    if (steady_run_watch(root, path))
        steady_fd = fd;
    else
        close(fd);
    unlink(path);
}

static bool steady_read(struct steady *s)
{
    char line[LINE] = "";

    return steady_fd >= 0 && pread(steady_fd, line, sizeof line - 1, 0) > 0 &&
           sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64, &s->sample, &s->delay_ns,
                  &s->stolen_ns) == 3;
}

void steady_begin(struct steady *s, pid_t root)
{
    if (steady_fd < 0)
        steady_open(root);
    if (!steady_read(s))
        *s = (struct steady){0};
}

int steady_status(const struct steady *s, uint64_t took_ns, const char *what)
{
    const struct timespec nap = {.tv_nsec = NAP_MS * NS_PER_MS};
    struct steady first = {0}, now = {0};

    if (s->sample == 0 || !steady_read(&first)) {
        printf("%s: the delay on run queues cannot be measured\n", what);
        return STEADY_FAILED;
    }
    /* The second sample from now on began after the interval. */
    for (int i = 0; steady_read(&now) && now.sample < first.sample + 2 && i < NAPS; i++)
        nanosleep(&nap, NULL);
    uint64_t delay = now.delay_ns - s->delay_ns + now.stolen_ns - s->stolen_ns;
    bool is_void = delay > took_ns / SHARE;
    printf("%s: %s: delayed on run queues for %.1f ms and by the hypervisor for %.1f ms, "
           "in %.1f ms\n",
           is_void ? "unsteady" : "failed", what,
           (double)(now.delay_ns - s->delay_ns) / NS_PER_MS,
           (double)(now.stolen_ns - s->stolen_ns) / NS_PER_MS,
           (double)took_ns / NS_PER_MS);
    fflush(stdout);
    return is_void ? STEADY_UNSTEADY : STEADY_FAILED;
}
