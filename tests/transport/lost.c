/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lost.c - lost(): operations to a PE that is known to be dead complete, and nothing
 * writes to their destinations afterwards.  PE 1 stops, so that operations to it stay
 * outstanding; then it is killed, or continues after the others have given it up.
 * Uses: suite.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pgas/threads/atomic.h"
#include "tests/transport/blocks.h"
#include "tests/transport/sim_pe.h"
#include "tests/transport/suite.h"

enum {
    LOST = 1, /* the PE that is lost */
    COUNT_WORD = 0,
    PID_WORD = 0, /* in shared memory */
    LONG = 3 << 20,
    SHORT = 100,
    CHANS = 2,
    OPS = 20, /* hook holds 64 in all */
    OLD = 77,
    BLOCKS = 40, /* more than a context of ofi has bounce buffers */
    BLOCKS_SPACE = 64 << 10,
    SETTLE_MS = 50,
    LATE_MS = 300,    /* for effects of operations that have completed */
    LIMIT_MS = 20000, /* for quiet after lost(); less than the timeout of the transport */
};
static const uint64_t ns_per_ms = 1000000;

/* The operations of one context on the lost PE, and their buffers. */
struct load {
    struct chan chan;
    struct transport_completion long_get, short_get, long_put, amo, signal;
    unsigned char got[LONG + SHORT];
    uint64_t old[OPS], one;
};

static struct load loads[CHANS];

static void lost_connect(struct pe *pe, struct chan *chan)
{
    uint64_t got;

    for (int to = 0; to < pe->npes; to++)
        get(chan, &got, word_symaddr(to, COUNT_WORD), sizeof got);
}

/* PE 0 connects first, so that it opens the connections. */
static void lost_connect_all(struct pe *pe)
{
    loads[0].chan = pe->ctx0;
    for (int turn = 0; turn < 2; turn++) {
        if (turn == (pe->me != 0)) {
            CHECK(pe, chan_open(pe, &loads[1].chan, true), "no context");
            for (int i = 0; i < CHANS; i++)
                lost_connect(pe, &loads[i].chan);
        }
        barrier(pe);
    }
}

/* PE 1: stop; if it is continued, serve other PEs until it is killed. */
static void lost_stop_here(struct pe *pe)
{
    store(&pe->mine->word[PID_WORD], (uint64_t)getpid());
    raise(SIGSTOP);
    for (;;)
        pause();
}

static pid_t lost_pid(struct pe *pe)
{
    const uint64_t *word = &pe->shared->pe[LOST].word[PID_WORD];

    WAIT_MEMORY(&pe->ctx0, "PE 1 to stop", load(word) != 0);
    await_stop((pid_t)load(word));
    nap(pe, SETTLE_MS);
    pe->expect_failed = true;
    pe->members = pe->npes - 1;
    return (pid_t)load(word);
}

/* Completions of refused posts do not count. */
static void load_posted(int status, struct transport_completion *done)
{
    if (status != 0 && done != NULL)
        done->pending = 0;
}

