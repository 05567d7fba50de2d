/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tool.c - see tool.h.
 *
 * The process is reaped by tool_free only, so that its group ID stays reserved: the
 * reaper kills that group at the end (reaper.h).
 */
#include "config.h"

#include "tools/oshrun/daemon/child.h"
#include "tools/oshrun/daemon/tool.h"
#include "tools/oshrun/util/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

const char *tool_find(const char *const *name, char path[PATH_MAX])
{
    for (; *name != NULL; name++)
        if (child_find(AT_FDCWD, getenv("PATH"), *name, path, PATH_MAX) == 0)
            break;
    return *name;
}

static void tool_stop(struct tool *t)
{
    if (!t->runs)
        return;
    t->runs = false;
    loop_cancel(t->loop, &t->late);
    loop_want(t->loop, &t->watch, 0);
    close(t->watch.fd);
    kill(-t->pid, SIGKILL);
}

static void tool_on_late(void *arg)
{
    struct tool *t = arg;
    tool_stop(t);
    t->ended(t->arg, false);
}

static void tool_on_output(void *arg, unsigned ready)
{
    struct tool *t = arg;
    ssize_t n = 0;
    (void)ready;
    if (t->len < t->max)
        n = read(t->watch.fd, t->text + t->len, t->max - t->len);
    if (n < 0 && errno == EINTR)
        return;
    if (n > 0) {
        t->len += (size_t)n;
        return;
    }
    tool_stop(t);
    t->ended(t->arg, true);
}

int tool_start(struct tool *t, const char *path, const char *const *argv)
{
    static char *const env_none[] = {NULL};
    const char *step;
    int p[2] = {-1, -1}, null = open("/dev/null", O_RDWR | O_CLOEXEC);
    t->text = mem_calloc(t->max + 1, 1); /* ends with a null byte at any time */
    if (null >= 0 && pipe2(p, O_CLOEXEC) == 0)
        t->pid = child_start(&(struct child_spec){.path = path,
                                                  .argv = (char *const *)(uintptr_t)argv,
                                                  .envp = env_none,
                                                  .fd = {null, p[1], null},
                                                  .wdir_fd = -1,
                                                  .reaper_fd = t->reaper_fd,
                                                  .files = t->files},
                             &step);
    close(null);
    close(p[1]);
    if (t->pid <= 0) {
        close(p[0]);
        return -1;
    }
    t->runs = true;
    t->watch = (struct loop_watch){.fd = p[0], .fn = tool_on_output, .arg = t};
    t->late = (struct loop_timer){.fn = tool_on_late, .arg = t};
    loop_want(t->loop, &t->watch, LOOP_IN);
    loop_after(t->loop, &t->late, t->ms);
    t->late_ns = loop_now_ns() + (uint64_t)t->ms * NS_PER_MS;
    return 0;
}

void tool_wait(struct tool *t, uint64_t end_ns)
{
    uint64_t now = loop_now_ns(), end = t->late_ns < end_ns ? t->late_ns : end_ns;
    struct pollfd p = {.fd = t->watch.fd, .events = POLLIN};
    int n = poll(&p, 1, end > now ? (int)((end - now) / NS_PER_MS) + 1 : 0);
    if (n > 0)
        tool_on_output(t, LOOP_IN);
    else if (n == 0 && loop_now_ns() >= t->late_ns)
        tool_on_late(t);
}

void tool_free(struct tool *t)
{
    tool_stop(t);
    int steps = CHILD_REAP_STEPS;
    if (t->pid > 0)
        child_reap(t->pid, &steps); /* else the reaper tries again */
    free(t->text);
}
