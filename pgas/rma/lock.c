/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock.c - see lock.h.  Uses: rma, amo_at, order, core/block, core/log.
 *
 * The 8 bytes of a lock hold two 32-bit words on each PE:
 *   tail  on the lock's home PE: the last PE of the queue + 1, 0 = the lock is free;
 *   node  on each PE, its place in the queue: NODE_BUSY while one of its threads is in
 * the queue or has the lock, NODE_WAITS while the PE before it has the lock, and in the
 *         other bits the next PE + 1, 0 = none is known yet.
 * All zero is a free lock, and `node` is 0 on every PE that is not in the queue.  Whoever
 * swaps itself into `tail` behind another PE tells that PE (next) and waits until it
 * takes NODE_WAITS away.  Threads of one PE compete for its node.  Homes are spread over
 * the PEs by the lock's address, so that many locks do not share one PE.
 *
 * A PE sets NODE_BUSY before it swaps itself into `tail`, and clears its node only after
 * it has put 0 there in its place or knows who is behind it.  So whoever finds PE p in
 * `tail` by a swap finds NODE_BUSY and no next in p's node, until it has told p; and
 * while p's node is 0, `tail` is not p.  A word that was not 0 at first, or that the
 * program has changed, breaks these rules: see bad_word and probe.
 */
#include "config.h"

#include <string.h>

#include "include/shmem.h"
#include "pgas/core/log.h"
#include "pgas/core/pgas_assert.h"
#include "pgas/rma/amo_at.h"
#include "pgas/rma/lock.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"

#define NODE_WAITS 0x80000000u
#define NODE_BUSY  0x40000000u
#define NODE_PROBE 0x20000000u /* alone: another PE keeps this one out, see probe */
#define NODE_NEXT  0x1fffffffu

struct words {
    uint32_t tail;
    uint32_t node;
};

_Static_assert(sizeof(struct words) <= sizeof(long), "a lock word holds a queue node");

static struct words *words_on(long *lock, int pe, const char *fn)
{
    return peer_at(lock, sizeof *lock, pe, fn);
}

/* The symmetric addresses of the two words. */
static uint32_t *tail_of(long *lock)
{
    return &((struct words *)lock)->tail;
}

static uint32_t *node_of(long *lock)
{
    return &((struct words *)lock)->node;
}

/* An operation on a word of another PE, near or far; what was there before. */
static uint32_t change(enum transport_amo_op op, uint32_t *word, uint32_t value, int pe,
                       const char *fn)
{
    return (uint32_t)amo_at(op, word, sizeof *word, value, pe, fn);
}

static uint32_t replace(uint32_t *word, uint32_t expected, uint32_t value, int pe,
                        const char *fn)
{
    return (uint32_t)amo_compare_swap_at(word, sizeof *word, expected, value, pe, fn);
}

/* The PE that keeps the tail: the same on all PEs, as the offset in the segment is. */
static int home_of(const long *lock)
{
    const struct pgas *g = &pgas_self;
    size_t offset = (uintptr_t)lock - g->heap_base;

    if (offset >= g->heap_len)
        offset = (uintptr_t)lock - g->data_base;
    PGAS_ASSERT(offset < g->heap_len || offset < g->data_len);
    return (int)(offset / sizeof(long) % g->npes);
}

static bool not_waiting(const void *node)
{
    return (load_acquire_u32(node) & NODE_WAITS) == 0;
}

static bool not_busy(const void *node)
{
    return load_acquire_u32(node) == 0;
}

static bool not_probed(const void *node)
{
    return load_acquire_u32(node) != NODE_PROBE;
}

static bool next_known(const void *node)
{
    return (load_acquire_u32(node) & NODE_NEXT) != 0;
}

static void wait_node(block_ready ready, const uint32_t *node, const long *lock,
                      const char *fn)
{
    block_until(
        &(struct block_wait){.ready = ready, .arg = node, .word = lock, .what = fn});
}

