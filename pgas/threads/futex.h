/* SPDX-License-Identifier: BSD-3-Clause */
/* futex.h - futex calls on words of this process.  They wait for threads of this process
 * only; waits for other PEs are in core/progress/block.c.  A leaf.  Used by: adaptive,
 * mcs, ticket, compat/mpi/match/match_heater. */
#ifndef PGAS_THREADS_FUTEX_H
#define PGAS_THREADS_FUTEX_H

#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleeps while *word == seen; may return early. */
static inline void futex_wait_private(const uint32_t *word, uint32_t seen)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

/* Sleeps at most `us` microseconds while *word == seen; may return early. */
static inline void futex_wait_us_private(const uint32_t *word, uint32_t seen, uint32_t us)
{
    const struct timespec timeout = {.tv_sec = us / 1000000,
                                     .tv_nsec = us % 1000000 * 1000L};

    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, &timeout, NULL, 0);
}

static inline void futex_wake_one_private(const uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

/* A wake-up with some bits wakes all waiters that have one of these bits. */
static inline void futex_wait_bits_private(const uint32_t *word, uint32_t seen,
                                           uint32_t bits)
{
    syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, seen, NULL, NULL, bits);
}

static inline void futex_wake_bits_private(const uint32_t *word, uint32_t bits)
{
    syscall(SYS_futex, word, FUTEX_WAKE_BITSET_PRIVATE, INT32_MAX, NULL, NULL, bits);
}

#endif
