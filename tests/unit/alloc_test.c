/* SPDX-License-Identifier: BSD-3-Clause */
/* alloc_test.c - the allocator against a model with an owner for each byte. */
#include "config.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/core/memory/alloc.h"

enum { BEGIN = 64 * 1024, BYTES = 256 * 1024, LIVE_MAX = 200, STEPS = 20000 };

/* The model: which block owns each byte (0 = none), and the live blocks. */
struct model {
    uint8_t owner[BYTES];
    struct {
        size_t offset, size;
        uint8_t id;
    } live[LIVE_MAX];
    int count;
    uint32_t seed;
};

#ifndef PGAS_SANITIZED /* whose calloc must not be replaced */
/* Replaces calloc, also for the library.  Fails once when armed. */
void *__libc_calloc(size_t n, size_t size);
static _Atomic int calloc_fails_at; /* counts down with each call; 0 = never */

void *calloc(size_t n, size_t size)
{
    int left = calloc_fails_at;

    if (left > 0)
        calloc_fails_at = left - 1;
    if (left == 1)
        return NULL;
    return __libc_calloc(n, size);
}
#else
static int calloc_fails_at;
#endif

static bool sanitized(void)
{
    return getenv("SANITIZED") != NULL && *getenv("SANITIZED") != '\0';
}

static uint32_t next_random(struct model *m)
{
    m->seed = m->seed * 1664525u + 1013904223u;
    return m->seed >> 8;
}

static void mark(struct model *m, size_t offset, size_t size, uint8_t from, uint8_t to)
{
    for (size_t i = offset - BEGIN; i < offset - BEGIN + size; i++) {
        cr_assert_eq(m->owner[i], from, "byte %zu belongs to %d", i, m->owner[i]);
        m->owner[i] = to;
    }
}

static void model_alloc(struct model *m, struct alloc *a)
{
    size_t size =
        next_random(m) % 4 == 0 ? next_random(m) % 20000 + 1 : next_random(m) % 300 + 1;
    size_t align = (size_t)1 << (next_random(m) % 13);
    size_t offset = 0;
    struct alloc_stats s;

    alloc_count(a, &s);
    if (!alloc_acquire(a, size, align, &offset)) {
        cr_assert_lt(s.largest_free, size + align + ALLOC_LINE,
                     "failed although %zu is free", s.largest_free);
        return;
    }
    cr_assert_eq(offset % align, 0);
    cr_assert_geq(alloc_size(a, offset), size);
    cr_assert_geq(offset, BEGIN);
    cr_assert_leq(offset + size, BEGIN + BYTES);
    uint8_t id = (uint8_t)(next_random(m) % 255 + 1);
    mark(m, offset, size, 0, id);
    m->live[m->count].offset = offset;
    m->live[m->count].size = size;
    m->live[m->count++].id = id;
}

static void model_free(struct model *m, struct alloc *a, int i)
{
    mark(m, m->live[i].offset, m->live[i].size, m->live[i].id, 0);
    cr_assert(alloc_release(a, m->live[i].offset));
    m->live[i] = m->live[--m->count];
}

static void resize(struct model *m, struct alloc *a, int i)
{
    size_t size = next_random(m) % 2000 + 1;

    if (!alloc_resize(a, m->live[i].offset, size))
        return;
    mark(m, m->live[i].offset, m->live[i].size, m->live[i].id, 0);
    mark(m, m->live[i].offset, size, 0, m->live[i].id);
    m->live[i].size = size;
}

/* Compare the extent of the block at a random offset. */
static void model_check_extent(struct model *m, const struct alloc *a)
{
    size_t offset = BEGIN + next_random(m) % BYTES;
    size_t rest = alloc_block_rest(a, offset);

    for (int i = 0; i < m->count; i++) {
        size_t in = offset - m->live[i].offset;
        if (in >= m->live[i].size)
            continue;
        cr_assert_eq(rest, m->live[i].size - in);
        return;
    }
    cr_assert_eq(rest, 0);
}

static void step(struct model *m, struct alloc *a)
{
    model_check_extent(m, a);
    uint32_t what = next_random(m) % 10;

    if (m->count == 0 || (what < 5 && m->count < LIVE_MAX))
        model_alloc(m, a);
    else if (what < 9)
        model_free(m, a, (int)(next_random(m) % (uint32_t)m->count));
    else
        resize(m, a, (int)(next_random(m) % (uint32_t)m->count));
}

static void run_model(uint32_t seed)
{
    struct model *m = calloc(1, sizeof *m);
    struct alloc *a = alloc_new(BEGIN, BEGIN + BYTES);
    struct alloc_stats s;

    m->seed = seed;
    for (int i = 0; i < STEPS; i++) {
        step(m, a);
        if (i % 64 == 0)
            cr_assert(alloc_valid(a), "seed %u step %d", seed, i);
    }
    while (m->count > 0)
        model_free(m, a, m->count - 1);
    alloc_count(a, &s);
    cr_assert(alloc_valid(a));
    cr_assert_eq(s.free_blocks, 1, "free blocks were not coalesced");
    cr_assert_eq(s.free_bytes, BYTES);
    alloc_delete(a);
    free(m);
}

