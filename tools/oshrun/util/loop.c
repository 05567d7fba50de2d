/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * loop.c - the event loop: epoll, and a short list of timers.
 *
 * Uses error.c.  Used by the front end and the node daemon.
 */
#include "config.h"

#include "tools/oshrun/util/error.h"
#include "tools/oshrun/util/loop.h"

#include <errno.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define EVENTS_MAX 64
#define IDLE_MS    60000 /* longest sleep; not needed for correctness */

uint64_t loop_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

int loop_open(struct loop *l)
{
    *l = (struct loop){.epoll = epoll_create1(EPOLL_CLOEXEC)};
    return l->epoll < 0 ? -1 : 0;
}

void loop_close(struct loop *l)
{
    close(l->epoll);
    l->epoll = -1;
}

static void loop_drop_always(struct loop *l, struct loop_watch *w)
{
    struct loop_watch **p = &l->always;
    while (*p != NULL && *p != w)
        p = &(*p)->next_always;
    if (*p == w)
        *p = w->next_always;
    w->always = false;
}

static void loop_add_always(struct loop *l, struct loop_watch *w)
{
    w->always = true;
    w->next_always = l->always;
    l->always = w;
}

/* A watch that is disabled may be freed before its callback is due in this iteration. */
static void loop_forget(struct loop *l, const struct loop_watch *w)
{
    for (int i = 0; i < l->nround; i++)
        if (l->round[i] == w)
            l->round[i] = NULL;
    if (l->next_always == w)
        l->next_always = w->next_always;
}

void loop_want(struct loop *l, struct loop_watch *w, unsigned want)
{
    if (w->want == want)
        return;
    int op = w->want == 0 ? EPOLL_CTL_ADD : want == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
    w->want = want;
    if (want == 0)
        loop_forget(l, w);
    if (w->always) {
        if (want == 0)
            loop_drop_always(l, w);
        return;
    }
    struct epoll_event e = {.data.ptr = w};
    e.events = ((want & LOOP_IN) ? (uint32_t)EPOLLIN : 0u) |
               ((want & LOOP_OUT) ? (uint32_t)EPOLLOUT : 0u);
    if (epoll_ctl(l->epoll, op, w->fd, &e) == 0 || op != EPOLL_CTL_ADD)
        return;
    if (errno == ENOMEM || errno == ENOSPC)
        error_no_memory();
    loop_add_always(l, w);
}

void loop_cancel(struct loop *l, struct loop_timer *t)
{
    struct loop_timer **p = &l->timers;
    while (*p != NULL && *p != t)
        p = &(*p)->next;
    if (*p == t)
        *p = t->next;
    t->due_ns = 0;
}

void loop_after(struct loop *l, struct loop_timer *t, uint64_t ms)
{
    loop_cancel(l, t);
    t->due_ns = loop_now_ns() + ms * NS_PER_MS;
    struct loop_timer **p = &l->timers;
    while (*p != NULL && (*p)->due_ns <= t->due_ns)
        p = &(*p)->next;
    t->next = *p;
    *p = t;
}

/* Milliseconds until the first timer, rounded up so that the timer is due after the
 * sleep. */
static int loop_sleep_ms(const struct loop *l)
{
    if (l->always != NULL)
        return 0;
    if (l->timers == NULL)
        return IDLE_MS;
    uint64_t now = loop_now_ns();
    if (l->timers->due_ns <= now)
        return 0;
    uint64_t ms = (l->timers->due_ns - now + NS_PER_MS - 1) / NS_PER_MS;
    return ms > IDLE_MS ? IDLE_MS : (int)ms;
}

static void loop_fire_timers(struct loop *l)
{
    uint64_t now = loop_now_ns();
    while (l->timers != NULL && l->timers->due_ns <= now) {
        struct loop_timer *t = l->timers;
        loop_cancel(l, t);
        t->fn(t->arg);
    }
}

static void loop_fire_always(struct loop *l)
{
    for (struct loop_watch *w = l->always; w != NULL; w = l->next_always) {
        l->next_always = w->next_always;
        w->fn(w->arg, w->want);
    }
    l->next_always = NULL;
}

static unsigned loop_ready_bits(uint32_t events)
{
    if (events & (EPOLLHUP | EPOLLERR))
        return LOOP_IN | LOOP_OUT;
    return ((events & EPOLLIN) ? LOOP_IN : 0u) | ((events & EPOLLOUT) ? LOOP_OUT : 0u);
}

static void loop_fire_ready(struct loop *l, const struct epoll_event *ev, int n)
{
    struct loop_watch *round[EVENTS_MAX];
    for (int i = 0; i < n; i++)
        round[i] = ev[i].data.ptr;
    l->round = round;
    l->nround = n;
    for (int i = 0; i < n; i++) {
        struct loop_watch *w = round[i];
        unsigned ready = w != NULL ? loop_ready_bits(ev[i].events) & w->want : 0;
        if (ready != 0) /* not disabled by an earlier callback of this iteration */
            w->fn(w->arg, ready);
    }
    l->nround = 0;
}

void loop_run(struct loop *l)
{
    struct epoll_event ev[EVENTS_MAX];
    while (!l->stop) {
        int n = epoll_wait(l->epoll, ev, EVENTS_MAX, loop_sleep_ms(l));
        loop_fire_ready(l, ev, n);
        loop_fire_always(l);
        loop_fire_timers(l);
    }
}
