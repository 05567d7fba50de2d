/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block_test.c - waiting: no wake-up is lost, and only the right stores wake.
 *
 * Threads of one process stand for PEs.  Random delays precede the poke and are in the
 * condition, which is called at each racy point of the sleeper: between listing and the
 * first test of the word, and between that test and the sleep.
 */
#include "config.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "pgas/core/progress/block.h"
#include "pgas/core/base/clock.h"
#include "pgas/core/base/timing.h"
#include "pgas/core/memory/heap.h"
#include "pgas/core/memory/peer.h"

enum { ROUNDS = 3000, THREADS = 12, DELAY_MAX_US = 60 };

static struct node *node;
static uint64_t *word; /* symmetric */
static _Thread_local uint32_t seed = 1;

static void world(void)
{
    static const uint32_t pes[] = {0};
    struct pgas *g = &pgas_self;

    node =
        aligned_alloc(NODE_LINE, (node_bytes(1) + NODE_LINE - 1) / NODE_LINE * NODE_LINE);
    memset(node, 0, node_bytes(1));
    g->env.symmetric_size = 1 << 20;
    g->env.spin_ns = 1000;
    g->env.yield_ns = 1000;         /* sleep early, */
    g->env.sleep_ns = 10000000000u; /* with a time limit of 10/16 s */
    g->npes = g->local_size = 1;
    g->node = node;
    block_init();
    cr_assert_eq(heap_init(), 0);
    cr_assert_eq(peer_init(pes), 0);
    g->peer[0].heap = (char *)g->heap_base;
    word = heap_alloc(64 * sizeof *word, 64);
    memset(word, 0, 64 * sizeof *word);
}

static void delay(void)
{
    seed = seed * 1664525u + 1013904223u;
    if ((seed >> 8) % 2 == 0)
        usleep((seed >> 16) % DELAY_MAX_US);
}

struct at_least {
    const uint64_t *word;
    uint64_t value;
};

static bool reached(const void *arg)
{
    const struct at_least *a = arg;
    bool yes = load_acquire_u64(a->word) >= a->value;

    delay(); /* the store may happen now, after the test */
    return yes;
}

static void wait_for(const struct at_least *a)
{
    block_until(&(struct block_wait){
        .ready = reached, .arg = a, .word = a->word, .what = "test"});
}

static void *answer(void *arg)
{
    (void)arg;
    seed = 99;
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        struct at_least a = {&word[0], i};
        wait_for(&a);
        delay();
        store_release_u64(&word[32], i);
        block_poke(&node->pe[0], &word[32], sizeof(uint64_t));
    }
    return NULL;
}

/* A lost wake-up costs 1600/16 s: a single one fails; a busy machine (0.7 ms a round)
 * passes. */
Test(block, ping_pong_of_sleepers_loses_no_wake_up, .init = world, .timeout = 120)
{
    pthread_t t;
    pgas_self.env.sleep_ns = UINT64_C(1600) * 1000000000;
    uint64_t begin = clock_ns();

    pthread_create(&t, NULL, answer, NULL);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        delay();
        store_release_u64(&word[0], i);
        block_poke(&node->pe[0], &word[0], sizeof(uint64_t));
        struct at_least a = {&word[32], i};
        wait_for(&a);
    }
    pthread_join(t, NULL);
    double s = (double)(clock_ns() - begin) / 1e9;
    cr_assert_lt(s, 40.0, "%.1f s: a wake-up was lost", s);
}

static void *wait_own(void *arg)
{
    struct at_least a = {arg, 1};

    wait_for(&a);
    return NULL;
}

/* More sleepers than slots: those without one are woken by any store. */
Test(block, many_sleepers_of_one_pe_are_all_woken, .init = world, .timeout = 60)
{
    pthread_t t[THREADS];

    pgas_self.env.sleep_ns = UINT64_C(1000) * 1000000000; /* 62 s if a wake-up is lost */
    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, wait_own, &word[i * 5]);
    usleep(100000); /* they very likely sleep by now */
    uint64_t begin = clock_ns();
    for (int i = 0; i < THREADS; i++) {
        store_release_u64(&word[i * 5], 1);
        block_poke(&node->pe[0], &word[i * 5], sizeof(uint64_t));
        pthread_join(t[i], NULL);
    }
    cr_assert_lt(clock_ns() - begin, UINT64_C(20) * 1000000000,
                 "a sleeper was not woken");
    cr_assert_eq(atomic_load(&node->pe[0].sleep_mask), 0, "a sleeper is still listed");
}

