/* SPDX-License-Identifier: BSD-3-Clause */
/* error.c - peers that die or do not respond, and invalid settings for open.  Uses:
 * suite.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/transport/sim_pe.h"
#include "tests/transport/suite.h"

enum {
    DEAD = 1, /* the PE that dies in these cases; PE 0 survives */
    COUNT_WORD = 0,
    LEN = 50000,
    PES_MAX = 16,
    SILENT_MS = 300,
};
static const uint64_t ns_per_s = 1000000000;

/* Post one operation to a PE that may be dead, and wait for it.  Returns its error or 0.
 */
static int one(struct chan *chan, int to, unsigned i)
{
    struct pe *pe = chan->pe;
    uint64_t old = 0;
    unsigned char *got = own(pe, slot_symaddr(pe, pe->me, SEGMENT_HEAP, pe->npes, 0));
    const struct transport_symaddr at = slot_symaddr(pe, to, SEGMENT_HEAP, pe->me, i % 5);
    const struct transport_amo add = {
        .op = TRANSPORT_AMO_ADD, .size = 8, .operand = 1, .result = i % 2 ? &old : NULL};
    const struct transport_signal signal = {
        .at = word_symaddr(to, COUNT_WORD), .op = TRANSPORT_AMO_ADD, .size = 8};
    struct transport_completion done = NOT_DONE;
    int status;

    switch (i % 8) {
    case 0:
    case 4:
        status = try_put(chan, at, pattern(i), i % 8 ? LEN : 8, &done);
        break;
    case 1:
    case 5:
        status = try_get(chan, got, at, i % 8 == 1 ? LEN : 8, &done);
        break;
    case 6:
        status = try_put_signal(chan, at, pattern(i), i % 100, &signal, &done);
        break;
    default:
        status = try_amo(chan, word_symaddr(to, COUNT_WORD), &add, &done);
        break;
    }
    CHECK(pe, status <= 0, "an operation returned %d", status);
    if (status != 0) {
        CHECK(pe, done.pending == 1 && done.error == 0,
              "a refused post changed its completion");
        return status;
    }
    done_wait(chan, &done, "an operation to a PE that died");
    return done.error;
}

/* Operations between survivors still work. */
static void survivors_work(struct pe *pe, struct chan *chan, unsigned i)
{
    int to = (pe->me + 1) % pe->npes;
    unsigned char got[1000];

    if (to == DEAD)
        to = (to + 1) % pe->npes;
    const struct transport_symaddr at =
        slot_symaddr(pe, to, SEGMENT_DATA, pe->me, 10 + i % 100);

    put(chan, at, pattern(i), sizeof got);
    fence(chan);
    get(chan, got, at, 1);
    quiet(chan);
    get(chan, got, at, sizeof got);
    check_bytes(pe, got, pattern(i), sizeof got, "put and got between survivors");
}

static void check_reported(struct pe *pe)
{
    CHECK(pe, pe->mine->failures > 0,
          "operations to PE %d failed, but world->failed was not "
          "called",
          DEAD);
    CHECK(pe, pe->mine->failed_pe == DEAD || pe->mine->failed_pe == -1,
          "PE %d died, but world->failed names PE %d", DEAD, pe->mine->failed_pe);
}

/* Post operations to the dead PE until one fails; all later ones must fail too, and every
 * one completes. */
static void use_dead(struct pe *pe, struct chan *chan)
{
    const uint64_t start = now_ns();
    const uint64_t end = start + (pe->options->memory ? ns_per_s / 2 : 25 * ns_per_s);
    unsigned i = 0;
    int error = 0;

    while (error == 0 && now_ns() < end) {
        error = one(chan, DEAD, i);
        survivors_work(pe, chan, i++);
    }
    if (pe->options->memory && error == 0)
        return; /* its memory is still mapped */
    CHECK(pe, error != 0, "no operation to a dead PE has failed in %u turns", i);
    check_reported(pe);
    if (pe->me == 0)
        printf("# %u operations to a dead PE in %.2f s until the first failed: %s: %s\n",
               i, (double)(now_ns() - start) / (double)ns_per_s, strerror(-error),
               pe->mine->message);
    for (unsigned j = 0; j < 8; j++) {
        /* The completion of a put reports that its source may be reused, not that the
         * data were delivered, so a put may succeed.  Mapped memory of the dead PE, which
         * may be one of its two segments, stays accessible. */
        bool failed = one(chan, DEAD, j) < 0;
        CHECK(pe, failed || pe->options->memory || j % 4 == 0 || j == 6,
              "operation %u to a dead PE after the first failure did not fail", j);
        survivors_work(pe, chan, j);
    }
}

