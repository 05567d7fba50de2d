/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * heater.c - hot caching: threads add and free regions, and grow and shrink the queues of
 * matchers, while a heater reads them with random delays and is paused and resumed.
 * Memory that has been freed is never read, and all of it is freed once.
 *
 *   heater                     exit status 1 if a check fails
 *   heater place CPU CPUS      prints the CPU of CPUS (a list, 0,1,2) that is chosen
 *   heater start               status of a start with a chosen CPU: 0 or ENODEV
 *
 * Run by heater.sh.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compat/mpi/match/match.h"
#include "compat/mpi/match/match_heater.h"
#include "pgas/core/base/pgas_assert.h"
#include "tests/match/delay.h"
#include "tests/match/heater_point.h"
#undef free

enum { OWNERS = 3, BLOCKS = 24, STEPS = 4000, DEPTH = 1500, LIMIT = 12, PATTERN = 0x5a };

struct owner {
    pthread_t thread;
    struct match_regions *regions;
    uint64_t random;
};

static _Thread_local uint64_t point_random;
static uint32_t allocated, freed, stale, pattern_checked, nodes_seen;

/* A region whose lines are watched, and a bit for each line that was read */
enum { WATCHED_LINES = 20 };
static _Alignas(8) uint64_t watched, lines_read;

_Noreturn void pgas_assert_failed(const char *condition, const char *file, int line,
                                  const char *function)
{
    fprintf(stderr, "%s:%d: %s: %s\n", file, line, function, condition);
    abort();
}

void heater_test_point(void)
{
    delay_at_point(&point_random, 300);
}

/* Nodes of queues change while they are heated: an ordinary read would be a race,
 * this one only shows the address sanitizer that they have not been freed. */
__attribute__((no_sanitize("thread"), noinline)) static char
node_read(const volatile char *p)
{
    return *p;
}

/* Called by heater.sh's linker option in place of match_regions_add. */
uint16_t __real_match_regions_add(struct match_regions *r, void *memory, size_t bytes);
uint16_t __wrap_match_regions_add(struct match_regions *r, void *memory, size_t bytes);

uint16_t __wrap_match_regions_add(struct match_regions *r, void *memory, size_t bytes)
{
    fetch_add_acq_rel_u32(&allocated, 1);
    return __real_match_regions_add(r, memory, bytes);
}

/* A plain read: the thread sanitizer reports a free that is not ordered after it. */
void heater_test_touch(const char *address)
{
    const uint64_t offset = (uint64_t)(uintptr_t)address - load_acquire_u64(&watched);

    if (offset < (uint64_t)WATCHED_LINES * MATCH_LINE && offset % MATCH_LINE == 0)
        fetch_or_acq_rel_u64(&lines_read, UINT64_C(1) << offset / MATCH_LINE);
    if (load_acquire_u32(&pattern_checked) == 0)
        node_read(address);
    else if (*address != PATTERN)
        fetch_add_acq_rel_u32(&stale, 1);
}

void heater_test_free(void *memory)
{
    if (load_acquire_u32(&pattern_checked) != 0)
        memset(memory, 0, MATCH_LINE);
    fetch_add_acq_rel_u32(&freed, 1);
    free(memory);
}

/* ---- regions of a constant content ---------------------------------------------- */

struct block {
    char *memory;
    uint16_t region;
};

static void block_toggle(struct owner *o, struct block *b)
{
    const size_t lines = 1 + delay_random(&o->random, 20);

    if (b->memory != NULL) {
        match_regions_free(o->regions, b->region, b->memory);
        b->memory = NULL;
        return;
    }
    b->memory = aligned_alloc(MATCH_LINE, lines * MATCH_LINE);
    if (b->memory == NULL)
        abort();
    memset(b->memory, PATTERN, lines * MATCH_LINE);
    b->region = match_regions_add(o->regions, b->memory, lines * MATCH_LINE);
}

static void *owner_run(void *arg)
{
    struct owner *o = arg;
    struct block blocks[BLOCKS] = {{NULL, 0}};

    point_random = o->random;
    for (int i = 0; i < STEPS; i++)
        block_toggle(o, &blocks[delay_random(&o->random, BLOCKS)]);
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].memory != NULL)
            block_toggle(o, &blocks[i]);
    return NULL;
}

/* ---- nodes of queues ------------------------------------------------------------ */

static void *matcher_run(void *arg)
{
    static _Thread_local struct match_entry receives[DEPTH], messages[DEPTH];
    struct owner *o = arg;
    struct match_options options = match_options_default();
    struct matcher m;

    point_random = o->random;
    for (int round = 0; round < 6; round++) {
        options.regions = o->regions;
        options.bins = round % 2 == 0 ? 0 : 4;
        if (match_init(&m, &options) != 0)
            abort();
        for (int i = 0; i < DEPTH; i++) {
            receives[i] = (struct match_entry){.key = {0, i % 7, i}};
            match_post(&m, &receives[i]);
        }
        for (int i = 0; i < LIMIT; i++)
            if (load_relaxed_u64(&o->regions->region[i].word) != 0)
                fetch_add_acq_rel_u32(&nodes_seen, 1);
        for (int k = 0; k < DEPTH - DEPTH / 8; k++) {
            int i = (int)((unsigned)k * 7 % DEPTH);
            messages[i] = (struct match_entry){.key = receives[i].key};
            if (match_arrive(&m, &messages[i]) != &receives[i])
                abort();
        }
        match_free(&m);
    }
    return NULL;
}

/* ---- the test ------------------------------------------------------------------- */

