/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lock.c - see lock.h.  Uses: rma, amo_at, order, core/block, core/log.
 *
 * An MCS lock whose queue node fits into the lock word.  The 8 bytes of a lock hold two
 * 32-bit words on each PE:
 *   tail  valid on the lock's home PE: the last PE of the queue + 1; 0 = free.
 *   qnode this PE's queue node.  QNODE_BUSY: a thread of the PE is in the queue or holds
 *         the lock.  QNODE_WAITS: the predecessor holds the lock.  The other bits: the
 *         successor + 1; 0 = not stored yet.
 * A free lock is all zero, and `qnode` is 0 on every PE that is not in the queue.  A PE
 * that swaps itself into `tail` behind another PE stores its number in the predecessor's
 * qnode and waits until the predecessor clears QNODE_WAITS.  The threads of a PE compete
 * for its qnode.  The home PE is derived from the lock's address, which distributes locks
 * over the PEs.
 *
 * Invariants: a PE sets QNODE_BUSY before it swaps itself into `tail`, and clears its
 * qnode only after it has replaced itself in `tail` by 0 or knows its successor.  Hence
 *   - a PE that obtains p from `tail` by a swap finds QNODE_BUSY set and no successor in
 *     p's qnode until it has stored its own number there;
 *   - while p's qnode is 0, `tail` is not p + 1.
 * A word that was not initialised to 0, or that the program has modified, violates them:
 * see lock_bad_word and lock_probe.
 */
#include "config.h"

#include <string.h>

#include "include/shmem.h"
#include "include/shmemx.h"
#include "pgas/core/base/log.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/ft/ft.h"
#include "pgas/rma/amo_at.h"
#include "pgas/rma/lock.h"
#include "pgas/rma/lock_owner.h"
#include "pgas/rma/order.h"
#include "pgas/rma/rma.h"

#define QNODE_WAITS 0x80000000u
#define QNODE_BUSY  0x40000000u
#define QNODE_PROBE                                                                      \
    0x20000000u /* the only bit set: another PE probes this qnode, see lock_probe */
#define QNODE_NEXT 0x1fffffffu

struct words {
    uint32_t tail;
    uint32_t qnode;
};

_Static_assert(sizeof(struct words) <= sizeof(long), "a lock word holds a queue node");

static struct words *lock_words(long *lock, int pe, const char *fn)
{
    return peer_at(lock, sizeof *lock, pe, fn);
}

/* The symmetric addresses of the two words. */
static uint32_t *lock_tail(long *lock)
{
    return &((struct words *)lock)->tail;
}

static uint32_t *lock_qnode(long *lock)
{
    return &((struct words *)lock)->qnode;
}

/* An atomic operation on a word of any PE; returns the old value. */
static uint32_t lock_amo(enum transport_amo_op op, uint32_t *word, uint32_t value, int pe,
                         const char *fn)
{
    return (uint32_t)amo_at(op, word, sizeof *word, value, pe, fn);
}

static uint32_t lock_compare_swap(uint32_t *word, uint32_t expected, uint32_t value,
                                  int pe, const char *fn)
{
    return (uint32_t)amo_compare_swap_at(word, sizeof *word, expected, value, pe, fn);
}

/* The PE whose `tail` is used.  All PEs agree on it, because it depends on the offset in
 * the segment only. */
static int lock_home(const long *lock)
{
    const struct pgas *g = &pgas_self;
    size_t offset;
    enum transport_segment segment = symaddr_find(lock, sizeof *lock, &offset);

    PGAS_ASSERT(segment != SEGMENTS);
    (void)segment;
    return (int)(offset / sizeof(long) % g->npes);
}

static bool lock_not_waiting(const void *qnode)
{
    return (load_acquire_u32(qnode) & QNODE_WAITS) == 0;
}

static bool lock_not_busy(const void *qnode)
{
    return load_acquire_u32(qnode) == 0;
}

static bool lock_not_probed(const void *qnode)
{
    return load_acquire_u32(qnode) != QNODE_PROBE;
}

static bool lock_next_known(const void *qnode)
{
    return (load_acquire_u32(qnode) & QNODE_NEXT) != 0;
}

static void lock_wait_qnode(block_ready ready, const uint32_t *qnode, const long *lock,
                            const char *fn)
{
    block_until(
        &(struct block_wait){.ready = ready, .arg = qnode, .word = lock, .what = fn});
}

static _Noreturn void lock_bad_word(const long *lock, struct words words, int pe,
                                    const char *fn)
{
    long value;

    memcpy(&value, &words, sizeof value);
    log_misuse(
        "%s: argument 1 'lock' = %p: the word on PE %d is %ld, which is not the state of "
        "a lock; initialise a lock to 0 and modify it only by the lock routines",
        fn, (const void *)lock, pe, value);
}

/* Returns `qnode`, the value of this PE's qnode, if it is 0, QNODE_PROBE or that of a
 * queued PE; ends the job otherwise. */