/* Post operations of all kinds to the stopped PE, as far as they are accepted at once. */
static void load_post(struct pe *pe, struct load *l)
{
    const struct transport *t = pe->t;
    struct transport_ctx *ctx = l->chan.ctx;
    struct transport_symaddr heap = slot_symaddr(pe, LOST, SEGMENT_HEAP, pe->me, 0),
                             data = slot_symaddr(pe, LOST, SEGMENT_DATA, pe->me, 0),
                             word = word_symaddr(LOST, COUNT_WORD);
    struct transport_signal signal = {
        .at = word, .op = TRANSPORT_AMO_ADD, .size = 8, .operand = 1};
    struct transport_amo add = {.op = TRANSPORT_AMO_ADD, .size = 8, .operand = 1};
    struct transport_completion *done;

    l->long_get = l->short_get = l->long_put = l->amo = l->signal = NOT_DONE;
    memset(l->got, 0, sizeof l->got);
    load_posted(t->get(ctx, l->got, &heap, LONG, &l->long_get), &l->long_get);
    load_posted(t->get(ctx, l->got + LONG, &data, SHORT, &l->short_get), &l->short_get);
    for (int i = 0; i < OPS; i++) {
        l->old[i] = OLD;
        add.result = &l->old[i];
        done = i == 0 ? &l->amo : NULL;
        load_posted(t->amo(ctx, &word, &add, done), done);
    }
    for (int i = 0; i < OPS; i++) {
        (void)t->put(ctx, &data, &l->one, sizeof l->one, NULL);
        signal.unacked = i % 2 != 0;
        done = i == 0 ? &l->signal : NULL;
        load_posted(t->put_signal(ctx, &data, pattern(1), SHORT, &signal, done), done);
    }
    load_posted(t->put(ctx, &heap, pattern(2), LONG, &l->long_put), &l->long_put);
}

static void load_post_all(struct pe *pe)
{
    service_pause(pe, true);
    for (int i = 0; i < CHANS; i++)
        load_post(pe, &loads[i]);
    service_pause(pe, false);
    CHECK(pe,
          pe->options->memory ||
              (pending(&loads[0].chan, NULL) > 0 && pending(&loads[1].chan, NULL) > 0),
          "no operation to a stopped PE is outstanding");
}

static void *lose(void *arg)
{
    struct pe *pe = arg;

    pe->t->lost(pe->net, LOST, false);
    return NULL;
}

/* Another thread loses the PE. */
static void lose_in_thread(struct pe *pe)
{
    pthread_t thread;

    CHECK(pe, pthread_create(&thread, NULL, lose, pe) == 0, "pthread_create failed");
    pthread_join(thread, NULL);
}

/* Outstanding posts complete, quiet returns soon, later posts are refused. */
static void load_check_ended(struct pe *pe, struct load *l)
{
    const uint64_t start = now_ns();
    struct transport_completion *done[] = {&l->long_get, &l->short_get, &l->long_put,
                                           &l->amo, &l->signal};

    CHECK(pe, try_fence(&l->chan) == 0, "a fence failed");
    CHECK(pe, try_quiet(&l->chan) == 0, "quiet failed");
    CHECK(pe, now_ns() - start < LIMIT_MS * ns_per_ms, "quiet took %llu ms",
          (unsigned long long)((now_ns() - start) / ns_per_ms));
    CHECK(pe, pending(&l->chan, NULL) == 0, "operations are pending after quiet");
    for (size_t i = 0; i < sizeof done / sizeof done[0]; i++)
        CHECK(pe, load_acquire_u32(&done[i]->pending) == 0,
              "operation %zu to a lost PE is pending after quiet", i);
}

/* Every operation is refused on each context, with its completion unchanged. */
static void check_refused(struct pe *pe, struct chan *chan)
{
    const struct transport_symaddr at = slot_symaddr(pe, LOST, SEGMENT_HEAP, pe->me, 0),
                                   word = word_symaddr(LOST, COUNT_WORD);
    const struct transport_signal signal = {
        .at = word, .op = TRANSPORT_AMO_SET, .size = 8};
    struct transport_amo amo = {.op = TRANSPORT_AMO_ADD, .size = 8};
    struct transport_completion done = NOT_DONE;
    uint64_t got = OLD;
    int error[5];

    try_quiet(chan);
    error[0] = try_put(chan, at, pattern(0), SHORT, &done);
    error[1] = try_get(chan, &got, at, sizeof got, &done);
    error[2] = try_amo(chan, word, &amo, &done);
    amo.result = &got;
    error[3] = try_amo(chan, word, &amo, &done);
    error[4] = try_put_signal(chan, at, pattern(0), SHORT, &signal, &done);
    for (int i = 0; i < 5; i++)
        CHECK(pe, error[i] == -EHOSTDOWN, "operation %d to a lost PE returned %d", i,
              error[i]);
    CHECK(pe, done.pending == 1 && done.error == 0 && got == OLD,
          "a refused post had an effect");
    CHECK(pe, try_fence(chan) == 0 && try_quiet(chan) == 0 && pending(chan, NULL) == 0,
          "quiet failed");
}

