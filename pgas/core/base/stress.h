/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stress.h - random delays at the points where the interleaving of two PEs matters, for
 * tests (SHMEM_STRESS): they expose races that would otherwise need an interrupt there.
 * Uses: pgas.h, block.  Used by: coll.
 */
#ifndef PGAS_CORE_STRESS_H
#define PGAS_CORE_STRESS_H

#include "pgas/core/base/pgas.h"
#include "pgas/threads/atomic.h"

void stress_delay(void) __attribute__((cold));

/* Costs one load and one branch without SHMEM_STRESS. */
ALWAYS_INLINE void stress_point(void)
{
    if (unlikely(pgas_self.env.stress != 0))
        stress_delay();
}

#endif
