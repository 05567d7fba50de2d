/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block.h - the only place that waits for another PE, and how it is woken.
 *
 * A waiter spins, then yields its processor, then sleeps on the futex word `wake` of its
 * record in the node segment.  Whoever stores into another PE's memory calls block_poke
 * for that PE afterwards, which costs one load of a read-mostly line while nobody sleeps,
 * and a few more while somebody sleeps for another word: the record says for which.
 *
 * No wake-up is lost, though the poker has no fence between its store and its load of
 * `sleep_mask` (Dekker's pattern): the sleeper sets its bit, then has the kernel run a
 * full barrier on every processor that runs a PE (membarrier), then looks at the word
 * once more, then sleeps.  A poker whose load came before that barrier had its store done
 * before it too, and the sleeper sees it; a later one sees the bit.  Without
 * membarrier (old kernel, seccomp) sleeps are short instead.  Either way a sleep is
 * bounded, for the stores by shmem_ptr that nobody announces.
 *
 * In a job with far PEs (net.h) who waits also moves the network on between two looks;
 * once it sleeps the progress thread does, and wakes it when something has come.  So does
 * it move on what else this PE has begun and not ended (block_set_work).
 */
#ifndef PGAS_CORE_BLOCK_H
#define PGAS_CORE_BLOCK_H

#include "pgas/core/pgas.h"
#include "pgas/threads/atomic.h"

/* Is what we wait for there?  Must load with acquire; called many times. */
typedef bool (*block_ready)(const void *arg);

/* Register with membarrier; before any PE may sleep.  Costs microseconds while the
 * process has one thread, but a grace period of the kernel (10 ms) once it has two. */
void block_init(void);

/* What to wait for. */
struct block_wait {
    block_ready ready;
    const void *arg;
    /* The symmetric word of up to 8 bytes that ready looks at, on this PE or another:
     * only stores to it need wake us.  NULL: any store may be it. */
    const void *word;
    bool far;         /* only the network can bring it */
    const char *what; /* for reports: the public routine, and for what it waits */
    /* Called now and then while we sleep, to end the job if it is in vain; or NULL. */
    void (*in_vain)(const void *arg);
    /* Sleeps for at most ns, where what we wait for is nothing that wakes this PE: a
     * transport's context.  NULL: the sleep described above. */
    void (*nap)(const void *arg, uint64_t ns);
};

/* What goes on while any thread of this PE waits, whatever for: called between two looks,
 * and while it is set each store to this PE ends a sleep.  Must not wait.  NULL: nothing.
 */
void block_set_work(void (*work)(void));

/* Return when ready(arg). */
void block_until(const struct block_wait *w);

/* Is the calling thread inside block_until?  (For a signal handler that exits.) */
bool block_inside(void);

/* Spin for env.spin_ns, whoever else might use the processor.  True when ready(arg). */
bool block_spin(block_ready ready, const void *arg);

/* Sleep for ns, whatever comes. */
void block_sleep(uint64_t ns);

/* Wake the threads of the PE that sleep for a word in len bytes at symmetric address addr
 * (NULL: all threads of it that sleep). */
void block_wake(struct node_pe *pe, const void *addr, size_t len);

/* The same, and return `value`: so that a caller that returns it may just jump here. */
uint64_t block_wake_then(struct node_pe *pe, const void *addr, size_t len,
                         uint64_t value);

/* Does a thread of the PE sleep for a word in (or near) len bytes at addr? */
ALWAYS_INLINE bool block_sleeps(struct node_pe *pe, const void *addr, size_t len)
{
    fence_compiler();
    uint64_t mask = atomic_load_explicit(&pe->sleep_mask, memory_order_relaxed);
    if (likely(mask == 0))
        return false;
    /* Segments begin on a page, so the line-in-a-page is the same on every PE. */
    uintptr_t first = (uintptr_t)addr / NODE_LINE,
              last = ((uintptr_t)addr + len - 1) / NODE_LINE;
    return ((mask >> first % 64 | mask >> last % 64) & 1) != 0 || len > sizeof(uint64_t);
}

/* To be called after a store of len bytes to symmetric address addr of a PE of this node.
 */
ALWAYS_INLINE void block_poke(struct node_pe *pe, const void *addr, size_t len)
{
    if (unlikely(block_sleeps(pe, addr, len)))
        block_wake(pe, addr, len);
}

#endif
