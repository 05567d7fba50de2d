/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stopped.c - a peer that does not respond for a while: PE 1 stops itself with SIGSTOP;
 * PE 0 continues or kills it.  Uses: suite.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/transport/suite.h"

enum {
    STOPPED = 1,
    COUNT_WORD = 0,
    PID_WORD = 0, /* in shared memory */
    SETTLE_MS = 50,
    STOP_MS = 2500, /* more than two probes */
    POLL_MS = 10,
    US_PER_MS = 1000,
    CONNECT_MS = 1500,
    LATE_MS = 20000, /* upper limit of what load may prolong */
    BUSY_MS = 750, /* limit of processor time: allows the harness's polls, not spinning */
};
static const uint64_t ns_per_ms = 1000000;

/* PE 1: stop; returns when PE 0 sends SIGCONT. */
static void stop_here(struct pe *pe)
{
    store(&pe->mine->word[PID_WORD], (uint64_t)getpid());
    raise(SIGSTOP);
}

/* PE 0: wait until PE 1 has stopped; returns its pid. */
static pid_t stopped_pid(struct pe *pe)
{
    const uint64_t *word = &pe->shared->pe[STOPPED].word[PID_WORD];

    WAIT_MEMORY(&pe->ctx0, "PE 1 to stop", load(word) != 0);
    await_stop((pid_t)load(word));
    nap(pe, SETTLE_MS);
    return (pid_t)load(word);
}

/* Fork a process that continues `pid` after STOP_MS. */
static pid_t wake_later(pid_t pid)
{
    const pid_t child = fork();

    if (child != 0)
        return child;
    usleep(STOP_MS * US_PER_MS);
    kill(pid, SIGCONT);
    _exit(0);
}

/* Connect to all PEs. */
static void connect_all(struct pe *pe, struct chan *chan)
{
    uint64_t got;

    for (int to = 0; to < pe->npes; to++)
        get(chan, &got, word_symaddr(to, COUNT_WORD), sizeof got);
}

/* An amo to the stopped PE, on a context without a service thread: it stays pending and
 * is performed once after the PE continues, even if the transport retries it. */
static void watch_amo(struct pe *pe, struct chan *chan)
{
    uint64_t old = 0;
    const struct transport_amo add = {
        .op = TRANSPORT_AMO_ADD, .size = 8, .operand = 1, .result = &old};
    struct transport_completion done = NOT_DONE;
    const pid_t pid = stopped_pid(pe);
    const uint64_t end = now_ns() + STOP_MS * ns_per_ms;
    int who = -1;

    CHECK(pe, try_amo(chan, word_symaddr(STOPPED, COUNT_WORD), &add, &done) == 0,
          "an amo was refused");
    while (now_ns() < end) {
        const uint64_t n = pending(chan, &who);

        CHECK(pe, n == 1 && who == STOPPED,
              "%llu operations are pending, PE %d, after one amo to a stopped PE",
              (unsigned long long)n, who);
        pe->t->progress(chan->ctx);
        nap(pe, POLL_MS);
    }
    CHECK(pe, __atomic_load_n(&done.pending, __ATOMIC_ACQUIRE) == 1,
          "a stopped PE has performed an amo");
    kill(pid, SIGCONT);
    done_wait(chan, &done, "an amo to a PE that was continued");
    quiet(chan);
    CHECK(pe, old == 0 && load(view_word(pe, STOPPED, COUNT_WORD)) == 1,
          "the word is %llu after one add",
          (unsigned long long)load(view_word(pe, STOPPED, COUNT_WORD)));
}

static void amo_waits(struct pe *pe)
{
    struct chan chan;

    if (pe->options->memory || !chan_open(pe, &chan, false))
        return;
    connect_all(pe, &chan);
    barrier(pe);
    if (pe->me == STOPPED)
        stop_here(pe);
    if (pe->me == 0)
        watch_amo(pe, &chan);
    chan_close(&chan);
}

/* Puts to a PE that is stopped for less than the timeout, until it continues; posts block
 * when the transport's queues are full.  before: puts delivered before the stop. */
static void puts_wait(struct pe *pe, size_t len, unsigned before)
{
    enum { BLOCKS = 1000 };
    unsigned n = 0;

    if (pe->options->memory)
        return;
    connect_all(pe, &pe->ctx0);
    for (; pe->me == 0 && n < before; n++)
        put_nbi(&pe->ctx0, slot_symaddr(pe, STOPPED, SEGMENT_HEAP, 0, n * len),
                pattern(n), len);
    nap(pe, SETTLE_MS);
    barrier(pe);
    if (pe->me == STOPPED)
        stop_here(pe);
    if (pe->me != 0)
        return;
    const pid_t pid = stopped_pid(pe);
    const uint64_t end = now_ns() + STOP_MS * ns_per_ms;
    const pid_t waker = wake_later(pid);

    for (; now_ns() < end; n++)
        put_nbi(&pe->ctx0,
                slot_symaddr(pe, STOPPED, SEGMENT_HEAP, 0, (size_t)(n % BLOCKS) * len),
                pattern(n % BLOCKS), len);
    quiet(&pe->ctx0);
    waitpid(waker, NULL, 0);
    for (unsigned i = 0; i < BLOCKS && i < n; i++)
        check_bytes(pe,
                    view(pe, slot_symaddr(pe, STOPPED, SEGMENT_HEAP, 0, (size_t)i * len)),
                    pattern(i), len, "a put to a PE that was stopped");
}

