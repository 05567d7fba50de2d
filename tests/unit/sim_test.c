/* SPDX-License-Identifier: BSD-3-Clause */
/* sim_test.c - unit tests of the sim transport: time, order, failures, and many PEs. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "pgas/transport/test/sim.h"

enum {
    LATENCY = 1000,
    WORDS = 64, /* of each PE's heap */
    PES_MAX = 10000,
    TRACE_MAX = 8192,
    ALLOWED_RSS_KIB = 40, /* per PE, for the fiber, its net and the test's own */
};

/* ---- PEs ------------------------------------------------------------------------- */

struct pe {
    struct transport_world world;
    struct transport_net *net;
    struct transport_ctx *ctx;
    uint64_t heap[WORDS];
    int failures, failed_pe;
};

TestSuite(sim, .timeout = 300);

static const struct transport *const t = &transport_sim;
static struct pe *pes;
static int npes;
static struct sim *sim;

/* Log of events. */
static struct {
    int pe;
    uint64_t ns;
} trace[TRACE_MAX];
static int traced;

static void note(int pe)
{
    if (traced < TRACE_MAX) {
        trace[traced].pe = pe;
        trace[traced++].ns = sim_now_ns();
    }
}

static void note_failed(const struct transport_world *world, int pe, const char *text)
{
    cr_assert(strstr(text, "PE"));
    pes[world->me].failures++;
    pes[world->me].failed_pe = pe;
}

static struct pe *open_pe(int me)
{
    struct pe *pe = &pes[me];
    char why[TRANSPORT_TEXT_MAX] = "";

    pe->world = (struct transport_world){.me = me, .npes = npes, .failed = note_failed};
    pe->world.segment[SEGMENT_HEAP].base = pe->heap;
    pe->world.segment[SEGMENT_HEAP].len = sizeof pe->heap;
    pe->world.segment[SEGMENT_HEAP].fd = -1;
    pe->world.segment[SEGMENT_DATA].fd = -1;
    cr_assert_eq(t->open(&pe->world, &pe->net, why), 0, "%s", why);
    pe->ctx = t->ctx_0(pe->net);
    return pe;
}

static struct transport_symaddr word_of(int pe, unsigned word)
{
    return (struct transport_symaddr){
        .pe = pe, .segment = SEGMENT_HEAP, .offset = word * sizeof(uint64_t)};
}

static void quiet(struct pe *pe)
{
    while (t->quiet(pe->ctx) == -EAGAIN)
        t->progress(pe->ctx);
}

static void wait_done(struct pe *pe, const struct transport_completion *done)
{
    while (done->pending != 0)
        t->progress(pe->ctx);
}

static void wait_word(struct pe *pe, unsigned word, uint64_t atleast)
{
    while (pe->heap[word] < atleast)
        t->progress(pe->ctx);
}

static void add(struct pe *pe, int to, unsigned word, uint64_t n)
{
    struct transport_symaddr at = word_of(to, word);
    struct transport_amo amo = {
        .op = TRANSPORT_AMO_ADD, .size = sizeof(uint64_t), .operand = n};

    cr_assert_eq(t->amo(pe->ctx, &at, &amo, NULL), 0);
}

/* Run fn in n PEs; returns the result of sim_run.  finish() calls sim_free. */
static int run(struct sim_config config, void (*fn)(int pe, void *arg), void *arg)
{
    npes = config.npes;
    pes = calloc((size_t)npes, sizeof *pes);
    sim = sim_new(&config);
    cr_assert(pes != NULL && sim != NULL);
    traced = 0;
    return sim_run(sim, fn, arg);
}

static void finish(void)
{
    sim_free(sim);
    free(pes);
}

static const struct sim_config plain = {
    .npes = 2, .seed = 1, .latency_ns = LATENCY, .bytes_per_ns = 1};

/* ---- time ------------------------------------------------------------------------ */

