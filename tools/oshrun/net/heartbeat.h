/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heartbeat.h - one thread of the process that shows others that the process runs, also
 * while its event loop is in a long callback or waits for the processor.
 *
 * Uses loop.h.  Used by link.c, watchdog.c.
 *
 * The thread exists while there are heartbeats.  All signals are blocked in it.  It runs
 * with SCHED_RR or, if that is not permitted, with the nice value -10, if permitted.
 * Heartbeats are added and removed by the thread of the event loop.
 */
#ifndef OSHRUN_NET_HEARTBEAT_H
#define OSHRUN_NET_HEARTBEAT_H

#include <stdint.h>

/* One periodic action; embedded in the caller's struct, which sets period_ns, beat and
 * arg.  `beat` runs in the thread and must neither block nor add or remove heartbeats. */
struct heartbeat {
    uint64_t period_ns, due_ns;
    void (*beat)(void *arg);
    void *arg;
    struct heartbeat *next;
};

/* 0, or -1 with errno: the thread cannot be created. */
int heartbeat_add(struct heartbeat *h);

/* `beat` is not called any more when this returns.  No effect if h was not added. */
void heartbeat_remove(struct heartbeat *h);

#endif
