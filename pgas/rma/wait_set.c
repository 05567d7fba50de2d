/* SPDX-License-Identifier: BSD-3-Clause */
/* wait_set.c - see wait_set.h.  Uses: compare, wait, core/block, core/net. */
#include "config.h"

#include "pgas/core/block.h"
#include "pgas/core/net.h"
#include "pgas/core/pgas_assert.h"
#include "pgas/rma/wait.h"
#include "pgas/rma/wait_set.h"

/* A call under way: the set, what is computed from it once, and where answers go. */
struct search {
    const struct wait_set *set;
    const char *fn;
    struct interval interval; /* if the set has one value */
    size_t first;             /* where a search for any begins */
    size_t *indices;          /* of those that hold */
    size_t found;             /* an index, or how many */
};

static const char *nth(const void *array, size_t size, size_t i)
{
    return (const char *)array + i * size;
}

/* Which x make the comparison of word i hold? */
ALWAYS_INLINE struct interval interval_at(const struct search *s, size_t size, size_t i)
{
    const struct wait_set *set = s->set;

    if (set->values == NULL)
        return s->interval;
    uint64_t value = word_load(nth(set->values, size, i), size, set->kind);
    return interval_of(set->cmp, set->kind, value, s->fn);
}

/* The first word of the set from i to before end that holds, or does not; or end.  Inline
 * for each size, so that the loop has no choice to make about it. */
ALWAYS_INLINE size_t seek_sized(const struct search *s, size_t size, bool wanted,
                                size_t i, size_t end)
{
    const struct wait_set *set = s->set;

    for (; i < end; i++) {
        if (set->status != NULL && set->status[i] != 0)
            continue;
        struct interval in = interval_at(s, size, i);
        uint64_t x = word_load(nth(set->words, size, i), size, set->kind);
        if (interval_has(&in, x) == wanted)
            break;
    }
    return i;
}

static size_t seek(const struct search *s, bool wanted, size_t i, size_t end)
{
    if (s->set->size == sizeof(uint64_t))
        return seek_sized(s, sizeof(uint64_t), wanted, i, end);
    return seek_sized(s, sizeof(uint32_t), wanted, i, end);
}

/*
 * Where a search for any begins: at random, so that whoever holds is found in time.
 * Neither the first that holds nor the one after the last that was found would do: a
 * program that asks for two sets in turn could be given the same answers for ever.
 */
static size_t somewhere(size_t n)
{
    static _Thread_local uint64_t state = 1;

    state = state * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
    return (size_t)((state >> 32) * n >> 32);
}

static struct search search_of(const struct wait_set *set, const char *fn)
{
    return (struct search){.set = set,
                           .fn = fn,
                           .interval = interval_of(set->cmp, set->kind, set->value, fn)};
}

static bool find_any(struct search *s)
{
    size_t n = s->set->n;

    PGAS_ASSERT(s->first <= n);
    s->found = seek(s, true, s->first, n);
    if (s->found < n)
        return true;
    s->found = seek(s, true, 0, s->first);
    if (s->found < s->first)
        return true;
    s->found = SIZE_MAX;
    return false;
}

static bool find_some(struct search *s)
{
    size_t n = s->set->n;

    s->found = 0;
    for (size_t i = seek(s, true, 0, n); i < n; i = seek(s, true, i + 1, n))
        s->indices[s->found++] = i;
    PGAS_ASSERT(s->found <= n);
    return s->found > 0;
}

static bool any_ready(const void *arg)
{
    return find_any(*(struct search *const *)arg);
}

static bool some_ready(const void *arg)
{
    return find_some(*(struct search *const *)arg);
}

/* The first word of the set from i on, or n. */
static size_t next_member(const struct wait_set *set, size_t i)
{
    while (i < set->n && set->status != NULL && set->status[i] != 0)
        i++;
    return i;
}

/* Block until ready; false at once if there is nothing to wait for. */
static bool await(struct search *s, block_ready ready)
{
    const struct wait_set *set = s->set;
    size_t first = next_member(set, 0);

    PGAS_ASSERT(first <= set->n);
    if (first == set->n)
        return false;
    bool alone = next_member(set, first + 1) == set->n;
    block_until(
        &(struct block_wait){.ready = ready,
                             .arg = &s,
                             .word = alone ? nth(set->words, set->size, first) : NULL,
                             .what = s->fn});
    return true;
}

bool wait_set_test_all(const struct wait_set *set, const char *fn)
{
    struct search s = search_of(set, fn);
    bool all = seek(&s, false, 0, set->n) == set->n;

    if (!all)
        net_poll(); /* the program asks again and again */
    return all;
}

size_t wait_set_test_any(const struct wait_set *set, const char *fn)
{
    struct search s = search_of(set, fn);

    s.first = somewhere(set->n);
    if (!find_any(&s))
        net_poll();
    return s.found;
}

size_t wait_set_test_some(const struct wait_set *set, size_t *indices, const char *fn)
{
    struct search s = search_of(set, fn);

    s.indices = indices;
    if (!find_some(&s))
        net_poll();
    return s.found;
}

/* One after the other: it takes as long as the last of them in any order, and a store to
 * another word wakes nobody. */
void wait_set_all(const struct wait_set *set, const char *fn)
{
    struct search s = search_of(set, fn);
    size_t n = set->n;

    for (size_t i = seek(&s, false, 0, n); i < n; i = seek(&s, false, i + 1, n)) {
        struct interval in = interval_at(&s, set->size, i);
        wait_for(nth(set->words, set->size, i), set->size, set->kind, &in, fn);
    }
}

size_t wait_set_any(const struct wait_set *set, const char *fn)
{
    struct search s = search_of(set, fn);

    s.first = somewhere(set->n);
    if (!find_any(&s))
        await(&s, any_ready);
    return s.found;
}

size_t wait_set_some(const struct wait_set *set, size_t *indices, const char *fn)
{
    struct search s = search_of(set, fn);

    s.indices = indices;
    if (!find_some(&s))
        await(&s, some_ready);
    return s.found;
}