Test(block, a_store_elsewhere_does_not_wake, .init = world, .timeout = 30)
{
    pthread_t t;

    pthread_create(&t, NULL, wait_own, &word[0]);
    while (atomic_load(&node->pe[0].sleep_mask) == 0)
        usleep(100);
    uint32_t before = atomic_load(&node->pe[0].wake);
    block_poke(&node->pe[0], &word[1], sizeof(uint64_t));  /* the same line */
    block_poke(&node->pe[0], &word[16], sizeof(uint64_t)); /* another line */
    cr_assert_eq(atomic_load(&node->pe[0].wake), before);
    store_release_u64(&word[0], 1);
    block_poke(&node->pe[0], (char *)&word[0] - 100, 128); /* a copy across the word */
    cr_assert_neq(atomic_load(&node->pe[0].wake), before);
    pthread_join(t, NULL);
}

static void *wait_goal(void *arg)
{
    wait_for(arg);
    return NULL;
}

/* Changes word[8] until a change is reported: the sleeper may see one itself. */
static bool change_is_reported(void)
{
    for (uint64_t i = 1; i < 10000; i++) {
        __atomic_store_n(&word[8], i % 2, __ATOMIC_RELEASE);
        if (block_sleepers_changed() == BLOCK_CHANGED)
            return true;
        usleep(1000);
    }
    return false;
}

/* Progress wakes a sleeper only if its word has changed, and once per change. */
Test(block, changes_of_the_awaited_word_are_reported_once, .init = world, .timeout = 30)
{
    struct at_least goal = {word + 8, 2};
    pthread_t thread;

    cr_assert_eq(block_sleepers_changed(), BLOCK_UNCHANGED);
    pthread_create(&thread, NULL, wait_goal, &goal);
    while (atomic_load(&node->pe[0].sleep_mask) == 0)
        usleep(100);
    __atomic_store_n(&word[9], 1, __ATOMIC_RELEASE); /* the next word */
    cr_assert_eq(block_sleepers_changed(), BLOCK_UNCHANGED);
    cr_assert(change_is_reported());
    cr_assert_eq(block_sleepers_changed(), BLOCK_UNCHANGED, "a change is reported twice");
    __atomic_store_n(&word[8], 2, __ATOMIC_RELEASE);
    block_wake(&node->pe[0], NULL, 0);
    pthread_join(thread, NULL);
    cr_assert_eq(block_sleepers_changed(), BLOCK_UNCHANGED);
}

struct any_wait {
    struct at_least goal;
    struct block_wait wait;
};

static void *wait_any(void *arg)
{
    struct any_wait *a = arg;

    a->wait.ready = reached;
    a->wait.arg = &a->goal;
    a->wait.what = "test";
    block_until(&a->wait);
    return NULL;
}

static void await_sleepers(pthread_t *thread, struct any_wait *a, int count)
{
    for (int i = 0; i < count; i++) {
        uint64_t mask = atomic_load(&node->pe[0].sleep_mask);
        pthread_create(&thread[i], NULL, wait_any, &a[i]);
        for (int k = 0; k < 1000 && atomic_load(&node->pe[0].sleep_mask) == mask; k++)
            usleep(100);
    }
}

static void end_wait(pthread_t thread, struct any_wait *a)
{
    __atomic_store_n((uint64_t *)(uintptr_t)a->goal.word, a->goal.value,
                     __ATOMIC_RELEASE);
    block_wake(&node->pe[0], NULL, 0);
    pthread_join(thread, NULL);
}

/* ---- words of this process --------------------------------------------------------- */

/* A thread that waits for each value of its word in turn. */
struct private_wait {
    uint64_t word, answered;
    uint32_t polls; /* of the condition; atomic */
    uint64_t rounds;
    pthread_t thread;
};

