/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tool.h - runs a tool, such as a debugger, for a limited time and collects its output.
 *
 * Uses child.h, loop.h.  Used by stacks.c and front_sites.c.
 */
#ifndef OSHRUN_DAEMON_TOOL_H
#define OSHRUN_DAEMON_TOOL_H

#include "tools/oshrun/util/loop.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Embedded in the caller's struct; zero-initialized = not started. */
struct tool {
    struct loop *loop;
    size_t max; /* bytes of output that are kept, and a null byte */
    uint32_t ms;
    int reaper_fd;
    struct rlimit files;
    void (*ended)(void *arg, bool in_time); /* called once, by the loop or tool_wait */
    void *arg;

    pid_t pid;
    bool runs;
    char *text; /* NULL: not started */
    size_t len;
    struct loop_watch watch;
    struct loop_timer late;
    uint64_t late_ns; /* when `late` fires */
};

/* The first of these names (NULL-terminated) that is in PATH, or NULL. */
const char *tool_find(const char *const *name, char path[PATH_MAX]);

/* Starts it with an empty environment; its standard error is discarded.  The members up
 * to `arg` are set.  0, or -1: it cannot be started. */
int tool_start(struct tool *t, const char *path, const char *const *argv);

/* Waits for one event of the running tool, at most until end_ns.  Blocks. */
void tool_wait(struct tool *t, uint64_t end_ns);

/* Ends it without a call of `ended`, and frees its output.  Once, even if not started. */
void tool_free(struct tool *t);

#endif
