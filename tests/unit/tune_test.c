/* SPDX-License-Identifier: BSD-3-Clause */
/* tune_test.c - the jobs of the tuner, and the table that it makes from their results. */
#include "config.h"

#include <criterion/criterion.h>

#include "tools/oshmem_info/tune.h"

static const struct tune_step one_node = {.nodes = 1,
                                          .pes = 4,
                                          .nodes_from = 1,
                                          .nodes_to = 1,
                                          .pes_from = 3,
                                          .pes_to = 4,
                                          .last = true};
static struct tune_job job;
static struct tune_range range[TUNE_RANGES_MAX];

static struct tune_point *add(enum select_collective what, size_t bytes,
                              enum select_algorithm builtin, double ns)
{
    struct tune_series *s = &job.series[what];
    struct tune_point *p = &s->point[s->points++];

    job.step = one_node;
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
    cr_assert_eq(tune_ranges(&job, range), 1);
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
    cr_assert_eq(tune_ranges(&job, range), 3);
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
    cr_assert_eq(tune_ranges(&job, range), 1);
    cr_assert_eq(range[0].to, select_info(SCAN_MAILBOX)->bytes);
}

Test(tune, without_sizes_there_is_one_range)
{
    other(add(SELECT_COLLECT, 8, COLLECT_MAILBOX, 100), COLLECT_BARRIER, 50, true);
    other(add(SELECT_COLLECT, 64, COLLECT_MAILBOX, 100), COLLECT_BARRIER, 100, false);
    other(add(SELECT_COLLECT, 512, COLLECT_MAILBOX, 100), COLLECT_BARRIER, 50, true);
    cr_assert_eq(tune_ranges(&job, range), 1);
    cr_assert_eq(range[0].best, COLLECT_BARRIER);
    cr_assert_eq(range[0].from, 0);
    cr_assert_eq(range[0].to, SELECT_ANY_BYTES);
    job.series[SELECT_COLLECT].point[1].ns[COLLECT_BARRIER] = 1000;
    tune_ranges(&job, range);
    cr_assert_eq(range[0].best, COLLECT_MAILBOX);
}

/* ---- several nodes ----------------------------------------------------------------- */

static struct tune_step step[TUNE_STEPS_MAX];

static void expect_step(int i, int nodes, int pes, int nodes_from, int pes_from,
                        bool last)
{
    const struct tune_step *s = &step[i];

    cr_expect(s->nodes == nodes && s->pes == pes && s->nodes_from == nodes_from &&
                  s->nodes_to == nodes && s->pes_from == pes_from && s->pes_to == pes &&
                  s->last == last,
              "step %d: %d nodes (from %d), %d PEs (from %d)", i, s->nodes, s->nodes_from,
              s->pes, s->pes_from);
}

Test(tune, the_default_is_one_node)
{
    struct tune_options o = {.one_node = true};
    int nodes;

    cr_assert_eq(tune_plan(&o, 6, step, &nodes), 4);
    expect_step(0, 1, 2, 1, 2, false);
    expect_step(1, 1, 4, 1, 3, false);
    expect_step(2, 1, 6, 1, 5, false);
    expect_step(3, 1, 8, 1, 7, true);
    o.pes = (struct tune_numbers){2, {2, 16}};
    cr_assert_eq(tune_plan(&o, 6, step, &nodes), 2);
    expect_step(1, 1, 16, 1, 7, true); /* not for teams with a processor for each PE */
}

Test(tune, hosts_have_one_pe_and_one_for_each_processor)
{
    struct tune_options o = {.hosts = "a,b,c", .nodes = {2, {2, 3}}};
    int nodes;

    cr_assert_eq(tune_plan(&o, 4, step, &nodes), 4);
    expect_step(0, 2, 2, 2, 2, false);
    expect_step(1, 2, 8, 2, 3, true);
    expect_step(2, 3, 3, 3, 3, false);
    expect_step(3, 3, 12, 3, 4, true);
}

Test(tune, virtual_nodes_share_the_processors)
{
    struct tune_options o = {.vnodes = "2,4", .nodes = {2, {2, 4}}};
    int nodes;

    cr_assert_eq(tune_plan(&o, 6, step, &nodes), 3);
    expect_step(0, 2, 2, 2, 2, false);
    expect_step(1, 2, 6, 2, 3, true);
    expect_step(2, 4, 4, 3, 3, true);
}

Test(tune, all_nodes_have_as_many_pes)
{
    struct tune_options o = {
        .vnodes = "2,4", .nodes = {2, {2, 4}}, .pes = {4, {2, 6, 8, 32}}};
    int nodes;

    cr_assert_eq(tune_plan(&o, 8, step, &nodes), 6);
    expect_step(2, 2, 8, 2, 7, false);
    expect_step(3, 2, 32, 2, 9, true);
    expect_step(4, 4, 8, 3, 3, false);
    expect_step(5, 4, 32, 3, 9, true);
    o.pes.n = 2;
    cr_assert_eq(tune_plan(&o, 8, step, &nodes), -1);
    cr_expect_eq(nodes, 4);
}

static void expect_teams(int i, size_t from, size_t to)
{
    cr_expect(range[i].pes_from == from && range[i].pes_to == to, "range %d: %zu to %zu",
              i, range[i].pes_from, range[i].pes_to);
    cr_expect_eq(range[i].nodes_from, 3);
    cr_expect_eq(range[i].nodes_to, 4);
}

/* Reductions exchange as much for any number of PEs, alltoalls do not. */
Test(tune, most_pes_stand_for_larger_teams)
{
    add(SELECT_INTERNODE_REDUCE, 8, INTERNODE_REDUCE_GATHER, 100);
    add(SELECT_INTERNODE_ALLTOALL, 8, INTERNODE_ALLTOALL_GATHER, 100);
    job.step = (struct tune_step){4, 8, 3, 4, 3, 8, true};
    cr_assert_eq(tune_ranges(&job, range), 2);
    expect_teams(0, 0, SELECT_ANY_BYTES);
    expect_teams(1, 3, 8);
    job.step.pes_from = 5;
    tune_ranges(&job, range);
    expect_teams(0, 5, SELECT_ANY_BYTES);
    job.step.last = false;
    tune_ranges(&job, range);
    expect_teams(0, 5, 8);
}

Test(tune, every_internode_phase_has_a_call)
{
    for (int what = 0; what < SELECT_ALL; what++)
        cr_expect_lt(tune_call_of((enum select_collective)what), SELECT_INTERNODE_REDUCE);
    cr_expect_eq(tune_call_of(SELECT_INTERNODE_COLLECT), SELECT_FCOLLECT);
    cr_expect_eq(tune_call_of(SELECT_INTERNODE_ALLTOALL), SELECT_ALLTOALL);
    cr_expect(tune_usable(INTERNODE_REDUCE_DIRECT, 8, SELECT_DIRECT_NODES + 1, 2));
    cr_expect_not(tune_usable(INTERNODE_REDUCE_CHAIN, 8, 2, 2));
    cr_expect_not(tune_usable(INTERNODE_REDUCE_DIRECT, 8, SELECT_DIRECT_NODES + 1,
                              SELECT_DIRECT_NODES + 1));
}

Test(tune, texts_of_ranges)
{
    char text[TUNE_TEXT_MAX];

    cr_expect_str_eq(tune_range_text(0, SELECT_ANY_BYTES, text), "*");
    cr_expect_str_eq(tune_range_text(5, SELECT_ANY_BYTES, text), "5-");
    cr_expect_str_eq(tune_range_text(5, 5, text), "5");
    cr_expect_str_eq(tune_range_text(0, 45, text), "0-45");
}
