/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net_thread.c - the progress thread.  Operations of other PEs on this one progress only
 * while a thread of this process calls the transport.
 *
 * A thread that waits in the library polls (net_poll).  While no thread does, the
 * progress thread sleeps on the transport's file descriptor.  To avoid that both run for
 * the same message, the progress thread backs off while another thread polls: it checks
 * every TIMING_NAP whether one still does, and net_idle wakes it when a waiter stops
 * polling. If the network wakes it while a thread of the PE sleeps, it hands polling over
 * to that thread for a while.  After a PE has returned from the library to compute,
 * operations on it are delayed by at most TIMING_POLL_RECENT + TIMING_NAP, and later ones
 * are not delayed.
 *
 * The thread may run on every processor of the job even if its PE is bound to one, so
 * that it does not wait for the PE to release that processor.
 * Uses: net_int, block, binding, clock, log.
 */
#include "config.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pgas/core/base/timing.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/base/clock.h"
#include "pgas/core/base/log.h"
#include "pgas/core/progress/net_int.h"
#include "pgas/core/boot/binding.h"

enum {
    PROGRESS_AT_ONCE = 64, /* progress calls per lock acquisition */
    FDS = 16,              /* file descriptors per poll(2) */
    STALLS_MAX = 16,       /* consecutive wake-ups without progress, then back off */
};

static struct node_pe *net_progress_my_record(void)
{
    return &pgas_self.node->pe[pgas_self.local_rank];
}

static bool net_progress_any_sleeps(void)
{
    return atomic_load_explicit(&net_progress_my_record()->sleep_mask,
                                memory_order_acquire) != 0;
}

void net_wake_sleepers(void)
{
    if (net_progress_any_sleeps())
        block_wake(net_progress_my_record(), NULL, 0);
}

/* ---- other threads --------------------------------------------------------------- */

void net_defer_wakeup(void)
{
    store_relaxed_u32(&pgas_self.net->wakeup_pending, 1);
}

/* A polling thread wakes the sleeping threads of this PE, but at most every
 * TIMING_WAKE_EVERY, because it does not know whether it received anything for them. */
static void net_progress_wake_at_intervals(uint64_t now)
{
    if (now < load_relaxed_u64(&pgas_self.net->wake_ns)) {
        net_defer_wakeup();
        return;
    }
    store_relaxed_u64(&pgas_self.net->wake_ns, now + TIMING_WAKE_EVERY);
    store_relaxed_u32(&pgas_self.net->wakeup_pending, 0);
    net_wake_sleepers();
}

void net_wake_local(void)
{
    struct net *n = pgas_self.net;

    if (n == NULL || load_relaxed_u32(&n->wakeup_pending) == 0)
        return;
    store_relaxed_u32(&n->wakeup_pending, 0);
    net_wake_sleepers();
}

/* Progresses the user's contexts with outstanding operations. */
static void net_progress_poll_contexts(struct net *n)
{
    if (__atomic_load_n(&n->contexts, __ATOMIC_RELAXED) == NULL ||
        pthread_mutex_trylock(&n->ctx_lock) != 0)
        return;
    for (struct net_ctx *c = n->contexts; c != NULL; c = c->next) {
        if (load_relaxed_u32(&c->open) == 0 || !net_try_lock(c))
            continue;
        n->t->progress(c->t);
        net_unlock(c);
        net_wake_sleepers(); /* progress of one context may progress all of them */
    }
    pthread_mutex_unlock(&n->ctx_lock);
}

bool net_alone(void)
{
    struct net *n = pgas_self.net;
    bool alone = false;

    if (n == NULL || __atomic_load_n(&n->contexts, __ATOMIC_RELAXED) == NULL)
        return false;
    pthread_mutex_lock(&n->ctx_lock);
    for (const struct net_ctx *c = n->contexts; c != NULL && !alone; c = c->next)
        alone = !c->locked && pthread_equal(c->owner, pthread_self()) &&
                load_relaxed_u32(&c->open) != 0;
    pthread_mutex_unlock(&n->ctx_lock);
    return alone;
}

