/* SPDX-License-Identifier: BSD-3-Clause */
/* patience_test.c - stall detection of operations on remote PEs (net_patience_ends). */
#include "config.h"

#include <criterion/criterion.h>

#include "pgas/core/base/clock.h"
#include "pgas/core/base/timing.h"
#include "pgas/core/progress/net_int.h"

#define STEP  TIMING_CHECK_MAX
#define LIMIT (UINT64_C(3) * NS_PER_S)

/* Checks every STEP for `ns`; `done` grows by `rate` at each check.  The time at which
 * the wait ends; 0: it does not. */
static uint64_t ends_at(uint64_t ns, uint64_t rate, bool one, uint64_t limit)
{
    struct net_patience p = {.checked_ns = 0};
    uint64_t done = UINT64_MAX - 5; /* it may wrap around */

    for (uint64_t now = 1; now < ns; now += STEP, done += rate)
        if (net_patience_ends(&p, now, done, one, limit))
            return now;
    return 0;
}

Test(patience, no_progress)
{
    uint64_t end = ends_at(10 * LIMIT, 0, true, LIMIT);

    cr_assert(end > LIMIT && end <= LIMIT + 2 * STEP, "ended at %llu ns",
              (unsigned long long)end);
    cr_assert_eq(ends_at(10 * LIMIT, 0, false, LIMIT), end);
}

/* As many operations complete as other threads post, so that the number of outstanding
 * operations does not change. */
Test(patience, other_operations_complete)
{
    uint64_t end = ends_at(10 * LIMIT, 1, true, LIMIT);

    cr_assert(end > NET_LIMIT_BUSY * LIMIT && end <= NET_LIMIT_BUSY * LIMIT + 2 * STEP,
              "ended at %llu ns", (unsigned long long)end);
    cr_assert_eq(ends_at(10 * LIMIT, 1, false, LIMIT), 0);
}

/* Posts without completions are no progress. */
Test(patience, only_posts)
{
    cr_assert_neq(ends_at(10 * LIMIT, (uint64_t)-1, false, LIMIT), 0);
}

Test(patience, stopped)
{
    struct net_patience p = {.checked_ns = 0};

    cr_assert_not(net_patience_ends(&p, 1, 0, true, LIMIT));
    cr_assert_not(net_patience_ends(&p, 1 + 10 * LIMIT, 0, true, LIMIT));
}

Test(patience, no_limit)
{
    cr_assert_eq(ends_at(100 * LIMIT, 0, true, 0), 0);
}
