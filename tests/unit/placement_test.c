/* SPDX-License-Identifier: BSD-3-Clause */
/* placement_test.c - values of SHMEM_HEAP_NUMA, and the policy that the kernel then has
 * for shared memory. */
#include "config.h"

#include <criterion/criterion.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pgas/core/base/pgas.h"
#include "pgas/core/memory/placement.h"
#include "pgas/core/memory/segment.h"

Test(placement, values)
{
    static const char *const wrong[] = {
        "",        "Touch",   "bind",   "bind:",     "bind:1-",          "bind:2-1",
        "bind:,1", "bind:1,", "bind:x", "bind:1024", "bind:99999999999", "local "};
    struct placement p;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        cr_expect(!placement_parse(&p, wrong[i]), "%s", wrong[i]);
    cr_expect(placement_parse(&p, "touch"));
    cr_expect_eq(p.mode, MPOL_DEFAULT);
    cr_expect(placement_parse(&p, "bind:0,2-3,64,1023"));
    cr_expect_eq(p.mode, MPOL_BIND);
    cr_expect_eq(p.nodes[0], 13);
    cr_expect_eq(p.nodes[1], 1);
    cr_expect_eq(p.nodes[PLACEMENT_WORDS - 1], UINT64_C(1) << 63);
}

/* The policy of a page that another mapping of the same memory has touched */
static int policy_of(const char *value)
{
    enum { LEN = 1 << 21 };
    int fd = segment_create("placement", LEN), mode = -1;
    char *mine = segment_map(fd, LEN, LEN), *other = segment_map(fd, LEN, LEN);

    cr_assert(mine != NULL && other != NULL);
    pgas_self.env.heap_numa = value;
    placement_apply(mine, LEN);
    other[LEN / 2] = 1;
    cr_assert_eq(syscall(SYS_get_mempolicy, &mode, NULL, 0, other + LEN / 2, MPOL_F_ADDR),
                 0);
    segment_unmap(mine, LEN);
    segment_unmap(other, LEN);
    close(fd);
    return mode;
}

Test(placement, the_policy_is_that_of_the_shared_memory)
{
    int mode;

    if (syscall(SYS_get_mempolicy, &mode, NULL, 0, NULL, 0) != 0)
        cr_skip_test("memory policies are not permitted here");
    cr_expect_eq(policy_of("touch"), MPOL_DEFAULT);
    cr_expect_eq(policy_of("local"), MPOL_PREFERRED);
    cr_expect_eq(policy_of("interleave"), MPOL_INTERLEAVE);
    cr_expect_eq(policy_of("bind:0"), MPOL_BIND);
}
