/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stress.h - random delays for tests (SHMEM_STRESS) at points where the interleaving of
 * PEs matters: they expose races that otherwise occur only if the thread is preempted
 * there.
 * Uses: pgas.h, block.  Used by: coll.
 */
#ifndef PGAS_CORE_STRESS_H
#define PGAS_CORE_STRESS_H

#include "pgas/core/base/pgas.h"
#include "pgas/threads/atomic.h"

void stress_delay(void) __attribute__((cold));

/* Delays at random under SHMEM_STRESS; otherwise costs one load and one branch. */
ALWAYS_INLINE void stress_point(void)
{
    if (unlikely(pgas_self.env.stress != 0))
        stress_delay();
}

#endif
