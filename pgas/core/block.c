/* SPDX-License-Identifier: BSD-3-Clause */
/* block.c - see block.h.  Uses: pgas.h, clock, net, threads.  Used by: rma, coll, node.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "pgas/core/block.h"
#include "pgas/core/clock.h"
#include "pgas/core/net.h"
#include "pgas/core/pgas_assert.h"
#include "pgas/threads/pause.h"

enum {
    SPINS_EAGER = 64,             /* looks before the first reading of the clock */
    SPINS_CROWDED = 4,            /* all looks with more PEs than processors */
    SPINS_PER_CLOCK = 16,         /* looks between two readings of the clock */
    POLLS_PER_CLOCK = 4,          /* the same where the network is polled at each look */
    SLEEP_FIRST_PART = 16,        /* the first sleep is this part of the longest */
    SLEEP_BLIND_NS = 1000 * 1000, /* the longest where any store may go unseen */
    NAP_WORK_NS = 1000 * 1000,    /* the longest nap while there is work */
    SLEEP_SHORT_NS = 200 * 1000,  /* see stay_awake */
    AWAKE_SPINS = 4,              /* times env.spin_ns between two offers to give way */
    OTHER_RAN_NS = 2000,          /* to give way takes less when nobody wants it */
    OTHERS_RAN_MAX = 8,
    AWAKE_FIRST_NS = 50 * 1000,
    AWAKE_MAX_NS = 8000 * 1000,
};

/* sleep_mask of a PE that any store must wake.  A mask made of keys never has all bits.
 */
#define ANY UINT64_MAX
_Static_assert(NODE_SLEEP_SLOTS < 64, "keys do not fill the mask");

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static int unlisted; /* sleepers of this process without a slot; under list_lock */

static _Thread_local int depth; /* of block_until in this thread */

static PGAS_PE_LOCAL void (*the_work)(void);

void block_set_work(void (*work)(void))
{
    __atomic_store_n(&the_work, work, __ATOMIC_RELEASE);
    if (work != NULL) /* who sleeps for one word shall sleep for any */
        block_wake(&pgas_self.node->pe[pgas_self.local_rank], NULL, 0);
}

static bool has_work(void)
{
    return __atomic_load_n(&the_work, __ATOMIC_RELAXED) != NULL;
}

static void do_work(void)
{
    void (*work)(void) = __atomic_load_n(&the_work, __ATOMIC_ACQUIRE);

    if (unlikely(work != NULL))
        work();
}

static int membarrier_call(int command)
{
    return (int)syscall(SYS_membarrier, command, 0, 0);
}

void block_init(void)
{
    pgas_self.membarrier = membarrier_call(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
}

/*
 * A word's place in its segment, in 8-byte units, as the same number on all PEs: heap
 * words are even, data words odd; never 0, and 0 for an address in neither.
 */
static uint64_t key_of(const void *addr)
{
    const struct pgas *g = &pgas_self;
    uint64_t heap = (uintptr_t)addr - g->heap_base;
    uint64_t data = (uintptr_t)addr - g->data_base;

    if (heap < g->heap_len)
        return (heap / sizeof(uint64_t) + 1) * 2;
    if (data < g->data_len)
        return (data / sizeof(uint64_t) + 1) * 2 + 1;
    return 0;
}

static bool sleeps_for(const struct node_pe *pe, const void *addr, size_t len)
{
    uint64_t first = key_of(addr);
    uint64_t units = ((uintptr_t)addr % sizeof(uint64_t) + len + sizeof(uint64_t) - 1) /
                     sizeof(uint64_t);

    /* The mask was loaded before: whoever's bit was in it has its key in a slot by now.
     */
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
    if (addr != NULL && !sleeps_for(pe, addr, len))
        return;
    atomic_fetch_add_explicit(&pe->wake, 1, memory_order_release);
    syscall(SYS_futex, &pe->wake, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

uint64_t block_wake_then(struct node_pe *pe, const void *addr, size_t len, uint64_t value)
{
    block_wake(pe, addr, len);
    return value;
}

/* Look n times.  A pause `between` matters beyond politeness: without it the processor
 * has many looks under way, and must drop them all when the awaited store comes. */
ALWAYS_INLINE bool look(block_ready ready, const void *arg, int n, void (*between)(void))
{
    for (; n > 0; n--) {
        if (ready(arg))
            return true;
        between();
    }
    return false;
}

/* In a job with far PEs the network is moved on between two looks. */
static bool spin_for(block_ready ready, const void *arg, uint64_t ns)
{
    bool far = pgas_self.net != NULL;
    uint64_t end = clock_ns() + ns;

    while (clock_ns() < end) {
        if (unlikely(far) ? look(ready, arg, POLLS_PER_CLOCK, net_poll)
                          : look(ready, arg, SPINS_PER_CLOCK, cpu_pause))
            return true;
        do_work();
    }
    return false;
}

/* A PE of this node may be quick: so the network is left alone at first. */
bool block_spin(block_ready ready, const void *arg)
{
    return look(ready, arg, SPINS_EAGER, cpu_pause) ||
           spin_for(ready, arg, pgas_self.env.spin_ns);
}

/* With more PEs than processors a few looks, since the other may need our processor. */
static bool spin(const struct block_wait *w)
{
    if (pgas_self.oversubscribed)
        return look(w->ready, w->arg, SPINS_CROWDED, cpu_pause);
    if (w->far)
        return spin_for(w->ready, w->arg, pgas_self.env.spin_ns);
    return block_spin(w->ready, w->arg);
}

/* Let others have the processor: did one want it? */
static bool give_way(void)
{
    uint64_t begin = clock_ns();

    sched_yield();
    return clock_ns() - begin > OTHER_RAN_NS;
}

/*
 * For ns let others have the processor, and look in between, spin_ns long.  Hosts that
 * are containers, or share a machine, do not know how many want its processors; so who is
 * not told that there are too many PEs, and finds that others do want it, gives up soon,
 * to sleep: by giving way again and again it would get far behind those that spin.
 */
static bool yield(const struct block_wait *w, uint64_t ns, uint64_t spin_ns)
{
    uint64_t end = clock_ns() + ns;
    int patience = pgas_self.oversubscribed ? INT_MAX : OTHERS_RAN_MAX;

    do {
        if (spin_ns > 0 && spin_for(w->ready, w->arg, spin_ns))
            return true;
        net_poll();
        do_work();
        patience -= give_way();
        if (w->ready(w->arg))
            return true;
    } while (patience > 0 && clock_ns() < end);
    return false;
}

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S),
                             .tv_nsec = (long)(ns % NS_PER_S)};
}

