/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock.c - see lock.h.  Uses: rma, amo, order, core/block, core/log.
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
 */
#include "config.h"

#include "include/shmem.h"
#include "pgas/core/log.h"
#include "pgas/rma/amo.h"
#include "pgas/rma/lock.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"

#define NODE_WAITS 0x80000000u
#define NODE_BUSY  0x40000000u
#define NODE_NEXT  0x3fffffffu

struct words {
    uint32_t tail;
    uint32_t node;
};

_Static_assert(sizeof(struct words) <= sizeof(long), "a lock word holds a queue node");

static struct words *words_on(long *lock, int pe, const char *fn)
{
    return peer_at(lock, sizeof *lock, pe, fn);
}

/* The PE that keeps the tail: the same on all PEs, as the offset in the segment is. */
static int home_of(const long *lock)
{
    const struct pgas *g = &pgas_self;
    size_t offset = (uintptr_t)lock - g->heap_base;

    if (offset >= g->heap_len)
        offset = (uintptr_t)lock - g->data_base;
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

/* Take this PE's node for the calling thread. */
static void take_node(uint32_t *node, const long *lock, const char *fn)
{
    while (cas_acq_rel_u32(node, 0, NODE_BUSY | NODE_WAITS) != 0) {
        if (pgas_self.thread_level < SHMEM_THREAD_SERIALIZED)
            log_die("%s: this PE has the lock at %p already", fn, (const void *)lock);
        wait_node(not_busy, node, lock, fn);
    }
}

/* Give it back, for another thread of this PE. */
static void free_node(uint32_t *node, const long *lock)
{
    store_release_u32(node, 0);
    rma_changed(lock, sizeof *lock, pgas_self.me);
}

void lock_set(long *lock, const char *fn)
{
    peer_check(pgas_self.me, fn);
    struct words *mine = words_on(lock, pgas_self.me, fn);
    struct words *home = words_on(lock, home_of(lock), fn);

    take_node(&mine->node, lock, fn);
    uint32_t me = (uint32_t)pgas_self.me + 1, before = swap_acq_rel_u32(&home->tail, me);
    if (before == 0) {
        /* Only that bit: a PE behind us may have left its number already. */
        fetch_and_acq_rel_u32(&mine->node, ~NODE_WAITS);
        return;
    }
    fetch_or_acq_rel_u32(&words_on(lock, (int)before - 1, fn)->node, me);
    rma_changed(lock, sizeof *lock, (int)before - 1);
    wait_node(not_waiting, &mine->node, lock, fn);
}

bool lock_try(long *lock, const char *fn)
{
    peer_check(pgas_self.me, fn);
    struct words *mine = words_on(lock, pgas_self.me, fn);
    struct words *home = words_on(lock, home_of(lock), fn);

    if (cas_acq_rel_u32(&mine->node, 0, NODE_BUSY) != 0)
        return false;
    if (cas_acq_rel_u32(&home->tail, 0, (uint32_t)pgas_self.me + 1) == 0)
        return true;
    free_node(&mine->node, lock);
    return false;
}

/* The PE behind us in the queue, or -1 after the lock has become free. */
static int successor(struct words *mine, struct words *home, const long *lock,
                     const char *fn)
{
    uint32_t me = (uint32_t)pgas_self.me + 1;

    if (!next_known(&mine->node)) {
        if (cas_acq_rel_u32(&home->tail, me, 0) == me)
            return -1;
        /* Somebody is between its swap and telling us its number. */
        wait_node(next_known, &mine->node, lock, fn);
    }
    return (int)(load_acquire_u32(&mine->node) & NODE_NEXT) - 1;
}

void lock_clear(long *lock, const char *fn)
{
    peer_check(pgas_self.me, fn);
    struct words *mine = words_on(lock, pgas_self.me, fn);
    struct words *home = words_on(lock, home_of(lock), fn);

    if ((load_acquire_u32(&mine->node) & (NODE_BUSY | NODE_WAITS)) != NODE_BUSY)
        log_die("%s: this PE does not have the lock at %p", fn, (void *)lock);
    order_quiet(); /* all that was done under the lock is visible to the next owner */
    int next = successor(mine, home, lock, fn);
    free_node(&mine->node, lock);
    if (next < 0)
        return;
    fetch_and_acq_rel_u32(&words_on(lock, next, fn)->node, ~NODE_WAITS);
    rma_changed(lock, sizeof *lock, next);
}
