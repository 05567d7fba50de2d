/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net_thread.c - the progress thread.  Operations of other PEs on this one progress only
 * while a thread of this process calls the transport.
 *
 * A thread that waits in the library polls (net_poll.c).  While no thread does, the
 * progress thread sleeps on the transport's file descriptor.  To avoid that both run for
 * the same message, the progress thread backs off while another thread polls: it checks
 * every TIMING_NAP whether one still does, and net_idle wakes it when a waiter stops
 * polling, and block_watch when a PE of the node waits for a word of this PE. If the
 * network wakes it while a thread of the PE sleeps, it hands polling over to that thread
 * for a while.  After a PE has returned from the library to compute, operations on it are
 * delayed by at most TIMING_POLL_RECENT + TIMING_NAP, and later ones are not delayed.
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
    FDS = 64,              /* file descriptors per poll(2) */
};

/* ---- the thread ------------------------------------------------------------------ */

static bool net_progress_others_poll(const struct net *n)
{
    return clock_ns() - load_relaxed_u64(&n->polled_ns) < TIMING_POLL_RECENT;
}

/* `nap` becomes 1 before the state that others change, and before the last check for a
 * watch (Dekker's pattern with block_watch). */
static void net_progress_nap(struct net *n)
{
    struct node_pe *me = &pgas_self.node->pe[pgas_self.local_rank];
    struct timespec limit = {.tv_nsec = (long)TIMING_NAP};

    atomic_store_explicit(&me->nap, 1, memory_order_relaxed);
    fence_full();
    if (!block_watched() && progress_move(&n->state, PROGRESS_SERVE, PROGRESS_BACKOFF)) {
        syscall(SYS_futex, &me->nap, FUTEX_WAIT, 1, &limit, NULL, 0);
        progress_move(&n->state, PROGRESS_BACKOFF, PROGRESS_SERVE);
    }
    atomic_store_explicit(&me->nap, 0, memory_order_relaxed);
}

/* Progresses context 0 and arms its file descriptor.  Returns 0 if it is armed, so that
 * the thread may sleep.  *done: whether there was progress. */
static int net_progress_work(struct net *n, bool *done)
{
    int turns = 0;

    net_lock(&n->ctx_0);
    while (turns < PROGRESS_AT_ONCE && net_ctx_progress(&n->ctx_0) > 0)
        turns++;
    store_relaxed_u32(&n->held, 0);
    int armed = net_ctx_arm(&n->ctx_0);
    net_unlock(&n->ctx_0);
    *done = turns > 0;
    return armed;
}

/* The context cannot be progressed now.  Dekker's pattern with net_ctx_unattend: either
 * that sees `skipped` and wakes this thread, or this sees that the context is not
 * attended, and returns true: try again soon.  Model: tests/models/serve.pml. */
static bool net_progress_skip(struct net_ctx *c)
{
    store_relaxed_u32(&c->skipped, 1);
    fence_full();
    return load_relaxed_u32(&c->attended) == 0;
}

/* Progresses the user contexts, and adds their armed file descriptors, up to FDS in
 * total. False if the thread cannot sleep on all of them. */
static bool net_progress_add_contexts(struct net *n, struct pollfd *fds, nfds_t *nfds,
                                      bool *changed)
{
    bool all = true;

    pthread_mutex_lock(&n->ctx_lock);
    for (struct net_ctx *c = n->contexts; c != NULL; c = c->next) {
        if (!c->locked || !net_is_active(c))
            continue;
        if (!net_try_serve(c)) {
            all = !net_progress_skip(c) && all;
            continue;
        }
        uint32_t progressed = c->progressed;
        int armed = net_ctx_progress(c) > 0 ? -EAGAIN : net_ctx_arm(c),
            fd = n->t->fd(c->t);
        *changed |= c->progressed != progressed;
        net_unlock(c);
        all = all && armed == 0 && fd >= 0 && *nfds < FDS;
        if (*nfds < FDS)
            fds[(*nfds)++] = (struct pollfd){.fd = fd, .events = POLLIN};
    }
    pthread_mutex_unlock(&n->ctx_lock);
    return all;
}

/* Sleeps on the file descriptors, unless a PE was lost since n->losses was read, which
 * was before context 0 was armed; true if that context became ready. */