static void check_survivors(struct pe *pe, struct chan *chan)
{
    unsigned char got[SHORT];
    int to = (pe->me + 1) % pe->npes;

    to = (to + (to == LOST)) % pe->npes;
    const struct transport_symaddr at = slot_symaddr(pe, to, SEGMENT_DATA, pe->me, SHORT);
    put(chan, at, pattern(3), sizeof got);
    quiet(chan);
    get(chan, got, at, sizeof got);
    check_bytes(pe, got, pattern(3), sizeof got, "put and got between survivors");
}

/* Puts and gets of blocks between survivors: they need bounce buffers, which operations
 * on the lost PE have used. */
static void check_survivors_blocks(struct pe *pe, struct chan *chan)
{
    const int to = pe->me == 0 ? 2 : 0;
    const struct transport_symaddr at = slot_symaddr(pe, to, SEGMENT_HEAP, pe->me, 0);
    static struct fragment f;

    for (unsigned i = 0; i < BLOCKS; i++) {
        fragment_make(&f, at, BLOCKS_SPACE, blocks_max(chan, to, BLOCKS_SPACE), i);
        if (i == BLOCKS - 1)
            quiet(chan); /* puts are not ordered; the last one is compared */
        fragment_put(chan, &f);
    }
    quiet(chan);
    for (unsigned i = 0; i < BLOCKS; i++) {
        memset(f.packed, OLD, f.blocks.bytes);
        fragment_get(chan, &f);
        done_wait(chan, &f.done, "a get of blocks from a survivor");
        check_bytes(pe, f.packed, pattern(BLOCKS - 1), f.blocks.bytes,
                    "blocks from a survivor");
    }
}

/* After lost(): everything ends; contexts opened before and after work. */
static void check_lost(struct pe *pe)
{
    struct chan later;

    for (int i = 0; i < CHANS; i++)
        load_check_ended(pe, &loads[i]);
    const int failures = pe->mine->failures;
    lose(pe); /* again */
    CHECK(pe, chan_open(pe, &later, true), "no context");
    for (int i = 0; i < CHANS; i++)
        check_refused(pe, &loads[i].chan);
    pe->t->progress(later.ctx);
    check_refused(pe, &later);
    check_survivors(pe, &loads[0].chan);
    check_survivors(pe, &loads[1].chan);
    check_survivors(pe, &later);
    chan_close(&later);
    CHECK(pe, pe->mine->failures == failures, "world->failed was called after lost(): %s",
          pe->mine->message);
}

/* The PE is killed while operations to it are outstanding. */
static void lost_killed(struct pe *pe)
{
    lost_connect_all(pe);
    if (pe->me == LOST)
        lost_stop_here(pe);
    const pid_t pid = lost_pid(pe);
    load_post_all(pe);
    barrier(pe);
    if (pe->me == 0)
        kill(pid, SIGKILL);
    lose_in_thread(pe);
    check_lost(pe);
    nap(pe, LATE_MS);
    check_lost(pe);
    chan_close(&loads[1].chan);
}

/* ---- blocks ------------------------------------------------------------------------ */

static struct fragment fragments[CHANS][BLOCKS];