struct private_goal {
    struct private_wait *of;
    struct at_least goal;
};

static bool private_reached(const void *arg)
{
    const struct private_goal *g = arg;

    fetch_add_acq_rel_u32(&g->of->polls, 1);
    return reached(&g->goal);
}

static void *wait_privately(void *arg)
{
    struct private_wait *p = arg;

    for (uint64_t i = 1; i <= p->rounds; i++) {
        struct private_goal g = {p, {&p->word, i}};
        block_until(&(struct block_wait){.ready = private_reached,
                                         .arg = &g,
                                         .private = (const uint32_t *)&p->word,
                                         .what = "test"});
        store_release_u64(&p->answered, i);
    }
    return NULL;
}

static void start_privately(struct private_wait *p, int n, uint64_t rounds)
{
    for (int i = 0; i < n; i++) {
        p[i] = (struct private_wait){.rounds = rounds};
        pthread_create(&p[i].thread, NULL, wait_privately, &p[i]);
    }
    for (int i = 0; i < n; i++)
        while (load_relaxed_u32(&p[i].polls) == 0)
            usleep(1000);
}

/* Returns when no thread has polled for 100 ms. */
static void await_silence(const struct private_wait *p, int n)
{
    uint32_t before, now = 0;

    do {
        before = now;
        usleep(100000);
        now = 0;
        for (int i = 0; i < n; i++)
            now += load_relaxed_u32(&p[i].polls);
    } while (now != before || !block_any_sleeps());
}

/* Progress wakes the thread whose word has changed, and no other; a store to the heap
 * wakes none; block_wake_one wakes one. */
Test(block, a_private_word_wakes_its_thread_only, .init = world, .timeout = 30)
{
    static struct private_wait p[3];
    uint32_t polls[3], woken = 0;

    pgas_self.env.sleep_ns = UINT64_C(1000) * 1000 * 1000 * 1000;
    start_privately(p, 3, 1);
    await_silence(p, 3);
    for (int i = 0; i < 3; i++)
        polls[i] = p[i].polls;
    for (int i = 0; i < 512; i++)
        block_poke(&node->pe[0], &word[i % 64], sizeof(uint64_t));
    cr_assert_eq(block_sleepers_changed(), BLOCK_UNCHANGED);
    await_silence(p, 3);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(p[i].polls, polls[i], "thread %d was woken", i);
    block_wake_one();
    await_silence(p, 3);
    for (int i = 0; i < 3; i++)
        woken += p[i].polls != polls[i];
    cr_assert_eq(woken, 1);
    for (int i = 0; i < 3; i++)
        polls[i] = p[i].polls;
    store_release_u64(&p[1].word, 1);
    cr_assert_eq(block_sleepers_changed(), BLOCK_UNCHANGED, "nobody else is to be woken");
    pthread_join(p[1].thread, NULL);
    cr_assert(p[0].polls == polls[0] && p[2].polls == polls[2]);
    p[0].word = p[2].word = 1;
    block_wake_own();
    pthread_join(p[0].thread, NULL);
    pthread_join(p[2].thread, NULL);
    cr_assert_not(block_any_sleeps());
}

/* All threads are woken, also those beyond the number that is woken at once. */
Test(block, all_private_sleepers_are_woken, .init = world, .timeout = 30)
{
    enum { N = 40 };
    static struct private_wait p[N];

    pgas_self.env.sleep_ns = UINT64_C(1000) * 1000 * 1000 * 1000;
    start_privately(p, N, 1);
    await_silence(p, N);
    for (int i = 0; i < N; i++)
        p[i].polls = 0;
    block_wake_own();
    await_silence(p, N);
    for (int i = 0; i < N; i++)
        cr_assert_gt(load_relaxed_u32(&p[i].polls), 0, "thread %d was not woken", i);
    for (int i = 0; i < N; i++)
        store_release_u64(&p[i].word, 1);
    cr_assert_eq(block_sleepers_changed(), BLOCK_UNCHANGED);
    for (int i = 0; i < N; i++)
        pthread_join(p[i].thread, NULL);
}

static uint64_t *worked; /* the word that the work completes */

static void work(void)
{
    if (worked != NULL && load_acquire_u64(&word[8]) != 0)
        store_release_u64(worked, 1);
}

