/* SPDX-License-Identifier: BSD-3-Clause */
/* ctx.c - concurrent contexts, queries of idle contexts, sleeping on fd, and progress of
 * a PE that does not call the transport.  Uses: suite. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "tests/transport/suite.h"

#ifdef PGAS_SANITIZED
enum { CPU_PERCENT = 15 };
#else
enum { CPU_PERCENT = 2 };
#endif

enum {
    THREADS_MAX = 8,
    ROOM = 500 << 10, /* of each thread, in the slot of its PE */
    COUNT_WORD = 0,
    SLEEP_MS = 1000,
    SLEEP_MAX_MS = 30000,
    SLEEPER_DONE = 2, /* word in shared memory */
    WAKE_MS = 20000,  /* an armed fd must become readable within this time */
    NS_PER_MS = 1000000,
};

static int next(const struct pe *pe, int by)
{
    return (pe->me + by) % pe->npes;
}

/* Puts, adds and gets of the t-th context of a PE, in its part of the PE's slot. */
static void work(struct chan *chan, int t, unsigned turns)
{
    static const size_t lens[] = {8, 100, 4096, 20001};
    struct pe *pe = chan->pe;
    unsigned char got[20001];

    for (unsigned i = 0; i < turns; i++) {
        const size_t len = lens[i % 4];
        const int to = next(pe, (int)i);
        const struct transport_symaddr at =
            slot_symaddr(pe, to, SEGMENT_HEAP, pe->me, (size_t)t * ROOM + i % 7);
        const unsigned char *from = pattern(i * 1000 + (unsigned)(t * 100 + pe->me));

        put_nbi(chan, at, from, len);
        amo_nbi(chan, word_symaddr(to, COUNT_WORD + (unsigned)t), TRANSPORT_AMO_ADD, 8,
                1);
        quiet(chan);
        check_bytes(pe, view(pe, at), from, len, "a put of one of many contexts");
        get(chan, got, at, len);
        check_bytes(pe, got, from, len, "a get of one of many contexts");
    }
}

/* -- concurrent contexts -------------------------------------------------------- */

struct user {
    struct chan chan;
    pthread_t thread;
    int number;
    unsigned turns;
};

static void *user_main(void *arg)
{
    struct user *user = arg;

    work(&user->chan, user->number, user->turns);
    return NULL;
}

/* Runs up to n threads with a context each; returns how many contexts could be opened. */
static int run_users(struct pe *pe, int n, unsigned turns)
{
    struct user users[THREADS_MAX];
    int opened = 0;

    while (opened < n && chan_open(pe, &users[opened].chan, opened == 0))
        opened++;
    for (int i = 0; i < opened; i++) {
        users[i].number = i;
        users[i].turns = turns;
        CHECK(pe, pthread_create(&users[i].thread, NULL, user_main, &users[i]) == 0,
              "pthread_create failed");
    }
    for (int i = 0; i < opened; i++)
        pthread_join(users[i].thread, NULL);
    for (int i = 0; i < opened; i++)
        chan_close(&users[i].chan);
    return opened;
}

static void threads(struct pe *pe)
{
    const unsigned turns = times(pe, 24);
    uint64_t is = 0, should;

    for (int n = 1; n <= THREADS_MAX; n = n < 4 ? n + 1 : n * 2) {
        const int opened = run_users(pe, n, turns);

        store(&pe->mine->word[0], load(&pe->mine->word[0]) + (unsigned)opened * turns);
        if (opened < n && pe->me == 0)
            printf("# %d of %d contexts could be opened\n", opened, n);
    }
    barrier(pe);
    should = 0;
    for (int i = 0; i < pe->npes; i++) {
        should += load(&pe->shared->pe[i].word[0]);
        for (unsigned t = 0; t < THREADS_MAX; t++)
            is += load(view_word(pe, i, COUNT_WORD + t));
    }
    CHECK(pe, is == should, "%llu of %llu adds were performed", (unsigned long long)is,
          (unsigned long long)should);
    barrier(pe);
}

/* quiet of context b completes while context a has many operations in flight and no
 * thread makes progress on a. */
static void independent(struct pe *pe)
{
    enum { MANY = 20, LEN = 150000 };
    struct chan a, b;
    bool two;

    chan_open(pe, &a, true);
    two = chan_open(pe, &b, false);
    for (unsigned i = 0; i < MANY; i++)
        put_nbi(&a, slot_symaddr(pe, next(pe, 1), SEGMENT_HEAP, pe->me, ROOM + i * LEN),
                pattern(i), LEN);
    if (two)
        work(&b, 0, times(pe, 12));
    work(&pe->ctx0, 0, times(pe, 12));
    quiet(&a);
    for (unsigned i = 0; i < MANY; i++)
        check_bytes(
            pe,
            view(pe, slot_symaddr(pe, next(pe, 1), SEGMENT_HEAP, pe->me, ROOM + i * LEN)),
            pattern(i), LEN, "a put of the context without progress");
    chan_close(&a);
    if (two)
        chan_close(&b);
}