/* Post puts and gets of blocks to a PE until one is refused.  Returns their number. */
static unsigned blocks_post(struct pe *pe, int c, int to)
{
    const struct transport_symaddr at = slot_symaddr(pe, to, SEGMENT_HEAP, pe->me, 0);
    struct chan *chan = &loads[c].chan;
    struct fragment *f = fragments[c];
    unsigned n = 0;

    service_pause(pe, true);
    for (; n < BLOCKS; n++) {
        size_t max = pe->t->blocks_max(chan->ctx, to, BLOCKS_SPACE);
        if (max == 0)
            break;
        fragment_make(&f[n], at, BLOCKS_SPACE, max, n);
        fragment_set_copy(&f[n], n % 2 == 0);
        if ((n % 2 == 0 ? pe->t->put_blocks(chan->ctx, &f[n].blocks)
                        : pe->t->get_blocks(chan->ctx, &f[n].blocks, NULL)) != 0)
            break;
    }
    service_pause(pe, false);
    return n;
}

/* The transport detects the failure by itself before lost(). */
static void lost_blocks(struct pe *pe)
{
    lost_connect_all(pe);
    if (pe->me == LOST)
        lost_stop_here(pe);
    const pid_t pid = lost_pid(pe);
    CHECK(pe, blocks_post(pe, 0, LOST) > 0, "no put of blocks was accepted");
    barrier(pe);
    if (pe->me == 0)
        kill(pid, SIGKILL);
    nap(pe, SETTLE_MS);
    lose(pe);
    CHECK(pe, try_quiet(&pe->ctx0) == 0, "quiet failed");
    check_survivors_blocks(pe, &pe->ctx0);
    check_survivors(pe, &pe->ctx0);
    barrier(pe);
    chan_close(&loads[1].chan);
}

/* The PE stops after it has requested blocks, so that the replies to it do not end. */
static void lost_blocks_replies(struct pe *pe)
{
    lost_connect_all(pe);
    service_pause(pe, pe->me == 0);
    barrier(pe);
    if (pe->me == LOST) {
        blocks_post(pe, 0, 0);
        blocks_post(pe, 1, 0);
        lost_stop_here(pe);
    }
    const pid_t pid = lost_pid(pe);
    service_pause(pe, false);
    nap(pe, SETTLE_MS); /* PE 0 replies */
    if (pe->me == 0)
        kill(pid, SIGKILL);
    lose(pe);
    for (int i = 0; i < CHANS; i++)
        check_survivors_blocks(pe, &loads[i].chan);
    barrier(pe);
    chan_close(&loads[1].chan);
}

/* The PE continues with fragments, of which some or none were performed, after it was
 * given up.  Their memory is used for other data meanwhile. */
static void lost_blocks_continues(struct pe *pe)
{
    lost_connect_all(pe);
    if (pe->me == LOST)
        lost_stop_here(pe);
    const pid_t pid = lost_pid(pe);
    for (int c = 0; c < CHANS && pe->me == 0; c++)
        CHECK(pe, blocks_post(pe, c, LOST) > 0, "no put of blocks was accepted");
    lose_in_thread(pe);
    if (pe->me == 0) {
        for (int c = 0; c < CHANS; c++)
            CHECK(pe,
                  try_quiet(&loads[c].chan) == 0 && pending(&loads[c].chan, NULL) == 0,
                  "quiet failed");
        memset(fragments, OLD, sizeof fragments);
        kill(pid, SIGCONT);
        for (uint64_t end = now_ns() + LATE_MS * ns_per_ms; now_ns() < end; nap(pe, 1))
            for (int c = 0; c < CHANS; c++)
                check_survivors_blocks(pe, &loads[c].chan);
        const unsigned char *byte = (const unsigned char *)fragments;
        for (size_t i = 0; i < sizeof fragments; i++)
            CHECK(pe, byte[i] == OLD, "a get of blocks of a lost PE has stored bytes");
        kill(pid, SIGKILL);
    }
    barrier(pe);
    chan_close(&loads[1].chan);
}

/* A thread that kills the PE when a byte of fragment `after` is visible there. */
struct blocks_killer {
    struct pe *pe;
    pid_t pid;
    unsigned after;
};