Test(alloc, random_sequences_against_a_model)
{
    for (uint32_t seed = 1; seed <= 5; seed++)
        run_model(seed);
}

/* The same operations on a and b, but every calloc of b may fail.  A failed operation
 * changes nothing and succeeds when repeated: the offsets stay equal. */
Test(alloc, a_failed_calloc_changes_nothing)
{
    struct alloc *a = alloc_new(BEGIN, BEGIN + BYTES);
    struct alloc *b = alloc_new(BEGIN, BEGIN + BYTES);
    struct alloc_stats before, after;
    size_t at[100], also;
    int failed = 0;

    for (size_t i = 0; i < 100; i++) {
        size_t size = 40 + i * 7 % 200, align = i % 3 == 0 ? 1024 : 16;
        cr_assert(alloc_acquire(a, size, align, &at[i]));
        for (int nth = 1;; nth++) {
            alloc_count(b, &before);
            calloc_fails_at = nth;
            bool allocated = alloc_acquire(b, size, align, &also);
            calloc_fails_at = 0;
            cr_assert(alloc_valid(b));
            if (allocated)
                break;
            failed++;
            alloc_count(b, &after);
            cr_assert_eq(memcmp(&before, &after, sizeof before), 0);
        }
        cr_assert_eq(also, at[i], "block %zu is at %zu and at %zu", i, at[i], also);
        if (i % 5 == 4) {
            cr_assert(alloc_release(a, at[i - 2]) && alloc_release(b, at[i - 2]));
            cr_assert(alloc_resize(a, at[i - 1], 16) && alloc_resize(b, at[i - 1], 16));
        }
    }
    if (!sanitized())
        cr_assert_gt(failed, 0, "no calloc failed");
    alloc_delete(a);
    alloc_delete(b);
}

Test(alloc, same_calls_give_same_offsets)
{
    struct alloc *a = alloc_new(0, BYTES), *b = alloc_new(0, BYTES);
    size_t live[64] = {0};
    uint32_t seed = 7;

    for (int i = 0; i < 5000; i++) {
        seed = seed * 1664525u + 1013904223u;
        size_t k = (seed >> 8) % 64, x = 0, y = 0, size = (seed >> 14) % 5000 + 1;
        if (live[k] != 0) {
            cr_assert(alloc_release(a, live[k] - 1) && alloc_release(b, live[k] - 1));
            live[k] = 0;
        } else if (alloc_acquire(a, size, 16, &x)) {
            cr_assert(alloc_acquire(b, size, 16, &y));
            cr_assert_eq(x, y);
            live[k] = x + 1;
        }
    }
    alloc_delete(a);
    alloc_delete(b);
}

Test(alloc, whole_arena_and_one_byte_more)
{
    struct alloc *a = alloc_new(0, BYTES);
    size_t offset;

    cr_assert(alloc_acquire(a, BYTES, 16, &offset));
    cr_assert_eq(offset, 0);
    cr_assert_not(alloc_acquire(a, 1, 16, &offset));
    cr_assert(alloc_release(a, 0));
    cr_assert_not(alloc_acquire(a, BYTES + 1, 16, &offset));
    cr_assert_not(alloc_acquire(a, SIZE_MAX, 16, &offset));
    cr_assert_not(alloc_acquire(a, 0, 16, &offset));
    cr_assert_not(alloc_acquire(a, 16, (size_t)1 << 62, &offset) && offset != 0);
    alloc_delete(a);
}

Test(alloc, empty_arena)
{
    struct alloc *a = alloc_new(0, 0);
    size_t offset;

    cr_assert_not(alloc_acquire(a, 1, 1, &offset));
    cr_assert(alloc_valid(a));
    alloc_delete(a);
}

Test(alloc, unknown_and_double_free_are_rejected)
{
    struct alloc *a = alloc_new(0, BYTES);
    size_t offset;

    cr_assert(alloc_acquire(a, 100, 16, &offset));
    cr_assert_not(alloc_release(a, offset + 16));
    cr_assert(alloc_release(a, offset));
    cr_assert_not(alloc_release(a, offset));
    cr_assert_eq(alloc_size(a, offset), 0);
    alloc_delete(a);
}

Test(alloc, fragmentation_stays_low)
{
    struct alloc *a = alloc_new(0, (size_t)64 << 20);
    size_t at[4096];
    struct alloc_stats s;
    uint32_t seed = 3;

    /* Fill with mixed sizes, then replace random blocks many times: the live bytes stay
     * about the same, so the memory behind the last block must stay one large piece. */
    for (int i = 0; i < 4096; i++)
        cr_assert(alloc_acquire(a, (size_t)(i % 97 + 1) * 64, 16, &at[i]));
    for (int i = 0; i < 100000; i++) {
        seed = seed * 1664525u + 1013904223u;
        size_t k = (seed >> 8) % 4096, size = ((seed >> 4) % 97 + 1) * 64;
        cr_assert(alloc_release(a, at[k]));
        cr_assert(alloc_acquire(a, size, 16, &at[k]));
    }
    alloc_count(a, &s);
    size_t scattered = s.free_bytes - s.largest_free;
    cr_assert_lt(scattered, s.used_bytes / 4, "%zu bytes lie in holes for %zu used",
                 scattered, s.used_bytes);
    alloc_delete(a);
}