static bool net_progress_sleep_on(struct net *n, uint32_t losses)
{
    struct pollfd fds[FDS] = {{.fd = n->wake_fd, .events = POLLIN},
                              {.fd = n->t->fd(n->ctx_0.t), .events = POLLIN}};
    nfds_t nfds = 2;
    uint64_t kicks;
    bool changed = false;

    if (!progress_move(&n->state, PROGRESS_SERVE, PROGRESS_SLEEP))
        return false;
    /* Dekker's pattern with net_kick: either a thread that posts an operation sees
     * PROGRESS_SLEEP, or net_progress_add_contexts sees its operation; likewise for a
     * lost PE, and for operations that are held. */
    fence_full();
    bool missed =
        load_relaxed_u32(&n->losses) != losses || load_relaxed_u32(&n->held) != 0;
    bool all = net_progress_add_contexts(n, fds, &nfds, &changed);
    net_wake_after(changed);
    uint64_t ns = fds[1].fd < 0 || !all ? TIMING_NO_FD_SLEEP : TIMING_THREAD_SLEEP;
    poll(fds, nfds, changed || missed ? 0 : (int)(ns / NS_PER_MS));
    progress_move(&n->state, PROGRESS_SLEEP, PROGRESS_SERVE);
    if (fds[0].revents != 0 && read(n->wake_fd, &kicks, sizeof kicks) < 0)
        log_debug("cannot read from an eventfd: %s", strerror(errno));
    return fds[1].revents != 0;
}

static void net_progress_end_sleep(struct net *n)
{
    uint64_t one = 1;

    if (write(n->wake_fd, &one, sizeof one) < 0)
        log_debug("cannot wake the progress thread: %s", strerror(errno));
}

void net_kick(struct net *n)
{
    fence_full();
    if (load_relaxed_u32(&n->state) == PROGRESS_SLEEP)
        net_progress_end_sleep(n);
}

/* Other PEs access this one while threads of it wait: hands polling over to a waiter,
 * which is woken, polls for a while (block_stay_awake) and serves the next
 * messages. The state precedes all wake-ups, because a waiter that goes back to sleep
 * immediately revokes the hand-over (net_idle). */
static void net_progress_hand_over(struct net *n)
{
    net_polled(&n->ctx_0);
    store_release_u32(&n->handed, 1);
    if (!net_wake_sleepers())
        block_wake_one();
}

static void *net_progress_serve(void *arg)
{
    struct net *n = arg;
    bool ready = false, done;
    unsigned stalls = 0;

    while (load_acquire_u32(&n->state) != PROGRESS_STOP) {
        bool watched = block_serve_watch();
        if (net_progress_others_poll(n) && !watched) {
            net_poll_contexts(n); /* a thread that posts polls only its own context */
            net_progress_nap(n);
            continue;
        }
        uint32_t losses = load_acquire_u32(&n->losses);
        int armed = net_progress_work(n, &done);
        if (armed != 0)
            net_poll_contexts(n); /* otherwise before the sleep */
        net_check_suspects(n);
        if (ready && !pgas_self.oversubscribed && block_any_sleeps())
            net_progress_hand_over(n);
        else
            net_wake_sleepers();
        ready = false;
        if (armed == 0 && (watched || !net_progress_others_poll(n)))
            ready = net_progress_sleep_on(n, losses);
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

    n->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_attr_init(&attr);
    /* All processors of the job, even if the launcher has bound this PE to some. */
    if (place_job(&cpus)) {
        pthread_attr_setaffinity_np(&attr, cpus.bytes, cpus.set);
        place_free(&cpus);
    }
    progress_move(&n->state, PROGRESS_OFF, PROGRESS_SERVE);
    int rc = n->wake_fd >= 0 ? net_progress_create(n, &attr) : errno;
    pthread_attr_destroy(&attr);
    if (rc != 0)
        log_die("shmem_init: cannot create the progress thread: %s; see ulimit -u",
                strerror(rc));
    pthread_setname_np(n->thread, "pgas-net");
}

void net_thread_stop(struct net *n)
{
    if (load_relaxed_u32(&n->state) == PROGRESS_OFF)
        return;
    __atomic_store_n(&n->state, PROGRESS_STOP, __ATOMIC_SEQ_CST);
    fence_full(); /* before the load of `nap`; see net_progress_nap */
    block_end_nap(&pgas_self.node->pe[pgas_self.local_rank]);
    net_progress_end_sleep(n);
    pthread_join(n->thread, NULL);
    close(n->wake_fd);
    progress_move(&n->state, PROGRESS_STOP, PROGRESS_OFF);
}
