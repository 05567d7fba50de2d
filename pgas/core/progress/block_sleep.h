/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block_sleep.h - the sleep of a waiting thread, and who wakes it.  Private to block.c
 * and block_sleep.c.
 *
 * A thread that waits for a word that other PEs change sleeps on `wake` of its PE's
 * record in the node segment, and publishes the key of the word there (block.h).
 *
 * A thread that waits for a word of this process, such as the completion of an operation,
 * sleeps on a futex of its own, so that a thread that makes progress wakes only those
 * threads whose operations are complete.
 */
#ifndef PGAS_CORE_BLOCK_SLEEP_H
#define PGAS_CORE_BLOCK_SLEEP_H

#include "pgas/core/progress/block.h"

/* A sleeping thread with a futex of its own; on its stack. */
struct block_private {
    struct block_private *prev, *next; /* in core_state.block.privates; under list_lock */
    const uint32_t *word;
    uint32_t seen;  /* the word before the last check of the condition */
    uint64_t round; /* of wake-ups of all, in which it entered the list */
    /* 0: in the list; 1: removed, by the thread that wakes this one. */
    _Atomic uint32_t woken;
};

struct block_sleep {
    struct node_pe *me;
    bool any; /* any store to this PE wakes the thread */
    bool is_private;
    int slot; /* unless is_private: of node_pe.sleep_key; -1: any store */
    struct block_private private;
};

/* Enter the calling thread, which waits for w, in the lists of sleeping threads.  `any`:
 * any store has to wake it. */
void block_sleep_enter(struct block_sleep *s, const struct block_wait *w, bool any);
/* Call before the last check of the condition.  A change of the word after that ends the
 * next sleep.  The value is for block_sleep_for. */
uint32_t block_sleep_arm(struct block_sleep *s);
void block_sleep_for(struct block_sleep *s, uint32_t seen, uint64_t ns);
void block_sleep_leave(struct block_sleep *s);

#endif