static void *blocks_kill(void *arg)
{
    const struct blocks_killer *k = arg;
    const volatile unsigned char *memory =
        view(k->pe, slot_symaddr(k->pe, LOST, SEGMENT_HEAP, k->pe->me,
                                 (size_t)k->after * BLOCKS_SPACE));
    size_t i = 0;

    while (memory[i] == 0)
        i = (i + 1) % BLOCKS_SPACE;
    kill(k->pid, SIGKILL);
    return lose(k->pe);
}

/* Post puts, and each fourth time a get, until the PE has been lost. */
static void blocks_post_until_lost(struct pe *pe, struct chan *chan)
{
    int status = 0;

    for (unsigned i = 0; status == 0; i++) {
        struct fragment *f = &fragments[0][i % BLOCKS];
        size_t max = blocks_max(chan, LOST, BLOCKS_SPACE);
        fragment_make(f,
                      slot_symaddr(pe, LOST, SEGMENT_HEAP, pe->me,
                                   i % BLOCKS * (size_t)BLOCKS_SPACE),
                      BLOCKS_SPACE, max, i);
        fragment_set_copy(f, i % 4 != 3);
        f->done = NOT_DONE;
        status = i % 4 != 3 ? try_put_blocks(chan, &f->blocks)
                            : try_get_blocks(chan, &f->blocks, &f->done);
        if (status == 0 && i % 4 == 3)
            done_wait(chan, &f->done, "a get of blocks");
    }
    CHECK(pe, status == -EHOSTDOWN || pe->mine->failures > 0, "a post returned %d",
          status);
}

/* The PE is killed when it has performed `after` fragments of a longer transfer. */
static void lost_blocks_after(struct pe *pe, unsigned after)
{
    struct blocks_killer killer = {.pe = pe, .after = after};
    pthread_t thread;

    lost_connect_all(pe);
    if (pe->me == LOST) {
        memset(own(pe, slot_symaddr(pe, LOST, SEGMENT_HEAP, 0, 0)), 0,
               (size_t)BLOCKS * BLOCKS_SPACE);
        store(&pe->mine->word[PID_WORD], (uint64_t)getpid());
        for (;;)
            pause();
    }
    killer.pid = lost_pid(pe);
    if (pe->me == 0) {
        CHECK(pe, pthread_create(&thread, NULL, blocks_kill, &killer) == 0,
              "pthread_create failed");
        blocks_post_until_lost(pe, &pe->ctx0);
        pthread_join(thread, NULL);
        CHECK(pe, try_quiet(&pe->ctx0) == 0 && pending(&pe->ctx0, NULL) == 0,
              "quiet failed");
        for (int c = 0; c < CHANS; c++)
            check_survivors_blocks(pe, &loads[c].chan);
    }
    barrier(pe);
    chan_close(&loads[1].chan);
}

static void lost_blocks_first(struct pe *pe)
{
    lost_blocks_after(pe, 0);
}

static void lost_blocks_later(struct pe *pe)
{
    lost_blocks_after(pe, BLOCKS / 2);
}

/* ---- late effects --------------------------------------------------------------------
 */

/* The buffers of the gets and amos belong to the caller, who fills them. */
static void load_reuse(struct load *l)
{
    memcpy(l->got, pattern(9), sizeof l->got);
    for (int i = 0; i < OPS; i++)
        l->old[i] = OLD;
}

static void load_check_unchanged(struct pe *pe, const struct load *l)
{
    check_bytes(pe, l->got, pattern(9), sizeof l->got, "a get of a lost PE");
    for (int i = 0; i < OPS; i++)
        CHECK(pe, l->old[i] == OLD, "the amo of a lost PE has stored its result");
}

/* The PE continues after it was given up: it performs operations, sends replies, and
 * these have no effect. */