/* quiet returns after nonblocking operations to a dead PE. */
static void quiet_dead(struct pe *pe, struct chan *chan)
{
    struct transport_signal signal = {
        .at = word_symaddr(DEAD, COUNT_WORD), .op = TRANSPORT_AMO_ADD, .size = 8};
    uint64_t old[8];

    for (unsigned i = 0; i < 8; i++) {
        const struct transport_amo swap = {
            .op = TRANSPORT_AMO_SWAP, .size = 8, .operand = i, .result = &old[i]};

        try_put(chan, slot_symaddr(pe, DEAD, SEGMENT_HEAP, pe->me, 0), pattern(i), LEN,
                NULL);
        try_amo(chan, word_symaddr(DEAD, COUNT_WORD), &swap, NULL);
        signal.unacked = i % 2 != 0;
        try_put_signal(chan, slot_symaddr(pe, DEAD, SEGMENT_HEAP, pe->me, LEN),
                       pattern(i), i * 100, &signal, NULL);
    }
    try_fence(chan);
    try_quiet(chan);
    CHECK(pe, pending(chan, NULL) == 0,
          "%llu operations to a dead PE are pending after quiet",
          (unsigned long long)pending(chan, NULL));
}

static void warm_up(struct pe *pe)
{
    for (int to = 0; to < pe->npes; to++)
        for (unsigned i = 0; i < 8; i++)
            CHECK(pe, one(&pe->ctx0, to, i) == 0, "an operation failed before a PE died");
    quiet(&pe->ctx0);
    barrier(pe);
}

static void killed(struct pe *pe)
{
    warm_up(pe);
    if (pe->me == DEAD) {
        nap(pe, 30);
        kill(getpid(), SIGKILL);
    }
    pe->expect_failed = true;
    pe->members = pe->npes - 1;
    use_dead(pe, &pe->ctx0);
    quiet_dead(pe, &pe->ctx0);
    survivors_work(pe, &pe->ctx0, 0);
}

/* The PE dies while many operations to it are in flight. */
static void killed_busy(struct pe *pe)
{
    enum { TURNS = 400 };

    warm_up(pe);
    if (pe->me == DEAD) {
        nap(pe, 3);
        kill(getpid(), SIGKILL);
    }
    pe->expect_failed = true;
    pe->members = pe->npes - 1;
    for (unsigned i = 0; i < TURNS; i++)
        try_put(&pe->ctx0,
                slot_symaddr(pe, DEAD, SEGMENT_HEAP, pe->me, (size_t)(i % 8) * LEN),
                pattern(i), i % 4 ? 100 : LEN, NULL);
    try_quiet(&pe->ctx0);
    use_dead(pe, &pe->ctx0);
    quiet_dead(pe, &pe->ctx0);
}

/* The hook transport kills PE 1 at its 40th operation. */
static void killed_at(struct pe *pe)
{
    if (pe->me == DEAD)
        for (unsigned i = 0; i < 1000; i++)
            survivors_work(pe, &pe->ctx0, i);
    pe->expect_failed = true;
    pe->members = pe->npes - 1;
    use_dead(pe, &pe->ctx0);
    quiet_dead(pe, &pe->ctx0);
}

/* -- faults of the hook transport ----------------------------------------------- */

/* Buffers of operations that never complete, by PE; static because they outlive the
 * case. */
static struct lasting {
    struct transport_completion done;
    uint64_t got, own;
} lasting[PES_MAX];

/* PE 0's operations to PE 1 never complete: they stay pending, and no failure is
 * reported. */
static void dropped(struct pe *pe)
{
    const uint64_t end = now_ns() + (uint64_t)SILENT_MS * 1000000;
    struct lasting *l = &lasting[0];
    int who = -1;

    if (pe->me != 0)
        return;
    l->done = NOT_DONE;
    pe->expect_failed = true;
    CHECK(pe,
          try_get(&pe->ctx0, &l->got, word_symaddr(DEAD, 0), sizeof l->got, &l->done) ==
              0,
          "a get was refused");
    put_nbi(&pe->ctx0, word_symaddr(DEAD, 1), pattern(1), sizeof l->got);
    while (now_ns() < end) {
        CHECK(pe, __atomic_load_n(&l->done.pending, __ATOMIC_ACQUIRE) == 1,
              "a dropped operation is done");
        CHECK(pe, pending(&pe->ctx0, &who) == 2 && who == DEAD,
              "%llu operations are pending, PE %d; 2 to PE %d were dropped",
              (unsigned long long)pending(&pe->ctx0, NULL), who, DEAD);
        CHECK(pe, pe->t->quiet(pe->ctx0.ctx) == -EAGAIN,
              "quiet returned 0 although 2 operations were dropped");
        get(&pe->ctx0, &l->own, word_symaddr(0, 2), sizeof l->own);
        nap(pe, 1);
    }
    CHECK(pe, pe->mine->failures == 0, "world->failed was called: %s", pe->mine->message);
    CHECK(pe, *(unsigned char *)view(pe, word_symaddr(DEAD, 1)) == 0,
          "a dropped put was delivered");
}

