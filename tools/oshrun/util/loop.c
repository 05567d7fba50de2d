/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop.c - the event loop: an event_base of libevent.
 *
 * Uses libevent, error.c.  Used by the front end and the node daemon.
 */
#include "config.h"

#include "tools/oshrun/util/error.h"
#include "tools/oshrun/util/loop.h"

#include <errno.h>
#include <time.h>

#define MS_PER_S  1000
#define US_PER_MS 1000

uint64_t loop_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* Suppresses messages of libevent: its functions return the errors, too. */
static void loop_on_message(int severity, const char *text)
{
    (void)severity, (void)text;
}

/* No lock: libpmix enables the locks of libevent for its own event_base.  No cached time:
 * a timer that a long callback starts must not fire too early. */
int loop_open(struct loop *l)
{
    *l = (struct loop){0};
    event_set_log_callback(loop_on_message);
    struct event_config *c = event_config_new();
    if (c == NULL)
        return -1;
    event_config_set_flag(c, EVENT_BASE_FLAG_NOLOCK | EVENT_BASE_FLAG_IGNORE_ENV |
                                 EVENT_BASE_FLAG_NO_CACHE_TIME |
                                 EVENT_BASE_FLAG_PRECISE_TIMER);
    l->base = event_base_new_with_config(c);
    event_config_free(c);
    return l->base == NULL ? -1 : 0;
}

void loop_close(struct loop *l)
{
    if (l->base != NULL)
        event_base_free(l->base);
    l->base = NULL;
}

static void loop_on_ready(evutil_socket_t fd, short ready, void *arg)
{
    struct loop_watch *w = arg;
    (void)fd;
    w->fn(w->arg, ready & EV_TIMEOUT ? w->want : (unsigned)ready);
}

void loop_want(struct loop *l, struct loop_watch *w, unsigned want)
{
    static const struct timeval soon = {.tv_usec = 1};
    if (w->want == want)
        return;
    if (w->want != 0)
        event_del(&w->event);
    w->want = want;
    if (want == 0)
        return;
    event_assign(&w->event, l->base, w->fd, (short)(want | EV_PERSIST), loop_on_ready, w);
    if (event_add(&w->event, NULL) == 0)
        return;
    if (errno == ENOMEM || errno == ENOSPC)
        error_no_memory();
    /* Not supported by epoll (a regular file): always ready. */
    event_assign(&w->event, l->base, -1, EV_PERSIST, loop_on_ready, w);
    if (event_add(&w->event, &soon) != 0)
        error_no_memory();
}

static void loop_on_timer(evutil_socket_t fd, short ready, void *arg)
{
    struct loop_timer *t = arg;
    (void)fd;
    (void)ready;
    t->running = false;
    t->fn(t->arg);
}

void loop_cancel(struct loop *l, struct loop_timer *t)
{
    (void)l;
    if (t->running)
        event_del(&t->event);
    t->running = false;
}

void loop_after(struct loop *l, struct loop_timer *t, uint64_t ms)
{
    struct timeval in = {.tv_sec = (time_t)(ms / MS_PER_S),
                         .tv_usec = (suseconds_t)(ms % MS_PER_S * US_PER_MS)};
    loop_cancel(l, t);
    event_assign(&t->event, l->base, -1, 0, loop_on_timer, t);
    if (event_add(&t->event, &in) != 0)
        error_no_memory();
    t->running = true;
}

void loop_run(struct loop *l)
{
    while (!l->stop)
        event_base_loop(l->base, EVLOOP_ONCE | EVLOOP_NO_EXIT_ON_EMPTY);
}
