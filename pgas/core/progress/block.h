/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block.h - the only functions that wait for another PE, and the wake-up protocol.
 *
 * A waiter spins, then yields the processor, then sleeps on the futex word `wake` of its
 * record in the node segment.  A PE that stores to the memory of another PE then calls
 * block_poke for that PE.  This costs one load of a read-mostly cache line while no
 * thread of the target sleeps, and a few loads while one sleeps on another word, since
 * the record contains the words on which threads sleep.
 *
 * No wake-up is lost, although block_poke has no fence between the caller's store and the
 * load of `sleep_mask` (Dekker's pattern).  The sleeper sets its bit, executes a full
 * barrier on every processor that runs a PE (membarrier), checks the word again and then
 * sleeps.  If the load of the mask precedes that barrier, so does the store, and the
 * sleeper's check sees the store; if the load follows the barrier, it sees the bit.
 * Without membarrier (old kernel, seccomp) sleeps are short instead.  Every sleep is
 * bounded, because no block_poke follows a store through shmem_ptr.
 * tests/models/sleep.pml is searched exhaustively, with the memory orders of C11.
 *
 * In a job on several nodes (net.h) a waiter progresses the network between two polls.
 * While it sleeps, the progress thread does so and wakes it if its word has changed. A
 * waiter also progresses the nonblocking operations of this PE (block_set_work).
 */
#ifndef PGAS_CORE_BLOCK_H
#define PGAS_CORE_BLOCK_H

#include "pgas/core/base/pgas.h"
#include "pgas/threads/atomic.h"

/* True when the wait is over.  Must load with acquire semantics; called repeatedly. */
typedef bool (*block_ready)(const void *arg);

/* Registers the process with membarrier; must precede the first sleep of any PE.  Costs
 * microseconds in a single-threaded process, else an RCU grace period (10 ms). */
void block_init(void);

/* One wait. */
struct block_wait {
    block_ready ready;
    const void *arg;
    /* The symmetric word that `ready` reads, on this PE or another, within 8 aligned
     * bytes: only stores to it need to wake the waiter.  NULL: any store may be relevant.
     * For a word that only PEs of this node store to, the address of any symmetric word
     * that they pass to block_poke. */
    const void *word;
    /* With word NULL: a word of 4 bytes of this process that `ready` reads and only
     * progress of this PE changes.  NULL: none. */
    const uint32_t *private;
    bool remote;      /* only network progress can satisfy the wait */
    const char *what; /* for reports: the public routine and what it waits for */
    const struct shmem_team *team; /* that of the collective, or NULL */
    /* The wait also ends if a PE fails (ft/ft.h).  A wait in a collective, which has a
     * team, does so by ft_unwind. */
    bool ends_on_failure;
    /* Called periodically while the waiter sleeps; ends the job if the wait cannot
     * complete, for instance because the peer has exited.  May be NULL. */
    void (*on_stall)(const void *arg);
    /* Called before the first sleep, unless `sleep` is set.  May be NULL. */
    void (*on_sleep)(const void *arg);
    /* Sleeps for at most ns; for waits that no store to this PE satisfies, such as for
     * the completion of a transport context.  NULL: the futex sleep described above. */
    void (*sleep)(const void *arg, uint64_t ns);
};

/* The member `word` for a word of the program, which may be unaligned. */
ALWAYS_INLINE const void *block_word_of(const void *word, size_t size)
{
    return (uintptr_t)word % sizeof(uint64_t) + size <= sizeof(uint64_t) ? word : NULL;
}

/* Sets a function that every waiting thread of this PE calls between two polls; NULL:
 * none.  While it is set, each store to this PE ends a sleep.  It must not block. */
void block_set_work(void (*work)(void));

/* Returns true when ready(arg) is true; false if w->ends_on_failure and a PE has failed.
 */
bool block_until(const struct block_wait *w);

/* True if the calling thread is in block_until; for a signal handler that exits. */
bool block_inside(void);

/* Spins for env.spin_ns without yielding the processor; true if ready(arg) became true.
 */
bool block_spin(block_ready ready, const void *arg);

/* Wakes the sleeping threads of the PE if one of them sleeps on a word in the len bytes
 * at symmetric address addr or on any store.  NULL: wakes them in any case. */
void block_wake(struct node_pe *pe, const void *addr, size_t len);

/* Wakes sleeping threads of this PE: all of them; all that do not sleep on a word of this
 * process (block_wait.private); one, or several if they share a futex. */
void block_wake_own(void);
void block_wake_listed(void);
void block_wake_one(void);

/* True if a thread of this PE sleeps, or is about to. */
bool block_any_sleeps(void);

/* As block_wake; returns `value`, so that the caller can make it a tail call. */
uint64_t block_wake_then(struct node_pe *pe, const void *addr, size_t len,
                         uint64_t value);

/*
 * Watch of a word that the network, but no PE of the node, stores to the heap of another
 * PE of the node, `holder`: wakes all sleepers of this PE when the holder has made
 * progress and the word (symmetric address) differs from `seen`.  The wake-up ends the
 * watch.  The progress thread of the holder does not back off meanwhile.  A holder has
 * one watch at a time: false if another PE has it.  The caller checks the word after the
 * call (Dekker's pattern with block_sleepers_changed).
 */
bool block_watch(struct node_pe *holder, const uint64_t *word, uint64_t seen);
/* Ends the watch of this PE on that word; that of another PE on this word of this PE. */
void block_unwatch(struct node_pe *holder, const uint64_t *word);
void block_cancel_watch(const uint64_t *word);
/* Called by the progress thread in each turn: true if another PE watches a word of this
 * PE.  Ends a watch that is older than TIMING_WATCH, because its PE may have failed; one
 * that still waits is woken, and sets it again. */
bool block_serve_watch(void);
/* True if another PE watches a word of this PE. */
bool block_watched(void);
/* Wakes the progress thread of a PE from its back-off. */
void block_end_nap(struct node_pe *pe);

/* Wakes the threads that wait for a word of this process that has changed.  Whether the
 * caller must wake the other sleeping threads of this PE after network progress: no; a
 * word that one waits for has changed since its last check, which is reported once;
 * perhaps, since one waits for any store. */
enum block_change { BLOCK_UNCHANGED, BLOCK_CHANGED, BLOCK_UNKNOWN };
enum block_change block_sleepers_changed(void);

/* True if a thread of the PE may sleep on a word in the len bytes at addr. */
ALWAYS_INLINE bool block_sleeps(struct node_pe *pe, const void *addr, size_t len)
{
    fence_compiler();
    uint64_t mask = atomic_load_explicit(&pe->sleep_mask, memory_order_relaxed);
    if (likely(mask == 0))
        return false;
    /* Segments are page-aligned, so the line within a page is the same on every PE. */
    uintptr_t first = (uintptr_t)addr / NODE_LINE,
              last = ((uintptr_t)addr + len - 1) / NODE_LINE;
    return ((mask >> first % 64 | mask >> last % 64) & 1) != 0 || len > sizeof(uint64_t);
}

/* Call after a store of len bytes to symmetric address addr of a PE of this node. */
ALWAYS_INLINE void block_poke(struct node_pe *pe, const void *addr, size_t len)
{
    if (unlikely(block_sleeps(pe, addr, len)))
        block_wake(pe, addr, len);
}

#endif
