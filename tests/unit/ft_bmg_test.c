/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_bmg_test.c - the binomial graph, duplicates and the log in isolation. */
#include "config.h"

#include <criterion/criterion.h>
#include <string.h>

#include "pgas/ft/protocol/ft_bmg.h"

enum { NODES_MAX = 130, LOG_SIZE = 64 };

static uint32_t in_order[NODES_MAX];
static uint64_t failed_set[FT_SET_WORDS(NODES_MAX)];
static const uint32_t no_extra[FT_BMG_EXTRA] = {FT_NODE_NONE, FT_NODE_NONE};

static void bmg_start(void)
{
    for (uint32_t i = 0; i < NODES_MAX; i++)
        in_order[i] = i;
    memset(failed_set, 0, sizeof failed_set);
}

static struct ft_bmg bmg_at(uint32_t me, uint32_t n)
{
    return (struct ft_bmg){
        .me = me, .n = n, .order = in_order, .pos = in_order, .failed = failed_set};
}

Test(ft_bmg, degrees)
{
    static const uint32_t expected[][2] = {{1, 0},    {2, 1},     {3, 2},    {4, 3},
                                           {8, 5},    {12, 6},    {16, 7},   {32, 9},
                                           {64, 11},  {100, 14},  {128, 13}, {256, 15},
                                           {512, 17}, {1000, 20}, {1024, 19}};
    uint32_t out[FT_BMG_DEGREE_MAX];

    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        cr_assert_eq(ft_bmg_neighbours(expected[i][0], 0, out), expected[i][1]);
    cr_assert_leq(ft_bmg_neighbours(FT_NODES_MAX, 5, out), FT_BMG_DEGREE_MAX);
}

/* The targets are the neighbours, and the tree children among them make every node the
 * child of exactly one other. */
Test(ft_bmg, first_targets_form_a_tree, .init = bmg_start)
{
    for (uint32_t n = 1; n < NODES_MAX; n++) {
        uint32_t root = n / 3, parents[NODES_MAX] = {0};

        for (uint32_t me = 0; me < n; me++) {
            struct ft_bmg b = bmg_at(me, n);
            uint32_t to[FT_BMG_DEGREE_MAX], neighbours[FT_BMG_DEGREE_MAX];
            uint32_t v = (me + n - root) % n, k = 0;

            cr_assert_eq(ft_bmg_targets(&b, root, no_extra, to),
                         ft_bmg_neighbours(n, me, neighbours));
            for (uint32_t step = 1u << 30; step > 0; step /= 2)
                if (step < n && v + step < n && v % (2 * step) == 0) {
                    cr_assert_eq(to[k], (me + step) % n);
                    parents[to[k++]]++;
                }
        }
        for (uint32_t i = 0; i < n; i++)
            cr_assert_eq(parents[i], i == root ? 0 : 1, "n %u node %u", n, i);
    }
}

Test(ft_bmg, targets_skip_the_failed_and_add_ring_neighbours, .init = bmg_start)
{
    struct ft_bmg b = bmg_at(0, 16);
    uint32_t extra[FT_BMG_EXTRA] = {3, 1}, to[FT_BMG_DEGREE_MAX];

    ft_set_add(failed_set, 8);
    ft_set_add(failed_set, 15);
    cr_assert_eq(ft_bmg_targets(&b, 0, extra, to), 7 - 2 + 1);
    cr_assert_eq(to[0], 4);
    cr_assert_eq(to[5], 3);
}

Test(ft_bmg, each_broadcast_is_new_once, .init = bmg_start)
{
    struct ft_bmg_seen seen[4] = {0};
    struct ft_bmg b = bmg_at(0, 4);
    uint64_t next = UINT64_C(1) << 32;

    b.seen = seen;
    cr_assert(ft_bmg_mark(&b, 1, 2));
    cr_assert(ft_bmg_mark(&b, 1, 1));
    cr_assert_not(ft_bmg_mark(&b, 1, 1));
    cr_assert_not(ft_bmg_mark(&b, 1, 2));
    cr_assert(ft_bmg_mark(&b, 2, 1), "another initiator");
    cr_assert(ft_bmg_mark(&b, 1, 60));
    for (uint64_t seq = 3; seq < 60; seq++)
        cr_assert(ft_bmg_mark(&b, 1, seq));
    for (uint64_t seq = 1; seq <= 60; seq++)
        cr_assert_not(ft_bmg_mark(&b, 1, seq));
    cr_assert(ft_bmg_mark(&b, 1, 1000));
    cr_assert_not(ft_bmg_mark(&b, 1, 61), "beyond the window");
    /* The next agent of the initiator, and late broadcasts of the one before it. */
    cr_assert(ft_bmg_mark(&b, 1, next + 1));
    cr_assert_not(ft_bmg_mark(&b, 1, next + 1));
    cr_assert(ft_bmg_mark(&b, 1, 1001));
    cr_assert_not(ft_bmg_mark(&b, 1, 1000));
    cr_assert(ft_bmg_mark(&b, 1, 2 * next + 1));
    cr_assert_not(ft_bmg_mark(&b, 1, 1002), "two agents ago");
}

Test(ft_bmg, the_log_keeps_the_latest)
{
    uint8_t log[LOG_SIZE], frame[20] = {0};
    struct ft_bmg b = {.log = log, .log_size = LOG_SIZE};
    const uint8_t *at;
    size_t cursor = 0, len;

    cr_assert_null(ft_bmg_log_next(&b, &cursor, &len));
    for (uint8_t i = 1; i <= 9; i++) {
        frame[0] = i;
        ft_bmg_log_add(&b, frame, 10 + i);
    }
    for (uint8_t i = 7; i <= 8; i++) { /* 3 frames would need more than LOG_SIZE */
        at = ft_bmg_log_next(&b, &cursor, &len);
        cr_assert(at != NULL && at[0] == i + 1 && len == 11u + i);
    }
    cr_assert_null(ft_bmg_log_next(&b, &cursor, &len));
    ft_bmg_log_add(&b, log, LOG_SIZE); /* too long: not stored, nothing lost */
    cursor = 0;
    cr_assert_not_null(ft_bmg_log_next(&b, &cursor, &len));
}
