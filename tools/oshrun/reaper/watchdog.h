/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * watchdog.h - has the reaper end the daemon and its PEs if the daemon is stopped or
 * hangs: it cannot end the PEs itself.
 *
 * Uses heartbeat.h, loop.h, reaper.h.  Used by daemon_main.c.
 */
#ifndef OSHRUN_DAEMON_WATCHDOG_H
#define OSHRUN_DAEMON_WATCHDOG_H

#include "tools/oshrun/net/heartbeat.h"
#include "tools/oshrun/util/loop.h"

#include <stdint.h>

struct watchdog {
    struct loop *loop;
    int reaper_fd;
    struct loop_timer tick;
    _Atomic uint64_t ticked_ns; /* by the loop */
    struct heartbeat heartbeat;
};

/* From now on the reaper ends this process if it is stopped for timeout_ms, or if its
 * loop hangs for much longer.  0, or -1 after an error message. */
int watchdog_start(struct watchdog *w, struct loop *loop, int reaper_fd,
                   uint32_t timeout_ms);
/* Changes the time.  0, or -1 after an error message. */
int watchdog_set_timeout(struct watchdog *w, uint32_t timeout_ms);
/* Before reaper_fd is closed. */
void watchdog_stop(struct watchdog *w);

#endif