static void times(int me, void *arg)
{
    struct pe *pe = open_pe(me);
    static char buffer[400];
    struct transport_completion done = {.pending = 1};
    struct transport_symaddr at = word_of(1, 0);
    struct transport_amo fetch = {
        .op = TRANSPORT_AMO_FETCH, .size = sizeof(uint64_t), .result = buffer};

    (void)arg;
    if (me == 1) {
        memset(buffer, 1, sizeof buffer);
        wait_word(pe, 49, 1); /* the last word of the put */
        cr_assert_eq(sim_now_ns(), LATENCY + sizeof buffer);
        return;
    }
    cr_assert_eq(sim_now_ns(), 0);
    memset(buffer, 1, sizeof buffer);
    cr_assert_eq(t->put(pe->ctx, &at, buffer, sizeof buffer, &done), 0);
    cr_assert_eq(done.pending, 0);
    int waits_for = -1;
    cr_assert_eq(t->pending(pe->ctx, &waits_for), 1);
    cr_assert_eq(waits_for, 1);
    quiet(pe);
    uint64_t now = 2 * LATENCY + sizeof buffer;
    cr_assert_eq(sim_now_ns(), now, "a put: one way with its bytes, and back");
    done.pending = 1;
    cr_assert_eq(t->get(pe->ctx, buffer, &at, sizeof buffer, &done), 0);
    wait_done(pe, &done);
    now += 2 * LATENCY + sizeof buffer;
    cr_assert_eq(sim_now_ns(), now, "a get: one way, and back with its bytes");
    done.pending = 1;
    cr_assert_eq(t->amo(pe->ctx, &at, &fetch, &done), 0);
    wait_done(pe, &done);
    now += 2 * LATENCY;
    cr_assert_eq(sim_now_ns(), now);
    sim_sleep_ns(12345);
    cr_assert_eq(sim_now_ns(), now + 12345);
    t->close(pe->net);
}

Test(sim, time_is_latency_and_bytes)
{
    struct sim_config config = plain;

    cr_assert_eq(sim_now_ns(), 0);
    cr_assert_eq(run(config, times, NULL), 0);
    finish();
}

static void late(int me, void *arg)
{
    (void)arg;
    if (me == 1)
        sim_sleep_ns(50 * LATENCY);
    struct pe *pe = open_pe(me);
    if (me == 1) {
        cr_assert_eq(pe->heap[0], 3, "data sent before the open arrives after it");
        return;
    }
    add(pe, 1, 0, 1);
    add(pe, 1, 0, 2);
    quiet(pe);
    cr_assert_eq(sim_now_ns(), 51 * LATENCY);
}

Test(sim, operations_wait_for_a_pe_that_opens_late)
{
    cr_assert_eq(run(plain, late, NULL), 0);
    finish();
}

static void outside(int me, void *arg)
{
    struct pe *pe = open_pe(me);
    struct transport_symaddr at = word_of(0, WORDS);
    struct transport_completion done = {.pending = 1};

    (void)arg;
    cr_assert_eq(t->put(pe->ctx, &at, pe, 1, &done), -EINVAL);
    cr_assert_eq(done.pending, 1);
    at.segment = SEGMENT_DATA;
    at.offset = 0;
    cr_assert_eq(t->put(pe->ctx, &at, pe, 1, NULL), -EINVAL);
    struct transport_net *again;
    char why[TRANSPORT_TEXT_MAX];
    cr_assert_eq(t->open(&pe->world, &again, why), -EINVAL);
}

Test(sim, addresses_outside_of_a_segment_are_rejected)
{
    struct sim_config config = plain;
    struct transport_world world = {.npes = 1};
    struct transport_net *net;
    char why[TRANSPORT_TEXT_MAX];

    config.npes = 1;
    cr_assert_eq(run(config, outside, NULL), 0);
    finish();
    cr_assert_eq(t->open(&world, &net, why), -EINVAL, "no simulation is running");
}

/* ---- order ----------------------------------------------------------------------- */

enum { ROUNDS = 200 };

