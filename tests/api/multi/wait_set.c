/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait_set.c - wait_until and test of all, any and some words of an array, with one value
 * and with a vector of values, against a model: every comparison of every type at the
 * limits of its range, with all kinds of masks.  Also: `any` is fair.
 */
#include "config.h"

#include "tests/api/multi/wait.h"

enum { LONGEST = 1000, GUARD = 0x77 };
static const size_t lengths[] = {0, 1, 2, 100, LONGEST};
enum { LENGTHS = sizeof(lengths) / sizeof(lengths[0]) };

/* Words whose comparison holds: a random subset; all; all but one; only one. */
enum fill { FILL_RANDOM, FILL_ALL, FILL_ALL_BUT_ONE, FILL_ONE, FILLS };
/* Words excluded by the status array: none (NULL, or all zeros); some; all but one; all.
 */
enum mask { MASK_NULL, MASK_NONE, MASK_SOME, MASK_ALL_BUT_ONE, MASK_ALL, MASKS };

static uint64_t words[LONGEST + 1], values[LONGEST + 1]; /* as bytes: any type */
static size_t indices[LONGEST];
static int status[LONGEST];

/* The model of the arrays above. */
static struct {
    const struct set_type *type;
    size_t n;
    bool holds[LONGEST]; /* and is not masked */
    size_t members, holders;
} model;
static uint64_t seed;

static size_t random_below(size_t n)
{
    return (size_t)((check_random(&seed) >> 32) % (n > 0 ? n : 1));
}

/* A value x for which `x cmp value` is as wanted; if there is none, the last one tried.
 */
static uint64_t choose(const struct set_type *t, int cmp, uint64_t value, bool wanted)
{
    int first = (int)random_below(WAIT_VALUES);
    uint64_t x = 0;
    for (int i = 0; i < WAIT_VALUES; i++) {
        x = wait_value(t->size, t->is_signed, (first + i) % WAIT_VALUES);
        if (wait_holds(t->is_signed, x, cmp, value) == wanted)
            break;
    }
    return x;
}

static bool wanted(enum fill fill, size_t i, size_t odd)
{
    if (fill == FILL_RANDOM)
        return random_below(2) == 0;
    return fill == FILL_ALL || (fill == FILL_ONE ? i == odd : i != odd);
}

static void make_mask(enum mask mask, size_t n, size_t odd)
{
    static const int nonzero[] = {1, -1, 2, 256, INT32_MIN};
    for (size_t i = 0; i < n; i++) {
        int out = nonzero[random_below(sizeof(nonzero) / sizeof(nonzero[0]))];
        bool member = mask == MASK_NONE || (mask == MASK_SOME && random_below(2) == 0) ||
                      (mask == MASK_ALL_BUT_ONE && i == odd);
        status[i] = member ? 0 : out;
    }
}

/* Fill the arrays for c->n words, and the model accordingly. */
static void make(const struct set_call *c, enum fill fill, enum mask mask)
{
    const struct set_type *t = model.type;
    size_t odd = random_below(c->n);
    make_mask(mask, c->n, random_below(2) == 0 ? odd : random_below(c->n));
    memset(words, GUARD, sizeof(words));
    memset(values, GUARD, sizeof(values));
    model.n = c->n;
    model.members = model.holders = 0;
    for (size_t i = 0; i < c->n; i++) {
        uint64_t v = c->values == NULL ? c->value
                                       : wait_value(t->size, t->is_signed,
                                                    (int)random_below(WAIT_VALUES));
        uint64_t x = choose(t, c->cmp, v, wanted(fill, i, odd));
        memcpy((char *)words + i * t->size, &x, t->size);
        memcpy((char *)values + i * t->size, &v, t->size);
        bool member = mask == MASK_NULL || status[i] == 0;
        model.holds[i] = member && wait_holds(t->is_signed, x, c->cmp, v);
        model.members += member;
        model.holders += model.holds[i];
    }
}

/* Checks the result of wait_until_any or test_any. */
static bool good_any(size_t found)
{
    return found == SIZE_MAX ? model.holders == 0 : found < model.n && model.holds[found];
}

/* Checks the result of `some`: each word that holds exactly once, and no index after. */
static bool good_some(size_t count)
{
    static bool seen[LONGEST];
    bool good = count == model.holders;
    memset(seen, 0, sizeof(seen));
    for (size_t k = 0; good && k < count; k++) {
        size_t i = indices[k];
        good = i < model.n && model.holds[i] && !seen[i];
        seen[i] = true;
    }
    for (size_t k = count; good && k < LONGEST; k++)
        good = indices[k] == SIZE_MAX - 1;
    return good;
}

