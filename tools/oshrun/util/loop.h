/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop.h - the event loop of oshrun: descriptors and timers, one thread.
 *
 * Uses error.h.  Used by the front end and the node daemon.
 */
#ifndef OSHRUN_UTIL_LOOP_H
#define OSHRUN_UTIL_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#define LOOP_IN  1u
#define LOOP_OUT 2u

#define NS_PER_MS 1000000u
#define NS_PER_S  1000000000u

/* Called when the descriptor is ready.  After a hang-up or an error both bits are set,
 * so that the next read or write returns it. */
typedef void loop_ready_fn(void *arg, unsigned ready);
typedef void loop_timer_fn(void *arg);

/* One watched descriptor; embedded in the caller's struct.  Zero-initialized = not
 * watched. */
struct loop_watch {
    int fd;
    unsigned want; /* LOOP_IN, LOOP_OUT; 0 = not watched now */
    bool always;   /* not supported by epoll (a regular file): always ready */
    loop_ready_fn *fn;
    void *arg;
    struct loop_watch *next_always;
};

/* One timer; embedded in the caller's struct.  due_ns = 0: not running. */
struct loop_timer {
    uint64_t due_ns;
    loop_timer_fn *fn;
    void *arg;
    struct loop_timer *next;
};

struct loop {
    int epoll;
    bool stop;
    struct loop_watch *always;
    struct loop_watch *next_always; /* next entry of `always` to be called */
    struct loop_watch **round;      /* ready in this iteration; NULL: disabled */
    int nround;
    struct loop_timer *timers;
};

/* CLOCK_MONOTONIC in nanoseconds: the clock of all times in oshrun. */
uint64_t loop_now_ns(void);

/* 0, or -1 with errno. */
int loop_open(struct loop *l);
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
