/* SPDX-License-Identifier: BSD-3-Clause */
/* adapt_test.c - the decisions of adaptive selection for given samples. */
#include "config.h"

#include <criterion/criterion.h>

#include "pgas/coll/select/adapt.h"

enum { CALLS = 2000, EVERY = 4, ALL_WAYS = 7, FEW = 3, TRIAL = FEW + 1, NOISE = 64 };

/* A model: imbalance, and work after the last arrival, by candidate. */
struct model {
    uint64_t imbalance, work[ADAPT_CANDIDATES];
    uint64_t noise; /* maximum of a random addition, in percent */
};

static uint64_t disturbed(uint64_t value, uint64_t noise, int k)
{
    return value + value * (noise * (uint64_t)(k * 37 % NOISE) / NOISE) / 100;
}

/* Execute calls as adapt_begin and adapt_end do: the sample of a call is read at the end
 * of the next one.  counts: calls by candidate.  Returns the sum of their work. */
static uint64_t play(struct adapt_class *state, const struct model *m,
                     int counts[ADAPT_CANDIDATES])
{
    bool timed, known = false;
    unsigned candidate, last = 0;
    uint64_t work, before = 0, sum = 0;

    for (unsigned w = 0; w < ADAPT_CANDIDATES; w++)
        counts[w] = 0;
    for (int k = 0; k < CALLS; k++) {
        candidate = adapt_next(state, EVERY, &timed);
        work = disturbed(m->work[candidate], m->noise, k);
        if (known)
            adapt_learn(state, last, disturbed(m->imbalance, m->noise, k + 5), before);
        known = timed;
        last = candidate;
        before = work;
        sum += work;
        counts[candidate]++;
    }
    return sum;
}

static struct adapt_class begin(unsigned candidates)
{
    return (struct adapt_class){.candidates = (uint8_t)candidates, .few = FEW};
}

/* At most 5 % more than with the best candidate only. */
static void check_near_best(const struct model *m, unsigned best)
{
    struct adapt_class state = begin(ALL_WAYS);
    int counts[ADAPT_CANDIDATES];
    uint64_t least = 0, sum = play(&state, m, counts);

    for (int k = 0; k < CALLS; k++)
        least += disturbed(m->work[best], m->noise, k);
    cr_assert_eq(state.candidate, best, "candidate %d", state.candidate);
    cr_assert_leq(sum, least + least / 20, "%d %d %d: %g of the best", counts[0],
                  counts[1], counts[2], (double)sum / (double)least);
    for (unsigned w = 0; w < ADAPT_CANDIDATES; w++)
        cr_assert_geq(counts[w], TRIAL, "candidate %u was selected %d times", w,
                      counts[w]);
}

Test(adapt, the_best_candidate_is_selected_at_once)
{
    for (unsigned best = 0; best < ADAPT_CANDIDATES; best++) {
        struct model m = {1000, {10000, 10000, 10000}, 0};
        m.work[best] = 5000;
        check_near_best(&m, best);
        m.noise = 50;
        check_near_best(&m, best);
    }
}

Test(adapt, far_worse_candidates_cost_little)
{
    check_near_best(&(struct model){1000, {10000, 40000, 100000}, 0}, 0);
    check_near_best(&(struct model){500000, {40000, 10000, 60000}, 20}, 1);
}

Test(adapt, far_worse_candidates_are_tried_seldom)
{
    struct adapt_class state = begin(ALL_WAYS);
    int counts[ADAPT_CANDIDATES];

    play(&state, &(struct model){1000, {10000, 50000, 200000}, 0}, counts);
    cr_assert_eq(counts[1], TRIAL, "%d", counts[1]);
    cr_assert_eq(counts[2], TRIAL, "%d", counts[2]);
}

Test(adapt, unavailable_candidates_are_not_selected)
{
    struct adapt_class state = begin(5);
    int counts[ADAPT_CANDIDATES];

    play(&state, &(struct model){1000, {10000, 1, 5000}, 0}, counts);
    cr_assert_eq(counts[1], 0);
    cr_assert_eq(state.candidate, 2);
}

Test(adapt, equal_candidates_cause_no_switch)
{
    struct adapt_class state = begin(ALL_WAYS);
    int counts[ADAPT_CANDIDATES];

    play(&state, &(struct model){50000, {10000, 9800, 9900}, 0}, counts);
    cr_assert_eq(state.candidate, 0);
    cr_assert_gt(counts[0], CALLS * 9 / 10);
}

Test(adapt, small_costs_have_the_same_margin)
{
    for (uint64_t cost = 10; cost < 200; cost++) {
        struct adapt_class state = begin(ALL_WAYS);
        int counts[ADAPT_CANDIDATES];

        play(&state, &(struct model){0, {cost, cost, cost + 14}, 0}, counts);
        cr_assert_eq(state.candidate, 0, "%d", (int)cost);
    }
}

/* After a change of the imbalance another candidate may be the best. */
Test(adapt, another_imbalance_is_noticed_soon)
{
    struct adapt_class state = begin(ALL_WAYS);
    int counts[ADAPT_CANDIDATES];

    play(&state, &(struct model){100, {10000, 40000, 80000}, 10}, counts);
    cr_assert_eq(state.candidate, 0);
    play(&state, &(struct model){900000, {10000, 4000, 8000}, 10}, counts);
    cr_assert_eq(state.candidate, 1);
    cr_assert_gt(counts[1], CALLS * 9 / 10, "%d", counts[1]);
    play(&state, &(struct model){100, {10000, 40000, 80000}, 10}, counts);
    cr_assert_eq(state.candidate, 0);
    cr_assert_gt(counts[0], CALLS * 9 / 10, "%d", counts[0]);
}

/* The imbalance stays: found by the calls that retry other candidates. */
Test(adapt, work_that_changes_is_noticed)
{
    struct adapt_class state = begin(ALL_WAYS);
    int counts[ADAPT_CANDIDATES];

    play(&state, &(struct model){50000, {10000, 5000, 7000}, 10}, counts);
    cr_assert_eq(state.candidate, 1);
    play(&state, &(struct model){50000, {10000, 50000, 7000}, 10}, counts);
    cr_assert_eq(state.candidate, 2);
}

/* A single call in which a PE was preempted changes nothing. */
Test(adapt, a_preempted_pe_changes_nothing)
{
    struct adapt_class state = begin(ALL_WAYS);
    int counts[ADAPT_CANDIDATES];

    play(&state, &(struct model){1000, {10000, 12000, 13000}, 0}, counts);
    adapt_learn(&state, 0, 1000, 4000000);
    cr_assert_eq(state.candidate, 0);
    cr_assert_lt(state.work[0], 12000);
    for (int k = 0; k < 20; k++) /* but many of them do */
        adapt_learn(&state, 0, 1000, 40000);
    cr_assert_neq(state.candidate, 0);
}

/* If the table's algorithm, with which a team starts, is as good, the team keeps it. */
Test(adapt, any_candidate_may_be_first)
{
    struct adapt_class state = begin(ALL_WAYS);
    int counts[ADAPT_CANDIDATES];

    state.candidate = 2;
    play(&state, &(struct model){1000, {10000, 10000, 10000}, 0}, counts);
    cr_assert_eq(state.candidate, 2);
}
