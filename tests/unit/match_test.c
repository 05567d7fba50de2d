/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * match_test.c - all matching engines, and tail queues, against a flat list, also without
 * memory for nodes; order, holes and the split of fuzzy keys.
 */
#include "config.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>

#include "tests/unit/kernels/check_match.h"

/* Replaces that of the C library: of `fail_of` calls, all but one fail. */
static unsigned fail_of, alloc_calls;

void *aligned_alloc(size_t alignment, size_t size)
{
    void *p = NULL;

    if (fail_of > 0 && ++alloc_calls % fail_of != 0)
        return NULL;
    return posix_memalign(&p, alignment, size) == 0 ? p : NULL;
}

static struct check_match_result check_all(bool tail, uint64_t seed, uint64_t operations)
{
    struct match_options options[CHECK_MATCH_ENGINES];
    unsigned engines = check_match_engines(options);
    struct check_match_result r;

    check_match(options, engines, tail, seed, operations, &r);
    cr_assert_str_empty(r.text, "seed %llu: %s", (unsigned long long)seed, r.text);
    return r;
}

Test(match, engines_agree_with_a_list, .timeout = 3000)
{
    uint64_t n = getenv("PGAS_TEST_LONG") != NULL ? 10000000 : 200000;
    struct check_match_result r = check_all(false, 1, n);

    cr_expect(r.matches > n / 5, "only %llu matches", (unsigned long long)r.matches);
    cr_expect(r.longest > 1000);
    cr_expect(r.false_positives > 0 && r.compactions > 0 && r.merges > 0 &&
              r.conversions > 0);
}

/* With one thread, tail queues give the results of one queue. */
Test(match, tail_queues_agree_with_a_list, .timeout = 3000)
{
    check_all(true, 2, getenv("PGAS_TEST_LONG") != NULL ? 10000000 : 50000);
}

Test(match, without_memory_a_queue_is_a_list)
{
    for (fail_of = 2; fail_of <= 5; fail_of++) {
        struct check_match_result r = check_all(fail_of % 2 == 0, fail_of, 20000);
        cr_expect(r.failed_allocations > 0, "aligned_alloc was not replaced");
    }
}

/* ---- one matcher ---------------------------------------------------------------- */

enum { DEPTH = 8192 };

static struct match_entry entries[DEPTH], one;

static struct match_options options_of(enum match_engine engine)
{
    struct match_options o = match_options_default();

    o.engine = engine;
    return o;
}

static void open_matcher(struct matcher *m, enum match_engine engine)
{
    struct match_options o = options_of(engine);

    cr_assert_eq(match_init(m, &o), 0);
}

static void post(struct matcher *m, int i, int32_t source, int32_t tag)
{
    entries[i] = (struct match_entry){.key = {0, source, tag}};
    cr_assert_null(match_post(m, &entries[i]));
}

static struct match_entry *arrive(struct matcher *m, int32_t source, int32_t tag)
{
    one = (struct match_entry){.key = {0, source, tag}};
    return match_arrive(m, &one);
}

#define FOR_EACH_ENGINE(e) for (enum match_engine e = 0; e < MATCH_ENGINES; e++)

/* A receive with wildcards that was posted earlier comes before an exact one. */
Test(match, earliest_posted_receive_first)
{
    FOR_EACH_ENGINE(e)
    {
        struct matcher m;
        open_matcher(&m, e);
        for (int i = 0; i < 100; i++)
            post(&m, i, i % 3 == 0 ? MATCH_ANY_SOURCE : 7,
                 i % 2 == 0 ? MATCH_ANY_TAG : 9);
        for (int i = 0; i < 100; i++)
            cr_assert_eq(arrive(&m, 7, 9), &entries[i], "%s: receive %d",
                         match_engine_name(e), i);
        match_free(&m);
    }
}

Test(match, negative_values_are_no_wildcards)
{
    struct matcher m;

    open_matcher(&m, MATCH_FUZZY);
    post(&m, 0, -1, -1);
    cr_expect_null(arrive(&m, 0, 0));
    struct match_entry *message = match_mprobe(&m, &(struct match_key){0, 0, 0});
    cr_expect_eq(message, &one);
    cr_expect_eq(arrive(&m, -1, -1), &entries[0]);
    match_free(&m);
}