static bool good(int form, size_t answer)
{
    bool all = model.holders == model.members;
    if (form == WAIT_ALL)
        return answer == 0;
    if (form == TEST_ALL)
        return answer == (all ? 1 : 0);
    if (form == WAIT_ANY || form == TEST_ANY)
        return good_any(answer);
    return good_some(answer);
}

/* True if the routine returns although no PE changes the words. */
static bool returns(int form)
{
    if (form == WAIT_ALL)
        return model.holders == model.members;
    return form >= TEST_ALL || model.holders > 0 || model.members == 0;
}

static void test_forms(struct set_call *c, enum fill fill, enum mask mask)
{
    static uint64_t words_before[LONGEST + 1];
    static int status_before[LONGEST];
    make(c, fill, mask);
    c->status = mask == MASK_NULL ? NULL : status;
    memcpy(words_before, words, sizeof(words));
    memcpy(status_before, status, sizeof(status));
    for (int form = 0; form < FORMS; form++) {
        if (!returns(form))
            continue;
        for (size_t k = 0; k < LONGEST; k++)
            indices[k] = SIZE_MAX - 1;
        size_t answer = model.type->call(form, c);
        CHECK_NAMED(good(form, answer),
                    "%s form %d%s, %zu words, cmp %d, fill %d, mask %d: %zu, but %zu of "
                    "%zu hold",
                    model.type->name, form, c->values != NULL ? " vector" : "", c->n,
                    c->cmp, fill, mask, answer, model.holders, model.members);
    }
    CHECK(memcmp(words, words_before, sizeof(words)) == 0);
    CHECK(memcmp(status, status_before, sizeof(status)) == 0);
}

static void test_type(const struct set_type *t)
{
    enum { WAYS = COMPARISONS * FILLS * MASKS * 2 }; /* with one value, with a vector */
    model.type = t;
    for (size_t l = 0; l < LENGTHS; l++)
        for (int i = 0; i < WAYS; i++) {
            int which = (int)random_below(WAIT_VALUES), kind = i / 2 / COMPARISONS;
            struct set_call c = {.words = words,
                                 .n = lengths[l],
                                 .indices = indices,
                                 .cmp = comparisons[i / 2 % COMPARISONS],
                                 .value = wait_value(t->size, t->is_signed, which),
                                 .values = i % 2 == 0 ? NULL : values};
            test_forms(&c, (enum fill)(kind % FILLS), (enum mask)(kind / FILLS));
        }
}

/* A set of no words needs no arrays. */
static void test_nothing(const struct set_type *t)
{
    for (int form = 0; form < FORMS; form++) {
        struct set_call c = {.words = words, .cmp = SHMEM_CMP_EQ};
        bool any = form == WAIT_ANY || form == TEST_ANY;
        size_t expected = any ? SIZE_MAX : form == TEST_ALL ? 1 : 0;
        CHECK_EQ(t->call(form, &c), expected);
    }
}

/* Several sets whose words all hold, passed to `any` in turn: each word is reported
 * eventually. */
static void test_fair(const struct set_type *t, int form, size_t n, size_t sets)
{
    enum { ENOUGH = 100 };
    static bool seen[2 * LONGEST];
    size_t missing = n * sets;
    memset(seen, 0, sizeof(seen));
    memset(words, 0, sizeof(words));
    for (size_t k = 0; k < ENOUGH * n * sets && missing > 0; k++) {
        size_t set = k % sets;
        struct set_call c = {.words = (char *)words + set * n * t->size,
                             .n = n,
                             .cmp = SHMEM_CMP_EQ,
                             .value = 0};
        size_t i = t->call(form, &c);
        CHECK_NAMED(i < n, "%s: any of %zu words is %zu", t->name, n, i);
        missing -= !seen[set * n + i];
        seen[set * n + i] = true;
    }
    CHECK_NAMED(missing == 0, "%s form %d: %zu of %zu words in %zu sets are not reported",
                t->name, form, missing, n * sets, sets);
}

int main(void)
{
    shmem_init();
    seed = check_seed(shmem_my_pe());
    for (int i = 0; i < SET_TYPES; i++) {
        test_type(&set_types[i]);
        test_nothing(&set_types[i]);
        for (size_t sets = 1; sets <= 4; sets++)
            for (size_t n = 1; n <= 100; n = n * 3 + 1) {
                test_fair(&set_types[i], WAIT_ANY, n, sets);
                test_fair(&set_types[i], TEST_ANY, n, sets);
            }
    }
    shmem_finalize();
    return 0;
}
