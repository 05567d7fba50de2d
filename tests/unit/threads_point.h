/* SPDX-License-Identifier: BSD-3-Clause */
/* threads_point.h - included first by tests of pgas/threads: random delays where the
 * interleaving of threads matters. */
#ifndef TESTS_UNIT_THREADS_POINT_H
#define TESTS_UNIT_THREADS_POINT_H

#include <sched.h>
#include <stdint.h>
#include <time.h>

static inline void threads_test_delay(void)
{
    static _Thread_local uint32_t random;

    random = random * 1664525u + 1013904223u + (uint32_t)(uintptr_t)&random;
    if (random >> 24 < 8)
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    else if (random >> 24 < 48)
        sched_yield();
}

#define THREADS_POINT(point) threads_test_delay()
#define MPSC_POINT(point)    threads_test_delay()
#define SPSC_POINT(point)    threads_test_delay()

#endif