struct order {
    bool fence;
    int wrong; /* rounds in which the flag arrived first */
};

/* Words 1 and 2: data and flag, from PE 0; word 3 of PE 0: the answer. */
static void flags(int me, void *arg)
{
    struct order *order = arg;
    struct pe *pe = open_pe(me);

    for (uint64_t round = 1; round <= ROUNDS; round++) {
        struct transport_symaddr data = word_of(1, 1), flag = word_of(1, 2);
        struct transport_completion done = {.pending = 1}, other = {.pending = 1};
        if (me == 0) {
            cr_assert_eq(t->put(pe->ctx, &data, &round, sizeof round, &done), 0);
            if (order->fence)
                cr_assert_eq(t->fence(pe->ctx), 0);
            cr_assert_eq(t->put(pe->ctx, &flag, &round, sizeof round, &other), 0);
            wait_word(pe, 3, round);
        } else {
            wait_word(pe, 2, round);
            order->wrong += pe->heap[1] != round;
            quiet(pe);
            wait_word(pe, 1, round);
            add(pe, 0, 3, 1);
        }
    }
    quiet(pe);
}

Test(sim, fence_orders_and_nothing_else_does)
{
    struct sim_config config = plain;
    struct order with = {.fence = true}, without = {.fence = false};

    config.jitter_ns = 5 * LATENCY;
    cr_assert_eq(run(config, flags, &with), 0);
    finish();
    cr_assert_eq(with.wrong, 0);
    cr_assert_eq(run(config, flags, &without), 0);
    finish();
    cr_assert_gt(without.wrong, ROUNDS / 10);
}

/* A put without completion reads its source on arrival, as zero-copy transports may. */
static void late_source(int me, void *arg)
{
    struct pe *pe = open_pe(me);
    struct transport_symaddr to = word_of(1, 0);
    uint64_t source = 1, other = 1;
    struct transport_completion done = {.pending = 1};

    (void)arg;
    if (me == 1) {
        wait_word(pe, 1, 1);
        cr_assert_eq(pe->heap[0], 2);
        cr_assert_eq(pe->heap[1], 1);
        return;
    }
    cr_assert_eq(t->put(pe->ctx, &to, &source, sizeof source, NULL), 0);
    to = word_of(1, 1);
    cr_assert_eq(t->put(pe->ctx, &to, &other, sizeof other, &done), 0);
    source = other = 2;
    quiet(pe);
}

Test(sim, source_of_a_put_is_used_until_quiet)
{
    cr_assert_eq(run(plain, late_source, NULL), 0);
    finish();
}

/* ---- the same seed, the same run ------------------------------------------------- */

enum { RING = 16, HITS = 20 };

static void hits(int me, void *arg)
{
    struct pe *pe = open_pe(me);

    (void)arg;
    for (int i = 0; i < HITS; i++) {
        add(pe, (me * 7 + i) % RING, 0, 1);
        note(me);
        if (i % 4 == 0)
            quiet(pe);
    }
    quiet(pe);
    note(me);
}

/* Hash of the order and times of all events. */
static uint64_t order_of(uint64_t seed, uint64_t jitter_ns)
{
    struct sim_config config = plain;
    uint64_t order = 0, sum = 0;

    config.npes = RING;
    config.seed = seed;
    config.jitter_ns = jitter_ns;
    cr_assert_eq(run(config, hits, NULL), 0);
    for (int i = 0; i < traced; i++)
        order = order * 1000003 + (uint64_t)trace[i].pe + trace[i].ns * 31;
    for (int i = 0; i < RING; i++)
        sum += pes[i].heap[0];
    cr_assert_eq(sum, RING * HITS, "no update is lost");
    finish();
    return order;
}

Test(sim, same_seed_same_run)
{
    uint64_t one = order_of(1, LATENCY);

    cr_assert_eq(one, order_of(1, LATENCY));
    cr_assert_neq(one, order_of(2, LATENCY));
    cr_assert_neq(one, order_of(3, LATENCY));
    cr_assert_eq(order_of(4, 0), order_of(4, 0));
    cr_assert_neq(order_of(4, 0), order_of(5, 0), "the order of wake-ups is random, too");
}

