/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stopped.c - a peer that says nothing for a while, as SIGSTOP does to a process.  PE 1 is
 * stopped, by itself; PE 0 lets it go on, or kills it.  Uses: suite.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/transport/suite.h"

enum {
    STOPPED = 1,
    COUNT_WORD = 0,
    PID_WORD = 0, /* in shared memory */
    SETTLE_MS = 50,
    STOP_MS = 2500, /* more than two probes */
    LOOK_MS = 10,
    CONTACT_MS = 1500,
    BUSY_MS = 300, /* of processor time in STOP_MS: not spinning */
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

static void greet(struct pe *pe)
{
    uint64_t got;

    for (int to = 0; to < pe->npes; to++)
        get(&pe->ctx0, &got, word_place(to, COUNT_WORD), sizeof got);
    barrier(pe);
}

/* An amo to it: nothing changes until it goes on, whatever the transport tries. */
static void amo_waits(struct pe *pe)
{
    static uint64_t old; /* outlives the case */
    static struct transport_done done;
    const struct transport_amo add = {
        .op = TRANSPORT_AMO_ADD, .size = 8, .operand = 1, .result = &old};

    if (pe->options->memory)
        return;
    greet(pe);
    if (pe->me == STOPPED)
        stop_here(pe);
    if (pe->me != 0)
        return;
    const pid_t pid = stopped_pid(pe);
    const uint64_t end = now_ns() + STOP_MS * ns_per_ms;
    int who = -1;

    done = NOT_DONE;
    CHECK(pe, try_amo(&pe->ctx0, word_place(STOPPED, COUNT_WORD), &add, &done) == 0,
          "an amo was refused");
    while (now_ns() < end) {
        const uint64_t n = pending(&pe->ctx0, &who);

        CHECK(pe, n == 1 && who == STOPPED && load_left(&done) == 1,
              "%llu are pending, PE %d, with one amo to a PE that is stopped",
              (unsigned long long)n, who);
        relax(&pe->ctx0);
        pe->t->progress(pe->ctx0.ctx);
        nap(pe, LOOK_MS);
    }
    kill(pid, SIGCONT);
    done_wait(&pe->ctx0, &done, "an amo to a PE that goes on");
    CHECK(pe, old == 0 && load(view_word(pe, STOPPED, COUNT_WORD)) == 1,
          "an amo was done %llu times",
          (unsigned long long)load(view_word(pe, STOPPED, COUNT_WORD)));
}
