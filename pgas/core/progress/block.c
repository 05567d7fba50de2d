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
#include "pgas/core/base/os.h"
#include "pgas/core/memory/symaddr.h"
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

/* sleep_mask of a PE that every store must wake.  A mask built from keys has at most
 * NODE_SLEEP_SLOTS bits set. */
#define ANY UINT64_MAX
_Static_assert(NODE_SLEEP_SLOTS < 64, "a mask built from keys is never ANY");

void block_set_work(void (*work)(void))
{
    __atomic_store_n(&STATE.work, work, __ATOMIC_RELEASE);
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

/*
 * The key of a symmetric word, the same on all PEs: 2 * (offset in 8-byte units + 1) in
 * the heap, plus 1 in the data segment; 0 for an address in neither segment.
 */
static uint64_t block_key_of(const void *addr)
{
    size_t offset;
    enum transport_segment segment = symaddr_find(addr, 1, &offset);

    return segment == SEGMENTS
               ? 0
               : (offset / sizeof(uint64_t) + 1) * 2 + (segment == SEGMENT_DATA);
}

/* True if a thread of the PE sleeps on a word in the len bytes, or on any store. */
static bool block_sleeps_for(const struct node_pe *pe, const void *addr, size_t len)
{
    uint64_t first = block_key_of(addr);
    uint64_t units = ((uintptr_t)addr % sizeof(uint64_t) + len + sizeof(uint64_t) - 1) /
                     sizeof(uint64_t);

    /* Orders the caller's load of the mask before the loads of the keys: the key of a
     * sleeper whose bit was set is visible. */
    fence_acq_rel();
    for (int i = 0; i < NODE_SLEEP_SLOTS; i++) {
        uint64_t key = atomic_load_explicit(&pe->sleep_key[i], memory_order_acquire);
        if (key != 0 && key % 2 == first % 2 && key >= first && key < first + 2 * units)
            return true;
    }
    return first == 0 ||
           atomic_load_explicit(&pe->sleep_mask, memory_order_acquire) == ANY;
}

void block_wake(struct node_pe *pe, const void *addr, size_t len)
{
    PGAS_ASSERT(pe >= pgas_self.node->pe);
    PGAS_ASSERT(pe < pgas_self.node->pe + pgas_self.local_size);
    if (addr != NULL && !block_sleeps_for(pe, addr, len))
        return;
    atomic_fetch_add_explicit(&pe->wake, 1, memory_order_release);
    os_futex_wake(&pe->wake);
}

void block_wake_own(void)
{
    block_wake(&pgas_self.node->pe[pgas_self.local_rank], NULL, 0);
}

uint64_t block_wake_then(struct node_pe *pe, const void *addr, size_t len, uint64_t value)
{
    block_wake(pe, addr, len);
    return value;
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

/* Polls for ns; progresses the network between two polls in a job on several nodes. */
static bool block_spin_for(block_ready ready, const void *arg, uint64_t ns)
{
    bool remote = pgas_self.net != NULL;
    uint64_t end = clock_ns() + ns;

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
    uint64_t end = clock_ns() + ns;
    int patience = pgas_self.oversubscribed ? INT_MAX : OTHERS_RAN_MAX;

    do {
        if (spin_ns > 0 && block_spin_for(w->ready, w->arg, spin_ns))
            return true;
        net_poll();
        block_do_work();
        patience -= block_yield_once();
        if (w->ready(w->arg))
            return true;
    } while (patience > 0 && clock_ns() < end && !block_is_over(w));
    return false;
}

/* The mask bit of a key: the index of the cache line within its (4 KiB) page. */
static uint64_t block_bit_of(uint64_t key)
{
    return (uint64_t)1 << ((key / 2 - 1) * sizeof(uint64_t) / NODE_LINE % 64);
}

/* Recomputes the mask from the sleepers of this PE.  Called with list_lock held. */
static void block_publish_mask(struct node_pe *me)
{
    uint64_t mask = STATE.unlisted > 0 ? ANY : 0;

    for (int i = 0; i < NODE_SLEEP_SLOTS; i++) {
        uint64_t key = atomic_load_explicit(&me->sleep_key[i], memory_order_relaxed);
        mask |= key != 0 ? block_bit_of(key) : 0;
    }
    PGAS_ASSERT(STATE.unlisted > 0 || mask != ANY);
    atomic_store_explicit(&me->sleep_mask, mask, memory_order_seq_cst);
}

static int block_free_slot(const struct node_pe *me)
{
    for (int i = 0; i < NODE_SLEEP_SLOTS; i++)
        if (atomic_load_explicit(&me->sleep_key[i], memory_order_relaxed) == 0)
            return i;
    return -1;
}

/* The key of a sleeper on a word that is not symmetric: no store matches it. */
#define KEY_PRIVATE UINT64_MAX

/* The key of the word of a wait; 0 if any store must wake the waiter. */
static uint64_t block_sleeper_of(const struct block_wait *w,
                                 struct block_sleeper *sleeper)
{
    const void *word = w->word != NULL ? w->word : w->private;
    uintptr_t unit = (uintptr_t)word / sizeof(uint64_t) * sizeof(uint64_t);

    *sleeper = (struct block_sleeper){.unit = (const void *)unit};
    if (word == NULL)
        return 0;
    return w->word != NULL ? block_key_of(word) : KEY_PRIVATE;
}

/* Publishes the word on which this thread is going to sleep; w NULL: any store.  Returns
 * its slot, or -1 if any store wakes the thread. */
static int block_list(struct node_pe *me, const struct block_wait *w)
{
    struct block_sleeper sleeper;
    uint64_t key = w != NULL ? block_sleeper_of(w, &sleeper) : 0;

    pthread_mutex_lock(&STATE.list_lock);
    int slot = key != 0 ? block_free_slot(me) : -1;
    if (slot >= 0) {
        STATE.sleeper[slot] = sleeper;
        atomic_store_explicit(&me->sleep_key[slot], key, memory_order_release);
    } else {
        STATE.unlisted++;
    }
    PGAS_ASSERT(STATE.unlisted >= 0);
    block_publish_mask(me);
    pthread_mutex_unlock(&STATE.list_lock);
    return slot;
}

static void block_unlist(struct node_pe *me, int slot)
{
    PGAS_ASSERT(slot >= -1 && slot < NODE_SLEEP_SLOTS);
    PGAS_ASSERT(slot < 0 || atomic_load(&me->sleep_key[slot]) != 0);
    pthread_mutex_lock(&STATE.list_lock);
    if (slot >= 0)
        atomic_store_explicit(&me->sleep_key[slot], 0, memory_order_release);
    else
        STATE.unlisted--;
    PGAS_ASSERT(STATE.unlisted >= 0);
    block_publish_mask(me);
    pthread_mutex_unlock(&STATE.list_lock);
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
 * After a sleep that the progress thread ended because other PEs access this one: polls
 * for *awake_ns instead of sleeping again.  The time doubles (up to TIMING_AWAKE_MAX) if
 * the sleep was shorter than TIMING_SLEEP_SHORT.  A waiting PE that is the target of gets
 * and atomics thus serves them without a wake-up per message.  True if the wait is over.
 */
static bool block_stay_awake(const struct block_wait *w, uint64_t slept_ns,
                             uint64_t *awake_ns)
{
    if (!net_poll_handed_over() || slept_ns > TIMING_SLEEP_SHORT)
        *awake_ns = 0;
    if (!net_poll_handed_over())
        return false;
    *awake_ns = *awake_ns == 0 ? TIMING_AWAKE_FIRST : *awake_ns * 2;
    *awake_ns = *awake_ns < TIMING_AWAKE_MAX ? *awake_ns : TIMING_AWAKE_MAX;
    return block_yield(w, *awake_ns, AWAKE_SPINS * pgas_self.env.spin_ns);
}

/* The time limit of a sleep of ns.  If only this thread can progress a private context,
 * progresses it here and limits the sleep to TIMING_SLEEP_UNSAFE. */
static uint64_t block_sleep_limit(uint64_t ns)
{
    if (likely(!net_alone()))
        return ns;
    net_poll();
    net_idle();
    return ns < TIMING_SLEEP_UNSAFE ? ns : TIMING_SLEEP_UNSAFE;
}

/* The unit contains the word and perhaps other variables, which other threads may access
 * without atomics. */
static __attribute__((noinline, no_sanitize_address, no_sanitize_thread)) uint64_t
block_load_unit(const uint64_t *unit)
{
    return __atomic_load_n(unit, __ATOMIC_RELAXED);
}

/*
 * Dekker's pattern between a sleeper and a thread that has made progress: the sleeper
 * records the value of its word, executes a fence, checks its condition, and sleeps; the
 * other thread changes the word, executes a fence, and compares it with the recorded
 * value. If the check precedes the change, the recorded value is the one before the
 * change.
 */
static void block_sleeper_record(int slot)
{
    if (slot < 0)
        return;
    struct block_sleeper *s = &STATE.sleeper[slot];
    store_relaxed_u64(&s->seen, block_load_unit(s->unit));
    fence_full();
}

/* Records the new values, so that the caller wakes the sleeper once per change. */
static bool block_sleeper_changed(struct block_sleeper *s)
{
    uint64_t value = block_load_unit(s->unit);
    bool changed = value != load_relaxed_u64(&s->seen);

    store_relaxed_u64(&s->seen, value);
    return changed;
}

enum block_change block_sleepers_changed(void)
{
    const struct node_pe *me = &pgas_self.node->pe[pgas_self.local_rank];
    enum block_change change = BLOCK_UNCHANGED;

    if (atomic_load_explicit(&me->sleep_mask, memory_order_acquire) == 0)
        return BLOCK_UNCHANGED;
    fence_full();
    pgas_thread.locks++; /* a signal handler must not finalize (net_inside) */
    pthread_mutex_lock(&STATE.list_lock);
    if (STATE.unlisted > 0)
        change = BLOCK_UNKNOWN;
    for (int i = 0; i < NODE_SLEEP_SLOTS; i++)
        if (atomic_load_explicit(&me->sleep_key[i], memory_order_relaxed) != 0 &&
            block_sleeper_changed(&STATE.sleeper[i]))
            change = BLOCK_CHANGED;
    pthread_mutex_unlock(&STATE.list_lock);
    pgas_thread.locks--;
    return change;
}

/* Publishes a sleeper; the block_poke of every later store to the word sees it. */
static int block_list_fenced(struct node_pe *me, const struct block_wait *w)
{
    int slot = block_list(me, w);

    if (pgas_self.membarrier)
        os_membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
    return slot;
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
    uint64_t ns_max = block_sleep_max_ns(), ns = ns_max / SLEEP_FIRST_PART, awake_ns = 0;
    bool any = block_has_work();
    int slot = block_list_fenced(me, any ? NULL : w);
    uint64_t begin = clock_ns();

    for (;;) {
        /* Required order: mask, barrier, load of `wake`, condition, sleep.  A block_poke
         * after the barrier increments `wake`, so that the sleep ends immediately. */
        net_wake_local(); /* before the load, because it may increment our own `wake` */
        uint32_t seen = atomic_load_explicit(&me->wake, memory_order_acquire);
        if (unlikely(!any && block_has_work())) {
            any = true;
            block_unlist(me, slot);
            slot = block_list_fenced(me, NULL);
        }
        block_do_work();
        block_sleeper_record(slot);
        ready = w->ready(w->arg);
        if (ready || block_is_over(w))
            break;
        if (w->on_stall != NULL)
            w->on_stall(w->arg);
        block_what_claim(me, w);
        alive_stamp();
        uint64_t now = clock_ns();
        net_watch(w->what, now - begin);
        net_idle();
        os_futex_wait(&me->wake, seen, block_sleep_limit(ns));
        ready = block_stay_awake(w, clock_ns() - now, &awake_ns);
        if (ready)
            break;
        ns = ns * 2 < ns_max ? ns * 2 : ns_max;
    }
    block_unlist(me, slot);
    net_idle(); /* the progress thread may still assume that this thread polls */
    return ready;
}

/* As block_sleep_until, with w->sleep. */
static bool block_own_sleep_until(struct node_pe *me, const struct block_wait *w)
{
    bool ready;
    uint64_t ns_max = pgas_self.env.sleep_ns;

    net_idle();
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

bool block_until(const struct block_wait *w)
{
    bool ready = true;

    if (block_spin_briefly(w)) {
        net_wake_local();
        return true;
    }
    struct node_pe *me = &pgas_self.node->pe[pgas_self.local_rank];
    PGAS_ASSERT(pgas_thread.waits >= 0);
    pgas_thread.waits++;
    block_what_claim(me, w);
    if (!block_yield(w, pgas_self.env.yield_ns, 0))
        ready =
            w->sleep != NULL ? block_own_sleep_until(me, w) : block_sleep_until(me, w);
    if (--pgas_thread.waits == 0)
        block_what_release(me);
    net_wake_local();
    if (unlikely(!ready) && ft_wait_state(w->team != NULL, false) == FT_WAIT_UNWIND)
        ft_unwind();
    return ready;
}

bool block_inside(void)
{
    return pgas_thread.waits > 0;
}