static void run_owners(struct match_heater *h, void *(*run)(void *))
{
    struct owner owners[OWNERS];

    for (int i = 0; i < OWNERS; i++) {
        owners[i] = (struct owner){.regions = &h->regions, .random = (uint64_t)i + 1};
        if (pthread_create(&owners[i].thread, NULL, run, &owners[i]) != 0)
            abort();
    }
    for (int i = 0; i < 20; i++) {
        match_heater_pause(h);
        sched_yield();
        match_heater_resume(h);
        sched_yield();
    }
    for (int i = 0; i < OWNERS; i++)
        pthread_join(owners[i].thread, NULL);
}

static int heater_fail(const char *what)
{
    printf("FAIL: %s\n", what);
    return 1;
}

/* No region is left, and no memory of a region. */
static int check_end(const struct match_heater *h)
{
    int failed = 0;

    for (uint32_t i = 0; i < MATCH_REGIONS_MAX; i++)
        if (h->regions.region[i].word != 0)
            failed = heater_fail("a region is left");
    if (freed != allocated)
        failed |= heater_fail("memory that is not freed, or freed twice");
    if (stale != 0)
        failed |= heater_fail("freed memory was read");
    return failed;
}

/* Two more passes, the second of which has begun after this call. */
static void wait_for_passes(const struct match_heater *h)
{
    const uint64_t passes = match_heater_passes(h);

    while (match_heater_passes(h) < passes + 2)
        sched_yield();
}

/* After a start that has failed, and before any other one, the table is empty. */
static int check_failed_start(struct match_heater *h)
{
    struct match_heater_options options = match_heater_options_default();
    struct owner o = {.regions = &h->regions, .random = 7};
    struct block b = {NULL, 0};

    options.period_us = 0;
    if (match_heater_start(h, &options) != EINVAL)
        return heater_fail("a start with a period of 0");
    block_toggle(&o, &b);
    int failed =
        b.region == MATCH_NO_REGION ? 0 : heater_fail("a region without a heater");
    block_toggle(&o, &b);
    return failed;
}

/* A region is read line by line, not while the heater is paused, and again by the next
 * thread after a stop. */
static int check_reading(struct match_heater *h, const struct match_heater_options *o)
{
    const uint64_t all = (UINT64_C(1) << WATCHED_LINES) - 1;
    char *memory = aligned_alloc(MATCH_LINE, (size_t)WATCHED_LINES * MATCH_LINE);
    int failed = 0;

    if (memory == NULL)
        abort();
    memset(memory, PATTERN, (size_t)WATCHED_LINES * MATCH_LINE);
    store_release_u64(&watched, (uint64_t)(uintptr_t)memory);
    const uint16_t region =
        match_regions_add(&h->regions, memory, (size_t)WATCHED_LINES * MATCH_LINE);
    wait_for_passes(h);
    if (load_acquire_u64(&lines_read) != all)
        failed |= heater_fail("lines of a region are not read");
    match_heater_pause(h);
    const uint64_t passes = match_heater_passes(h);
    usleep(5000); /* in which the heater makes many passes unless it is paused */
    if (match_heater_passes(h) > passes + 1)
        failed |= heater_fail("passes while the heater is paused");
    match_heater_stop(h);
    store_release_u64(&lines_read, 0);
    if (match_heater_start(h, o) != 0)
        return heater_fail("a second match_heater_start");
    wait_for_passes(h);
    if (load_acquire_u64(&lines_read) != all)
        failed |= heater_fail("a second start has forgotten a region");
    match_regions_free(&h->regions, region, memory);
    store_release_u64(&watched, 0);
    return failed;
}

static int test_run(void)
{
    struct match_heater_options options = match_heater_options_default();
    struct match_heater h;

    store_release_u32(&pattern_checked, 1);
    match_heater_init(&h);
    int failed = check_failed_start(&h);
    options.period_us = 1;
    options.regions = LIMIT;
    options.cpu = sched_getcpu();
    if (match_heater_start(&h, &options) != 0)
        return heater_fail("match_heater_start");
    failed |= check_reading(&h, &options);
    const uint32_t refused = load_acquire_u32(&h.regions.refused);
    run_owners(&h, owner_run);
    if (h.regions.refused == refused)
        failed |= heater_fail("no region was beyond the limit");
    wait_for_passes(&h); /* resumed, with nothing to read */
    match_heater_stop(&h);
    failed |= check_end(&h);

    if (match_heater_start(&h, &options) != 0)
        return heater_fail("match_heater_start");
    store_release_u32(&pattern_checked, 0);
    run_owners(&h, matcher_run);
    match_heater_stop(&h);
    if (nodes_seen == 0)
        failed |= heater_fail("queues did not use the regions");
    return failed | check_end(&h);
}

static int place_run(int cpu, char *list)
{
    cpu_set_t allowed;

    CPU_ZERO(&allowed);
    for (char *word = strtok(list, ","); word != NULL; word = strtok(NULL, ","))
        CPU_SET((size_t)atoi(word), &allowed);
    printf("%d\n", match_heater_place(cpu, &allowed));
    return 0;
}

static int start_run(void)
{
    struct match_heater_options options = match_heater_options_default();
    struct match_heater h;

    match_heater_init(&h);
    int status = match_heater_start(&h, &options);

    if (status == 0)
        match_heater_stop(&h);
    printf("%s\n", status == 0 ? "0" : status == ENODEV ? "ENODEV" : strerror(status));
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "place") == 0)
        return place_run(atoi(argv[2]), argv[3]);
    if (argc == 2 && strcmp(argv[1], "start") == 0)
        return start_run();
    return test_run();
}
