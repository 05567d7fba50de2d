/* SPDX-License-Identifier: BSD-3-Clause */
/* binding.c - see binding.h.  Uses: pgas.h. */
#include "config.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "pgas/core/core_state.h"
#include "pgas/core/boot/node.h"
#include "pgas/core/base/pgas.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/core/boot/binding.h"

#define STATE core_self.binding

enum { CPUS_FIRST = 1024, CPUS_MAX = 1 << 20 }; /* sizes of masks to try, in bits */

bool place_read(pid_t pid, struct place_cpus *cpus)
{
    for (size_t n = CPUS_FIRST; n <= CPUS_MAX; n *= 2) {
        *cpus = (struct place_cpus){.set = CPU_ALLOC(n), .bytes = CPU_ALLOC_SIZE(n)};
        if (cpus->set == NULL)
            return false;
        CPU_ZERO_S(cpus->bytes, cpus->set);
        if (sched_getaffinity(pid, cpus->bytes, cpus->set) == 0)
            return true;
        place_free(cpus);
        if (errno != EINVAL) /* EINVAL: the kernel's masks are longer */
            return false;
    }
    return false;
}

void place_free(struct place_cpus *cpus)
{
    CPU_FREE(cpus->set);
    *cpus = (struct place_cpus){0};
}

int place_count(const struct place_cpus *cpus)
{
    return cpus->set != NULL ? CPU_COUNT_S(cpus->bytes, cpus->set) : 0;
}

/* Removes the processors that the cgroup of this process excludes: sets the mask, which
 * the kernel intersects with the cpuset, and reads it back.  The parent's mask may
 * contain such processors, since a launcher's daemon (slurmstepd) may be outside the
 * job's cgroup.  `mine` is this thread's mask, which is restored. */
static void binding_cut_to_cgroup(struct place_cpus *cpus, const struct place_cpus *mine)
{
    struct place_cpus allowed;

    if (sched_setaffinity(0, cpus->bytes, cpus->set) != 0)
        return;
    if (place_read(0, &allowed)) {
        if (allowed.bytes == cpus->bytes)
            CPU_AND_S(cpus->bytes, cpus->set, cpus->set, allowed.set);
        place_free(&allowed);
    }
    sched_setaffinity(0, mine->bytes, mine->set);
}

bool place_job(struct place_cpus *cpus)
{
    struct place_cpus mine, parents;

    if (!place_read(0, &mine))
        return false;
    if (!place_read(0, cpus)) {
        place_free(&mine);
        return false;
    }
    if (place_read(getppid(), &parents)) {
        if (parents.bytes == mine.bytes)
            CPU_OR_S(mine.bytes, cpus->set, mine.set, parents.set);
        place_free(&parents);
    }
    if (!CPU_EQUAL_S(mine.bytes, cpus->set, mine.set))
        binding_cut_to_cgroup(cpus, &mine);
    PGAS_ASSERT(place_count(cpus) > 0);
    place_free(&mine);
    return true;
}

/* The k-th processor of the set. */
static size_t binding_nth_cpu(const struct place_cpus *cpus, int k)
{
    size_t cpu = 0;

    PGAS_ASSERT(k >= 0 && k < place_count(cpus));
    while (!CPU_ISSET_S(cpu, cpus->bytes, cpus->set) || k-- > 0)
        cpu++;
    return cpu;
}

/* False if the program has changed the affinity mask since binding_spread, in which case
 * it does its own binding. */
static bool binding_mask_is_ours(void)
{
    struct place_cpus now;

    if (STATE.mask.set == NULL || !place_read(0, &now))
        return false;
    bool same =
        now.bytes == STATE.mask.bytes && CPU_EQUAL_S(now.bytes, now.set, STATE.mask.set);
    place_free(&now);
    return same;
}

void binding_move(int cpu)
{
    if (!binding_mask_is_ours()) {
        if (STATE.mask.set != NULL) /* not freed: other threads may read it */
            CPU_ZERO_S(STATE.mask.bytes, STATE.mask.set);
        return;
    }
    cpu_set_t *one = CPU_ALLOC(STATE.mask.bytes * 8);
    if (one == NULL)
        return;
    CPU_ZERO_S(STATE.mask.bytes, one);
    CPU_SET_S((size_t)cpu, STATE.mask.bytes, one);
    if (sched_setaffinity(0, STATE.mask.bytes, one) == 0)
        sched_setaffinity(0, STATE.mask.bytes, STATE.mask.set);
    CPU_FREE(one);
}

bool binding_allowed(int cpu)
{
    return STATE.mask.set != NULL &&
           CPU_ISSET_S((size_t)cpu, STATE.mask.bytes, STATE.mask.set);
}

void binding_spread(void)
{
    if (pgas_self.local_size <= pgas_self.node->cpus)
        return;
    if (STATE.mask.set != NULL) /* from the previous generation */
        place_free(&STATE.mask);
    if (!place_read(0, &STATE.mask))
        return;
    int cpus = place_count(&STATE.mask);
    if (cpus < 2)
        place_free(&STATE.mask);
    else
        binding_move((int)binding_nth_cpu(&STATE.mask, pgas_self.local_rank % cpus));
}