void net_polled(struct net_ctx *c)
{
    if (c->serves)
        store_relaxed_u64(&pgas_self.net->polled_ns, clock_ns());
}

void net_poll(void)
{
    struct net *n = pgas_self.net;

    if (n == NULL)
        return;
    /* Stored before the lock is tried and at every poll; otherwise a thread with many
     * short waits would contend with the progress thread for the lock in each of them. */
    uint64_t now = clock_ns();
    store_relaxed_u64(&n->polled_ns, now);
    net_progress_poll_contexts(n);
    if (!net_try_lock(&n->ctx_0))
        return;
    n->t->progress(n->ctx_0.t);
    net_unlock(&n->ctx_0);
    net_progress_wake_at_intervals(now);
}

/* The wake-up is lost if the progress thread is about to back off; it then resumes after
 * at most TIMING_NAP. */
void net_idle(void)
{
    struct net *n = pgas_self.net;

    if (n == NULL)
        return;
    store_relaxed_u64(&n->polled_ns, 0);
    store_relaxed_u32(&n->handed, 0);
    if (load_acquire_u32(&n->nap) == 0)
        return;
    store_release_u32(&n->nap, 0);
    syscall(SYS_futex, &n->nap, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* ---- the thread ------------------------------------------------------------------ */

static bool net_progress_others_poll(const struct net *n)
{
    return clock_ns() - load_relaxed_u64(&n->polled_ns) < TIMING_POLL_RECENT;
}

static void net_progress_nap(struct net *n)
{
    struct timespec limit = {.tv_nsec = (long)TIMING_NAP};

    store_release_u32(&n->nap, 1);
    syscall(SYS_futex, &n->nap, FUTEX_WAIT_PRIVATE, 1, &limit, NULL, 0);
    store_release_u32(&n->nap, 0);
}

/* Progresses context 0 and arms its file descriptor.  Returns 0 if it is armed, so that
 * the thread may sleep.  *done: whether there was progress. */
static int net_progress_work(struct net *n, bool *done)
{
    int turns = 0;

    net_lock(&n->ctx_0);
    while (turns < PROGRESS_AT_ONCE && n->t->progress(n->ctx_0.t) > 0)
        turns++;
    int armed = n->t->arm(n->ctx_0.t);
    net_unlock(&n->ctx_0);
    *done = turns > 0;
    return armed;
}

/* Adds the armed file descriptors of the shared user contexts with outstanding
 * operations, up to FDS in total.  False if the thread cannot sleep on all of them. */
static bool net_progress_add_contexts(struct net *n, struct pollfd *fds, nfds_t *nfds)
{
    bool all = true;

    pthread_mutex_lock(&n->ctx_lock);
    for (struct net_ctx *c = n->contexts; c != NULL; c = c->next) {
        if (load_relaxed_u32(&c->open) == 0 || !c->locked)
            continue;
        if (*nfds == FDS || !net_try_lock(c)) {
            all = false;
            continue;
        }
        int armed = n->t->progress(c->t) > 0 ? -EAGAIN : n->t->arm(c->t),
            fd = n->t->fd(c->t);
        net_unlock(c);
        all = all && armed == 0 && fd >= 0;
        fds[(*nfds)++] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
    pthread_mutex_unlock(&n->ctx_lock);
    return all;
}

/* Sleeps on the file descriptors; true if context 0 became ready. */
static bool net_progress_sleep_on(struct net *n)
{
    struct pollfd fds[FDS] = {{.fd = n->stop_fd, .events = POLLIN},
                              {.fd = n->t->fd(n->ctx_0.t), .events = POLLIN}};
    nfds_t nfds = 2;
    uint64_t kicks;

    /* Dekker's pattern with net_kick: either a thread that posts an operation sees
     * `asleep`, or net_progress_add_contexts sees its operation. */
    store_relaxed_u32(&n->asleep, 1);
    fence_full();
    bool all = net_progress_add_contexts(n, fds, &nfds);
    uint64_t ns = fds[1].fd < 0 || !all ? TIMING_NO_FD_SLEEP : TIMING_THREAD_SLEEP;
    poll(fds, nfds, (int)(ns / NS_PER_MS));
    store_relaxed_u32(&n->asleep, 0);
    if (fds[0].revents != 0 && read(n->stop_fd, &kicks, sizeof kicks) < 0)
        log_debug("cannot read from an eventfd: %s", strerror(errno));
    return fds[1].revents != 0;
}

void net_kick(struct net *n)
{
    uint64_t one = 1;

    fence_full();
    if (load_relaxed_u32(&n->asleep) != 0 && write(n->stop_fd, &one, sizeof one) < 0)
        log_debug("cannot wake the progress thread: %s", strerror(errno));
}

/* Other PEs access this one while one of its threads waits: hands polling over to the
 * waiter, which polls for a while after its wake-up (net_poll_handed_over) and serves the
 * next messages.  Must precede the wake-up, because a waiter that goes back to sleep
 * immediately revokes the hand-over (net_idle). */
static void net_progress_hand_over(struct net *n)
{
    if (pgas_self.oversubscribed || !net_progress_any_sleeps())
        return;
    net_polled(&n->ctx_0);
    store_release_u32(&n->handed, 1);
}

bool net_poll_handed_over(void)
{
    return pgas_self.net != NULL && load_acquire_u32(&pgas_self.net->handed) != 0;
}

void net_back_off(unsigned *turns, bool stalled)
{
    *turns = stalled ? *turns + 1 : 0;
    if (*turns > STALLS_MAX)
        block_sleep(TIMING_BACK_OFF);
}

static void *net_progress_serve(void *arg)
{
    struct net *n = arg;
    bool ready = false, done;
    unsigned stalls = 0;

    while (load_acquire_u32(&n->stop) == 0) {
        if (net_progress_others_poll(n)) {
            net_progress_nap(n);
            continue;
        }
        int armed = net_progress_work(n, &done);
        if (ready)
            net_progress_hand_over(n);
        ready = false;
        net_wake_sleepers();
        if (armed == 0 && !net_progress_others_poll(n))
            ready = net_progress_sleep_on(n);
        net_back_off(&stalls, !done && (armed != 0 || ready));
    }
    return NULL;
}

/* Creates the thread with all signals blocked, so that the program's threads get them. */
static int net_progress_create(struct net *n, const pthread_attr_t *attr)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&n->thread, attr, net_progress_serve, n);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

void net_thread_start(struct net *n)
{
    pthread_attr_t attr;
    struct place_cpus cpus;

    n->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_attr_init(&attr);
    /* All processors of the job, even if the launcher has bound this PE to some. */
    if (place_job(&cpus)) {
        pthread_attr_setaffinity_np(&attr, cpus.bytes, cpus.set);
        place_free(&cpus);
    }
    int rc = n->stop_fd >= 0 ? net_progress_create(n, &attr) : errno;
    pthread_attr_destroy(&attr);
    if (rc != 0)
        log_die("shmem_init: cannot create the progress thread: %s; see ulimit -u",
                strerror(rc));
    n->has_thread = true;
    pthread_setname_np(n->thread, "pgas-net");
}

void net_thread_stop(struct net *n)
{
    uint64_t one = 1;

    if (!n->has_thread)
        return;
    store_release_u32(&n->stop, 1);
    net_idle();
    if (write(n->stop_fd, &one, sizeof one) < 0)
        log_debug("cannot wake the progress thread: %s", strerror(errno));
    pthread_join(n->thread, NULL);
    close(n->stop_fd);
    n->has_thread = false;
}