void block_sleep(uint64_t ns)
{
    struct timespec left = timespec_of(ns);

    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

/* One sleep of at most ns; returns at once if `wake` is no longer `seen`. */
static void sleep_on(struct node_pe *me, uint32_t seen, uint64_t ns)
{
    struct timespec limit = timespec_of(ns);

    syscall(SYS_futex, &me->wake, FUTEX_WAIT, seen, &limit, NULL, 0);
}

/* The mask bit of a key: the line in its page, as segments begin on a page. */
static uint64_t bit_of(uint64_t key)
{
    return (uint64_t)1 << ((key / 2 - 1) * sizeof(uint64_t) / NODE_LINE % 64);
}

/* Called with list_lock held: the mask that the sleepers of this PE need now. */
static void publish_mask(struct node_pe *me)
{
    uint64_t mask = unlisted > 0 ? ANY : 0;

    for (int i = 0; i < NODE_SLEEP_SLOTS; i++) {
        uint64_t key = atomic_load_explicit(&me->sleep_key[i], memory_order_relaxed);
        mask |= key != 0 ? bit_of(key) : 0;
    }
    PGAS_ASSERT(unlisted > 0 || mask != ANY);
    atomic_store_explicit(&me->sleep_mask, mask, memory_order_seq_cst);
}

static int free_slot(const struct node_pe *me)
{
    for (int i = 0; i < NODE_SLEEP_SLOTS; i++)
        if (atomic_load_explicit(&me->sleep_key[i], memory_order_relaxed) == 0)
            return i;
    return -1;
}

/* Say what word we are going to sleep for.  Returns the slot, or -1 for none: then any
 * store wakes us. */
static int list(struct node_pe *me, const void *word)
{
    uint64_t key = word != NULL ? key_of(word) : 0;

    pthread_mutex_lock(&list_lock);
    int slot = key != 0 ? free_slot(me) : -1;
    if (slot >= 0)
        atomic_store_explicit(&me->sleep_key[slot], key, memory_order_release);
    else
        unlisted++;
    PGAS_ASSERT(unlisted >= 0);
    publish_mask(me);
    pthread_mutex_unlock(&list_lock);
    return slot;
}

static void unlist(struct node_pe *me, int slot)
{
    PGAS_ASSERT(slot >= -1 && slot < NODE_SLEEP_SLOTS);
    PGAS_ASSERT(slot < 0 || atomic_load(&me->sleep_key[slot]) != 0);
    pthread_mutex_lock(&list_lock);
    if (slot >= 0)
        atomic_store_explicit(&me->sleep_key[slot], 0, memory_order_release);
    else
        unlisted--;
    PGAS_ASSERT(unlisted >= 0);
    publish_mask(me);
    pthread_mutex_unlock(&list_lock);
}

/* The longest sleep. */
static uint64_t sleep_max_ns(void)
{
    uint64_t ns = pgas_self.env.sleep_ns;
    /* With SHMEM_CHAOS on one node the transport stores to our memory unannounced. */
    bool blind = !pgas_self.membarrier || (pgas_self.net != NULL && pgas_self.nnodes < 2);

    return !blind || ns < SLEEP_BLIND_NS ? ns : SLEEP_BLIND_NS;
}

/*
 * After a sleep that the progress thread has ended, as others use this PE: stay awake for
 * a while, the longer the more often that happens soon after we have gone to sleep.  A PE
 * that waits while others get from it or add to it serves them at once then, and nobody
 * has to wake it.
 */
static bool stay_awake(const struct block_wait *w, uint64_t slept_ns, uint64_t *awake_ns)
{
    if (!net_is_mine() || slept_ns > SLEEP_SHORT_NS)
        *awake_ns = 0;
    if (!net_is_mine())
        return false;
    *awake_ns = *awake_ns == 0 ? AWAKE_FIRST_NS : *awake_ns * 2;
    *awake_ns = *awake_ns < AWAKE_MAX_NS ? *awake_ns : AWAKE_MAX_NS;
    return yield(w, *awake_ns, AWAKE_SPINS * pgas_self.env.spin_ns);
}

/* How long to sleep at most, when we wanted to sleep for ns: what only this thread moves
 * on has been moved on. */
static uint64_t moved_on(uint64_t ns)
{
    if (likely(!net_alone()))
        return ns;
    net_poll();
    net_idle(); /* that was all for now */
    return ns < SLEEP_BLIND_NS ? ns : SLEEP_BLIND_NS;
}

/* List a sleeper, so that whoever stores from now on sees it. */
static int listed(struct node_pe *me, const void *word)
{
    int slot = list(me, word);

    if (pgas_self.membarrier)
        membarrier_call(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
    return slot;
}

/*
 * What a thread of this PE waits for, for reports.  One thread at a time has written the
 * text: it has set what_taken (acquire) and clears it after the text (release).  A thread
 * that waits while another has it looks again each time it sleeps.
 */
static uint32_t what_taken;
static _Thread_local bool what_mine; /* this thread has it */

static void what_claim(struct node_pe *me, const char *what)
{
    uint64_t words[NODE_WHAT / sizeof(uint64_t)] = {0};

    /* What a wait inside another one waits for says less. */
    if (depth != 1 || what_mine || load_relaxed_u32(&what_taken) != 0 ||
        cas_acq_rel_u32(&what_taken, 0, 1) != 0)
        return;
    what_mine = true;
    strncpy((char *)words, what, NODE_WHAT - 1);
    for (size_t i = 0; i < NODE_WHAT / sizeof(uint64_t); i++)
        atomic_store_explicit(&me->what[i], words[i], memory_order_relaxed);
    atomic_store_explicit(&me->what_ns, clock_ns(), memory_order_relaxed);
}

static void what_release(struct node_pe *me)
{
    PGAS_ASSERT(depth == 0);
    if (!what_mine)
        return;
    atomic_store_explicit(&me->what[0], 0, memory_order_relaxed);
    what_mine = false;
    store_release_u32(&what_taken, 0);
}

static void sleep_until(struct node_pe *me, const struct block_wait *w)
{
    uint64_t ns_max = sleep_max_ns(), ns = ns_max / SLEEP_FIRST_PART, awake_ns = 0;
    bool any = has_work();
    int slot = listed(me, any ? NULL : w->word);
    uint64_t begin = clock_ns();

    for (;;) {
        /* The order matters: mask, barrier, wake word, condition, sleep.  A poke after
         * the barrier changes the wake word, so that the sleep ends at once. */
        net_settle(); /* before, else it would end our sleep */
        uint32_t seen = atomic_load_explicit(&me->wake, memory_order_acquire);
        if (unlikely(!any && has_work())) {
            any = true;
            unlist(me, slot);
            slot = listed(me, NULL);
        }
        do_work();
        if (w->ready(w->arg))
            break;
        if (w->in_vain != NULL)
            w->in_vain(w->arg);
        what_claim(me, w->what);
        uint64_t now = clock_ns();
        net_watch(w->what, now - begin);
        net_idle();
        sleep_on(me, seen, moved_on(ns));
        if (stay_awake(w, clock_ns() - now, &awake_ns))
            break;
        ns = ns * 2 < ns_max ? ns * 2 : ns_max;
    }
    unlist(me, slot);
    net_idle(); /* as the progress thread may take it that we poll */
}

/* The same with the waiter's own way to sleep, which nobody has to end. */
static void nap_until(struct node_pe *me, const struct block_wait *w)
{
    uint64_t ns_max = pgas_self.env.sleep_ns;

    net_idle();
    while (!w->ready(w->arg)) {
        if (w->in_vain != NULL)
            w->in_vain(w->arg);
        do_work();
        what_claim(me, w->what);
        w->nap(w->arg, moved_on(has_work() ? NAP_WORK_NS : ns_max));
    }
}

void block_until(const struct block_wait *w)
{
    if (spin(w)) {
        net_settle();
        return;
    }
    struct node_pe *me = &pgas_self.node->pe[pgas_self.local_rank];
    PGAS_ASSERT(depth >= 0);
    depth++;
    what_claim(me, w->what);
    if (!yield(w, pgas_self.env.yield_ns, 0)) {
        if (w->nap != NULL)
            nap_until(me, w);
        else
            sleep_until(me, w);
    }
    if (--depth == 0)
        what_release(me);
    net_settle();
}

bool block_inside(void)
{
    return depth > 0;
}
