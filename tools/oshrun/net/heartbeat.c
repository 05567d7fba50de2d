/* SPDX-License-Identifier: BSD-3-Clause */
/* heartbeat.c - see heartbeat.h.  Uses loop.c. */
#include "config.h"

#include "tools/oshrun/net/heartbeat.h"

#include "tools/oshrun/util/loop.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define RR_PRIORITY 1
#define NICE_VALUE  (-10)

/* One per process, as the thread is. */
static struct {
    pthread_mutex_t lock;   /* of the list; held while a beat runs */
    pthread_cond_t changed; /* with CLOCK_MONOTONIC */
    pthread_t thread;
    struct heartbeat *first; /* NULL: the thread ends */
} heartbeats = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Children are started by the other thread and do not inherit the priority. */
static void heartbeat_raise_priority(void)
{
    struct sched_param p = {.sched_priority = RR_PRIORITY};
    if (pthread_setschedparam(pthread_self(), SCHED_RR, &p) != 0)
        setpriority(PRIO_PROCESS, (id_t)gettid(), NICE_VALUE);
}

/* Runs what is due and returns the time at which the next one is due. */
static uint64_t heartbeat_run_due(void)
{
    uint64_t next = UINT64_MAX, now = loop_now_ns();
    for (struct heartbeat *h = heartbeats.first; h != NULL; h = h->next) {
        if (h->due_ns <= now) {
            h->beat(h->arg);
            h->due_ns = now + h->period_ns;
        }
        next = h->due_ns < next ? h->due_ns : next;
    }
    return next;
}

static void *heartbeat_main(void *unused)
{
    (void)unused;
    heartbeat_raise_priority();
    pthread_mutex_lock(&heartbeats.lock);
    while (heartbeats.first != NULL) {
        uint64_t ns = heartbeat_run_due();
        struct timespec until = {.tv_sec = (time_t)(ns / NS_PER_S),
                                 .tv_nsec = (long)(ns % NS_PER_S)};
        pthread_cond_timedwait(&heartbeats.changed, &heartbeats.lock, &until);
    }
    pthread_mutex_unlock(&heartbeats.lock);
    return NULL;
}

static int heartbeat_start_thread(void)
{
    pthread_condattr_t monotonic;
    sigset_t all, before;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&heartbeats.changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int err = pthread_create(&heartbeats.thread, NULL, heartbeat_main, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return err;
}

int heartbeat_add(struct heartbeat *h)
{
    int err = 0;
    pthread_mutex_lock(&heartbeats.lock);
    h->due_ns = loop_now_ns() + h->period_ns;
    h->next = heartbeats.first;
    heartbeats.first = h;
    if (h->next != NULL)
        pthread_cond_signal(&heartbeats.changed);
    else if ((err = heartbeat_start_thread()) != 0)
        heartbeats.first = NULL;
    pthread_mutex_unlock(&heartbeats.lock);
    errno = err;
    return err != 0 ? -1 : 0;
}

void heartbeat_remove(struct heartbeat *h)
{
    pthread_mutex_lock(&heartbeats.lock);
    struct heartbeat **p = &heartbeats.first;
    while (*p != NULL && *p != h)
        p = &(*p)->next;
    bool last = false;
    if (*p != NULL) {
        *p = (*p)->next;
        last = heartbeats.first == NULL;
    }
    if (last)
        pthread_cond_signal(&heartbeats.changed);
    pthread_mutex_unlock(&heartbeats.lock);
    if (!last)
        return;
    pthread_join(heartbeats.thread, NULL);
    pthread_cond_destroy(&heartbeats.changed);
}
