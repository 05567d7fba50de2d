/* SPDX-License-Identifier: BSD-3-Clause */
/* mutants.c - wrong schedules, which the model must reject. */
#include "config.h"

#include "tests/coll/schedule/mutants.h"

static bool lost_send(const struct schedule *s, int i, struct schedule_step *step)
{
    bool more = schedule_step(s, i, step);

    if (s->rank == 2 && step->kind == STEP_SEND && step->tag == 1)
        step->kind = STEP_NONE;
    return more;
}

static bool source_reused(const struct schedule *s, int i, struct schedule_step *step)
{
    bool more = schedule_step(s, i, step);

    step->copied = false;
    return more;
}

/* Exchanges two consecutive steps of these kinds. */
static bool swapped(const struct schedule *s, int i, struct schedule_step *step,
                    enum schedule_kind first, enum schedule_kind second)
{
    struct schedule_step other;
    bool more = schedule_step(s, i, step);

    if (step->kind == first && schedule_step(s, i + 1, &other) && other.kind == second)
        *step = other;
    else if (step->kind == second && schedule_step(s, i - 1, &other) &&
             other.kind == first)
        *step = other;
    return more;
}

static bool reduced_early(const struct schedule *s, int i, struct schedule_step *step)
{
    return swapped(s, i, step, STEP_RECV, STEP_REDUCE);
}

static bool published_early(const struct schedule *s, int i, struct schedule_step *step)
{
    return swapped(s, i, step, STEP_RECV, STEP_READY);
}

static bool received_first(const struct schedule *s, int i, struct schedule_step *step)
{
    return swapped(s, i, step, STEP_SEND, STEP_RECV);
}

static bool inbox_shared(const struct schedule *s, int i, struct schedule_step *step)
{
    bool more = schedule_step(s, i, step);

    if (step->to.space == SPACE_INBOX)
        step->to.first = 0;
    if (step->from.space == SPACE_INBOX)
        step->from.first = 0;
    return more;
}

static bool added_twice(const struct schedule *s, int i, struct schedule_step *step)
{
    bool more = schedule_step(s, i, step);

    if (step->kind == STEP_COPY)
        step->kind = STEP_REDUCE;
    return more;
}

static bool wrong_tag(const struct schedule *s, int i, struct schedule_step *step)
{
    bool more = schedule_step(s, i, step);

    if (step->kind == STEP_SEND && step->tag == 2)
        step->tag = 1;
    return more;
}

static bool too_early(const struct schedule *s, int i, struct schedule_step *step)
{
    bool more = schedule_step(s, i, step);

    if (step->kind == STEP_SEND && step->to.space == SPACE_INBOX)
        step->to = step->from;
    return more;
}

static bool ended_early(const struct schedule *s, int i, struct schedule_step *step)
{
    struct schedule_step last;

    return schedule_step(s, i + 1, &last) && schedule_step(s, i, step);
}

static bool not_copied(const struct schedule *s, int i, struct schedule_step *step)
{
    bool more = schedule_step(s, i, step);

    if (step->kind == STEP_GET)
        step->copied = false;
    return more;
}

static bool other_order(const struct schedule *s, int i, struct schedule_step *step)
{
    bool more = schedule_step(s, i, step);

    step->before = !step->before;
    return more;
}

/* Without the second acknowledgement in SEND, RECV, GET, SEND, RECV, REDUCE. */
static bool not_awaited(const struct schedule *s, int i, struct schedule_step *step)
{
    bool more = schedule_step(s, i, step);

    if (step->kind == STEP_RECV && step->tag % 2 != 0)
        step->kind = STEP_NONE;
    return more;
}

/* Two rounds of all barriers use one word. */
static bool one_word(const struct schedule *s, int i, struct schedule_step *step)
{
    bool more = schedule_step(s, i, step);

    step->tag %= schedule_log2(s->nodes) - 1;
    return more;
}

/* The chain and the results have the same tags. */
static bool one_direction(const struct schedule *s, int i, struct schedule_step *step)
{
    bool more = schedule_step(s, i, step);

    step->tag %= schedule_segments(s);
    return more;
}