/* Receives of a source and of any source are in different bins, messages of two sources,
 * too: the oldest one counts. */
Test(match, bins_keep_the_order_of_age)
{
    FOR_EACH_ENGINE(e)
    for (unsigned bins = 2; bins <= MATCH_BINS_MAX; bins *= 2) {
        struct match_options o = options_of(e);
        struct matcher m;
        o.bins = bins;
        cr_assert_eq(match_init(&m, &o), 0);
        for (int i = 0; i < 600; i++)
            post(&m, i, i % 3 == 0 ? MATCH_ANY_SOURCE : i % 3, 9);
        cr_assert_eq(arrive(&m, 1, 9), &entries[0]);
        cr_assert_eq(arrive(&m, 1, 9), &entries[1]);
        cr_assert_eq(arrive(&m, 1, 9), &entries[3]);
        cr_assert_eq(arrive(&m, 2, 9), &entries[2]);
        cr_assert_eq(arrive(&m, 7, 9), &entries[6]);
        cr_assert(match_cancel(&m, &entries[4]));
        cr_assert_eq(arrive(&m, 1, 9), &entries[7]);
        for (int i = 0; i < 500; i++) {
            entries[1000 + i] = (struct match_entry){.key = {1, i * 17 % 500, 9}};
            cr_assert_null(match_arrive(&m, &entries[1000 + i]));
        }
        for (int i = 0; i < 500; i++)
            cr_assert_eq(match_mprobe(&m, &(struct match_key){1, MATCH_ANY_SOURCE, 9}),
                         &entries[1000 + i]);
        match_free(&m);
    }
}

/* The memory of bins depends on their number, not on that of the sources. */
Test(match, bins_have_no_state_of_sources)
{
    struct match_options o = options_of(MATCH_FUZZY);
    struct matcher m;
    size_t memory = 0;

    o.bins = 16;
    cr_assert_eq(match_init(&m, &o), 0);
    for (int i = 0; i < 100000; i++) {
        post(&m, 0, i, 1);
        cr_assert_eq(arrive(&m, i, 1), &entries[0]);
        if (i == 1000)
            memory = match_queue_memory(&m.posted);
    }
    cr_expect_eq(match_queue_memory(&m.posted), memory);
    cr_expect_eq(match_queue_stats(&m.posted).nodes, 16, "a node a bin stays");
    match_free(&m);
}

/* After every removal pattern, few nodes remain for few entries. */
static void check_holes(enum match_engine engine, int step, bool backwards)
{
    struct matcher m;

    open_matcher(&m, engine);
    for (int i = 0; i < DEPTH; i++)
        post(&m, i, i % 64, i);
    for (int k = 0; k < DEPTH; k++) {
        int i = backwards ? DEPTH - 1 - k : k;
        cr_assert(i % step == 0 || match_cancel(&m, &entries[i]));
    }
    unsigned needed = DEPTH / (unsigned)step / MATCH_SLOTS;
    cr_expect(m.posted.stats.nodes <= 4 * needed + 2, "%s, one of %d: %u nodes",
              match_engine_name(engine), step, m.posted.stats.nodes);
    for (int i = 0; i < DEPTH; i += step)
        cr_assert_eq(arrive(&m, i % 64, i), &entries[i]);
    cr_expect_eq(m.posted.count, 0);
    cr_expect(m.posted.stats.nodes <= 1);
    match_free(&m);
}

Test(match, holes_are_compacted)
{
    static const int steps[] = {2, 3, 17, 256, 5000};

    FOR_EACH_ENGINE(e)
    for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
        check_holes(e, steps[s], false);
        check_holes(e, steps[s], true);
    }
}

/* A queue of constant length needs a constant number of nodes. */
Test(match, nodes_are_reused)
{
    struct matcher m;

    open_matcher(&m, MATCH_FUZZY);
    for (int i = 0; i < 20 * DEPTH; i++) {
        if (i >= 300)
            cr_assert_eq(arrive(&m, 0, i - 300), &entries[(i - 300) % DEPTH]);
        post(&m, i % DEPTH, 0, i);
    }
    cr_expect(m.posted.stats.most_nodes <= 4, "%u", m.posted.stats.most_nodes);
    cr_expect(match_queue_memory(&m.posted) < 8 * 4096);
    match_free(&m);
}

