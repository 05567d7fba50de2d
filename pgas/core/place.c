/* SPDX-License-Identifier: BSD-3-Clause */
/* place.c - see place.h.  Uses: pgas.h. */
#include "config.h"

#include <sched.h>

#include "pgas/core/pgas.h"
#include "pgas/core/place.h"

/* The k-th processor of the mask. */
static size_t nth_cpu(const cpu_set_t *mask, int k)
{
    size_t cpu = 0;

    while (!CPU_ISSET(cpu, mask) || k-- > 0)
        cpu++;
    return cpu;
}

void place_spread(void)
{
    cpu_set_t mask, one;

    if (!pgas_self.oversubscribed || sched_getaffinity(0, sizeof mask, &mask) != 0)
        return;
    int cpus = CPU_COUNT(&mask);
    if (cpus < 2)
        return;
    CPU_ZERO(&one);
    CPU_SET(nth_cpu(&mask, pgas_self.local_rank % cpus), &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0)
        sched_setaffinity(0, sizeof mask, &mask);
}
