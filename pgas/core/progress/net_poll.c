/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * net_poll.c - progress by threads that wait in the library, and their wake-ups.  The
 * progress thread (net_thread.c) serves this PE while no thread polls.
 * Uses: net_int, block, clock, os.
 */
#include "config.h"

#include "pgas/core/base/os.h"
#include "pgas/core/base/timing.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/progress/net_int.h"

enum { STALLS_MAX = 16 }; /* consecutive wake-ups without progress, then back off */

/* An exchange: a second store would hide from net_take_wakeup what the first one
 * released. */
static void net_defer_wakeup(struct net *n)
{
    (void)swap_acq_rel_u32(&n->wakeup_pending, 1);
}

/* Takes over the deferred wake-ups of all threads; false: there is none.  Acquires what
 * those threads have changed, since the caller compares it and wakes the sleepers in
 * their place (tests/models/progress.pml). */
static bool net_take_wakeup(struct net *n)
{
    return load_relaxed_u32(&n->wakeup_pending) != 0 &&
           swap_acq_rel_u32(&n->wakeup_pending, 0) != 0;
}

bool net_wake_sleepers(void)
{
    if (block_sleepers_changed() == BLOCK_UNCHANGED)
        return false;
    block_wake_listed();
    return true;
}

/* True if threads that wait for any store are to be woken now. */
static bool net_wake_is_due(struct net *n, uint64_t now)
{
    if (now < load_relaxed_u64(&n->wake_ns))
        return false;
    store_relaxed_u64(&n->wake_ns, now + TIMING_WAKE_EVERY);
    return true;
}

void net_wake_changed(void)
{
    enum block_change change = block_sleepers_changed();

    if (change == BLOCK_CHANGED ||
        (change == BLOCK_UNKNOWN && net_wake_is_due(pgas_self.net, clock_ns())))
        block_wake_listed();
}

/* Wakes the sleeping threads of this PE as net_wake_changed does, except that a wake-up
 * that is not due is deferred to the end of the wait. */
static void net_poll_wake(struct net *n, uint64_t now)
{
    (void)net_take_wakeup(n); /* before the words are compared */
    enum block_change change = block_sleepers_changed();
    if (change == BLOCK_UNKNOWN && !net_wake_is_due(n, now))
        net_defer_wakeup(n);
    else if (change != BLOCK_UNCHANGED)
        block_wake_listed();
}

void net_wake_local(void)
{
    struct net *n = pgas_self.net;

    if (n != NULL && net_take_wakeup(n))
        net_wake_sleepers();
}

bool net_ctx_changed(struct net_ctx *c, uint64_t pending, int events)
{
    uint64_t left = net_ctx_pending(c);

    if (left == 0 && pending != 0)
        net_ctx_drained(c);
    if (events <= 0 && left == pending)
        return false;
    store_relaxed_u32(&c->progressed, c->progressed + 1);
    return true;
}

int net_ctx_progress_by(struct net_ctx *c, int (*progress)(struct transport_ctx *ctx))
{
    uint64_t pending = net_ctx_pending(c);
    int events = progress(c->t);

    return net_ctx_changed(c, pending, events) && events <= 0 ? 1 : events;
}

int net_ctx_progress(struct net_ctx *c)
{
    return net_ctx_progress_by(c, pgas_self.net->t->progress);
}

int net_ctx_arm(struct net_ctx *c)
{
    uint64_t pending = net_ctx_pending(c);
    int armed = pgas_self.net->t->arm(c->t);

    net_ctx_changed(c, pending, 0);
    return armed;
}

bool net_ctx_send(struct net_ctx *c)
{
    uint64_t pending = net_ctx_pending(c);

    pgas_self.net->t->send(c->t);
    return net_ctx_changed(c, pending, 0);
}

void net_wake_after(bool progressed)
{
    if (progressed)
        net_wake_sleepers();
    else
        net_wake_changed();
}

/* A signal handler that exits must not finalize while ctx_lock is locked (block_inside).
 * Not counted in `locks`, which net_try_lock compares. */
static bool net_try_lock_list(struct net *n)
{
    if (likely(__atomic_load_n(&n->contexts, __ATOMIC_RELAXED) == NULL))
        return false;
    pgas_thread.waits++;
    if (pthread_mutex_trylock(&n->ctx_lock) == 0)
        return true;
    pgas_thread.waits--;
    return false;
}

static void net_unlock_list(struct net *n)
{
    pthread_mutex_unlock(&n->ctx_lock);
    pgas_thread.waits--;
}

void net_poll_contexts(struct net *n)
{
    if (!net_try_lock_list(n))
        return;
    for (struct net_ctx *c = n->contexts; c != NULL; c = c->next) {
        if (!net_try_serve(c))
            continue;
        int events = net_ctx_progress(c);
        net_unlock(c);
        net_wake_after(events > 0);
    }
    net_unlock_list(n);
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
    net_poll_contexts(n);
    if (!net_try_lock(&n->ctx_0))
        return;
    net_ctx_progress(&n->ctx_0);
    net_unlock(&n->ctx_0);
    net_poll_wake(n, now);
}

/* Sends what is queued on user contexts, except those that other threads use alone. */
static bool net_send_contexts(struct net *n)
{
    bool ended = false;

    if (!net_try_lock_list(n))
        return false;
    for (struct net_ctx *c = n->contexts; c != NULL; c = c->next) {
        if ((c->exclusive && !pthread_equal(c->owner, pthread_self())) ||
            !net_try_serve(c))
            continue;
        ended |= net_ctx_send(c);
        net_unlock(c);
    }
    net_unlock_list(n);
    return ended;
}

void net_send_queued(void)
{
    struct net *n = pgas_self.net;

    if (n->t->send == NULL)
        return;
    bool ended = false;
    if (load_relaxed_u32(&n->ctx_0.open) != 0) {
        net_lock(&n->ctx_0);
        ended = net_ctx_send(&n->ctx_0);
        net_unlock(&n->ctx_0);
    }
    ended |= net_send_contexts(n);
    if (unlikely(ended))
        net_wake_sleepers();
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
    if (load_acquire_u32(&n->state) == PROGRESS_BACKOFF &&
        progress_move(&n->state, PROGRESS_BACKOFF, PROGRESS_SERVE))
        block_end_nap(&pgas_self.node->pe[pgas_self.local_rank]);
}

bool net_poll_handed_over(void)
{
    return pgas_self.net != NULL && load_acquire_u32(&pgas_self.net->handed) != 0;
}

bool net_poll_abandoned(void)
{
    uint64_t polled =
        pgas_self.net != NULL ? load_relaxed_u64(&pgas_self.net->polled_ns) : 0;

    return polled != 0 && clock_ns() - polled > TIMING_POLL_LEFT;
}

void net_back_off(unsigned *turns, bool stalled)
{
    *turns = stalled ? *turns + 1 : 0;
    if (*turns > STALLS_MAX)
        os_sleep(TIMING_BACK_OFF);
}
