/* SPDX-License-Identifier: BSD-3-Clause */
/* block.c - see block.h.  Uses: pgas.h, clock, symaddr, net, threads. */
#include "config.h"

#include <limits.h>
#include <linux/membarrier.h>
#include <string.h>

#include "pgas/core/base/timing.h"
#include "pgas/core/core_state.h"
#include "pgas/core/progress/alive.h"
#include "pgas/core/progress/block.h"
#include "pgas/core/progress/block_sleep.h"
#include "pgas/core/base/os.h"
#include "pgas/core/progress/net.h"
#include "pgas/ft/ft.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/threads/pause.h"

#define STATE core_self.block

enum {
    SPINS_FIRST = 64,         /* polls before the first read of the clock */
    SPINS_OVERSUBSCRIBED = 4, /* polls before the first yield if oversubscribed */
    SPINS_PER_CLOCK = 16,     /* polls between two reads of the clock */
    POLLS_PER_CLOCK = 4,      /* likewise if each poll progresses the network */
    SLEEP_FIRST_PART = 16,    /* the first sleep is 1/16 of the longest */
    AWAKE_SPINS = 4,          /* multiple of env.spin_ns between two yields */
    OTHERS_RAN_MAX = 8,       /* yields that switched threads before a sleep */
};

void block_set_work(void (*work)(void))
{
    __atomic_store_n(&STATE.work, work, __ATOMIC_RELEASE);
    fence_full(); /* a thread that has not entered the lists of sleepers yet sees it */
    if (work != NULL) /* sleepers on one word must now sleep on any store */
        block_wake_own();
}

static bool block_has_work(void)
{
    return __atomic_load_n(&STATE.work, __ATOMIC_RELAXED) != NULL;
}

static void block_do_work(void)
{
    void (*work)(void) = __atomic_load_n(&STATE.work, __ATOMIC_ACQUIRE);

    if (unlikely(work != NULL))
        work();
}

void block_init(void)
{
    pgas_self.membarrier = os_membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
}

/* ---- polling ----------------------------------------------------------------------- */

/* Counts the threads of this PE that poll, in a job with remote PEs. */
static void block_poll_begin(void)
{
    if (unlikely(pgas_self.net != NULL) && pgas_thread.waits == 1)
        fetch_add_acq_rel_u32(&STATE.pollers, 1);
}

static void block_poll_end(void)
{
    if (unlikely(pgas_self.net != NULL) && pgas_thread.waits == 1)
        fetch_add_acq_rel_u32(&STATE.pollers, UINT32_MAX);
}

static bool block_others_poll(void)
{
    return load_relaxed_u32(&STATE.pollers) > 0;
}

/* This thread does not poll any more.  A thread whose condition waits itself counts once
 * for both waits. */
static void block_idle(void)
{
    if (load_relaxed_u32(&STATE.pollers) <= (pgas_thread.waits > 1))
        net_idle();
}

/* Polls n times and calls `between` after each poll.  Without a pause, the processor
 * speculates many loads ahead and must flush its pipeline when the store arrives. */
ALWAYS_INLINE bool block_poll(block_ready ready, const void *arg, int n,
                              void (*between)(void))
{
    for (; n > 0; n--) {
        if (ready(arg))
            return true;
        between();
    }
    return false;
}

/* The time in ns nanoseconds, or the end of time if the sum wraps: SHMEM_SPIN_NS and
 * SHMEM_YIELD_NS may be any number. */
static uint64_t block_end_of(uint64_t ns)
{
    uint64_t now = clock_ns();

    return ns < UINT64_MAX - now ? now + ns : UINT64_MAX;
}

/* Polls for ns; progresses the network between two polls in a job on several nodes. */
static bool block_spin_for(block_ready ready, const void *arg, uint64_t ns)
{
    bool remote = pgas_self.net != NULL;
    uint64_t end = block_end_of(ns);

    while (clock_ns() < end) {
        if (unlikely(remote) ? block_poll(ready, arg, POLLS_PER_CLOCK, net_poll)
                             : block_poll(ready, arg, SPINS_PER_CLOCK, cpu_pause))
            return true;
        block_do_work();
    }
    return false;
}

/* The first polls do not progress the network: a local PE may respond immediately. */
bool block_spin(block_ready ready, const void *arg)
{
    return block_poll(ready, arg, SPINS_FIRST, cpu_pause) ||
           block_spin_for(ready, arg, pgas_self.env.spin_ns);
}

/* If oversubscribed, polls only a few times, since a peer may need the processor. */
static bool block_spin_briefly(const struct block_wait *w)
{
    if (pgas_self.oversubscribed)
        return block_poll(w->ready, w->arg, SPINS_OVERSUBSCRIBED, cpu_pause);
    if (w->remote)
        return block_spin_for(w->ready, w->arg, pgas_self.env.spin_ns);
    return block_spin(w->ready, w->arg);
}

