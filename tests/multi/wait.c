/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait.c - test and wait_until: every comparison of every type against a model, on
 * boundary values of both signs; then each type's wait is ended by a peer.
 */
#include "config.h"

#include "tests/multi/wait.h"

typedef int (*test_fn)(void *word, int cmp, uint64_t value);
typedef void (*wait_fn)(void *word, int cmp, uint64_t value);
typedef void (*p_fn)(void *word, uint64_t value, int pe);

#define FUNCTIONS(NAME, C, KIND)                                                         \
    static int test_##NAME(void *w, int cmp, uint64_t v)                                 \
    {                                                                                    \
        return shmem_##NAME##_test(w, cmp, (C)v);                                        \
    }                                                                                    \
    WAIT(NAME, C) P(NAME, C)
#define WAIT(NAME, C)                                                                    \
    static void wait_##NAME(void *w, int cmp, uint64_t v)                                \
    {                                                                                    \
        shmem_##NAME##_wait_until(w, cmp, (C)v);                                         \
    }
#define P(NAME, C)                                                                       \
    static void p_##NAME(void *w, uint64_t v, int pe)                                    \
    {                                                                                    \
        shmem_##NAME##_p(w, (C)v, pe);                                                   \
    }
SHMEM_TYPES_SYNC_ONE(FUNCTIONS)

struct type {
    const char *name;
    size_t size;
    bool is_signed;
    test_fn test;
    wait_fn wait;
    p_fn p;
};
#define ROW(NAME, C, KIND) {#NAME, sizeof(C), KIND, test_##NAME, wait_##NAME, p_##NAME},
static const struct type types[] = {SHMEM_TYPES_SYNC_ONE(ROW)};
enum { TYPES = sizeof(types) / sizeof(types[0]) };

static uint64_t value_of(const struct type *t, int which)
{
    return wait_value(t->size, t->is_signed, which);
}

static bool holds(const struct type *t, uint64_t a, int cmp, uint64_t b)
{
    return wait_holds(t->is_signed, a, cmp, b);
}

static uint64_t word[2];

static void test_model(const struct type *t)
{
    void *at = (char *)word + 8; /* what lies before must not matter */
    memset(word, 0x77, sizeof(word));
    for (int i = 0; i < WAIT_VALUES; i++)
        for (int k = 0; k < WAIT_VALUES; k++)
            for (int c = 0; c < COMPARISONS; c++) {
                uint64_t a = value_of(t, i), b = value_of(t, k);
                memcpy(at, &a, t->size);
                bool expected = holds(t, a, comparisons[c], b);
                CHECK_NAMED((t->test(at, comparisons[c], b) != 0) == expected,
                            "%s test: %lld cmp %d %lld should be %d", t->name,
                            (long long)a, comparisons[c], (long long)b, expected);
                if (expected)
                    t->wait(at, comparisons[c], b); /* true already: returns */
            }
}

/* The previous PE changes the word from a value for which cmp fails to one where it
 * holds, after a while; the wait must not end before. */
static uint64_t remote_word;

static void test_peer(const struct type *t, int cmp, int to, uint64_t *seed)
{
    uint64_t before = 0, after = 0, limit = value_of(t, 2);
    for (int i = 0; i < WAIT_VALUES; i++) {
        uint64_t v = value_of(t, i);
        before = holds(t, v, cmp, limit) ? before : v;
        after = holds(t, v, cmp, limit) ? v : after;
    }
    memcpy(&remote_word, &before, t->size);
    shmem_barrier_all();
    check_delay(seed);
    t->p(&remote_word, after, to);
    t->wait(&remote_word, cmp, limit);
    uint64_t is = 0, expected = 0;
    memcpy(&is, &remote_word, t->size);
    memcpy(&expected, &after, t->size);
    CHECK_NAMED(is == expected, "%s: waited for cmp %d, word is 0x%llx", t->name, cmp,
                (unsigned long long)is);
    shmem_barrier_all();
}

int main(void)
{
    shmem_init();
    uint64_t seed = check_seed(shmem_my_pe());
    int to = (shmem_my_pe() + 1) % shmem_n_pes();
    for (size_t i = 0; i < TYPES; i++) {
        test_model(&types[i]);
        for (int c = 0; c < COMPARISONS; c++)
            test_peer(&types[i], comparisons[c], to, &seed);
    }
    shmem_finalize();
    return 0;
}
