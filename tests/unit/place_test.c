/* SPDX-License-Identifier: BSD-3-Clause */
/* place_test.c - sets of processors, with a simulated kernel of many processors and a
 * cgroup. */
#include "config.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "pgas/core/boot/binding.h"

/* ---- the kernel: its masks have KERNEL_BYTES -----------------------------------------
 */

enum { KERNEL_BYTES = 512, BITS = KERNEL_BYTES * 8, BOUND = 1500 };

static unsigned char own[KERNEL_BYTES], parents[KERNEL_BYTES], cgroup[KERNEL_BYTES];

static void set_range(unsigned char *mask, int from, int to)
{
    memset(mask, 0, KERNEL_BYTES);
    for (int i = from; i < to; i++)
        mask[i / 8] |= (unsigned char)(1 << i % 8);
}

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
    if (bytes < KERNEL_BYTES) {
        errno = EINVAL;
        return -1;
    }
    memset(set, 0, bytes);
    memcpy(set, pid == 0 ? own : parents, KERNEL_BYTES);
    return 0;
}

int sched_setaffinity(pid_t pid, size_t bytes, const cpu_set_t *set)
{
    cr_assert_eq(pid, 0);
    for (size_t i = 0; i < KERNEL_BYTES; i++)
        own[i] =
            (unsigned char)(i < bytes ? ((const unsigned char *)set)[i] & cgroup[i] : 0);
    return 0;
}

/* ---- tests ---------------------------------------------------------------------------
 */

static int count_job(void)
{
    struct place_cpus cpus;

    cr_assert(place_job(&cpus));
    int count = place_count(&cpus);
    place_free(&cpus);
    return count;
}

Test(place, more_than_1024_processors_are_counted)
{
    set_range(own, 0, BOUND);
    set_range(parents, 0, BOUND);
    set_range(cgroup, 0, BITS);
    cr_assert_eq(count_job(), BOUND);
}

Test(place, a_bound_pe_counts_its_parents_processors)
{
    set_range(own, 3, 4);
    set_range(parents, 0, 8);
    set_range(cgroup, 0, BITS);
    cr_assert_eq(count_job(), 8);
}

Test(place, but_not_those_outside_the_cgroup)
{
    unsigned char before[KERNEL_BYTES];

    set_range(own, 3, 4);
    memcpy(before, own, sizeof before);
    set_range(parents, 0, 64);
    set_range(cgroup, 2, 6);
    cr_assert_eq(count_job(), 4);
    cr_assert_eq(memcmp(before, own, sizeof before), 0, "the mask has changed");
}
