/* SPDX-License-Identifier: BSD-3-Clause */
/* adapt_test.c - what a team decides from the arrivals that it has seen. */
#include "config.h"

#include <criterion/criterion.h>

#include "pgas/coll/adapt.h"

enum { CALLS = 2000 };

/* A model: the imbalance, and what is left to do when the last PE has come. */
struct model {
    uint64_t imbalance, work[2]; /* without and with aware */
};

/* Play calls as adapt_begin and adapt_end do.  Returns how many of them were aware. */
static int play(struct team_adapt *state, const struct model *m)
{
    int aware = 0;

    for (int k = 0; k < CALLS; k++) {
        uint32_t call = state->calls++;
        bool now = state->aware != adapt_tries(state, call);
        aware += now;
        if (!adapt_timed(call))
            continue;
        state->was_aware = now;
        adapt_learn(state, m->imbalance, m->work[now]);
    }
    return aware;
}

Test(adapt, balanced_teams_never_try)
{
    struct team_adapt state = {0};

    cr_assert_eq(play(&state, &(struct model){1000, {1000, 10}}), 0);
    cr_assert(!state.aware);
}

Test(adapt, imbalanced_teams_take_what_is_better)
{
    struct team_adapt state = {0};

    int aware = play(&state, &(struct model){50000, {1000, 500}});
    cr_assert(state.aware);
    cr_assert_gt(aware, CALLS * 8 / 10, "%d of %d", aware, CALLS);
}

Test(adapt, they_seldom_try_what_is_worse)
{
    struct team_adapt state = {0};

    int aware = play(&state, &(struct model){50000, {1000, 3000}});
    cr_assert(!state.aware);
    cr_assert_gt(aware, 0);
    cr_assert_lt(aware, CALLS / 50, "%d of %d", aware, CALLS);
}

Test(adapt, equals_do_not_change_places)
{
    struct team_adapt state = {0};

    play(&state, &(struct model){50000, {1000, 980}});
    cr_assert(!state.aware);
}

Test(adapt, who_is_balanced_again_goes_back)
{
    struct team_adapt state = {0};

    play(&state, &(struct model){50000, {1000, 500}});
    cr_assert(state.aware);
    cr_assert_lt(play(&state, &(struct model){100, {1000, 1500}}), CALLS / 10);
    cr_assert(!state.aware);
}

Test(adapt, work_that_grows_is_noticed)
{
    struct team_adapt state = {0};

    play(&state, &(struct model){50000, {1000, 500}});
    play(&state, &(struct model){50000, {1000, 5000}});
    cr_assert(!state.aware);
}