static bool no_barrier(const struct schedule *s, int i, struct schedule_step *step)
{
    return schedule_step(s, i + 2 * schedule_log2(s->nodes), step);
}

/* The first or the last of two barriers is missing. */
static bool no_barrier_before(const struct schedule *s, int i, struct schedule_step *step)
{
    return schedule_step(s, i + 1, step);
}

/* The PUTs of all ranks have one target. */
static bool one_block(const struct schedule *s, int i, struct schedule_step *step)
{
    bool more = schedule_step(s, i, step);

    if (step->kind == STEP_PUT)
        step->to.first = 0;
    return more;
}

static bool in_result(const struct schedule *s, int i, struct schedule_step *step)
{
    bool more = schedule_step(s, i, step);

    if (step->kind == STEP_GET && step->to.space == SPACE_INBOX)
        step->from.space = SPACE_DATA;
    return more;
}

const struct mutant mutants[] = {
    {SCHEDULE_DISSEMINATION, lost_send, "a message is missing", "waits forever"},
    {SCHEDULE_REDUCE_DOUBLING, source_reused, "the source changes before it is read",
     "race: REDUCE"},
    {SCHEDULE_REDUCE_EXCHANGE, source_reused, "the operand changes before it is read",
     "race: REDUCE"},
    {SCHEDULE_REDUCE_RING, reduced_early, "an operand is used before it has arrived",
     "race: COPY"},
    {SCHEDULE_REDUCE_TREE, inbox_shared, "two messages have the same target",
     "race: SEND"},
    {SCHEDULE_GATHER_RING, received_first, "every leader receives before it sends",
     "waits forever"},
    {SCHEDULE_REDUCE_DIRECT, added_twice, "a contribution is added twice",
     "combines a contribution twice"},
    {SCHEDULE_BCAST_SCATTER, wrong_tag, "two messages have one tag", "twice"},
    {SCHEDULE_REDUCE_HALVING, too_early, "a leader that has not entered is written to",
     "race: SEND"},
    {SCHEDULE_SCAN_CHAIN, reduced_early, "an operand is added before the prefix arrives",
     "race: REDUCE"},
    {SCHEDULE_SCAN_CHAIN, other_order, "operands are exchanged", "out of order"},
    {SCHEDULE_SCAN_DOUBLING, source_reused, "the source changes before it is read",
     "race: REDUCE"},
    {SCHEDULE_SCAN_DOUBLING, other_order, "operands are exchanged", "out of order"},
    {SCHEDULE_REDUCE_ORDERED, published_early, "a result is read before it has arrived",
     "lacks"},
    {SCHEDULE_REDUCE_ORDERED, one_direction, "two directions have the same tags",
     "but rank 0 sends it"},
    {SCHEDULE_PULL_BCAST, ended_early, "the last acknowledgement is not awaited",
     "may end while"},
    {SCHEDULE_PULL_SCAN, not_copied, "an operand is read after the acknowledgement",
     "after the SEND"},
    {SCHEDULE_PULL_SCAN, other_order, "operands are exchanged", "out of order"},
    {SCHEDULE_PULL_EXSCAN, not_awaited, "the sum changes before it is read", "race:"},
    {SCHEDULE_PULL_DIRECT, one_word, "two rounds of the barriers have one tag", "twice"},
    {SCHEDULE_PULL_ALLTOALL, no_barrier, "the barrier before is missing", "race: GET"},
    {SCHEDULE_PULL_DIRECT, in_result, "results are combined", "lacks"},
    {SCHEDULE_ALLTOALL_PAIRWISE, no_barrier_before, "the barrier before is missing",
     "race: PUT"},
    {SCHEDULE_ALLTOALL_PAIRWISE, ended_early, "the barrier after is missing",
     "may end while"},
    {SCHEDULE_ALLTOALL_PAIRWISE, one_block, "two PUTs have the same target", "race: PUT"},
    {SCHEDULE_PULL_TREE, ended_early, "a child ends before it is read", "may end while"},
};
const size_t mutants_count = sizeof mutants / sizeof mutants[0];