static void alarmed(int me, void *arg)
{
    struct pe *pe = open_pe(me);

    (void)arg;
    if (me == 1) { /* an alarm does not end a sleep */
        sim_alarm_ns(LATENCY / 2);
        sim_sleep_ns(LATENCY);
        cr_assert_eq(sim_now_ns(), LATENCY);
        return;
    }
    sim_alarm_ns(77 * LATENCY);
    sim_alarm_ns(33 * LATENCY);
    t->progress(pe->ctx);
    cr_assert_eq(sim_now_ns(), 33 * LATENCY);
    t->progress(pe->ctx);
    cr_assert_eq(sim_now_ns(), 77 * LATENCY);
}

Test(sim, alarms_end_progress_in_time)
{
    cr_assert_eq(run(plain, alarmed, NULL), 0);
    finish();
}

/* Progress on one context while another has events. */
static void two_contexts(int me, void *arg)
{
    struct pe *pe = open_pe(me);
    struct transport_ctx *other;
    struct transport_symaddr at = word_of(1 - me, 0);
    uint64_t value;

    (void)arg;
    cr_assert_eq(t->ctx_open(pe->net, &other), 0);
    cr_assert_eq(t->get(pe->ctx, &value, &at, sizeof value, NULL), 0);
    sim_sleep_ns(LATENCY);
    cr_assert_eq(t->get(other, &value, &at, sizeof value, NULL), 0);
    sim_sleep_ns(LATENCY); /* the first has ended */
    while (t->quiet(other) == -EAGAIN)
        t->progress(other);
    cr_assert_eq(t->pending(pe->ctx, NULL), 1);
    t->ctx_close(other);
    quiet(pe);
}

Test(sim, contexts_do_not_need_each_other)
{
    cr_assert_eq(run(plain, two_contexts, NULL), 0);
    finish();
}

/* ---- deadlocks and failures ------------------------------------------------------ */

static void wait_forever(int me, void *arg)
{
    struct pe *pe = open_pe(me);

    (void)arg;
    if (me % 2 == 1)
        wait_word(pe, 0, 1);
    else
        sim_sleep_ns(LATENCY);
}

Test(sim, deadlocks_are_detected)
{
    struct sim_config config = plain;
    int stuck[2] = {0, 0};

    config.npes = 6;
    cr_assert_eq(run(config, wait_forever, NULL), -EDEADLK);
    cr_assert_eq(sim_stuck(sim, stuck, 2), 3);
    cr_assert(stuck[0] == 1 && stuck[1] == 3);
    finish();
}

static void wait_with_deadline(int me, void *arg)
{
    struct pe *pe = open_pe(me);
    const uint64_t deadline = 5000000000;

    (void)arg;
    while (sim_now_ns() < deadline)
        t->progress(pe->ctx);
    cr_assert_lt(sim_now_ns(), 3 * deadline);
}

Test(sim, deadlines_expire_without_events)
{
    cr_assert_eq(run(plain, wait_with_deadline, NULL), 0);
    finish();
}

struct death {
    bool silent, stuck;
};

