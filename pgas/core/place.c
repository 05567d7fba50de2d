/* SPDX-License-Identifier: BSD-3-Clause */
/* place.c - see place.h.  Uses: pgas.h. */
#include "config.h"

#include <sched.h>

#include "pgas/core/node.h"
#include "pgas/core/pgas.h"
#include "pgas/core/place.h"

/* The k-th processor of the set. */
static size_t nth_cpu(const cpu_set_t *set, int k)
{
    size_t cpu = 0;

    while (!CPU_ISSET(cpu, set) || k-- > 0)
        cpu++;
    return cpu;
}

static cpu_set_t mask; /* where we may run; empty unless there is a choice to make */

void place_move(int cpu)
{
    cpu_set_t one, now;

    /* A program that has changed our mask since knows better than we do. */
    if (sched_getaffinity(0, sizeof now, &now) != 0 || !CPU_EQUAL(&now, &mask)) {
        CPU_ZERO(&mask);
        return;
    }
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0)
        sched_setaffinity(0, sizeof mask, &mask);
}

bool place_allowed(int cpu)
{
    return CPU_ISSET((size_t)cpu, &mask);
}

void place_spread(void)
{
    if (pgas_self.local_size <= pgas_self.node->cpus ||
        sched_getaffinity(0, sizeof mask, &mask) != 0)
        return;
    int cpus = CPU_COUNT(&mask);
    if (cpus < 2)
        CPU_ZERO(&mask);
    else
        place_move((int)nth_cpu(&mask, pgas_self.local_rank % cpus));
}