/* True if the wait has to end because of a failure.  Called after `ready` was false: a
 * PE that has failed may have done its part before. */
static bool block_is_over(const struct block_wait *w)
{
    if (likely(pgas_self.ft == NULL))
        return false;
    return ft_wait_state(w->team != NULL, w->ends_on_failure) != FT_WAIT_ON;
}

/* Calls sched_yield; true if another thread ran meanwhile. */
static bool block_yield_once(void)
{
    uint64_t begin = clock_ns();

    os_yield();
    return clock_ns() - begin > TIMING_OTHER_RAN;
}

/*
 * Yields the processor repeatedly for ns and polls for spin_ns before each yield.  True
 * if the wait is over.  In a container or on a shared machine the number of threads that
 * compete for the processors is unknown.  A waiter that is not known to be oversubscribed
 * therefore sleeps after OTHERS_RAN_MAX yields during which other threads ran, because a
 * thread that keeps yielding gets far less processor time than threads that spin.
 */
static bool block_yield(const struct block_wait *w, uint64_t ns, uint64_t spin_ns)
{
    uint64_t end = block_end_of(ns);
    int patience = pgas_self.oversubscribed ? INT_MAX : OTHERS_RAN_MAX;

    do {
        if (spin_ns > 0 && block_spin_for(w->ready, w->arg, spin_ns))
            return true;
        net_poll();
        block_do_work();
        /* Before the yield, which lets the other threads of this processor run first. */
        if (w->ready(w->arg))
            return true;
        patience -= block_yield_once();
        if (w->ready(w->arg))
            return true;
    } while (patience > 0 && clock_ns() < end && !block_is_over(w));
    return false;
}

static uint64_t block_sleep_max_ns(void)
{
    uint64_t ns = pgas_self.env.sleep_ns;
    /* With SHMEM_FAULTS on one node, transport_shm stores to this PE without block_poke.
     */
    bool unsafe =
        !pgas_self.membarrier || (pgas_self.net != NULL && pgas_self.nnodes < 2);

    return !unsafe || ns < TIMING_SLEEP_UNSAFE ? ns : TIMING_SLEEP_UNSAFE;
}

/*
 * Polls for *awake_ns instead of sleeping again, after a sleep that the progress thread
 * ended because other PEs access this one, or in which the thread that polled has left.
 * In the first case the time doubles (up to TIMING_AWAKE_MAX) if the sleep was shorter
 * than TIMING_SLEEP_SHORT.  A waiting PE that is the target of gets and atomics thus
 * serves them without a wake-up per message.  True if the wait is over.
 */
static bool block_stay_awake(const struct block_wait *w, uint64_t slept_ns,
                             uint64_t *awake_ns)
{
    bool handed = net_poll_handed_over();

    if (!handed || slept_ns > TIMING_SLEEP_SHORT)
        *awake_ns = 0;
    if (!handed && !net_poll_abandoned())
        return false;
    *awake_ns = *awake_ns == 0 ? TIMING_AWAKE_FIRST : *awake_ns * 2;
    *awake_ns = *awake_ns < TIMING_AWAKE_MAX ? *awake_ns : TIMING_AWAKE_MAX;
    block_poll_begin();
    uint64_t spin_ns = pgas_self.env.spin_ns;
    spin_ns = spin_ns < UINT64_MAX / AWAKE_SPINS ? AWAKE_SPINS * spin_ns : UINT64_MAX;
    bool ready = block_yield(w, *awake_ns, spin_ns);
    block_poll_end();
    return ready;
}

/* The time limit of a sleep of ns.  If only this thread can progress a private context,
 * progresses it here and limits the sleep to TIMING_SLEEP_UNSAFE. */
static uint64_t block_sleep_limit(uint64_t ns)
{
    if (likely(!net_alone()))
        return ns;
    net_poll();
    block_idle();
    return ns < TIMING_SLEEP_UNSAFE ? ns : TIMING_SLEEP_UNSAFE;
}

/*
 * node_pe.what describes what a thread of this PE waits for.  One thread at a time owns
 * the text: it sets what_taken (acquire) before it writes the text, and clears what_taken
 * (release) after it has cleared the text.  A waiting thread that does not own the text
 * tries again before each sleep.
 */

static uint64_t block_what_team(const struct shmem_team *team)
{
    if (team == NULL || team->psync != NULL) /* an active set is not a team */
        return 0;
    if (team->whole != NULL)
        team = team->whole;
    if (team->name != NULL)
        return team == team_world() ? NODE_TEAM_WORLD : NODE_TEAM_SHARED;
    return (uint64_t)(team_world_pe(team, 0) + 1) << NODE_TEAM_FIRST |
           (uint64_t)team->npes;
}