static void short_puts_wait(struct pe *pe)
{
    puts_wait(pe, 100, 0);
}

static void long_puts_wait(struct pe *pe)
{
    puts_wait(pe, 4096, 3);
}

/* The first operation to a stopped PE fails when the timeout has passed, not before, and
 * does not spin meanwhile. */
static void connect_fails(struct pe *pe)
{
    struct transport_completion done = NOT_DONE;
    const uint64_t start = now_ns();
    const double cpu = cpu_ms();
    uint64_t got, took;

    if (strcmp(pe->options->inner->name, "ofi") != 0)
        return; /* other transports connect lazily; their caller detects the failure */
    if (pe->me == STOPPED)
        stop_here(pe);
    pe->expect_failed = true;
    pe->members = pe->npes - 1;
    if (pe->me != 0)
        return;
    const pid_t pid = stopped_pid(pe);
    int status = try_get(&pe->ctx0, &got, word_symaddr(STOPPED, 0), sizeof got, &done);

    if (status == 0) {
        done_wait(&pe->ctx0, &done, "a get from a stopped PE");
        status = done.error;
    }
    took = (now_ns() - start) / ns_per_ms;
    CHECK(pe, status < 0, "a get from a stopped PE succeeded");
    CHECK(pe, took >= CONNECT_MS && took < CONNECT_MS + LATE_MS,
          "connecting failed after %llu ms, the timeout is %d ms",
          (unsigned long long)took, CONNECT_MS);
    CHECK(pe, cpu_ms() - cpu < BUSY_MS, "connecting took %.0f ms of processor time",
          cpu_ms() - cpu);
    CHECK(pe, pe->mine->failures > 0, "world->failed was not called");
    kill(pid, SIGKILL);
}

/* Case requester: PE 1 posts many gets and amos and stops before it has read the replies;
 * PE 0 must keep them without spinning.
 * Provider net of libfabric 1.17 buffers 64 messages for a process that does not poll and
 * may drop later ones: fewer amos with a provider that the user has named. */
enum { AMOS = 900, AMOS_FEW = 30, GETS = 8, GET_LEN = 4 << 20 };

static unsigned amos(const struct pe *pe)
{
    return pe->options->provider != NULL ? AMOS_FEW : AMOS;
}

static void post_amos(struct chan *chan, uint64_t *old)
{
    for (unsigned i = 0; i < amos(chan->pe); i++) {
        const struct transport_amo add = {
            .op = TRANSPORT_AMO_ADD, .size = 8, .operand = 1, .result = &old[i]};

        CHECK(chan->pe, try_amo(chan, word_symaddr(0, COUNT_WORD), &add, NULL) == 0,
              "an amo was refused");
    }
}

static void post_and_stop(struct pe *pe)
{
    static uint64_t old[2][AMOS];
    unsigned char *to = own(pe, slot_symaddr(pe, STOPPED, SEGMENT_HEAP, pe->npes, 0));
    struct chan chan;
    const bool two = chan_open(pe, &chan, false);
    const uint64_t should = (two ? 2 : 1) * amos(pe);

    if (two)
        connect_all(pe, &chan);
    service_pause(pe, true);
    for (unsigned i = 0; i < GETS; i++) {
        get_nbi(&pe->ctx0, to, slot_symaddr(pe, 0, SEGMENT_HEAP, 0, 0), GET_LEN);
        if (two)
            get_nbi(&chan, to, slot_symaddr(pe, 0, SEGMENT_HEAP, 0, 0), GET_LEN);
    }
    post_amos(&pe->ctx0, old[0]);
    if (two)
        post_amos(&chan, old[1]);
    stop_here(pe);
    service_pause(pe, false);
    quiet(&pe->ctx0);
    if (two) {
        quiet(&chan);
        chan_close(&chan);
    }
    CHECK(pe, load(view_word(pe, 0, COUNT_WORD)) == should,
          "%llu of %llu adds were performed",
          (unsigned long long)load(view_word(pe, 0, COUNT_WORD)),
          (unsigned long long)should);
}

static void requester(struct pe *pe)
{
    connect_all(pe, &pe->ctx0);
    barrier(pe);
    if (pe->me == STOPPED)
        post_and_stop(pe);
    if (pe->me != 0)
        return;
    const pid_t pid = stopped_pid(pe);
    const double cpu = cpu_ms();

    nap(pe, STOP_MS);
    CHECK(pe, cpu_ms() - cpu < BUSY_MS,
          "%.0f ms of processor time while a requester was stopped", cpu_ms() - cpu);
    kill(pid, SIGCONT);
}

const struct test_case stopped_cases[] = {
    {.name = "stopped.amo", .run = amo_waits, .flags = CASE_PROCESSES | CASE_ALONE},
    {.name = "stopped.put", .run = short_puts_wait, .flags = CASE_PROCESSES | CASE_ALONE},
    {.name = "stopped.long_put",
     .run = long_puts_wait,
     .flags = CASE_PROCESSES | CASE_ALONE},
    {.name = "stopped.requester", .run = requester, .flags = CASE_PROCESSES | CASE_ALONE},
    {.name = "stopped.connect",
     .run = connect_fails,
     .flags = CASE_PROCESSES | CASE_ALONE | CASE_DIES,
     .timeout_ms = CONNECT_MS},
    {.name = NULL},
};