/* PE 2 fails at 5 latencies: one operation is in flight, one starts later. */
static void die(int me, void *arg)
{
    struct death *death = arg;
    struct pe *pe = open_pe(me);
    struct transport_symaddr at = word_of(2, 0);
    struct transport_completion done = {.pending = 1}, late_done = {.pending = 1};
    uint64_t value;

    if (me == 2) {
        wait_word(pe, 0, 1); /* forever */
        cr_assert_fail("a dead PE continues");
    }
    if (me == 1) {
        sim_sleep_ns(5 * LATENCY);
        sim_kill(sim, 2, death->silent);
        return;
    }
    sim_sleep_ns(4 * LATENCY + LATENCY / 2);
    cr_assert_eq(t->get(pe->ctx, &value, &at, sizeof value, &done), 0);
    int waits_for = -1;
    if (death->silent) {
        sim_sleep_ns(100 * LATENCY);
        cr_assert_eq(t->get(pe->ctx, &value, &at, sizeof value, &late_done), 0);
        for (int i = 0; i < 3; i++)
            t->progress(pe->ctx);
        cr_assert(done.pending == 1 && late_done.pending == 1);
        cr_assert_eq(t->pending(pe->ctx, &waits_for), 2);
        cr_assert_eq(waits_for, 2);
        cr_assert_eq(pe->failures, 0);
        if (death->stuck)
            quiet(pe);
        return;
    }
    wait_done(pe, &done);
    cr_assert_eq(done.error, -EHOSTDOWN);
    cr_assert_eq(pe->failures, 1);
    cr_assert_eq(pe->failed_pe, 2);
    cr_assert_eq(t->get(pe->ctx, &value, &at, sizeof value, &late_done), -EHOSTDOWN);
    cr_assert_eq(late_done.pending, 1);
    cr_assert_eq(t->pending(pe->ctx, NULL), 0);
}

Test(sim, dead_pes_fail_operations_or_are_silent)
{
    struct sim_config config = plain;
    struct death loud = {.silent = false}, silent = {.silent = true};
    int stuck = -1;

    config.npes = 3;
    cr_assert_eq(run(config, die, &loud), 0);
    finish();
    cr_assert_eq(run(config, die, &silent), 0);
    finish();
    silent.stuck = true;
    cr_assert_eq(run(config, die, &silent), -EDEADLK);
    cr_assert_eq(sim_stuck(sim, &stuck, 1), 1, "dead PEs do not count");
    cr_assert_eq(stuck, 0);
    finish();
}

static void die_myself(int me, void *arg)
{
    (void)arg;
    open_pe(me);
    if (me == 0)
        sim_kill(sim, 0, true);
    cr_assert_eq(me, 1);
}

Test(sim, a_pe_may_kill_itself)
{
    cr_assert_eq(run(plain, die_myself, NULL), 0);
    finish();
}

/* ---- many PEs -------------------------------------------------------------------- */

enum { BARRIERS = 3 };

/* Dissemination barrier. */
static void barriers(int me, void *arg)
{
    struct pe *pe = open_pe(me);
    uint64_t *left = arg;

    for (uint64_t barrier = 1; barrier <= BARRIERS; barrier++) {
        unsigned round = 0;
        for (int64_t step = 1; step < npes; step *= 2, round++) {
            add(pe, (int)((me + step) % npes), round, 1);
            wait_word(pe, round, barrier);
        }
        if (barrier == 1 && sim_now_ns() > *left)
            *left = sim_now_ns();
    }
    quiet(pe);
    t->close(pe->net);
}

static long rss_kib(void)
{
    long size = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    cr_assert(f != NULL && fscanf(f, "%ld %ld", &size, &pages) == 2);
    fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void barrier_of(int n, uint64_t rounds)
{
    struct sim_config config = {.npes = n, .seed = 1, .latency_ns = LATENCY};
    uint64_t left = 0;
    long before = rss_kib();
    double start = seconds();

    cr_assert_eq(run(config, barriers, &left), 0);
    long used = rss_kib() - before;
    fprintf(stderr,
            "sim: %d dissemination barriers of %d PEs: %.2f s, %ld KiB (%.1f per PE), "
            "%llu ns of virtual time each\n",
            BARRIERS, n, seconds() - start, used, (double)used / n,
            (unsigned long long)left);
    cr_assert_eq(left, rounds * LATENCY, "a barrier takes log2(n) latencies");
    cr_assert_lt(used, (long)n * ALLOWED_RSS_KIB);
    finish();
}

Test(sim, barriers_of_many_pes)
{
    barrier_of(1000, 10);
    barrier_of(PES_MAX, 14);
}
