/* SPDX-License-Identifier: BSD-3-Clause */
/* wait_set.c - see wait_set.h.  Uses: compare, wait, core/block, core/net. */
#include "config.h"

#include "pgas/core/progress/block.h"
#include "pgas/core/progress/net.h"
#include "pgas/core/base/pgas_assert.h"
#include "pgas/rma/wait.h"
#include "pgas/rma/wait_set.h"

/* The state of one call: the set, values computed from it once, and the results. */
struct search {
    const struct wait_set *set;
    const char *fn;
    struct interval interval; /* if the set has one value */
    size_t first;             /* where a search for any element starts */
    size_t *indices;          /* out: indices of the elements that hold */
    size_t found;             /* out: an index, or the number of indices */
};

static const char *wait_set_element(const void *array, size_t size, size_t i)
{
    return (const char *)array + i * size;
}

/* The set of values for which the comparison of element i holds. */
ALWAYS_INLINE struct interval wait_set_interval(const struct search *s, size_t size,
                                                size_t i)
{
    const struct wait_set *set = s->set;

    if (set->values == NULL)
        return s->interval;
    uint64_t value = word_load(wait_set_element(set->values, size, i), size, set->kind);
    return interval_of(set->cmp, set->kind, value, s->fn);
}

/* The first member of the set in [i, end) whose comparison equals `wanted`, or end.
 * Inlined per element size to keep the size test out of the loop. */
ALWAYS_INLINE size_t wait_set_seek_sized(const struct search *s, size_t size, bool wanted,
                                         size_t i, size_t end)
{
    const struct wait_set *set = s->set;

    for (; i < end; i++) {
        if (set->status != NULL && set->status[i] != 0)
            continue;
        struct interval in = wait_set_interval(s, size, i);
        uint64_t x = word_load(wait_set_element(set->words, size, i), size, set->kind);
        if (interval_has(&in, x) == wanted)
            break;
    }
    return i;
}

static size_t wait_set_seek(const struct search *s, bool wanted, size_t i, size_t end)
{
    if (s->set->size == sizeof(uint64_t))
        return wait_set_seek_sized(s, sizeof(uint64_t), wanted, i, end);
    return wait_set_seek_sized(s, sizeof(uint32_t), wanted, i, end);
}

/*
 * A random start index for wait_until_any and test_any, so that no element that holds is
 * starved.  Neither the first match nor the one after the previous match is sufficient: a
 * program that alternates between two sets could get the same answers forever.
 */
static size_t wait_set_random_start(size_t n)
{
    static _Thread_local uint64_t state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
    return (size_t)((state >> 32) * n >> 32);
}

static struct search wait_set_search(const struct wait_set *set, const char *fn)
{
    return (struct search){.set = set,
                           .fn = fn,
                           .interval = interval_of(set->cmp, set->kind, set->value, fn)};
}

static bool wait_set_find_any(struct search *s)
{
    size_t n = s->set->n;

    PGAS_ASSERT(s->first <= n);
    s->found = wait_set_seek(s, true, s->first, n);
    if (s->found < n)
        return true;
    s->found = wait_set_seek(s, true, 0, s->first);
    if (s->found < s->first)
        return true;
    s->found = SIZE_MAX;
    return false;
}

static bool wait_set_find_some(struct search *s)
{
    size_t n = s->set->n;

    s->found = 0;
    for (size_t i = wait_set_seek(s, true, 0, n); i < n;
         i = wait_set_seek(s, true, i + 1, n))
        s->indices[s->found++] = i;
    PGAS_ASSERT(s->found <= n);
    return s->found > 0;
}

static bool wait_set_any_ready(const void *arg)
{
    return wait_set_find_any(*(struct search *const *)arg);
}

static bool wait_set_some_ready(const void *arg)
{
    return wait_set_find_some(*(struct search *const *)arg);
}

/* The index of the first element at or after i that is not excluded by status, or n. */
static size_t wait_set_next_member(const struct wait_set *set, size_t i)
{
    while (i < set->n && set->status != NULL && set->status[i] != 0)
        i++;
    return i;
}

/* Blocks until ready; returns false immediately if the set is empty. */
static bool wait_set_block(struct search *s, block_ready ready)
{
    const struct wait_set *set = s->set;
    size_t first = wait_set_next_member(set, 0);

    PGAS_ASSERT(first <= set->n);
    if (first == set->n)
        return false;
    bool alone = wait_set_next_member(set, first + 1) == set->n;
    const void *word = wait_set_element(set->words, set->size, first);
    block_until(
        &(struct block_wait){.ready = ready,
                             .arg = &s,
                             .word = alone ? block_word_of(word, set->size) : NULL,
                             .ends_on_failure = true,
                             .what = s->fn});
    return true;
}

bool wait_set_test_all(const struct wait_set *set, const char *fn)
{
    struct search s = wait_set_search(set, fn);
    bool all = wait_set_seek(&s, false, 0, set->n) == set->n;

    if (!all)
        net_poll(); /* the program may call this routine in a loop */
    return all;
}

size_t wait_set_test_any(const struct wait_set *set, const char *fn)
{
    struct search s = wait_set_search(set, fn);

    s.first = wait_set_random_start(set->n);
    if (!wait_set_find_any(&s))
        net_poll();
    return s.found;
}

size_t wait_set_test_some(const struct wait_set *set, size_t *indices, const char *fn)
{
    struct search s = wait_set_search(set, fn);

    s.indices = indices;
    if (!wait_set_find_some(&s))
        net_poll();
    return s.found;
}

/* Waits for the elements one after the other: the total time is that of the last one in
 * any order, and stores to the other words cause no wake-ups. */
void wait_set_all(const struct wait_set *set, const char *fn)
{
    struct search s = wait_set_search(set, fn);
    size_t n = set->n;

    net_send();
    for (size_t i = wait_set_seek(&s, false, 0, n); i < n;
         i = wait_set_seek(&s, false, i + 1, n)) {
        struct interval in = wait_set_interval(&s, set->size, i);
        wait_for(wait_set_element(set->words, set->size, i), set->size, set->kind, &in,
                 fn);
    }
}

size_t wait_set_any(const struct wait_set *set, const char *fn)
{
    struct search s = wait_set_search(set, fn);

    s.first = wait_set_random_start(set->n);
    net_send();
    if (!wait_set_find_any(&s))
        wait_set_block(&s, wait_set_any_ready);
    return s.found;
}

size_t wait_set_some(const struct wait_set *set, size_t *indices, const char *fn)
{
    struct search s = wait_set_search(set, fn);

    s.indices = indices;
    net_send();
    if (!wait_set_find_some(&s))
        wait_set_block(&s, wait_set_some_ready);
    return s.found;
}