static _Noreturn void bad_word(const long *lock, struct words words, int pe,
                               const char *fn)
{
    long value;

    memcpy(&value, &words, sizeof value);
    log_die(
        "%s: argument 1 'lock' = %p: the word holds %ld on PE %d, which no lock holds; "
        "a lock must be 0 at first and be changed by the lock routines only",
        fn, (const void *)lock, value, pe);
}

/* What this PE has found in its own node is 0, or of a PE in the queue, or a probe. */
static uint32_t node_checked(const struct words *mine, uint32_t node, const long *lock,
                             const char *fn)
{
    bool busy = (node & NODE_BUSY) != 0 && (node & NODE_PROBE) == 0;

    if (node == 0 || node == NODE_PROBE || (busy && (node & NODE_NEXT) <= pgas_self.npes))
        return node;
    bad_word(lock, (struct words){load_relaxed_u32(&mine->tail), node}, pgas_self.me, fn);
}

/* What has been found in `tail` is 0 or a PE. */
static uint32_t tail_checked(uint32_t tail, const long *lock, const char *fn)
{
    if (tail > pgas_self.npes)
        bad_word(lock, (struct words){.tail = tail}, home_of(lock), fn);
    return tail;
}

/* block_ready: we have put NODE_PROBE in the PE's node, or found it busy; not while
 * another PE's probe is there. */
struct put_in {
    long *lock;
    int pe;
    const char *fn;
    uint32_t old;
};

static bool put_probe(const void *arg)
{
    struct put_in *p = (struct put_in *)(uintptr_t)arg;

    p->old = replace(node_of(p->lock), 0, NODE_PROBE, p->pe, p->fn);
    return p->old != NODE_PROBE;
}

/*
 * Under SHMEM_DEBUG, before this PE goes into the queue: is the PE that `tail` names in
 * it?  If its node is 0 it is not; put NODE_PROBE there, so that it can't come back, and
 * look whether `tail` still names it.  (Nobody but the home uses its `tail`.)  So a lock
 * is never blamed for what happens between two looks, and a word that was wrong before
 * anybody used it is always found: who probes first finds that PE's node 0, as nobody
 * goes into the queue before it has probed.
 */
static void probe(long *lock, const struct words *mine, const char *fn)
{
    int home = home_of(lock);
    uint32_t own = load_relaxed_u32(&mine->tail);

    (void)node_checked(mine, load_relaxed_u32(&mine->node), lock, fn);
    if (home != pgas_self.me && own != 0)
        bad_word(lock, (struct words){.tail = own}, pgas_self.me, fn);
    uint32_t tail = change(TRANSPORT_AMO_FETCH, tail_of(lock), 0, home, fn);
    if (tail_checked(tail, lock, fn) == 0)
        return;
    struct put_in put = {lock, (int)tail - 1, fn, 0};
    if (!put_probe(&put))
        block_until(&(struct block_wait){.ready = put_probe, .arg = &put, .what = fn});
    if (put.old != 0)
        return;
    if (change(TRANSPORT_AMO_FETCH, tail_of(lock), 0, home, fn) == tail)
        bad_word(lock, (struct words){.tail = tail}, home, fn);
    change(TRANSPORT_AMO_SWAP, node_of(lock), 0, (int)tail - 1, fn);
}

/* Take this PE's node for the calling thread. */
static void take_node(struct words *mine, const long *lock, const char *fn)
{
    uint32_t old;

    while ((old = cas_acq_rel_u32(&mine->node, 0, NODE_BUSY | NODE_WAITS)) != 0) {
        if (node_checked(mine, old, lock, fn) != NODE_PROBE &&
            pgas_self.thread_level < SHMEM_THREAD_SERIALIZED)
            log_die("%s: this PE has the lock at %p already", fn, (const void *)lock);
        wait_node(not_busy, &mine->node, lock, fn);
    }
}

/* Give it back, for another thread of this PE. */
static void free_node(uint32_t *node, const long *lock)
{
    PGAS_ASSERT((load_relaxed_u32(node) & NODE_BUSY) != 0);
    store_release_u32(node, 0);
    rma_changed(lock, sizeof *lock, pgas_self.me);
}

