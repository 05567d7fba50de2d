/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop.h - the event loop of oshrun: descriptors and timers, one thread.
 *
 * Uses libevent, error.h.  Used by the front end and the node daemon.
 */
#ifndef OSHRUN_UTIL_LOOP_H
#define OSHRUN_UTIL_LOOP_H

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdbool.h>
#include <stdint.h>

#define LOOP_IN  ((unsigned)EV_READ)
#define LOOP_OUT ((unsigned)EV_WRITE)

#define NS_PER_MS 1000000u
#define NS_PER_S  1000000000u

/* Called when the descriptor is ready.  After a hang-up or an error all bits of `want`
 * are set, so that the next read or write returns it. */
typedef void loop_ready_fn(void *arg, unsigned ready);
typedef void loop_timer_fn(void *arg);

/* One watched descriptor; embedded in the caller's struct.  Zero-initialized = not
 * watched. */
struct loop_watch {
    int fd;
    unsigned want; /* LOOP_IN, LOOP_OUT; 0 = not watched now */
    loop_ready_fn *fn;
    void *arg;
    struct event event;
};

/* One timer; embedded in the caller's struct.  Zero-initialized = not running. */
struct loop_timer {
    bool running;
    loop_timer_fn *fn;
    void *arg;
    struct event event;
};

struct loop {
    struct event_base *base;
    bool stop;
};

/* CLOCK_MONOTONIC in nanoseconds: the clock of all times in oshrun. */
uint64_t loop_now_ns(void);

/* 0, or -1 with errno. */
int loop_open(struct loop *l);
/* Watches and timers that are in use must not have been freed. */
void loop_close(struct loop *l);

/* Sets the events to wait for on w->fd (0 = none, not even hang-ups).  After 0 the watch
 * may be freed, also from within a callback. */
void loop_want(struct loop *l, struct loop_watch *w, unsigned want);

/* Starts or restarts a timer that fires once in ms milliseconds. */
void loop_after(struct loop *l, struct loop_timer *t, uint64_t ms);
void loop_cancel(struct loop *l, struct loop_timer *t);

/* Runs until l->stop is set. */
void loop_run(struct loop *l);

#endif
