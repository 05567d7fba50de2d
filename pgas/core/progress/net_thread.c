/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net_thread.c - progress: operations of other PEs on this one advance only while a
 * thread of this process calls the transport.
 *
 * A thread that waits in the library polls (net_poll).  While none does, the progress
 * thread sleeps on the transport's file descriptor.  To keep the two from running for the
 * same message, the progress thread backs off while another thread polls: it checks every
 * NAP_NS whether this still holds, and net_idle wakes it when a waiter stops polling.  If
 * the network wakes it while a thread of the PE sleeps, it hands polling over to that
 * thread for a while.  A PE that returns from the library to compute is served after at
 * most RECENT_NS + NAP_NS, and without delay from then on.
 *
 * The thread may run on every processor of the job even if its PE is bound to one: it
 * must not wait for the PE to release that processor. Uses: net_int, block, clock, log.
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

#include "pgas/core/progress/block.h"
#include "pgas/core/base/clock.h"
#include "pgas/core/base/log.h"
#include "pgas/core/progress/net_int.h"
#include "pgas/core/boot/binding.h"

enum {
    NAP_NS = 1000 * 1000,   /* interval of checks whether another thread still polls */
    RECENT_NS = 200 * 1000, /* a younger poll means that another thread polls */
    WAKE_EVERY_NS = 100 * 1000, /* interval of wake-ups by a polling thread */
    SLEEP_MS = 1000,            /* longest sleep on the file descriptor */
    NO_FD_SLEEP_MS = 1,         /* the same if the transport has none */
    PROGRESS_AT_ONCE = 64,      /* progress calls per lock acquisition */
    FDS = 16,                   /* file descriptors per poll(2) */
    STALLS_MAX = 16,         /* consecutive wake-ups without progress before back-off */
    BACK_OFF_NS = 50 * 1000, /* length of a back-off */
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

/* A polling thread also wakes the sleeping threads of this PE, but at intervals: it does
 * not know whether anything arrived for them. */
static void net_progress_wake_now_and_then(uint64_t now)
{
    static uint64_t next_ns;

    if (now < load_relaxed_u64(&next_ns)) {
        net_defer_wakeup();
        return;
    }
    store_relaxed_u64(&next_ns, now + WAKE_EVERY_NS);
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
        net_wake_sleepers(); /* some libraries progress all contexts with any of them */
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
    /* Store the time first and at every poll: otherwise a thread that polls once per
     * short wait would contend with the progress thread for the lock each time. */
    uint64_t now = clock_ns();
    store_relaxed_u64(&n->polled_ns, now);
    net_progress_poll_contexts(n);
    if (!net_try_lock(&n->ctx_0))
        return;
    n->t->progress(n->ctx_0.t);
    net_unlock(&n->ctx_0);
    net_progress_wake_now_and_then(now);
}

/* A wake-up that is lost because the back-off is just beginning costs at most NAP_NS. */
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
    return clock_ns() - load_relaxed_u64(&n->polled_ns) < RECENT_NS;
}

static void net_progress_nap(struct net *n)
{
    struct timespec limit = {.tv_nsec = NAP_NS};

    store_release_u32(&n->nap, 1);
    syscall(SYS_futex, &n->nap, FUTEX_WAIT_PRIVATE, 1, &limit, NULL, 0);
    store_release_u32(&n->nap, 0);
}

/* Progresses context 0.  Returns 0 if its file descriptor is armed and the thread may
 * sleep. *done: whether there was progress. */
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

/* Adds the file descriptors of the user's contexts with outstanding operations, up to
 * FDS. False if the thread cannot sleep on all of them now. */
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

    /* Dekker's pattern with net_kick: either a thread that posts from now on sees
     * `asleep`, or add_contexts sees its operation. */
    store_relaxed_u32(&n->asleep, 1);
    fence_full();
    bool all = net_progress_add_contexts(n, fds, &nfds);
    poll(fds, nfds, fds[1].fd < 0 || !all ? NO_FD_SLEEP_MS : SLEEP_MS);
    store_relaxed_u32(&n->asleep, 0);
    if (fds[0].revents != 0 && read(n->stop_fd, &kicks, sizeof kicks) < 0)
        log_debug("can't read from an eventfd: %s", strerror(errno));
    return fds[1].revents != 0;
}

void net_kick(struct net *n)
{
    uint64_t one = 1;

    fence_full();
    if (load_relaxed_u32(&n->asleep) != 0 && write(n->stop_fd, &one, sizeof one) < 0)
        log_debug("can't wake the progress thread: %s", strerror(errno));
}

/* Other PEs access this one while one of its threads waits: the woken waiter polls for a
 * while (net_poll_handed_over) and receives the next messages.  Must precede the wake-up:
 * a waiter that goes back to sleep immediately revokes it (net_idle). */
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
        block_sleep(BACK_OFF_NS);
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

/* Creates the thread with all signals blocked: they are the program's. */
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
    /* Anywhere in the job's processors, even if the launcher has bound this PE. */
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
        log_debug("can't wake the progress thread: %s", strerror(errno));
    pthread_join(n->thread, NULL);
    close(n->stop_fd);
    n->has_thread = false;
}
