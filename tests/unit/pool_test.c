/* SPDX-License-Identifier: BSD-3-Clause */
/* pool_test.c - unit tests of core/base/pool.c: any address can be tested for a live
 * object.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "pgas/core/base/pool.h"

struct thing {
    struct pool_item item;
    int number;
};

enum { THINGS = 1000, STEPS = 20000 };

Test(pool, random_sequences_against_a_model)
{
    static struct pool pool = POOL_OF(struct thing);
    static struct thing *thing[THINGS];
    unsigned seed = 1;

    for (int step = 0; step < STEPS; step++) {
        seed = seed * 1664525u + 1013904223u;
        int i = (int)(seed >> 8) % THINGS;
        if (thing[i] == NULL) {
            thing[i] = pool_alloc(&pool);
            cr_assert_not_null(thing[i]);
            cr_assert_eq(thing[i]->number, 0, "a new object is zero");
            cr_assert_not(pool_has(&pool, thing[i]), "not live before pool_publish");
            thing[i]->number = i + 1;
            pool_publish(&thing[i]->item);
        } else {
            cr_assert(pool_has(&pool, thing[i]));
            cr_assert_eq(thing[i]->number, i + 1);
            pool_free(&pool, thing[i]);
            cr_assert_not(pool_has(&pool, thing[i]), "a stale handle is detected");
            thing[i] = NULL;
        }
    }
    pool_clear(&pool);
}

static bool matches_even(const void *object, const void *arg)
{
    const struct thing *thing = object;

    return arg == NULL && thing->number % 2 == 0;
}

Test(pool, removed_objects_are_not_live_and_the_pool_is_not_locked)
{
    static struct pool pool = POOL_OF(struct thing);
    struct thing *thing[THINGS];
    int removed = 0;

    for (int i = 0; i < THINGS; i++) {
        thing[i] = pool_alloc(&pool);
        thing[i]->number = i;
        pool_publish(&thing[i]->item);
    }
    struct pool_item *item = pool_remove(&pool, matches_even, NULL), *next;
    for (int i = 0; i < THINGS; i++)
        cr_assert_eq(pool_has(&pool, thing[i]), i % 2 == 1);
    for (; item != NULL; item = next) {
        next = item->next;
        cr_assert_eq(((struct thing *)item)->number % 2, 0);
        cr_assert_not_null(pool_alloc(&pool), "others use the pool");
        pool_free(&pool, item);
        removed++;
    }
    cr_assert_eq(removed, THINGS / 2);
    cr_assert_null(pool_remove(&pool, matches_even, NULL));
    pool_clear(&pool);
}

Test(pool, other_addresses_are_not_objects)
{
    static struct pool pool = POOL_OF(struct thing);
    struct thing *one = pool_alloc(&pool), local;

    pool_publish(&one->item);
    cr_assert(pool_has(&pool, one));
    cr_assert_not(pool_has(&pool, NULL));
    cr_assert_not(pool_has(&pool, &local));
    cr_assert_not(pool_has(&pool, (char *)one + 1));
    cr_assert_not(pool_has(&pool, one + 1));
    cr_assert_not(pool_has(&pool, (void *)1));
    cr_assert_not(pool_has(&pool, (void *)UINTPTR_MAX));
    pool_clear(&pool);
    cr_assert_not(pool_has(&pool, one));
}

static bool is_even(void *object, void *count)
{
    ++*(int *)count;
    return ((struct thing *)object)->number % 2 == 0;
}

Test(pool, each_visits_live_objects_and_may_free_them)
{
    static struct pool pool = POOL_OF(struct thing);
    struct thing *thing[100];
    int seen = 0;

    for (int i = 0; i < 100; i++) {
        thing[i] = pool_alloc(&pool);
        thing[i]->number = i;
        if (i < 90)
            pool_publish(&thing[i]->item);
    }
    pool_each(&pool, is_even, &seen);
    cr_assert_eq(seen, 90);
    for (int i = 0; i < 90; i++)
        cr_assert_eq(pool_has(&pool, thing[i]), i % 2 == 1);
    pool_clear(&pool);
}
