/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stopped.c - a peer that says nothing for a while, as SIGSTOP does to a process.  PE 1
 * is stopped, by itself; PE 0 lets it go on, or kills it.  Uses: suite.
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
    LOOK_MS = 10,
    US_PER_MS = 1000,
    CONTACT_MS = 1500,
    BUSY_MS = 750, /* of processor time: naps of the harness, but no spinning */
};
static const uint64_t ns_per_ms = 1000000;

/* PE 1 comes back from here when PE 0 has let it. */
static void stop_here(struct pe *pe)
{
    store(&pe->mine->word[PID_WORD], (uint64_t)getpid());
    raise(SIGSTOP);
}

/* PE 0: wait until it is stopped. */
static pid_t stopped_pid(struct pe *pe)
{
    const uint64_t *word = &pe->shared->pe[STOPPED].word[PID_WORD];

    WAIT_MEMORY(&pe->ctx0, "PE 1 to stop", load(word) != 0);
    nap(pe, SETTLE_MS);
    return (pid_t)load(word);
}

/* A process that lets it go on after STOP_MS. */
static pid_t wake_later(pid_t pid)
{
    const pid_t child = fork();

    if (child != 0)
        return child;
    usleep(STOP_MS * US_PER_MS);
    kill(pid, SIGCONT);
    _exit(0);
}

static void greet(struct pe *pe, struct chan *chan)
{
    uint64_t got;

    for (int to = 0; to < pe->npes; to++)
        get(chan, &got, word_place(to, COUNT_WORD), sizeof got);
}

/* An amo to it, of a context that nobody else looks after: nothing changes until it goes
 * on, whatever the transport tries meanwhile. */
static void watch_amo(struct pe *pe, struct chan *chan)
{
    uint64_t old = 0;
    const struct transport_amo add = {
        .op = TRANSPORT_AMO_ADD, .size = 8, .operand = 1, .result = &old};
    struct transport_completion done = NOT_DONE;
    const pid_t pid = stopped_pid(pe);
    const uint64_t end = now_ns() + STOP_MS * ns_per_ms;
    int who = -1;

    CHECK(pe, try_amo(chan, word_place(STOPPED, COUNT_WORD), &add, &done) == 0,
          "an amo was refused");
    while (now_ns() < end) {
        const uint64_t n = pending(chan, &who);

        CHECK(pe, n == 1 && who == STOPPED,
              "%llu are pending, PE %d, with one amo to a PE that is stopped",
              (unsigned long long)n, who);
        pe->t->progress(chan->ctx);
        nap(pe, LOOK_MS);
    }
    CHECK(pe, __atomic_load_n(&done.pending, __ATOMIC_ACQUIRE) == 1,
          "a PE that is stopped has performed an amo");
    kill(pid, SIGCONT);
    done_wait(chan, &done, "an amo to a PE that goes on");
    quiet(chan);
    CHECK(pe, old == 0 && load(view_word(pe, STOPPED, COUNT_WORD)) == 1,
          "one add has made %llu",
          (unsigned long long)load(view_word(pe, STOPPED, COUNT_WORD)));
}

static void amo_waits(struct pe *pe)
{
    struct chan chan;

    if (pe->options->memory || !chan_open(pe, &chan, false))
        return;
    greet(pe, &chan);
    barrier(pe);
    if (pe->me == STOPPED)
        stop_here(pe);
    if (pe->me == 0)
        watch_amo(pe, &chan);
    chan_close(&chan);
}

/* Puts until the transport takes no more, to a PE that stops for less than the limit.
 * before: puts that it has got, not to begin with the first. */
