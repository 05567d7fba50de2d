/* SPDX-License-Identifier: BSD-3-Clause */
/* arrival_test.c - the arrival order of calls whose numbers have equal lower 32 bits. */
#include "config.h"

#include <criterion/criterion.h>

#include "pgas/coll/sync/arrival.h"

#define WRAP ((uint64_t)1 << 32)

enum { PES = 3 };

/* PE `me` arrives in a call, and must be at this position behind this PE. */
static void arrive(uint64_t *tail, uint64_t call, int me, int position, int before)
{
    struct shmem_team team = {.npes = PES, .me = me};
    struct mailbox b = {.team = &team, .call = call};
    struct arrival a = arrival_at(tail, &b);

    cr_assert_eq(a.position, position, "PE %d is at %d, not %d", me, a.position,
                 position);
    cr_assert_eq(a.before, before, "PE %d is behind %d, not %d", me, a.before, before);
}

Test(arrival, call_with_the_number_of_an_unused_tail)
{
    uint64_t tail = 0;

    arrive(&tail, WRAP, 2, 0, -1);
    arrive(&tail, WRAP, 0, 1, 2);
    arrive(&tail, WRAP, 1, 2, 0);
}

Test(arrival, call_with_the_number_of_a_complete_one)
{
    uint64_t tail = 0;

    for (uint64_t call = 5; call <= 5 + 2 * WRAP; call += WRAP) {
        arrive(&tail, call, 1, 0, -1);
        arrive(&tail, call, 2, 1, 1);
        arrive(&tail, call, 0, 2, 2);
    }
}

Test(arrival, consecutive_calls)
{
    uint64_t tail = 0;

    for (uint64_t call = WRAP - 1; call <= WRAP + 1; call++) {
        arrive(&tail, call, 0, 0, -1);
        arrive(&tail, call, 1, 1, 0);
        arrive(&tail, call, 2, 2, 1);
    }
}