static void block_what_claim(struct node_pe *me, const struct block_wait *w)
{
    uint64_t words[NODE_WHAT / sizeof(uint64_t)] = {0};

    /* pgas_thread.waits != 1: the text of a nested wait is less informative. */
    if (pgas_thread.waits != 1 || pgas_thread.owns_what ||
        load_relaxed_u32(&STATE.what_taken) != 0 ||
        cas_acq_rel_u32(&STATE.what_taken, 0, 1) != 0)
        return;
    pgas_thread.owns_what = true;
    strncpy((char *)words, w->what, NODE_WHAT - 1);
    for (size_t i = 0; i < NODE_WHAT / sizeof(uint64_t); i++)
        atomic_store_explicit(&me->what[i], words[i], memory_order_relaxed);
    atomic_store_explicit(&me->what_ns, clock_ns(), memory_order_relaxed);
    atomic_store_explicit(&me->what_team, block_what_team(w->team), memory_order_relaxed);
}

static void block_what_release(struct node_pe *me)
{
    PGAS_ASSERT(pgas_thread.waits == 0);
    if (!pgas_thread.owns_what)
        return;
    atomic_store_explicit(&me->what[0], 0, memory_order_relaxed);
    pgas_thread.owns_what = false;
    store_release_u32(&STATE.what_taken, 0);
}

/* True when the wait is over, false because of a failure. */
static bool block_sleep_until(struct node_pe *me, const struct block_wait *w)
{
    bool ready;
    uint64_t ns_max = block_sleep_max_ns(), awake_ns = 0;
    uint64_t ns = block_others_poll() ? TIMING_POLL_LEFT : ns_max / SLEEP_FIRST_PART;
    struct block_sleep sleep;

    if (w->on_sleep != NULL)
        w->on_sleep(w->arg);
    block_sleep_enter(&sleep, w, block_has_work());
    uint64_t begin = clock_ns();
    for (;;) {
        /* Required order: entry, barrier, load of the futex, condition, sleep.  A
         * block_poke after the barrier changes the futex, so that the sleep ends
         * immediately. */
        net_wake_local(); /* before the load, because it may change our own futex */
        uint32_t seen = block_sleep_arm(&sleep);
        if (unlikely(!sleep.any && block_has_work())) {
            block_sleep_leave(&sleep);
            block_sleep_enter(&sleep, w, true);
            seen = block_sleep_arm(&sleep);
        }
        block_do_work();
        ready = w->ready(w->arg);
        if (ready || block_is_over(w))
            break;
        if (w->on_stall != NULL)
            w->on_stall(w->arg);
        block_what_claim(me, w);
        alive_stamp();
        uint64_t now = clock_ns();
        net_watch(w->what, now - begin);
        block_idle();
        block_sleep_for(&sleep, seen, block_sleep_limit(ns));
        ready = block_stay_awake(w, clock_ns() - now, &awake_ns);
        if (ready)
            break;
        ns = ns * 2 < ns_max ? ns * 2 : ns_max;
    }
    block_sleep_leave(&sleep);
    block_idle(); /* the progress thread may still assume that this thread polls */
    return ready;
}

/* As block_sleep_until, with w->sleep. */
static bool block_sleep_by_caller(struct node_pe *me, const struct block_wait *w)
{
    bool ready;
    uint64_t ns_max = pgas_self.env.sleep_ns;

    block_idle();
    while (!(ready = w->ready(w->arg)) && !block_is_over(w)) {
        if (w->on_stall != NULL)
            w->on_stall(w->arg);
        block_do_work();
        block_what_claim(me, w);
        alive_stamp();
        w->sleep(w->arg,
                 block_sleep_limit(block_has_work() ? TIMING_SLEEP_WORK : ns_max));
    }
    return ready;
}

/* Spins and yields.  True if the wait is over. */
static bool block_poll_until(struct node_pe *me, const struct block_wait *w)
{
    if (block_spin_briefly(w))
        return true;
    block_what_claim(me, w);
    return block_yield(w, pgas_self.env.yield_ns, 0);
}

bool block_until(const struct block_wait *w)
{
    struct node_pe *me = &pgas_self.node->pe[pgas_self.local_rank];

    PGAS_ASSERT(pgas_thread.waits >= 0);
    pgas_thread.waits++;
    block_poll_begin();
    bool ready = block_poll_until(me, w);
    block_poll_end();
    if (!ready)
        ready =
            w->sleep != NULL ? block_sleep_by_caller(me, w) : block_sleep_until(me, w);
    if (--pgas_thread.waits == 0)
        block_what_release(me);
    net_send();
    net_wake_local();
    if (unlikely(!ready) && ft_wait_state(w->team != NULL, false) == FT_WAIT_UNWIND)
        ft_unwind();
    return ready;
}

bool block_inside(void)
{
    return pgas_thread.waits > 0;
}
