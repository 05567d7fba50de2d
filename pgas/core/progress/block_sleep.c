/* SPDX-License-Identifier: BSD-3-Clause */
/* block_sleep.c - see block_sleep.h, and block.h for the wake-up protocol. */
#include "config.h"

#include <limits.h>
#include <linux/membarrier.h>
#include <pthread.h>

#include "pgas/core/base/clock.h"
#include "pgas/core/base/os.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/base/timing.h"
#include "pgas/core/core_state.h"
#include "pgas/core/memory/symaddr.h"
#include "pgas/core/progress/block_sleep.h"

#define STATE core_self.block

enum { WAKES_AT_ONCE = 16 };

/* sleep_mask of a PE that every store must wake.  A mask built from keys has at most
 * NODE_SLEEP_SLOTS bits set. */
#define ANY UINT64_MAX
_Static_assert(NODE_SLEEP_SLOTS < 64, "a mask built from keys is never ANY");

/* ---- wake-ups by a PE -------------------------------------------------------------- */

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

uint64_t block_wake_then(struct node_pe *pe, const void *addr, size_t len, uint64_t value)
{
    block_wake(pe, addr, len);
    return value;
}

/* ---- threads that sleep on `wake` -------------------------------------------------- */

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

/* Publishes the word on which this thread is going to sleep; NULL: any store.  Returns
 * its slot, or -1 if any store wakes the thread. */
