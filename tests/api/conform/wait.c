/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait.c - wait_until and test on one word: all comparisons of all pairs of edge values
 * of every type, then waits that a neighbour's put ends; also the deprecated shmem_wait
 * family.
 */
#include "tests/api/conform/conform.h"
#include "tests/api/conform/types.h"

typedef void (*wait_fn)(void *word, int cmp, const void *value);
typedef int (*test_fn)(void *word, int cmp, const void *value);
typedef void (*store_fn)(void *word, const void *value, int pe);

/* clang-format off */
#define DEFINE(N, C)                                                                     \
    static void wait_##N(void *w, int cmp, const void *v)                                \
    { shmem_##N##_wait_until((C *)w, cmp, *(const C *)v); }                              \
    static int test_##N(void *w, int cmp, const void *v)                                 \
    { return shmem_##N##_test((C *)w, cmp, *(const C *)v); }                             \
    static void store_##N(void *w, const void *v, int pe)                                \
    { shmem_##N##_p((C *)w, *(const C *)v, pe); }
CF_SYNC_ONE(DEFINE)

static const struct sync {
    struct cf_type type;
    const char *wait_name, *test_name;
    wait_fn wait;
    test_fn test;
    store_fn store;
} syncs[] = {
#define ROW(N, C)                                                                        \
    {CF_TYPE(N, C), CF_NAME(shmem_##N##_wait_until), CF_NAME(shmem_##N##_test),          \
     wait_##N, test_##N, store_##N},
    CF_SYNC_ONE(ROW)
};
/* clang-format on */

static const int comparisons[] = {SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT,
                                  SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE};
enum { COMPARISONS = CF_COUNT(comparisons) };

static bool holds(const struct cf_type *t, const void *a, int cmp, const void *b)
{
    int order = cf_order(t, a, b);

    return (cmp == SHMEM_CMP_EQ && order == 0) || (cmp == SHMEM_CMP_NE && order != 0) ||
           (cmp == SHMEM_CMP_GT && order > 0) || (cmp == SHMEM_CMP_GE && order >= 0) ||
           (cmp == SHMEM_CMP_LT && order < 0) || (cmp == SHMEM_CMP_LE && order <= 0);
}

static uint64_t global_word[4], *heap_word;

/* Local words; the bytes around the word must not affect the comparison. */
static void run_local(const struct sync *s, unsigned char *word)
{
    const struct cf_type *t = &s->type;
    unsigned char value[CF_VALUE];

    memset(word - 8, CF_FILLER, 24);
    for (unsigned i = 0; i < CF_EDGES * CF_EDGES * COMPARISONS; i++) {
        int cmp = comparisons[i % COMPARISONS];
        cf_edge(t, i / COMPARISONS % CF_EDGES, word);
        cf_edge(t, i / COMPARISONS / CF_EDGES, value);
        bool expected = holds(t, word, cmp, value);
        cf_case(s->test_name);
        cf_check((s->test(word, cmp, value) != 0) == expected,
                 "%s, comparison %d with %s: not %d", cf_text(t, word), cmp,
                 cf_text(t, value), expected);
        if (!expected)
            continue;
        cf_case(s->wait_name);
        s->wait(word, cmp, value);
    }
}

/* A neighbour changes the word from a value for which the comparison fails to one for
 * which it holds; by a put, since there are no atomics for short. */
static void run_remote(const struct sync *s, unsigned char *word, uint64_t *seed)
{
    const struct cf_type *t = &s->type;
    unsigned char limit[CF_VALUE], first[CF_VALUE], then[CF_VALUE], v[CF_VALUE];

    for (int c = 0; c < COMPARISONS; c++) {
        cf_edge(t, 7, limit);
        for (unsigned e = 0; e < CF_EDGES; e++) {
            cf_edge(t, e, v);
            memcpy(holds(t, v, comparisons[c], limit) ? then : first, v, t->size);
        }
        memcpy(word, first, t->size);
        shmem_barrier_all();
        check_delay(seed);
        s->store(word, then, cf_target(CF_RIGHT));
        s->wait(word, comparisons[c], limit);
        cf_case(s->wait_name);
        cf_check(memcmp(word, then, t->size) == 0, "comparison %d: returned with %s",
                 comparisons[c], cf_text(t, word));
        s->store(word, first, cf_target(CF_SELF));
        shmem_barrier_all();
        s->store(word, then, cf_target(CF_LEFT));
        while (!s->test(word, comparisons[c], limit))
            sched_yield();
        cf_case(s->test_name);
        cf_check(memcmp(word, then, t->size) == 0, "comparison %d: true with %s",
                 comparisons[c], cf_text(t, word));
        shmem_barrier_all();
    }
}

/* -- deprecated: wait until the word differs ----------------------------------------- */
/* clang-format off */
#define DEFINE_OLD(N, C)                                                                 \
    static void run_old_##N(uint64_t *seed)                                              \
    {                                                                                    \
        C *word = (C *)heap_word;                                                        \
        for (int v = 0; v < 3; v++) {                                                    \
            *word = (C)v;                                                                \
            shmem_barrier_all();                                                         \
            check_delay(seed);                                                           \
            shmem_##N##_p(word, (C)(v - 1), cf_target(CF_RIGHT));                        \
            shmem_##N##_wait(word, (C)v);                                                \
            cf_case(CF_NAME(shmem_##N##_wait));                                          \
            cf_check(*word == (C)(v - 1), "the word is not %d", v - 1);                  \
            shmem_barrier_all();                                                         \
        }                                                                                \
    }
CF_OLD_WAIT(DEFINE_OLD)
#define CALL_OLD(N, C) run_old_##N(seed);
/* clang-format on */

/* Names in parentheses are the C routines, not the C11 generic macros. */
static void run_old(uint64_t *seed)
{
    long *word = (long *)heap_word;

    CF_OLD_WAIT(CALL_OLD)
    *word = 5;
    shmem_barrier_all();
    shmem_long_p(word, -7, cf_target(CF_RIGHT));
    shmem_wait(word, 5);
    cf_case("shmem_wait");
    cf_check(*word == -7, "the word is %ld, not -7", *word);
    shmem_barrier_all();
    shmem_long_p(word, 11, cf_target(CF_RIGHT));
    (shmem_wait_until)(word, SHMEM_CMP_GT, 10L);
    cf_case("shmem_wait_until");
    cf_check(*word == 11, "the word is %ld, not 11", *word);
    shmem_barrier_all();
}

int main(void)
{
    cf_start("wait");
    heap_word = check_alloc(4 * sizeof(*heap_word));
    uint64_t seed = check_seed(cf_me);
    for (size_t i = 0; i < CF_COUNT(syncs); i++) {
        run_local(&syncs[i], (unsigned char *)(heap_word + 1));
        run_local(&syncs[i], (unsigned char *)(global_word + 1));
        shmem_barrier_all();
        run_remote(&syncs[i], (unsigned char *)(global_word + 1), &seed);
        run_remote(&syncs[i], (unsigned char *)(heap_word + 1), &seed);
    }
    run_old(&seed);
    shmem_free(heap_word);
    return cf_finish();
}