static void puts_wait(struct pe *pe, size_t len, unsigned before)
{
    enum { PLACES = 1000 };
    unsigned n = 0;

    if (pe->options->memory)
        return;
    greet(pe, &pe->ctx0);
    for (; pe->me == 0 && n < before; n++)
        put_nbi(&pe->ctx0, slot_place(pe, STOPPED, SEGMENT_HEAP, 0, n * len), pattern(n),
                len);
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
                slot_place(pe, STOPPED, SEGMENT_HEAP, 0, (size_t)(n % PLACES) * len),
                pattern(n % PLACES), len);
    quiet(&pe->ctx0);
    waitpid(waker, NULL, 0);
    for (unsigned i = 0; i < PLACES && i < n; i++)
        check_bytes(pe,
                    view(pe, slot_place(pe, STOPPED, SEGMENT_HEAP, 0, (size_t)i * len)),
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

/* Its first contact is refused once the limit has passed, not before; nobody spins. */
static void no_contact(struct pe *pe)
{
    struct transport_completion done = NOT_DONE;
    const uint64_t start = now_ns();
    const double cpu = cpu_ms();
    uint64_t got, took;

    if (strcmp(pe->options->inner->name, "ofi") != 0)
        return; /* others connect without a word, and the caller notices */
    if (pe->me == STOPPED)
        stop_here(pe);
    pe->expect_failed = true;
    pe->members = pe->npes - 1;
    if (pe->me != 0)
        return;
    const pid_t pid = stopped_pid(pe);
    int status = try_get(&pe->ctx0, &got, word_place(STOPPED, 0), sizeof got, &done);

    if (status == 0) {
        done_wait(&pe->ctx0, &done, "a get from a PE that is stopped");
        status = done.error;
    }
    took = (now_ns() - start) / ns_per_ms;
    CHECK(pe, status < 0, "a get from a PE that is stopped was done");
    CHECK(pe, took >= CONTACT_MS && took < CONTACT_MS + STOP_MS,
          "the first contact was given up after %llu ms, the limit is %d",
          (unsigned long long)took, CONTACT_MS);
    CHECK(pe, cpu_ms() - cpu < BUSY_MS, "%.0f ms of processor time for a first contact",
          cpu_ms() - cpu);
    CHECK(pe, pe->mine->failures > 0, "world->failed was not called");
    kill(pid, SIGKILL);
}

/* It asks for much and stops before it has read the answers: they are kept, and nobody
 * spins for them. */
/* Provider net of libfabric 1.17, which is used when it is named only, keeps 64 messages
 * for a process that does not look, and may forget those that come after them. */
enum { AMOS = 900, AMOS_FEW = 30, GETS = 8, GET_LEN = 4 << 20 };

static unsigned amos(const struct pe *pe)
{
    return pe->options->provider != NULL ? AMOS_FEW : AMOS;
}

static void ask(struct chan *chan, uint64_t *old)
{
    for (unsigned i = 0; i < amos(chan->pe); i++) {
        const struct transport_amo add = {
            .op = TRANSPORT_AMO_ADD, .size = 8, .operand = 1, .result = &old[i]};

        CHECK(chan->pe, try_amo(chan, word_place(0, COUNT_WORD), &add, NULL) == 0,
              "an amo was refused");
    }
}

static void asks(struct pe *pe)
{
    static uint64_t old[2][AMOS];
    unsigned char *to = own(pe, slot_place(pe, STOPPED, SEGMENT_HEAP, pe->npes, 0));
    struct chan chan;
    const bool two = chan_open(pe, &chan, false);
    const uint64_t should = (two ? 2 : 1) * amos(pe);

    if (two)
        greet(pe, &chan);
    service_pause(pe, true);
    for (unsigned i = 0; i < GETS; i++) {
        get_nbi(&pe->ctx0, to, slot_place(pe, 0, SEGMENT_HEAP, 0, 0), GET_LEN);
        if (two)
            get_nbi(&chan, to, slot_place(pe, 0, SEGMENT_HEAP, 0, 0), GET_LEN);
    }
    ask(&pe->ctx0, old[0]);
    if (two)
        ask(&chan, old[1]);
    stop_here(pe);
    service_pause(pe, false);
    quiet(&pe->ctx0);
    if (two) {
        quiet(&chan);
        chan_close(&chan);
    }
    CHECK(pe, load(view_word(pe, 0, COUNT_WORD)) == should, "%llu adds of %llu are there",
          (unsigned long long)load(view_word(pe, 0, COUNT_WORD)),
          (unsigned long long)should);
}

static void asker(struct pe *pe)
{
    greet(pe, &pe->ctx0);
    barrier(pe);
    if (pe->me == STOPPED)
        asks(pe);
    if (pe->me != 0)
        return;
    const pid_t pid = stopped_pid(pe);
    const double cpu = cpu_ms();

    nap(pe, STOP_MS);
    CHECK(pe, cpu_ms() - cpu < BUSY_MS, "%.0f ms of processor time for a stopped PE",
          cpu_ms() - cpu);
    kill(pid, SIGCONT);
}

const struct test_case stopped_cases[] = {
    {.name = "stopped.amo", .run = amo_waits, .flags = CASE_PROCESSES | CASE_ALONE},
    {.name = "stopped.put", .run = short_puts_wait, .flags = CASE_PROCESSES | CASE_ALONE},
    {.name = "stopped.long_put",
     .run = long_puts_wait,
     .flags = CASE_PROCESSES | CASE_ALONE},
    {.name = "stopped.asker", .run = asker, .flags = CASE_PROCESSES | CASE_ALONE},
    {.name = "stopped.contact",
     .run = no_contact,
     .flags = CASE_PROCESSES | CASE_ALONE | CASE_DIES,
     .timeout_ms = CONTACT_MS},
    {.name = NULL},
};
