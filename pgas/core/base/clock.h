/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h - monotonic nanoseconds.  A leaf. */
#ifndef PGAS_CORE_CLOCK_H
#define PGAS_CORE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S 1000000000u

#ifdef PGAS_SIM /* the virtual clock of a simulated job (os.h) */
uint64_t clock_ns(void);
#else
static inline uint64_t clock_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}
#endif

#endif