static uint32_t lock_qnode_checked(const struct words *mine, uint32_t qnode,
                                   const long *lock, const char *fn)
{
    bool busy = (qnode & QNODE_BUSY) != 0 && (qnode & QNODE_PROBE) == 0;

    if (qnode == 0 || qnode == QNODE_PROBE ||
        (busy && (qnode & QNODE_NEXT) <= pgas_self.npes))
        return qnode;
    lock_bad_word(lock, (struct words){load_relaxed_u32(&mine->tail), qnode},
                  pgas_self.me, fn);
}

/* Returns `tail` if it is 0 or a PE + 1; ends the job otherwise. */
static uint32_t lock_tail_checked(uint32_t tail, const long *lock, const char *fn)
{
    if (tail > pgas_self.npes)
        lock_bad_word(lock, (struct words){.tail = tail}, lock_home(lock), fn);
    return tail;
}

/* A block_ready function: true once QNODE_PROBE is stored in the PE's qnode or the qnode
 * was found busy; false while another PE's probe is stored. */
struct probe {
    long *lock;
    int pe;
    const char *fn;
    uint32_t old;
};

static bool lock_probe_stored(const void *arg)
{
    struct probe *p = (struct probe *)(uintptr_t)arg;

    p->old = lock_compare_swap(lock_qnode(p->lock), 0, QNODE_PROBE, p->pe, p->fn);
    return p->old != QNODE_PROBE;
}

/*
 * Under SHMEM_DEBUG, before this PE enters the queue: verifies that the PE named by
 * `tail` is in the queue.  If its qnode is 0, the probe stores QNODE_PROBE there, which
 * keeps that PE from entering, and reads `tail` again: it is invalid if it still names
 * that PE.  (Only the home PE's `tail` is used.)  A correct lock is not reported, even if
 * it changes between the two reads.  A word that was invalid before its first use is
 * always found: no PE enters the queue before it has probed, so the first probe finds the
 * qnode 0.
 */
static void lock_probe(long *lock, const struct words *mine, const char *fn)
{
    int home = lock_home(lock);
    uint32_t own = load_relaxed_u32(&mine->tail);

    (void)lock_qnode_checked(mine, load_relaxed_u32(&mine->qnode), lock, fn);
    if (home != pgas_self.me && own != 0)
        lock_bad_word(lock, (struct words){.tail = own}, pgas_self.me, fn);
    uint32_t tail = lock_amo(TRANSPORT_AMO_FETCH, lock_tail(lock), 0, home, fn);
    if (lock_tail_checked(tail, lock, fn) == 0)
        return;
    struct probe probe = {lock, (int)tail - 1, fn, 0};
    if (!lock_probe_stored(&probe))
        block_until(
            &(struct block_wait){.ready = lock_probe_stored, .arg = &probe, .what = fn});
    if (probe.old != 0)
        return;
    if (lock_amo(TRANSPORT_AMO_FETCH, lock_tail(lock), 0, home, fn) == tail)
        lock_bad_word(lock, (struct words){.tail = tail}, home, fn);
    lock_amo(TRANSPORT_AMO_SWAP, lock_qnode(lock), 0, (int)tail - 1, fn);
}

/* Acquires this PE's qnode for the calling thread. */
static void lock_acquire_qnode(struct words *mine, const long *lock, const char *fn)
{
    uint32_t old;

    while ((old = cas_acq_rel_u32(&mine->qnode, 0, QNODE_BUSY | QNODE_WAITS)) != 0) {
        if (lock_qnode_checked(mine, old, lock, fn) != QNODE_PROBE &&
            pgas_self.thread_level < SHMEM_THREAD_SERIALIZED)
            log_misuse("%s: this PE already holds the lock at %p", fn,
                       (const void *)lock);
        lock_wait_qnode(lock_not_busy, &mine->qnode, lock, fn);
    }
}

/* Releases the qnode to other threads of this PE. */
static void lock_release_qnode(uint32_t *qnode, const long *lock)
{
    PGAS_ASSERT((load_relaxed_u32(qnode) & QNODE_BUSY) != 0);
    store_release_u32(qnode, 0);
    rma_changed(lock, sizeof *lock, pgas_self.me);
}

/* Stores this PE as the successor in the qnode of the previous tail.  That PE is still in
 * the queue and has no successor, by the invariants above. */
static void lock_link_successor(uint32_t before, long *lock, const char *fn)
{
    uint32_t me = (uint32_t)pgas_self.me + 1;
    int pe = (int)lock_tail_checked(before, lock, fn) - 1;
    PGAS_ASSERT(before != 0);
    uint32_t old = lock_amo(TRANSPORT_AMO_OR, lock_qnode(lock), me, pe, fn);

    if (before == me || (old & QNODE_BUSY) == 0 || (old & QNODE_NEXT) != 0)
        lock_bad_word(lock, (struct words){.tail = before}, lock_home(lock), fn);
}

/* lock_set, lock_try and lock_clear with SHMEM_FT=continue: the qnode only excludes other
 * threads of this PE, and shows that the PE holds the lock. */
static void lock_set_owner(struct words *mine, long *lock, const char *fn)
{
    lock_acquire_qnode(mine, lock, fn);
    if (lock_owner_set(lock, fn))
        fetch_and_acq_rel_u32(&mine->qnode, ~QNODE_WAITS);
    else
        lock_release_qnode(&mine->qnode, lock);
}

