/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reaper.h - a process that outlives oshrun, ends its processes and removes its files.
 *
 * Uses nothing of ours.  Used by main.c (start, stop), child.c (announce), daemon.c,
 * watchdog.c, starter.c.
 */
#ifndef OSHRUN_DAEMON_REAPER_H
#define OSHRUN_DAEMON_REAPER_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

enum reaper_kind {
    REAPER_GROUP,  /* value: a process group to kill */
    REAPER_FORGET, /* every group so far has been ended and reaped */
    REAPER_SPARE,  /* the job ended normally: kill only the groups */
    REAPER_LIMIT,  /* value: time limit of the watchdog in ms, see reaper_watch */
    REAPER_TICK,   /* keep-alive for reaper_watch */
};

/* What the pipe to the reaper contains. */
struct reaper_message {
    int32_t kind;
    int32_t value;
};

struct reaper {
    pid_t pid;
    int fd;             /* write end of the pipe; end of file tells that oshrun is gone */
    char dir[PATH_MAX]; /* the session directory, which the reaper created, mode 0700 */
};

/* Starts the reaper, before oshrun does anything else.  0, or -1 after an error
 * message. */
int reaper_start(struct reaper *j);

/* Sends a message; value 0 if the kind has none.  Async-signal-safe: a child itself sends
 * REAPER_GROUP before exec. */
void reaper_send(int fd, enum reaper_kind kind, int32_t value);

/* Arms a watchdog: if the reaper receives nothing for this time, it kills the calling
 * process and cleans up, since a stopped process cannot end its PEs.  The caller sends
 * REAPER_TICK every quarter of the time.  0: disarms it. */
void reaper_watch(int fd, uint32_t ms);

/* Makes the reaper clean up now and waits (with a bound) for it. */
void reaper_stop(struct reaper *j);

#endif