/* ---- the split ------------------------------------------------------------------ */

static uint64_t false_positives(int32_t sources, int32_t stride, bool fixed)
{
    struct match_options o = options_of(MATCH_FUZZY);
    struct matcher m;
    uint64_t n;

    o.fixed_split = fixed;
    cr_assert_eq(match_init(&m, &o), 0);
    for (int i = 0; i < DEPTH; i++)
        post(&m, i, i % sources, 3 + i / sources * stride);
    for (int i = DEPTH - 1; i >= 0; i -= 100)
        cr_assert_eq(arrive(&m, i % sources, 3 + i / sources * stride), &entries[i]);
    n = m.posted.stats.false_positives;
    match_free(&m);
    return n;
}

/* With 8192 different keys, 8 bits of a tag alone have 32 of them in each class. */
Test(match, the_split_follows_the_keys)
{
    cr_expect(false_positives(1, 1, true) > 1000);
    cr_expect(false_positives(1, 1, false) < 150);
    cr_expect(false_positives(1, 256, false) < 150);
    cr_expect(false_positives(DEPTH, 1, false) < 150);
    cr_expect(false_positives(64, 1, false) < 150);
}

/* ---- options and statistics ----------------------------------------------------- */

Test(match, options)
{
    struct match_options o = match_options_default();
    struct match_queue q;

    cr_expect_eq(o.engine, MATCH_AUTO);
    cr_expect_eq(match_engine_of("fuzzy"), MATCH_FUZZY);
    cr_expect_eq(match_engine_of("hash"), MATCH_ENGINES);
    cr_expect_str_eq(match_engine_name(MATCH_VECTOR), "vector");
    static const unsigned no_bins[] = {1, 3, 2 * MATCH_BINS_MAX};
    for (size_t i = 0; i < sizeof no_bins / sizeof no_bins[0]; i++) {
        o.bins = no_bins[i];
        cr_expect_eq(match_queue_init(&q, &o, true), EINVAL);
    }
    o.bins = 0;
    o.lane_bits = 12;
    cr_expect_eq(match_queue_init(&q, &o, true), EINVAL);
    o.lane_bits = 16;
    o.engine = MATCH_ENGINES;
    cr_expect_eq(match_queue_init(&q, &o, true), EINVAL);
    o.engine = MATCH_AUTO;
    for (o.isa = 0; o.isa < ISAS; o.isa++)
        cr_expect_eq(match_queue_init(&q, &o, true), isa_here(o.isa) ? 0 : EINVAL);
}

Test(match, statistics)
{
    struct match_options o = match_options_default();
    struct matcher m;

    o.timed = true;
    cr_assert_eq(match_init(&m, &o), 0);
    for (int i = 0; i < 1000; i++)
        post(&m, i, 64 + i % 4, i << 4);
    cr_expect_eq(arrive(&m, 64 + 999 % 4, 999 << 4), &entries[999]);
    cr_expect_null(arrive(&m, 5, 5));
    const struct match_stats *s = &m.posted.stats;
    cr_expect_eq(s->searches, 2);
    cr_expect_eq(s->hits, 1);
    cr_expect_eq(s->candidates, s->hits + s->false_positives);
    cr_expect_eq(s->longest, 1000);
    cr_expect_eq(s->depth[10], 2); /* 512..1023 */
    cr_expect_eq(m.unexpected.stats.depth[0], 1000);
    cr_expect_eq(s->conversions, 1);
    cr_expect(s->search_ns > 0);
    cr_expect_eq(match_queue_source_bits(&m.posted), 2);
    cr_expect_eq(match_queue_tag_bits(&m.posted), 10);
    match_free(&m);
}

/* Every engine counts the bits that vary; a constant source has none. */
Test(match, bits_of_short_queues)
{
    FOR_EACH_ENGINE(e)
    {
        struct matcher m;
        open_matcher(&m, e);
        for (int i = 0; i < 8; i++)
            post(&m, i, 1023, 4096 + i);
        cr_expect_eq(match_queue_source_bits(&m.posted), 0);
        cr_expect_eq(match_queue_tag_bits(&m.posted), 3);
        match_free(&m);
    }
}