static bool lock_try_owner(struct words *mine, long *lock, const char *fn)
{
    if (cas_acq_rel_u32(&mine->qnode, 0, QNODE_BUSY) != 0)
        return false;
    if (lock_owner_try(lock, fn))
        return true;
    net_poll(); /* the program may call this routine in a loop */
    lock_release_qnode(&mine->qnode, lock);
    return false;
}

static void lock_clear_owner(struct words *mine, long *lock, const char *fn)
{
    order_quiet(SHMEM_CTX_DEFAULT, fn);
    lock_owner_clear(lock, fn);
    lock_release_qnode(&mine->qnode, lock);
}

void lock_set(long *lock, const char *fn)
{
    struct words *mine = lock_words(lock, pgas_self.me, fn);

    if (unlikely(pgas_self.ft != NULL)) {
        lock_set_owner(mine, lock, fn);
        return;
    }
    if (unlikely(pgas_self.checks))
        lock_probe(lock, mine, fn);
    lock_acquire_qnode(mine, lock, fn);
    uint32_t me = (uint32_t)pgas_self.me + 1;
    uint32_t before =
        lock_amo(TRANSPORT_AMO_SWAP, lock_tail(lock), me, lock_home(lock), fn);
    PGAS_ASSERT((load_relaxed_u32(&mine->qnode) & QNODE_BUSY) != 0);
    if (before == 0) {
        /* Clear only this bit: a successor may have stored its number already. */
        fetch_and_acq_rel_u32(&mine->qnode, ~QNODE_WAITS);
        return;
    }
    lock_link_successor(before, lock, fn);
    lock_wait_qnode(lock_not_waiting, &mine->qnode, lock, fn);
    PGAS_ASSERT((load_relaxed_u32(&mine->qnode) & (QNODE_BUSY | QNODE_WAITS)) ==
                QNODE_BUSY);
}

bool lock_try(long *lock, const char *fn)
{
    struct words *mine = lock_words(lock, pgas_self.me, fn);
    uint32_t old;

    if (unlikely(pgas_self.ft != NULL))
        return lock_try_owner(mine, lock, fn);
    if (unlikely(pgas_self.checks))
        lock_probe(lock, mine, fn);
    while ((old = cas_acq_rel_u32(&mine->qnode, 0, QNODE_BUSY)) == QNODE_PROBE)
        lock_wait_qnode(lock_not_probed, &mine->qnode, lock, fn);
    if (lock_qnode_checked(mine, old, lock, fn) != 0)
        return false;
    old = lock_compare_swap(lock_tail(lock), 0, (uint32_t)pgas_self.me + 1,
                            lock_home(lock), fn);
    if (lock_tail_checked(old, lock, fn) == 0)
        return true;
    net_poll(); /* the program may call this routine in a loop */
    lock_release_qnode(&mine->qnode, lock);
    return false;
}

/* The successor in the queue, or -1 if there was none and the lock is free now. */
static int lock_successor(struct words *mine, long *lock, const char *fn)
{
    uint32_t me = (uint32_t)pgas_self.me + 1;

    if (!lock_next_known(&mine->qnode)) {
        if (lock_compare_swap(lock_tail(lock), me, 0, lock_home(lock), fn) == me)
            return -1;
        /* A successor has swapped `tail` and is about to store its number here. */
        lock_wait_qnode(lock_next_known, &mine->qnode, lock, fn);
    }
    uint32_t qnode = load_acquire_u32(&mine->qnode);
    return (int)(lock_qnode_checked(mine, qnode, lock, fn) & QNODE_NEXT) - 1;
}

void lock_clear(long *lock, const char *fn)
{
    struct words *mine = lock_words(lock, pgas_self.me, fn);

    bool held =
        (load_acquire_u32(&mine->qnode) & (QNODE_BUSY | QNODE_WAITS)) == QNODE_BUSY;

    if (!held && pgas_self.ft != NULL && ft_unacknowledged())
        return; /* lock_set has returned because the home PE had failed */
    if (!held)
        log_misuse("%s: this PE does not hold the lock at %p", fn, (void *)lock);
    if (unlikely(pgas_self.ft != NULL)) {
        lock_clear_owner(mine, lock, fn);
        return;
    }
    /* Make all updates of the critical section visible to the next owner. */
    order_quiet(SHMEM_CTX_DEFAULT, fn);
    int next = lock_successor(mine, lock, fn);
    PGAS_ASSERT(next >= -1 && next < (int)pgas_self.npes && next != pgas_self.me);
    lock_release_qnode(&mine->qnode, lock);
    if (next >= 0)
        amo_post(SHMEM_CTX_DEFAULT, TRANSPORT_AMO_AND, lock_qnode(lock), sizeof(uint32_t),
                 (uint32_t)~QNODE_WAITS, next, fn);
}

int lock_status(const long *lock)
{
    return pgas_self.ft != NULL && lock_owner_lost(lock) ? SHMEMX_ERR_PE_FAILED : 1;
}
