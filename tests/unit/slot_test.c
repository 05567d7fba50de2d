/* SPDX-License-Identifier: BSD-3-Clause */
/* slot_test.c - unit tests of core/team/slot.c against a plain array. */
#include <criterion/criterion.h>

#include "pgas/core/team/slot.h"

enum { END = 300, STEPS = 50000 };

static uint32_t lowest_free(const bool *used, uint32_t from)
{
    for (; from < END; from++)
        if (!used[from])
            return from;
    return SLOT_NONE;
}

Test(slot, random_sequences_against_a_model)
{
    static bool used[END];
    unsigned seed = 1;

    slot_init(END);
    for (uint32_t i = 0; i < SLOT_USER; i++)
        used[i] = true;
    for (int step = 0; step < STEPS; step++) {
        seed = seed * 1664525u + 1013904223u;
        uint32_t at = (seed >> 8) % END;
        if (at >= SLOT_USER && used[at] && seed % 3 != 0) {
            slot_free(at);
            used[at] = false;
            continue;
        }
        uint32_t slot = slot_alloc(at);
        cr_assert_eq(slot, lowest_free(used, at), "from %u", at);
        if (slot != SLOT_NONE)
            used[slot] = true;
    }
    slot_fini();
}

Test(slot, is_fresh_once)
{
    slot_init(END);
    uint32_t slot = slot_alloc(SLOT_USER);
    cr_assert_eq(slot, SLOT_USER);
    cr_assert(slot_first_use(slot));
    cr_assert_not(slot_first_use(slot));
    slot_free(slot);
    cr_assert_eq(slot_alloc(0), slot);
    cr_assert_not(slot_first_use(slot));
    slot_fini();
}

Test(slot, none_beyond_the_end)
{
    slot_init(SLOT_USER + 1);
    cr_assert_eq(slot_alloc(0), SLOT_USER);
    cr_assert_eq(slot_alloc(0), SLOT_NONE);
    cr_assert_eq(slot_alloc(UINT32_MAX - 1), SLOT_NONE);
    slot_fini();
}