/* A store that only the nonblocking work is waiting for wakes a thread that went to sleep
 * before there was any. */
Test(block, work_is_done_by_private_sleepers, .init = world, .timeout = 30)
{
    static struct private_wait p;

    pgas_self.env.sleep_ns = UINT64_C(1000) * 1000 * 1000 * 1000;
    for (int i = 0; i < 30; i++) {
        word[8] = 0;
        start_privately(&p, 1, 1);
        if (i % 2 == 0)
            await_silence(&p, 1);
        else
            delay();
        worked = &p.word;
        block_set_work(work);
        delay();
        store_release_u64(&word[8], 1);
        block_poke(&node->pe[0], &word[8], sizeof(uint64_t));
        pthread_join(p.thread, NULL);
        block_set_work(NULL);
        worked = NULL;
    }
}

/* A lost wake-up lasts a minute. */
Test(block, private_words_lose_no_wakeup, .init = world, .timeout = 30)
{
    enum { N = 4, PRIVATE_ROUNDS = ROUNDS / 4 };
    static struct private_wait p[N];

    pgas_self.env.sleep_ns = UINT64_C(1000) * 1000 * 1000 * 1000;
    start_privately(p, N, PRIVATE_ROUNDS);
    for (uint64_t round = 1; round <= PRIVATE_ROUNDS; round++)
        for (int i = 0; i < N; i++) {
            while (load_acquire_u64(&p[i].answered) + 1 < round)
                usleep(1);
            delay();
            store_release_u64(&p[i].word, round);
            block_sleepers_changed();
        }
    for (int i = 0; i < N; i++)
        pthread_join(p[i].thread, NULL);
    cr_assert_not(block_any_sleeps());
}

/* A wait for a word that crosses 8 aligned bytes is a wait for any store. */
Test(block, words_across_a_unit_have_no_key)
{
    static _Alignas(64) char at[64];

    cr_assert_eq(block_word_of(at, 8), at);
    cr_assert_eq(block_word_of(at + 4, 4), at + 4);
    cr_assert_eq(block_word_of(at + 7, 1), at + 7);
    cr_assert_null(block_word_of(at + 4, 8));
    cr_assert_null(block_word_of(at + 6, 4));
}

/* A sleeper without a slot must be woken after any progress: its word is unknown. */
Test(block, progress_reports_a_sleeper_without_a_slot, .init = world, .timeout = 30)
{
    static uint64_t done;
    struct any_wait a[NODE_SLEEP_SLOTS + 1];
    pthread_t thread[NODE_SLEEP_SLOTS + 1];

    for (int i = 0; i <= NODE_SLEEP_SLOTS; i++)
        a[i] = (struct any_wait){.goal = {&done, 1}, .wait.word = &word[8 * i]};
    await_sleepers(thread, a, NODE_SLEEP_SLOTS);
    cr_assert_neq(atomic_load(&node->pe[0].sleep_mask), UINT64_MAX);
    await_sleepers(thread + NODE_SLEEP_SLOTS, a + NODE_SLEEP_SLOTS, 1);
    cr_assert_eq(atomic_load(&node->pe[0].sleep_mask), UINT64_MAX);
    __atomic_store_n(&word[1], 1, __ATOMIC_RELEASE); /* no thread waits for it */
    cr_assert_eq(block_sleepers_changed(), BLOCK_UNKNOWN);
    done = 1;
    for (int i = 0; i <= NODE_SLEEP_SLOTS; i++)
        end_wait(thread[i], &a[i]);
    cr_assert_eq(atomic_load(&node->pe[0].sleep_mask), 0);
}

/* A store through shmem_ptr wakes no PE; the sleep is bounded. */
Test(block, an_unannounced_store_is_seen, .init = world, .timeout = 30)
{
    pthread_t t;

    pgas_self.env.sleep_ns = 20u * 1000 * 1000;
    pthread_create(&t, NULL, wait_own, &word[0]);
    usleep(50000);
    store_release_u64(&word[0], 1);
    pthread_join(t, NULL);
}

