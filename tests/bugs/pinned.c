/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pinned.c - a barrier may migrate PEs between processors, but must not change the
 * affinity that a PE has set itself after shmem_init.
 */
#include "config.h"

#include "tests/api/multi/check.h"

enum { BARRIERS = 3000 };

static size_t first_allowed(void)
{
    cpu_set_t set;
    size_t cpu = 0;
    CHECK(sched_getaffinity(0, sizeof(set), &set) == 0);
    while (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &set))
        cpu++;
    return cpu;
}

int main(void)
{
    cpu_set_t wanted, now;
    size_t cpu = first_allowed(); /* of those that the launcher allows */
    shmem_init();
    CPU_ZERO(&wanted);
    CPU_SET(cpu, &wanted);
    CHECK(sched_setaffinity(0, sizeof(wanted), &wanted) == 0);
    for (int i = 0; i < BARRIERS; i++)
        shmem_barrier_all();
    CHECK(sched_getaffinity(0, sizeof(now), &now) == 0);
    CHECK_NAMED(CPU_EQUAL(&now, &wanted),
                "pinned to processor %zu, but after %d barriers the affinity mask has %d "
                "processors, %s",
                cpu, BARRIERS, CPU_COUNT(&now),
                CPU_ISSET(cpu, &now) ? "including that one" : "without that one");
    shmem_finalize();
    return 0;
}
