/* SPDX-License-Identifier: BSD-3-Clause */
/* clang-format off */
/*
 * progress.h - the states of the progress engine of a PE, which determine the thread that
 * calls the transport.  Private to core/progress.
 *
 * The progress thread (net_thread.c) is in one state, net->state; in BACKOFF it waits for
 * the futex node_pe.nap:
 *
 * state    event                                     next     changed by
 * OFF      net_thread_start                          SERVE    start-up, before the thread
 * SERVE    another thread polled recently            BACKOFF  thread; futex wait
 * SERVE    descriptors armed, no other thread polls  SLEEP    thread; poll(2)
 * BACKOFF  a waiter stops polling (net_idle)         SERVE    waiter; futex wake
 * BACKOFF  TIMING_NAP has passed; block_watch        SERVE    thread
 * SLEEP    descriptor ready, net_kick, time limit    SERVE    thread
 * any      net_thread_stop                           STOP     finalize; futex wake,
 *                                                             eventfd
 * STOP     the thread has been joined                OFF      finalize
 *
 * Context 0 is polled by this thread or by a waiter (net->polled_ns, net->handed):
 *
 * duty     event                                     next     action
 * THREAD   net_poll by a waiter                      WAITER   polled_ns = now
 * THREAD   the network woke the progress thread      HANDED   polled_ns = now; handed = 1
 *          while a waiter sleeps                              a waiter is woken and polls
 * HANDED   net_poll by a waiter                      HANDED   polled_ns = now
 * WAITER,  net_idle                                  THREAD   polled_ns = 0, handed = 0;
 * HANDED                                                      BACKOFF -> SERVE
 * WAITER,  no poll for TIMING_POLL_RECENT            THREAD   found by that thread
 * HANDED                                                      after its BACKOFF
 *
 * A sleeping waiter (block.c) is woken by progress if the word it waits for has changed
 * since its last check, once per change (block_sleepers_changed).
 */
/* clang-format on */
#ifndef PGAS_CORE_PROGRESS_H
#define PGAS_CORE_PROGRESS_H

#include "pgas/core/base/pgas_assert.h"
#include "pgas/threads/atomic.h"

enum progress_state {
    PROGRESS_OFF, /* no thread */
    PROGRESS_SERVE,
    PROGRESS_BACKOFF,
    PROGRESS_SLEEP,
    PROGRESS_STOP,
};

/* Changes the state from `from` to `to`; false if another thread has changed it. */
ALWAYS_INLINE bool progress_move(uint32_t *state, enum progress_state from,
                                 enum progress_state to)
{
    /* The transitions of a state, one bit for each next state. */
    static const uint8_t next[] = {
        [PROGRESS_OFF] = 1 << PROGRESS_SERVE,
        [PROGRESS_SERVE] = 1 << PROGRESS_BACKOFF | 1 << PROGRESS_SLEEP,
        [PROGRESS_BACKOFF] = 1 << PROGRESS_SERVE,
        [PROGRESS_SLEEP] = 1 << PROGRESS_SERVE,
        [PROGRESS_STOP] = 1 << PROGRESS_OFF,
    };

    PGAS_ASSERT((next[from] >> to & 1) != 0);
    return cas_acq_rel_u32(state, from, to) == from;
}

#endif
