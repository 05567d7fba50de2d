/* SPDX-License-Identifier: BSD-3-Clause */
/* tune_test.c - the table that the tuner makes from its measurements. */
#include "config.h"

#include <criterion/criterion.h>

#include "tools/oshmem_info/tune.h"

static struct tune_job job;
static struct tune_range range[TUNE_RANGES_MAX];

static struct tune_point *add(enum select_collective what, size_t bytes,
                              enum select_algorithm builtin, double ns)
{
    struct tune_series *s = &job.series[what];
    struct tune_point *p = &s->point[s->points++];

    job.pes = 4;
    *p = (struct tune_point){.bytes = bytes, .builtin = builtin};
    p->ns[builtin] = ns;
    p->sure[builtin] = false;
    return p;
}

static void other(struct tune_point *p, enum select_algorithm a, double ns, bool sure)
{
    p->ns[a] = ns;
    p->sure[a] = sure;
}

Test(tune, a_small_or_rare_gain_is_not_selected)
{
    other(add(SELECT_REDUCE, 8, REDUCE_FLAT, 100), REDUCE_LAST, 96, true);
    other(add(SELECT_REDUCE, 32, REDUCE_FLAT, 100), REDUCE_LAST, 50, false);
    cr_assert_eq(tune_ranges(&job, 3, 4, range), 1);
    cr_assert_eq(range[0].best, REDUCE_FLAT);
    cr_assert_float_eq(range[0].factor, 1, 1e-9);
}

Test(tune, ranges_meet_between_the_sizes)
{
    struct tune_point *p = add(SELECT_REDUCE, 8, REDUCE_FLAT, 100);

    other(p, REDUCE_LAST, 80, true);
    other(p, REDUCE_FIRST, 50, true);
    add(SELECT_REDUCE, 32, REDUCE_FLAT, 100);
    other(add(SELECT_REDUCE, 8192, REDUCE_SLICES, 100), REDUCE_CHAIN, 40, true);
    other(add(SELECT_REDUCE, 32768, REDUCE_SLICES, 100), REDUCE_CHAIN, 10, true);
    cr_assert_eq(tune_ranges(&job, 3, 4, range), 3);
    cr_assert_eq(range[0].best, REDUCE_FIRST);
    cr_assert_eq(range[0].from, 0);
    cr_assert_eq(range[0].to, 16);
    cr_assert_eq(range[0].pes_from, 3);
    cr_assert_eq(range[1].best, REDUCE_FLAT);
    cr_assert_eq(range[1].from, 17);
    cr_assert_eq(range[1].to, 512);
    cr_assert_eq(range[2].best, REDUCE_CHAIN);
    cr_assert_eq(range[2].to, SELECT_ANY_BYTES);
    cr_assert_float_eq(range[2].factor, 5, 1e-9);
}

Test(tune, no_range_exceeds_the_compared_sizes)
{
    other(add(SELECT_SCAN, 2048, SCAN_MAILBOX, 100), SCAN_BARRIER, 50, true);
    cr_assert_eq(tune_ranges(&job, 3, 4, range), 1);
    cr_assert_eq(range[0].to, select_info(SCAN_MAILBOX)->bytes);
}

Test(tune, without_sizes_there_is_one_range)
{
    other(add(SELECT_COLLECT, 8, COLLECT_MAILBOX, 100), COLLECT_BARRIER, 50, true);
    other(add(SELECT_COLLECT, 64, COLLECT_MAILBOX, 100), COLLECT_BARRIER, 100, false);
    other(add(SELECT_COLLECT, 512, COLLECT_MAILBOX, 100), COLLECT_BARRIER, 50, true);
    cr_assert_eq(tune_ranges(&job, 3, 4, range), 1);
    cr_assert_eq(range[0].best, COLLECT_BARRIER);
    cr_assert_eq(range[0].from, 0);
    cr_assert_eq(range[0].to, SELECT_ANY_BYTES);
    job.series[SELECT_COLLECT].point[1].ns[COLLECT_BARRIER] = 1000;
    tune_ranges(&job, 3, 4, range);
    cr_assert_eq(range[0].best, COLLECT_MAILBOX);
}