static void lost_continues(struct pe *pe)
{
    lost_connect_all(pe);
    if (pe->me == LOST)
        lost_stop_here(pe);
    const pid_t pid = lost_pid(pe);
    if (pe->me == 0)
        load_post_all(pe);
    lose_in_thread(pe);
    if (pe->me == 0) {
        check_lost(pe);
        for (int i = 0; i < CHANS; i++)
            load_reuse(&loads[i]);
        kill(pid, SIGCONT);
        for (uint64_t end = now_ns() + LATE_MS * ns_per_ms; now_ns() < end; nap(pe, 1))
            for (int i = 0; i < CHANS; i++)
                check_survivors(pe, &loads[i].chan);
        for (int i = 0; i < CHANS; i++)
            load_check_unchanged(pe, &loads[i]);
        kill(pid, SIGKILL);
    }
    barrier(pe);
    chan_close(&loads[1].chan);
}

/* The PE is lost before the first contact, and while a connection is being opened. */
static void lost_early(struct pe *pe)
{
    struct transport_completion done = NOT_DONE;
    uint64_t got = OLD;
    const struct transport_symaddr word = word_symaddr(LOST, COUNT_WORD);

    CHECK(pe, chan_open(pe, &loads[1].chan, true), "no context");
    if (pe->me == LOST)
        lost_stop_here(pe);
    const pid_t pid = lost_pid(pe);
    int status = -EAGAIN;
    if (pe->me == 0)
        for (int i = 0; i < 10 && status == -EAGAIN; i++) {
            status = pe->t->get(loads[1].chan.ctx, &got, &word, sizeof got, &done);
            pe->t->progress(loads[1].chan.ctx);
        }
    lose_in_thread(pe);
    if (status == 0)
        done_wait(&loads[1].chan, &done, "a get that waits for a connection");
    check_refused(pe, &pe->ctx0);
    check_refused(pe, &loads[1].chan);
    check_survivors(pe, &pe->ctx0);
    check_survivors(pe, &loads[1].chan);
    CHECK(pe, got == OLD || pe->options->memory,
          "a get of a lost PE has stored its result");
    chan_close(&loads[1].chan);
    barrier(pe);
    if (pe->me == 0)
        kill(pid, SIGKILL);
}

/* The PE dies or stops with requests to PE 0 under way, which PE 0 reads only after it
 * has given it up. */
static void lost_post_requests(struct pe *pe)
{
    static unsigned char got[2][SHORT];
    static uint64_t old;
    const struct transport_amo add = {
        .op = TRANSPORT_AMO_ADD, .size = 8, .operand = 1, .result = &old};
    const struct transport_signal signal = {
        .at = word_symaddr(0, COUNT_WORD), .op = TRANSPORT_AMO_ADD, .size = 8};
    const struct transport_symaddr at = slot_symaddr(pe, 0, SEGMENT_HEAP, pe->me, 0);

    service_pause(pe, true);
    for (int c = 0; c < CHANS; c++)
        for (int i = 0; i < 3 * OPS; i++) {
            struct transport_ctx *ctx = loads[c].chan.ctx;
            (void)pe->t->get(ctx, got[0], &at, SHORT, NULL);
            (void)pe->t->amo(ctx, &signal.at, &add, NULL);
            (void)pe->t->put_signal(ctx, &at, got[1], SHORT, &signal, NULL);
            (void)pe->t->get(ctx, loads[c].got, &at, LONG, NULL);
            pe->t->progress(ctx);
        }
}

static void lost_with_requests(struct pe *pe, bool continues)
{
    lost_connect_all(pe);
    service_pause(pe, pe->me == 0);
    barrier(pe);
    if (pe->me == LOST) {
        lost_post_requests(pe);
        lost_stop_here(pe);
    }
    const pid_t pid = lost_pid(pe);
    if (pe->me == 0) {
        load_post(pe, &loads[1]); /* detects the failure */
        if (!continues)
            kill(pid, SIGKILL);
        nap(pe, SETTLE_MS);
        lose(pe);
        load_check_ended(pe, &loads[1]);
        if (continues)
            kill(pid, SIGCONT);
        service_pause(pe, false);
        for (uint64_t end = now_ns() + LATE_MS * ns_per_ms; now_ns() < end; nap(pe, 1))
            for (int i = 0; i < CHANS; i++)
                check_survivors(pe, &loads[i].chan);
        check_refused(pe, &loads[0].chan);
        kill(pid, SIGKILL);
    }
    barrier(pe);
    chan_close(&loads[1].chan);
}

