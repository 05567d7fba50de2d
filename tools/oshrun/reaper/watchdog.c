/* SPDX-License-Identifier: BSD-3-Clause */
/* watchdog.c - see watchdog.h.  Uses heartbeat.c, loop.c, reaper.c, error.c. */
#include "config.h"

#include "tools/oshrun/reaper/watchdog.h"

#include "tools/oshrun/reaper/reaper.h"
#include "tools/oshrun/util/error.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#define BEATS    4    /* REAPER_TICKs per timeout */
#define EXTRA_MS 500  /* by which the reaper waits longer than the parent */
#define TICK_MS  5000 /* period in which the loop shows that it runs */
#define HANG_NS                                                                          \
    (300 * (uint64_t)NS_PER_S) /* no callback and no starvation lasts longer */

static void watchdog_on_tick(void *arg)
{
    struct watchdog *w = arg;
    atomic_store(&w->ticked_ns, loop_now_ns());
    loop_after(w->loop, &w->tick, TICK_MS);
}

/* Runs in the heartbeat thread. */
static void watchdog_on_beat(void *arg)
{
    struct watchdog *w = arg;
    if (loop_now_ns() - atomic_load(&w->ticked_ns) < HANG_NS)
        reaper_send(w->reaper_fd, REAPER_TICK, 0);
}

static int watchdog_arm(struct watchdog *w, uint32_t timeout_ms)
{
    w->heartbeat =
        (struct heartbeat){.period_ns = (uint64_t)timeout_ms * NS_PER_MS / BEATS,
                           .beat = watchdog_on_beat,
                           .arg = w};
    if (heartbeat_add(&w->heartbeat) != 0) {
        error_report("cannot create the heartbeat thread: %s", strerror(errno));
        return -1;
    }
    reaper_watch(w->reaper_fd, timeout_ms + EXTRA_MS);
    return 0;
}

int watchdog_start(struct watchdog *w, struct loop *loop, int reaper_fd,
                   uint32_t timeout_ms)
{
    w->loop = loop;
    w->reaper_fd = reaper_fd;
    w->tick = (struct loop_timer){.fn = watchdog_on_tick, .arg = w};
    watchdog_on_tick(w);
    return watchdog_arm(w, timeout_ms);
}

int watchdog_set_timeout(struct watchdog *w, uint32_t timeout_ms)
{
    heartbeat_remove(&w->heartbeat);
    return watchdog_arm(w, timeout_ms);
}

void watchdog_stop(struct watchdog *w)
{
    heartbeat_remove(&w->heartbeat);
}
