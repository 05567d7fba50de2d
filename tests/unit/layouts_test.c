/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layouts_test.c - 100 000 random layouts, with PGAS_TEST_LONG a million: constructed,
 * serialised, packed, unpacked and copied by every kernel like naive loops.  Builds with
 * sanitizers, which are five times slower, check a quarter.
 */
#include "config.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/unit/kernels/check_layouts.h"

enum { SHARDS = 4, SHORT = 100000, LONG = 1000000 };

/* Criterion runs the shards in parallel. */
static void check_shard(unsigned shard)
{
    const size_t cases = getenv("PGAS_TEST_LONG") != NULL ? LONG : SHORT;
    const char *sanitized = getenv("SANITIZED");
    const bool slow = sanitized != NULL && sanitized[0] != '\0';
    const size_t parts = slow ? 4 * SHARDS : SHARDS;
    struct check_layouts c = {.cases = cases / parts, .seed = 1000003 + shard};

    cr_assert_eq(check_layouts(&c), 0, "%s", c.text);
    for (enum pack_kernel k = 0; k < PACK_KERNELS; k++)
        cr_assert(!pack_kernel_here(k) || c.used[k] * 20 >= c.cases,
                  "%s: only %zu of %zu layouts used the kernel", pack_kernel_name(k),
                  c.used[k], c.cases);
    cr_assert(c.refused * 50 >= c.cases, "only %zu layouts overlap", c.refused);
    cr_assert(c.rejected * 10 >= c.cases && c.sound * 10 >= c.cases,
              "of the damaged layouts %zu were rejected and %zu accepted", c.rejected,
              c.sound);
}

#define SHARD(n)                                                                         \
    Test(layouts, kernels_copy_like_naive_loops_##n)                                     \
    {                                                                                    \
        check_shard(n);                                                                  \
    }
/* clang-format off */
SHARD(0)
SHARD(1)
SHARD(2)
SHARD(3)