static void reopen(struct pe *pe)
{
    struct chan chan;

    for (unsigned i = 0; i < times(pe, 20); i++) {
        chan_open(pe, &chan, true);
        if (i % 4 != 3)
            work(&chan, 0, 3);
        chan_close(&chan);
    }
}

/* close() also closes contexts that are still open. */
static void left_open(struct pe *pe)
{
    struct chan chan;

    chan_open(pe, &chan, true);
    work(&chan, 0, 2);
}

/* -- queries -------------------------------------------------------------------- */

static void check_idle(struct pe *pe, struct chan *chan)
{
    int who = 0;

    CHECK(pe, pending(chan, &who) == 0, "pending() of an idle context is not 0");
    CHECK(pe, pending(chan, NULL) == 0, "pending() of an idle context is not 0");
    CHECK(pe, try_fence(chan) == 0, "fence() of an idle context is not 0");
    CHECK(pe, try_quiet(chan) == 0, "quiet() of an idle context is not 0");
}

/* pending() returns to 0 and names the only PE that was written to, or none. */
static void check_pending(struct pe *pe, struct chan *chan)
{
    const int to = next(pe, 1);

    check_idle(pe, chan);
    for (unsigned i = 0; i < times(pe, 20); i++) {
        int who = -1;
        uint64_t n;

        for (unsigned j = 0; j < 4; j++)
            put_nbi(chan, slot_symaddr(pe, to, SEGMENT_HEAP, pe->me, j * ROOM),
                    pattern(j), ROOM / 2);
        n = pending(chan, &who);
        CHECK(pe, n == 0 || who == to || who == -1,
              "%llu puts to PE %d are pending, but pending() names PE %d",
              (unsigned long long)n, to, who);
        quiet(chan);
        check_idle(pe, chan);
    }
}

static void queries(struct pe *pe)
{
    struct chan chan;

    check_pending(pe, &pe->ctx0);
    chan_open(pe, &chan, true);
    check_pending(pe, &chan);
    chan_close(&chan);
}

static void address(struct pe *pe)
{
    unsigned char again[TRANSPORT_ADDRESS_MAX];
    const size_t len = pe->t->address(pe->net, again);

    CHECK(pe, len == pe->mine->address_len && memcmp(again, pe->mine->address, len) == 0,
          "address() changed: %zu bytes, then %zu", pe->mine->address_len, len);
    CHECK(pe, pe->t->describe(pe->net)[0], "describe() returned no text");
    CHECK(pe, pe->t->ctx_0(pe->net) == pe->ctx0.ctx, "ctx_0() returned another context");
    CHECK(pe, pe->t->name && pe->t->name[0] && pe->t->text && pe->t->text[0],
          "the transport has no name or no text");
}

/* -- sleeping on fd ------------------------------------------------------------- */

/* Wait for done by sleeping on fd only: after arm() has returned 0, fd must become
 * readable when the operation completes. */
static void sleep_until_done(struct chan *chan, const struct transport_completion *done)
{
    struct pe *pe = chan->pe;

    while (__atomic_load_n(&done->pending, __ATOMIC_ACQUIRE) != 0) {
        struct pollfd ready = {.fd = pe->t->fd(chan->ctx), .events = POLLIN};
        int armed;

        if (pe->t->progress(chan->ctx) > 0 ||
            __atomic_load_n(&done->pending, __ATOMIC_ACQUIRE) == 0)
            continue;
        armed = pe->t->arm(chan->ctx);
        CHECK(pe, armed == 0 || armed == -EAGAIN, "arm returned %d", armed);
        if (armed == 0 && poll(&ready, 1, WAKE_MS) == 0)
            FAIL(pe,
                 "arm returned 0, but fd was not readable for %d ms; pending %llu; the "
                 "next progress call did %scomplete the get",
                 WAKE_MS, (unsigned long long)pending(chan, NULL),
                 pe->t->progress(chan->ctx) >= 0 &&
                         __atomic_load_n(&done->pending, __ATOMIC_ACQUIRE) != 0
                     ? "not "
                     : "");
    }
}

