/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * os.h - the system calls of the library that depend on time or on other PEs, except
 * those that only start-up needs.
 *
 * In the production build they are inline.  In a simulated job (PGAS_SIM, tests/sim) a PE
 * is a fiber on a virtual clock, and tests/sim/os.c implements them: a call that waits
 * lets another PE run.
 */
#ifndef PGAS_CORE_OS_H
#define PGAS_CORE_OS_H

#include <poll.h>
#include <stdatomic.h>
#include <stdint.h>

#include "pgas/core/base/clock.h"

#ifdef PGAS_SIM

void os_yield(void);
void os_spin(uint64_t turns);
void os_sleep(uint64_t ns);
void os_futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t ns);
void os_futex_wake(_Atomic uint32_t *word);
int os_membarrier(int command);
int os_poll(struct pollfd *fds, nfds_t n, int ms);
_Noreturn void os_exit(int status);

#else

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline struct timespec os_timespec_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S),
                             .tv_nsec = (long)(ns % NS_PER_S)};
}

static inline void os_yield(void)
{
    sched_yield();
}

/* A delay of `turns` iterations of an empty loop. */
static inline void os_spin(uint64_t turns)
{
    for (; turns > 0; turns--)
        atomic_signal_fence(memory_order_seq_cst); /* keeps the loop */
}

/* Sleeps for ns; a signal does not end the sleep early. */
static inline void os_sleep(uint64_t ns)
{
    struct timespec remaining = os_timespec_of(ns);

    while (nanosleep(&remaining, &remaining) != 0 && errno == EINTR)
        ;
}

/* Sleeps for at most ns, until the word is woken; returns immediately if it differs from
 * `seen`.  May return early. */
static inline void os_futex_wait(_Atomic uint32_t *word, uint32_t seen, uint64_t ns)
{
    struct timespec limit = os_timespec_of(ns);

    syscall(SYS_futex, word, FUTEX_WAIT, seen, &limit, NULL, 0);
}

/* Wakes every thread of any process that sleeps on the word. */
static inline void os_futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static inline int os_membarrier(int command)
{
    return (int)syscall(SYS_membarrier, command, 0, 0);
}

static inline int os_poll(struct pollfd *fds, nfds_t n, int ms)
{
    return poll(fds, n, ms);
}

/* Ends the process without exit handlers. */
static inline _Noreturn void os_exit(int status)
{
    _exit(status);
}

#endif

#endif