/* A PE watches a word of this one: here both are the same PE. */
Test(block, a_watch_ends_when_the_word_changes, .init = world, .timeout = 30)
{
    struct node_pe *me = &node->pe[0];

    cr_assert_not(block_watched());
    cr_assert(block_watch(me, &word[0], 0));
    cr_assert(block_watched());
    cr_assert_not(block_watch(me, &word[1], 0), "there is one watch at a time");
    uint32_t wake = atomic_load(&me->wake);
    word[1] = 1;
    block_sleepers_changed();
    cr_assert(block_watched(), "another word has changed");
    cr_assert_eq(atomic_load(&me->wake), wake);
    word[0] = 1;
    block_sleepers_changed();
    cr_assert_not(block_watched());
    cr_assert_neq(atomic_load(&me->wake), wake, "its sleepers are woken");
}

Test(block, a_watch_is_ended_by_its_pe_and_by_the_holder, .init = world, .timeout = 30)
{
    struct node_pe *me = &node->pe[0];

    cr_assert(block_watch(me, &word[0], 0));
    block_unwatch(me, &word[1]);
    block_cancel_watch(&word[1]);
    cr_assert(block_watched(), "that is another word");
    block_unwatch(me, &word[0]);
    cr_assert_not(block_watched());
    cr_assert(block_watch(me, &word[0], 0));
    block_cancel_watch(&word[0]);
    cr_assert_not(block_watched());
}

/* Also one whose PE has ended before it had stored it completely. */
Test(block, a_watch_expires, .init = world, .timeout = 30)
{
    struct node_pe *me = &node->pe[0];

    cr_assert(block_watch(me, &word[0], 0));
    for (int stored = 1; stored >= 0; stored--) {
        if (!stored)
            atomic_store(&me->watch, (1u << NODE_WATCH_BITS) - 1);
        cr_assert(block_serve_watch());
        usleep((useconds_t)(TIMING_WATCH / 1000 + 5000));
        uint32_t wake = atomic_load(&me->wake);
        cr_assert_not(block_serve_watch());
        cr_assert_not(block_watched());
        cr_assert_eq(atomic_load(&me->wake) != wake, stored, "one that waits is woken");
        cr_assert(block_watch(me, &word[0], 0), "it is set again");
        cr_assert(block_serve_watch(), "and begins anew");
    }
}

/* The back-off of the progress thread. */
Test(block, a_watch_ends_a_nap, .init = world, .timeout = 30)
{
    struct node_pe *me = &node->pe[0];

    atomic_store(&me->nap, 1);
    cr_assert(block_watch(me, &word[0], 0));
    cr_assert_eq(atomic_load(&me->nap), 0);
}

struct polls {
    int left;   /* until the condition is true */
    int sleeps; /* of the wait */
};

static bool polled(const void *arg)
{
    struct polls *p = *(struct polls *const *)arg;

    return --p->left < 0;
}

static void count_sleep(const void *arg, uint64_t ns)
{
    struct polls *p = *(struct polls *const *)arg;

    (void)ns;
    p->sleeps++;
}

/* The times at which spinning and yielding end must not wrap. */
Test(block, waits_spin_and_yield_for_any_time, .init = world, .timeout = 60)
{
    enum { POLLS = 10000 };
    const uint64_t long_ns[] = {UINT64_MAX, UINT64_MAX - 1, UINT64_MAX / 2};

    for (size_t i = 0; i < sizeof long_ns / sizeof long_ns[0]; i++) {
        struct polls polls = {.left = POLLS}, *p = &polls;
        pgas_self.env.spin_ns = long_ns[i];
        cr_assert(block_spin(polled, &p), "SHMEM_SPIN_NS=%llu",
                  (unsigned long long)long_ns[i]);
        pgas_self.env.spin_ns = 0;
        pgas_self.env.yield_ns = long_ns[i];
        pgas_self.oversubscribed = true; /* no sleep because others run */
        polls = (struct polls){.left = POLLS};
        block_until(&(struct block_wait){
            .ready = polled, .arg = &p, .sleep = count_sleep, .what = "test"});
        cr_assert_eq(polls.sleeps, 0, "SHMEM_YIELD_NS=%llu",
                     (unsigned long long)long_ns[i]);
    }
}
