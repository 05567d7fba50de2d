/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alive.h - signs of life of a PE for SHMEM_FT_WATCHDOG: its last call of the library, or
 * the last check of a wait.
 *
 * Without the watchdog the word is NULL; routines then have no additional cost, because
 * only their checked entry points call alive_stamp (check_init).
 * Uses: pgas.h, clock.  Used by: check, block, ft_boot.
 */
#ifndef PGAS_CORE_ALIVE_H
#define PGAS_CORE_ALIVE_H

#include <stdatomic.h>

#include "pgas/core/base/clock.h"
#include "pgas/core/base/pgas.h"

#define ALIVE_NS_PER_MS 1000000u

/* Stores the time in milliseconds, modulo 2^32 and never 0. */
static inline void alive_stamp(void)
{
    if (__builtin_expect(pgas_self.alive != NULL, 0))
        atomic_store_explicit(pgas_self.alive,
                              (uint32_t)(clock_ns() / ALIVE_NS_PER_MS) | 1,
                              memory_order_relaxed);
}

#endif