static void lost_requests_killed(struct pe *pe)
{
    lost_with_requests(pe, false);
}

static void lost_requests_continues(struct pe *pe)
{
    lost_with_requests(pe, true);
}

/* ---- hook and sim ------------------------------------------------------------------ */

/* Operations that never complete are outstanding until lost(). */
static void lost_check_silent(struct pe *pe, struct load *l)
{
    l->chan = pe->ctx0;
    pe->expect_failed = true;
    load_post(pe, l);
    CHECK(pe, pending(&l->chan, NULL) > 0, "no operation is outstanding");
    lose(pe);
    load_check_ended(pe, l);
    check_refused(pe, &l->chan);
    CHECK(pe, pe->mine->failures == 0, "world->failed was called: %s", pe->mine->message);
}

static void lost_dropped(struct pe *pe)
{
    if (pe->me == 0)
        lost_check_silent(pe, &loads[0]);
    barrier(pe);
    if (pe->me == 0)
        check_survivors(pe, &pe->ctx0);
}

/* Held operations of the hook transport: they are not forwarded after lost(). */
static void lost_held(struct pe *pe)
{
    const bool posts = pe->me == 0;

    if (posts)
        lost_check_silent(pe, &loads[0]);
    barrier(pe);
    nap(pe, LATE_MS);
    CHECK(pe, pe->me != LOST || load(own_word(pe, COUNT_WORD)) == 0,
          "a held operation was forwarded after lost()");
}

static void lost_sim(struct pe *pe)
{
    static struct load of[2];

    lost_connect(pe, &pe->ctx0);
    barrier(pe);
    pe->members = pe->npes - 1;
    if (pe->me == LOST) {
        sim_pe_kill(LOST, true);
        pe->dead = true;
        return;
    }
    nap(pe, 1);
    if (pe->me == 0 || pe->me == 2) {
        lost_check_silent(pe, &of[pe->me / 2]);
        nap(pe, 1);
        check_survivors(pe, &pe->ctx0);
    }
    pe->expect_failed = true;
}

enum { FLAGS = CASE_PROCESSES | CASE_ALONE | CASE_DIES | CASE_SURVIVES };

const struct test_case lost_cases[] = {
    {.name = "lost.killed", .run = lost_killed, .flags = FLAGS},
    {.name = "lost.continues", .run = lost_continues, .flags = FLAGS},
    {.name = "lost.early", .run = lost_early, .flags = FLAGS},
    {.name = "lost.requests_killed", .run = lost_requests_killed, .flags = FLAGS},
    {.name = "lost.requests_continues", .run = lost_requests_continues, .flags = FLAGS},
    {.name = "lost.blocks", .run = lost_blocks, .flags = FLAGS},
    {.name = "lost.blocks_replies", .run = lost_blocks_replies, .flags = FLAGS},
    {.name = "lost.blocks_continues", .run = lost_blocks_continues, .flags = FLAGS},
    {.name = "lost.blocks_first", .run = lost_blocks_first, .flags = FLAGS},
    {.name = "lost.blocks_later", .run = lost_blocks_later, .flags = FLAGS},
    {.name = "lost.dropped",
     .run = lost_dropped,
     .flags = CASE_HOOK | CASE_SURVIVES,
     .faults = "drop=1@1"},
    {.name = "lost.held",
     .run = lost_held,
     .flags = CASE_HOOK | CASE_SURVIVES,
     .faults = "delay=900ms"},
    {.name = "lost.sim", .run = lost_sim, .flags = CASE_SIM | CASE_ALONE | CASE_SURVIVES},
    {.name = NULL},
};
