/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net_thread.c - progress: what others do to this PE happens while somebody here calls
 * the transport.
 *
 * A thread that waits in the library polls (net_poll).  While none does, the progress
 * thread sleeps on the transport's descriptor.  So that the two do not both run for every
 * message, the progress thread naps while another thread polls: it looks every NAP_NS
 * whether that is still so, and net_idle ends the nap of a thread's waiting.  When it is
 * woken by the network while a thread of the PE sleeps, it hands over to that thread,
 * which polls for a while.  A PE that leaves the library to compute is served after
 * RECENT_NS + NAP_NS at the latest, and then at once.
 *
 * The thread may run on every processor that the job may use, though its PE be bound to
 * one: it must not wait until the PE gives that one up.
 * Uses: net_int, block, clock, log.
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

#include "pgas/core/block.h"
#include "pgas/core/clock.h"
#include "pgas/core/log.h"
#include "pgas/core/net_int.h"
#include "pgas/core/place.h"

enum {
    NAP_NS = 1000 * 1000,   /* between two looks whether others still poll */
    RECENT_NS = 200 * 1000, /* a poll that long ago means that others poll */
    WAKE_EVERY_NS = 100 * 1000,
    SLEEP_MS = 1000,         /* the longest on the descriptor */
    BLIND_SLEEP_MS = 1,      /* the same where the transport has none */
    PROGRESS_AT_ONCE = 64,   /* calls before others get the lock */
    FDS = 16,                /* descriptors to sleep on at once */
    VAIN_MAX = 16,           /* turns in vain, one after the other, */
    VAIN_NAP_NS = 50 * 1000, /* after which a thread rests: net_rest */
};

static struct node_pe *my_record(void)
{
    return &pgas_self.node->pe[pgas_self.local_rank];
}

static bool any_sleeps(void)
{
    return atomic_load_explicit(&my_record()->sleep_mask, memory_order_acquire) != 0;
}

void net_wake_sleepers(void)
{
    if (any_sleeps())
        block_wake(my_record(), NULL, 0);
}

/* ---- other threads --------------------------------------------------------------- */

void net_owe(void)
{
    store_relaxed_u32(&pgas_self.net->owed, 1);
}

/* Sleepers among our threads are woken by who polls too, but not at each poll: it does
 * not know what came. */
static void wake_now_and_then(uint64_t now)
{
    static uint64_t next_ns;

    if (now < load_relaxed_u64(&next_ns)) {
        net_owe();
        return;
    }
    store_relaxed_u64(&next_ns, now + WAKE_EVERY_NS);
    store_relaxed_u32(&pgas_self.net->owed, 0);
    net_wake_sleepers();
}

void net_settle(void)
{
    struct net *n = pgas_self.net;

    if (n == NULL || load_relaxed_u32(&n->owed) == 0)
        return;
    store_relaxed_u32(&n->owed, 0);
    net_wake_sleepers();
}

/* Move on what was posted on the user's contexts. */
static void poll_contexts(struct net *n)
{
    if (__atomic_load_n(&n->contexts, __ATOMIC_RELAXED) == NULL ||
        pthread_mutex_trylock(&n->ctx_lock) != 0)
        return;
    for (struct net_ctx *c = n->contexts; c != NULL; c = c->next) {
        if (load_relaxed_u32(&c->open) == 0 || !net_try_lock(c))
            continue;
        n->t->progress(c->t);
        net_unlock(c);
        net_wake_sleepers(); /* some libraries take in everything with any context */
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
    /* Said first, and each time: else a thread that polls once in each short wait comes
     * second to the progress thread again and again, and waits for its lock. */
    uint64_t now = clock_ns();
    store_relaxed_u64(&n->polled_ns, now);
    poll_contexts(n);
    if (!net_try_lock(&n->ctx_0))
        return;
    n->t->progress(n->ctx_0.t);
    net_unlock(&n->ctx_0);
    wake_now_and_then(now);
}

/* A wake-up that is lost, as the nap is just beginning, costs NAP_NS and no more. */
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

static bool others_poll(const struct net *n)
{
    return clock_ns() - load_relaxed_u64(&n->polled_ns) < RECENT_NS;
}

static void nap(struct net *n)
{
    struct timespec limit = {.tv_nsec = NAP_NS};

    store_release_u32(&n->nap, 1);
    syscall(SYS_futex, &n->nap, FUTEX_WAIT_PRIVATE, 1, &limit, NULL, 0);
    store_release_u32(&n->nap, 0);
}

/* Move context 0 on; 0 when there is nothing to do before its descriptor says so.  done:
 * whether there was something now. */
static int work(struct net *n, bool *done)
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

/* Add the descriptors of the user's contexts with something under way, as far as there is
 * room.  False: not all of them can be slept on now. */
static bool add_contexts(struct net *n, struct pollfd *fds, nfds_t *nfds)
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

/* True: there is something. */
static bool sleep_on(struct net *n)
{
    struct pollfd fds[FDS] = {{.fd = n->stop_fd, .events = POLLIN},
                              {.fd = n->t->fd(n->ctx_0.t), .events = POLLIN}};
    nfds_t nfds = 2;
    uint64_t kicks;

    /* A context that gets something to do from now on sees that we sleep (net_kick), or
     * we see what it has to do. */
    store_relaxed_u32(&n->asleep, 1);
    fence_full();
    bool all = add_contexts(n, fds, &nfds);
    poll(fds, nfds, fds[1].fd < 0 || !all ? BLIND_SLEEP_MS : SLEEP_MS);
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

/* Others use this PE, and somebody in it waits anyway: who is woken polls for a while
 * (net_is_mine), and what comes next is for that thread.  To be said before it is woken:
 * if it goes to sleep again at once, it takes it back (net_idle). */
static void hand_over(struct net *n)
{
    if (pgas_self.oversubscribed || !any_sleeps())
        return;
    net_polled(&n->ctx_0);
    store_release_u32(&n->handed, 1);
}

bool net_is_mine(void)
{
    return pgas_self.net != NULL && load_acquire_u32(&pgas_self.net->handed) != 0;
}

void net_rest(unsigned *turns, bool in_vain)
{
    *turns = in_vain ? *turns + 1 : 0;
    if (*turns > VAIN_MAX)
        block_sleep(VAIN_NAP_NS);
}

static void *serve(void *arg)
{
    struct net *n = arg;
    bool came = false, done;
    unsigned in_vain = 0;

    while (load_acquire_u32(&n->stop) == 0) {
        if (others_poll(n)) {
            nap(n);
            continue;
        }
        int armed = work(n, &done);
        if (came)
            hand_over(n);
        came = false;
        net_wake_sleepers();
        if (armed == 0 && !others_poll(n))
            came = sleep_on(n);
        net_rest(&in_vain, !done && (armed != 0 || came));
    }
    return NULL;
}

/* No signal of the program is for this thread. */
static int create(struct net *n, const pthread_attr_t *attr)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&n->thread, attr, serve, n);
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
    int rc = n->stop_fd >= 0 ? create(n, &attr) : errno;
    pthread_attr_destroy(&attr);
    if (rc != 0)
        log_die("shmem_init: can't start the thread that serves other nodes: %s",
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