/* Tell the PE that was the last one of the queue that we are behind it.  It is still
 * there and knows of nobody, unless the words are no lock: see above. */
static void tell(uint32_t before, long *lock, const char *fn)
{
    uint32_t me = (uint32_t)pgas_self.me + 1;
    int pe = (int)tail_checked(before, lock, fn) - 1;
    PGAS_ASSERT(before != 0);
    uint32_t old = change(TRANSPORT_AMO_OR, node_of(lock), me, pe, fn);

    if (before == me || (old & NODE_BUSY) == 0 || (old & NODE_NEXT) != 0)
        bad_word(lock, (struct words){.tail = before}, home_of(lock), fn);
}

void lock_set(long *lock, const char *fn)
{
    struct words *mine = words_on(lock, pgas_self.me, fn);

    if (unlikely(pgas_self.checks))
        probe(lock, mine, fn);
    take_node(mine, lock, fn);
    uint32_t me = (uint32_t)pgas_self.me + 1;
    uint32_t before = change(TRANSPORT_AMO_SWAP, tail_of(lock), me, home_of(lock), fn);
    PGAS_ASSERT((load_relaxed_u32(&mine->node) & NODE_BUSY) != 0);
    if (before == 0) {
        /* Only that bit: a PE behind us may have left its number already. */
        fetch_and_acq_rel_u32(&mine->node, ~NODE_WAITS);
        return;
    }
    tell(before, lock, fn);
    wait_node(not_waiting, &mine->node, lock, fn);
    PGAS_ASSERT((load_relaxed_u32(&mine->node) & (NODE_BUSY | NODE_WAITS)) == NODE_BUSY);
}

bool lock_try(long *lock, const char *fn)
{
    struct words *mine = words_on(lock, pgas_self.me, fn);
    uint32_t old;

    if (unlikely(pgas_self.checks))
        probe(lock, mine, fn);
    while ((old = cas_acq_rel_u32(&mine->node, 0, NODE_BUSY)) == NODE_PROBE)
        wait_node(not_probed, &mine->node, lock, fn);
    if (node_checked(mine, old, lock, fn) != 0)
        return false;
    old = replace(tail_of(lock), 0, (uint32_t)pgas_self.me + 1, home_of(lock), fn);
    if (tail_checked(old, lock, fn) == 0)
        return true;
    net_poll(); /* the program asks again and again */
    free_node(&mine->node, lock);
    return false;
}

/* The PE behind us in the queue, or -1 after the lock has become free. */
static int successor(struct words *mine, long *lock, const char *fn)
{
    uint32_t me = (uint32_t)pgas_self.me + 1;

    if (!next_known(&mine->node)) {
        if (replace(tail_of(lock), me, 0, home_of(lock), fn) == me)
            return -1;
        /* Somebody is between its swap and telling us its number. */
        wait_node(next_known, &mine->node, lock, fn);
    }
    uint32_t node = load_acquire_u32(&mine->node);
    return (int)(node_checked(mine, node, lock, fn) & NODE_NEXT) - 1;
}

void lock_clear(long *lock, const char *fn)
{
    struct words *mine = words_on(lock, pgas_self.me, fn);

    if ((load_acquire_u32(&mine->node) & (NODE_BUSY | NODE_WAITS)) != NODE_BUSY)
        log_die("%s: this PE does not have the lock at %p", fn, (void *)lock);
    /* All that was done under the lock is visible to the next owner. */
    order_quiet(SHMEM_CTX_DEFAULT, fn);
    int next = successor(mine, lock, fn);
    PGAS_ASSERT(next >= -1 && next < (int)pgas_self.npes && next != pgas_self.me);
    free_node(&mine->node, lock);
    if (next >= 0)
        amo_post(TRANSPORT_AMO_AND, node_of(lock), sizeof(uint32_t),
                 (uint32_t)~NODE_WAITS, next, fn);
}