static void sleep_gets(struct pe *pe, struct chan *chan)
{
    static const size_t lens[] = {8, 3000, 100000};
    unsigned char *to = own(pe, slot_symaddr(pe, pe->me, SEGMENT_HEAP, pe->npes, 0));

    for (unsigned i = 0; i < times(pe, 30); i++) {
        const struct transport_symaddr from =
            slot_symaddr(pe, next(pe, 1), SEGMENT_HEAP, pe->me, i % 9);
        struct transport_completion done = NOT_DONE;

        memcpy(view(pe, from), pattern(i), lens[i % 3]);
        CHECK(pe, try_get(chan, to, from, lens[i % 3], &done) == 0, "a get was refused");
        sleep_until_done(chan, &done);
        check_bytes(pe, to, pattern(i), lens[i % 3], "a get completed by sleeping on fd");
    }
}

/* Sleeps on context 0 while no other thread makes progress on it, then on a context of
 * its own. */
static void wakes(struct pe *pe)
{
    struct chan chan, alone = pe->ctx0;

    alone.service = NULL;
    service_pause(pe, true);
    nap(pe, 5); /* the service thread finishes its current round */
    barrier(pe);
    if (pe->t->fd(alone.ctx) >= 0)
        sleep_gets(pe, &alone);
    barrier(pe);
    service_pause(pe, false);
    chan_open(pe, &chan, true);
    if (pe->t->fd(chan.ctx) >= 0)
        sleep_gets(pe, &chan);
    chan_close(&chan);
}

/* -- a PE that does not call the transport -------------------------------------- */

static void use_sleeper(struct pe *pe, unsigned turns)
{
    enum { LEN = 100001 };
    static unsigned char got[LEN];

    for (unsigned i = 0; i < turns; i++) {
        const struct transport_symaddr at =
            slot_symaddr(pe, 0, SEGMENT_HEAP, pe->me, GUARD + i);
        const size_t len = i % 2 ? LEN : 8;
        uint64_t old;

        put_nbi(&pe->ctx0, at, pattern(i), len);
        quiet(&pe->ctx0);
        get(&pe->ctx0, got, at, len);
        check_bytes(pe, got, pattern(i), len, "put to and got from a PE that sleeps");
        old = amo_fetch(&pe->ctx0, word_symaddr(0, COUNT_WORD + (unsigned)pe->me),
                        TRANSPORT_AMO_ADD, 8, 1, 0);
        CHECK(pe, old == load(&pe->mine->word[1]), "add %u fetched %llu", i,
              (unsigned long long)old);
        store(&pe->mine->word[1], old + 1);
        nap(pe, 10);
    }
}

static bool others_are_done(struct pe *pe)
{
    for (int i = 1; i < pe->npes; i++)
        if (load(&pe->shared->pe[i].word[SLEEPER_DONE]) == 0)
            return false;
    return true;
}

/* PE 0's main thread sleeps; operations of the others on its memory complete meanwhile
 * and cost it almost no processor time. */
static void sleeper(struct pe *pe)
{
    use_sleeper(pe, 2); /* connect */
    barrier(pe);
    if (pe->me == 0) {
        double cpu;

        nap(pe, 20);
        cpu = cpu_ms();
        const uint64_t start = now_ns();
        while (!others_are_done(pe) ||
               now_ns() - start < (uint64_t)SLEEP_MS * NS_PER_MS) {
            CHECK(pe, now_ns() - start < (uint64_t)SLEEP_MAX_MS * NS_PER_MS,
                  "operations on a sleeping PE do not complete");
            nap(pe, SLEEP_MS / 20); /* no call of the transport */
        }
        const double slept_ms = (double)(now_ns() - start) / (double)NS_PER_MS;
        cpu = cpu_ms() - cpu;
        printf("# a PE that slept %.0f ms used %.1f ms of processor time\n", slept_ms,
               cpu);
        CHECK(pe, cpu < slept_ms * CPU_PERCENT / 100, "%.1f ms of processor time", cpu);
    } else {
        use_sleeper(pe, 10);
        store(&pe->mine->word[SLEEPER_DONE], 1);
    }
    barrier(pe);
}

const struct test_case ctx_cases[] = {
    {.name = "ctx.address", .run = address},
    {.name = "ctx.queries", .run = queries},
    {.name = "ctx.reopen", .run = reopen},
    {.name = "ctx.independent", .run = independent},
    {.name = "ctx.threads", .run = threads, .flags = CASE_THREADS},
    {.name = "ctx.wakes", .run = wakes, .flags = CASE_PROCESSES},
    {.name = "sleeper", .run = sleeper, .flags = CASE_PROCESSES},
    {.name = "ctx.left_open", .run = left_open},
    {.name = NULL},
};