/* All operations to PE 1 fail from the 9th on. */
static void failing(struct pe *pe)
{
    int error = 0;

    if (pe->me == DEAD)
        return;
    for (unsigned i = 0; i < 8; i++)
        CHECK(pe, one(&pe->ctx0, DEAD, i) == 0,
              "operation %u failed, one of the first 8, which must work", i);
    pe->expect_failed = true;
    error = one(&pe->ctx0, DEAD, 8);
    CHECK(pe, error < 0, "the operation that must fail returned %d", error);
    check_reported(pe);
    use_dead(pe, &pe->ctx0);
    quiet_dead(pe, &pe->ctx0);
    CHECK(pe, pe->mine->failures == 1, "world->failed was called %d times",
          pe->mine->failures);
}

/* -- dead PEs of the sim transport ---------------------------------------------- */

static void killed_sim(struct pe *pe)
{
    warm_up(pe);
    pe->expect_failed = true;
    pe->members = pe->npes - 1;
    if (pe->me == DEAD) {
        sim_pe_kill(DEAD, false);
        pe->dead = true;
        return;
    }
    nap(pe, 1);
    use_dead(pe, &pe->ctx0);
    quiet_dead(pe, &pe->ctx0);
}

/* Operations to a silently dead PE stay pending; pending() names it. */
static void silent_sim(struct pe *pe)
{
    struct lasting *l = &lasting[pe->me];
    int who = -1;

    l->done = NOT_DONE;
    warm_up(pe);
    pe->expect_failed = true;
    pe->members = pe->npes - 1;
    if (pe->me == DEAD) {
        sim_pe_kill(DEAD, true);
        pe->dead = true;
        return;
    }
    nap(pe, 1);
    CHECK(pe,
          try_get(&pe->ctx0, &l->got, word_symaddr(DEAD, 0), sizeof l->got, &l->done) ==
              0,
          "a get was refused");
    nap(pe, SILENT_MS);
    CHECK(pe, l->done.pending == 1 && pending(&pe->ctx0, &who) == 1 && who == DEAD,
          "a get from a silently dead PE: completion %u, pending() names PE %d",
          l->done.pending, who);
    CHECK(pe, pe->mine->failures == 0, "world->failed was called");
}

/* -- invalid settings for open -------------------------------------------------- */

static void refused(struct pe *pe, const struct transport_world *world, const char *what)
{
    char why[TRANSPORT_TEXT_MAX] = "";
    struct transport_net *net = NULL;
    const int status = pe->t->open(world, &net, why);

    CHECK(pe, status < 0, "%s: open returned %d", what, status);
    CHECK(pe, strlen(why) > 10 && strlen(why) < TRANSPORT_TEXT_MAX, "%s: why is \"%s\"",
          what, why);
    printf("# %s: %s\n", what, why);
}

/* PE 0 opens the transport once more, with settings that do not exist. */
static void nonsense(struct pe *pe)
{
    struct transport_world world = pe->world;

    if (pe->me != 0)
        return;
    if (strcmp(pe->options->inner->name, "ofi") == 0) {
        world.provider = "no-such-provider";
        refused(pe, &world, "provider no-such-provider");
        world.provider = NULL;
        world.domain = "no-such-domain";
        refused(pe, &world, "domain no-such-domain");
        world.domain = NULL;
    }
    if (pe->options->hook) {
        world.faults = "delay=200us,nonsense=1";
        refused(pe, &world, "faults nonsense=1");
    }
}

const struct test_case error_cases[] = {
    {.name = "error.nonsense", .run = nonsense, .flags = CASE_PROCESSES | CASE_ALONE},
    {.name = "error.killed",
     .run = killed,
     .timeout_ms = 2000, /* limit of reconnecting to the dead PE */
     .flags = CASE_PROCESSES | CASE_ALONE | CASE_DIES},
    {.name = "error.killed_busy",
     .run = killed_busy,
     .flags = CASE_PROCESSES | CASE_ALONE | CASE_DIES},
    {.name = "error.kill",
     .run = killed_at,
     .flags = CASE_HOOK | CASE_PROCESSES | CASE_DIES,
     .faults = "kill=1@40"},
    {.name = "error.drop", .run = dropped, .flags = CASE_HOOK, .faults = "drop=1@1"},
    {.name = "error.fail", .run = failing, .flags = CASE_HOOK, .faults = "fail=1@9"},
    {.name = "error.sim_killed", .run = killed_sim, .flags = CASE_SIM | CASE_ALONE},
    {.name = "error.sim_silent", .run = silent_sim, .flags = CASE_SIM | CASE_ALONE},
    {.name = NULL},
};