static int block_list(struct node_pe *me, const void *word)
{
    uintptr_t unit = (uintptr_t)word / sizeof(uint64_t) * sizeof(uint64_t);
    uint64_t key = word != NULL ? block_key_of(word) : 0;

    pthread_mutex_lock(&STATE.list_lock);
    int slot = key != 0 ? block_free_slot(me) : -1;
    if (slot >= 0) {
        STATE.sleeper[slot] = (struct block_sleeper){.unit = (const void *)unit};
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

/* ---- threads that sleep on a word of this process ---------------------------------- */

static void block_private_link(struct block_private *p)
{
    atomic_store_explicit(&p->woken, 0, memory_order_relaxed);
    p->round = STATE.round;
    p->prev = NULL;
    p->next = STATE.privates;
    if (p->next != NULL)
        p->next->prev = p;
    __atomic_store_n(&STATE.privates, p, __ATOMIC_RELEASE);
}

static void block_private_unlink(struct block_private *p)
{
    if (p->next != NULL)
        p->next->prev = p->prev;
    if (p->prev != NULL)
        p->prev->next = p->next;
    else
        __atomic_store_n(&STATE.privates, p->next, __ATOMIC_RELEASE);
}

/* Removes the threads whose words have changed, and those that have entered the list
 * before `round`; returns their number, at most `max`.  Under list_lock. */
static int block_private_remove(_Atomic uint32_t **futex, int max, uint64_t round)
{
    struct block_private *next;
    int n = 0;

    for (struct block_private *p = STATE.privates; p != NULL && n < max; p = next) {
        next = p->next;
        if (p->round >= round && load_relaxed_u32(p->word) == p->seen)
            continue;
        futex[n++] = &p->woken;
        block_private_unlink(p);
        atomic_store_explicit(&p->woken, 1, memory_order_release);
    }
    return n;
}

/* Wakes the threads whose words have changed or, at most `max`, all that are in the list
 * now.  A thread that was removed may return, and its futex be gone, before it is woken:
 * only the address is used. */
static int block_private_wake(bool all, int max)
{
    _Atomic uint32_t *futex[WAKES_AT_ONCE];
    const int most = max < WAKES_AT_ONCE ? max : WAKES_AT_ONCE;
    uint64_t round = 0;
    int n, sum = 0;

    pgas_thread.locks++; /* a signal handler must not finalize (net_inside) */
    do {
        pthread_mutex_lock(&STATE.list_lock);
        if (all && round == 0)
            round = ++STATE.round;
        n = block_private_remove(futex, most, round);
        pthread_mutex_unlock(&STATE.list_lock);
        for (int i = 0; i < n; i++)
            os_futex_wake(futex[i]);
        sum += n;
    } while (n == WAKES_AT_ONCE && sum < max);
    pgas_thread.locks--;
    return sum;
}

static bool block_private_any(void)
{
    return __atomic_load_n(&STATE.privates, __ATOMIC_ACQUIRE) != NULL;
}

static void block_private_enter(struct block_private *p, const uint32_t *word)
{
    *p = (struct block_private){.word = word, .seen = load_relaxed_u32(word)};
    pthread_mutex_lock(&STATE.list_lock);
    block_private_link(p);
    pthread_mutex_unlock(&STATE.list_lock);
}

/* Dekker's pattern: this thread enters the list, executes a fence and checks its
 * condition; a thread that makes progress changes the word, executes a fence
 * (block_sleepers_changed) and reads the list.  Model: tests/models/private.pml. */
static void block_private_arm(struct block_private *p)
{
    pthread_mutex_lock(&STATE.list_lock);
    if (atomic_load_explicit(&p->woken, memory_order_acquire) != 0)
        block_private_link(p);
    p->seen = load_relaxed_u32(p->word);
    pthread_mutex_unlock(&STATE.list_lock);
    fence_full();
}

static void block_private_leave(struct block_private *p)
{
    pthread_mutex_lock(&STATE.list_lock);
    if (atomic_load_explicit(&p->woken, memory_order_acquire) == 0)
        block_private_unlink(p);
    pthread_mutex_unlock(&STATE.list_lock);
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
 * change.  Model: tests/models/progress.pml.
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

/* Whether a word of the threads that share `wake` has changed. */
static enum block_change block_listed_changed(const struct node_pe *me)
{
    enum block_change change = BLOCK_UNCHANGED;

    pthread_mutex_lock(&STATE.list_lock);
    if (STATE.unlisted > 0)
        change = BLOCK_UNKNOWN;
    for (int i = 0; i < NODE_SLEEP_SLOTS; i++)
        if (atomic_load_explicit(&me->sleep_key[i], memory_order_relaxed) != 0 &&
            block_sleeper_changed(&STATE.sleeper[i]))
            change = BLOCK_CHANGED;
    pthread_mutex_unlock(&STATE.list_lock);
    return change;
}

/* ---- watches of words of another PE's heap ------------------------------------------
 */

enum { WATCH_BUSY = (1 << NODE_WATCH_BITS) - 1 }; /* its watcher still stores the rest */

static uint64_t block_watch_rank(uint64_t watch)
{
    return watch & WATCH_BUSY;
}

static uint64_t block_watch_unit(const uint64_t *word)
{
    return ((uintptr_t)word - pgas_self.heap_base) / sizeof(uint64_t);
}

static bool block_watch_swap(struct node_pe *holder, uint64_t from, uint64_t to)
{
    return atomic_compare_exchange_strong_explicit(
        &holder->watch, &from, to, memory_order_acq_rel, memory_order_relaxed);
}

/* Ends a watch of a word of this PE, and wakes the sleepers of the PE that set it. */
static void block_end_watch(struct node_pe *me, uint64_t watch)
{
    if (block_watch_swap(me, watch, 0) && block_watch_rank(watch) != WATCH_BUSY)
        block_wake(&pgas_self.node->pe[block_watch_rank(watch) - 1], NULL, 0);
}

/* The watch of this PE. */
static uint64_t block_own_watch(const uint64_t *word)
{
    return block_watch_unit(word) << NODE_WATCH_BITS |
           ((uint64_t)pgas_self.local_rank + 1);
}

bool block_watch(struct node_pe *holder, const uint64_t *word, uint64_t seen)
{
    if (!block_watch_swap(holder, 0, WATCH_BUSY))
        return false;
    atomic_store_explicit(&holder->watch_seen, seen, memory_order_relaxed);
    /* Fails if the holder has found WATCH_BUSY for too long. */
    if (!block_watch_swap(holder, WATCH_BUSY, block_own_watch(word)))
        return false;
    fence_full();
    block_end_nap(holder);
    return true;
}

bool block_watched(void)
{
    const struct node_pe *me = &pgas_self.node->pe[pgas_self.local_rank];

    return atomic_load_explicit(&me->watch, memory_order_relaxed) != 0;
}

void block_end_nap(struct node_pe *pe)
{
    if (atomic_load_explicit(&pe->nap, memory_order_relaxed) != 0 &&
        atomic_exchange_explicit(&pe->nap, 0, memory_order_acq_rel) != 0)
        os_futex_wake(&pe->nap);
}

void block_unwatch(struct node_pe *holder, const uint64_t *word)
{
    uint64_t own = block_own_watch(word);

    if (atomic_load_explicit(&holder->watch, memory_order_relaxed) == own)
        (void)block_watch_swap(holder, own, 0);
}

bool block_serve_watch(void)
{
    struct node_pe *me = &pgas_self.node->pe[pgas_self.local_rank];
    uint64_t watch = atomic_load_explicit(&me->watch, memory_order_relaxed);

    if (watch != STATE.watch) {
        STATE.watch = watch;
        STATE.watch_since_ns = clock_ns();
    }
    if (likely(watch == 0))
        return false;
    if (clock_ns() - STATE.watch_since_ns <= TIMING_WATCH)
        return true;
    STATE.watch = 0;
    block_end_watch(me, watch);
    return false;
}

void block_cancel_watch(const uint64_t *word)
{
    struct node_pe *me = &pgas_self.node->pe[pgas_self.local_rank];
    uint64_t watch = atomic_load_explicit(&me->watch, memory_order_relaxed);

    if (unlikely(watch != 0) && block_watch_rank(watch) != WATCH_BUSY &&
        watch >> NODE_WATCH_BITS == block_watch_unit(word))
        (void)block_watch_swap(me, watch, 0);
}

/* Called after progress and a full fence. */
static void block_wake_watcher(struct node_pe *me)
{
    uint64_t watch = atomic_load_explicit(&me->watch, memory_order_acquire);
    uint64_t unit = watch >> NODE_WATCH_BITS;

    if (likely(watch == 0) || block_watch_rank(watch) == WATCH_BUSY ||
        block_load_unit((const uint64_t *)pgas_self.heap_base + unit) ==
            atomic_load_explicit(&me->watch_seen, memory_order_relaxed))
        return;
    block_end_watch(me, watch);
}

enum block_change block_sleepers_changed(void)
{
    struct node_pe *me = &pgas_self.node->pe[pgas_self.local_rank];
    enum block_change change = BLOCK_UNCHANGED;

    fence_full();
    block_wake_watcher(me);
    bool privates = block_private_any(),
         listed = atomic_load_explicit(&me->sleep_mask, memory_order_acquire) != 0;
    if (!privates && !listed)
        return BLOCK_UNCHANGED;
    pgas_thread.locks++; /* a signal handler must not finalize (net_inside) */
    if (privates)
        block_private_wake(false, INT_MAX);
    if (listed)
        change = block_listed_changed(me);
    pgas_thread.locks--;
    return change;
}

/* Publishes a sleeper; the block_poke of every later store to the word sees it. */
static int block_list_fenced(struct node_pe *me, const void *word)
{
    int slot = block_list(me, word);

    if (pgas_self.membarrier)
        os_membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
    return slot;
}

/* ---- this PE's threads ------------------------------------------------------------- */

void block_wake_listed(void)
{
    block_wake(&pgas_self.node->pe[pgas_self.local_rank], NULL, 0);
}

void block_wake_own(void)
{
    block_wake_listed();
    fence_full(); /* after what the threads are to see (block_private_arm) */
    if (block_private_any())
        block_private_wake(true, INT_MAX);
}

void block_wake_one(void)
{
    if (block_private_wake(true, 1) == 0)
        block_wake_listed();
}

bool block_any_sleeps(void)
{
    const struct node_pe *me = &pgas_self.node->pe[pgas_self.local_rank];

    return block_private_any() ||
           atomic_load_explicit(&me->sleep_mask, memory_order_acquire) != 0;
}

void block_sleep_enter(struct block_sleep *s, const struct block_wait *w, bool any)
{
    *s =
        (struct block_sleep){.me = &pgas_self.node->pe[pgas_self.local_rank],
                             .any = any,
                             .is_private = !any && w->word == NULL && w->private != NULL};
    if (s->is_private)
        block_private_enter(&s->private, w->private);
    else
        s->slot = block_list_fenced(s->me, any ? NULL : w->word);
}

uint32_t block_sleep_arm(struct block_sleep *s)
{
    if (s->is_private) {
        block_private_arm(&s->private);
        return 0;
    }
    uint32_t seen = atomic_load_explicit(&s->me->wake, memory_order_acquire);
    block_sleeper_record(s->slot);
    return seen;
}

void block_sleep_for(struct block_sleep *s, uint32_t seen, uint64_t ns)
{
    os_futex_wait(s->is_private ? &s->private.woken : &s->me->wake, seen, ns);
}

void block_sleep_leave(struct block_sleep *s)
{
    if (s->is_private)
        block_private_leave(&s->private);
    else
        block_unlist(s->me, s->slot);
}
