/* SPDX-License-Identifier: BSD-3-Clause */
/* pair.c - implements pair.h. */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "tests/transport/pair.h"

enum { SKIPPED = 77, MS_PER_S = 1000, NS_PER_MS = 1000000 };

uint64_t pair_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * MS_PER_S + (uint64_t)t.tv_nsec / NS_PER_MS;
}

static ssize_t pair_address_of(const struct transport_world *world, int pe, void *to,
                               size_t space)
{
    struct pair *pair = world->arg;
    unsigned char address[TRANSPORT_ADDRESS_MAX];
    size_t len = pair->t->address(pair->net[pe], address);

    if (len > space)
        return -1;
    memcpy(to, address, len);
    return (ssize_t)len;
}

static void pair_failed(const struct transport_world *world, int pe, const char *message)
{
    struct pair *pair = world->arg;

    pair->failures[world->me]++;
    pair->failed_pe[world->me] = pe;
    snprintf(pair->message[world->me], PAIR_TEXT_MAX, "%s", message);
}

void pair_open(struct pair *pair, const struct transport *t, const char *avoid,
               uint64_t timeout_ms)
{
    char why[TRANSPORT_TEXT_MAX];

    *pair = (struct pair){.t = t};
    for (int pe = 0; pe < PAIR_PES; pe++) {
        struct transport_world *world = &pair->world[pe];
        *world = (struct transport_world){.me = pe,
                                          .coalesce = 16 << 10,
                                          .npes = PAIR_PES,
                                          .address_of = pair_address_of,
                                          .failed = pair_failed,
                                          .arg = pair,
                                          .avoid = avoid,
                                          .timeout_ns = timeout_ms * NS_PER_MS};
        world->segment[SEGMENT_HEAP].base = pair->heap[pe];
        world->segment[SEGMENT_HEAP].len = sizeof pair->heap[pe];
        world->segment[SEGMENT_HEAP].fd = world->segment[SEGMENT_DATA].fd = -1;
        if (t->open(world, &pair->net[pe], why) != 0) {
            printf("%s cannot be opened: %s\n", t->name, why);
            exit(SKIPPED);
        }
        pair->ctx[pe] = t->ctx_0(pair->net[pe]);
    }
}

void pair_close(struct pair *pair)
{
    for (int pe = 0; pe < PAIR_PES; pe++)
        pair->t->close(pair->net[pe]);
}

void pair_progress(struct pair *pair)
{
    for (int pe = 0; pe < PAIR_PES; pe++)
        pair->t->progress(pair->ctx[pe]);
}

void pair_until_failed(struct pair *pair, int pe, int failures, const char *what)
{
    PAIR_UNTIL(pair, pair->failures[pe] >= failures, what);
    CHECK(pair->failures[pe] == failures,
          "%s: world->failed was called %d times, expected %d", what, pair->failures[pe],
          failures);
}

void pair_idle(struct pair *pair, unsigned ms)
{
    for (uint64_t end = pair_now_ms() + ms; pair_now_ms() < end;)
        pair_progress(pair);
}

uint64_t pair_add(struct pair *pair, int pe, unsigned i, uint64_t operand)
{
    uint64_t before = 0;
    const struct transport_symaddr at = {.pe = 1 - pe, .offset = i * sizeof before};
    const struct transport_amo add = {.op = TRANSPORT_AMO_ADD,
                                      .size = sizeof before,
                                      .operand = operand,
                                      .result = &before};
    struct transport_completion done = {.pending = 1};
    int error = -EAGAIN;

    PAIR_UNTIL(pair, (error = pair->t->amo(pair->ctx[pe], &at, &add, &done)) != -EAGAIN,
               "an atomic operation to be posted");
    CHECK(error == 0, "an atomic operation was refused: %s", strerror(-error));
    PAIR_UNTIL(pair, __atomic_load_n(&done.pending, __ATOMIC_ACQUIRE) == 0,
               "an atomic operation");
    CHECK(done.error == 0, "an atomic operation failed: %s", strerror(-done.error));
    return before;
}

void pair_check_works(struct pair *pair)
{
    enum { COUNT = 0, TO = 8, SIGNAL = 16, TURNS = 100 };
    static const uint64_t from = 0x0123456789abcdef;

    memset(pair->heap, 0, sizeof pair->heap);
    for (unsigned k = 0; k < TURNS; k++)
        for (int pe = 0; pe < PAIR_PES; pe++) {
            const struct transport_symaddr to = {.pe = 1 - pe,
                                                 .offset = TO * sizeof from};
            const struct transport_signal signal = {
                .at = {.pe = 1 - pe, .offset = SIGNAL * sizeof from},
                .op = TRANSPORT_AMO_ADD,
                .size = sizeof from,
                .operand = 1};
            struct transport_completion done = {.pending = 1};
            int error = -EAGAIN;
            uint64_t before = pair_add(pair, pe, COUNT, 1);
            CHECK(before == k, "fetching add %u of PE %d returned %llu", k, pe,
                  (unsigned long long)before);
            PAIR_UNTIL(pair,
                       (error = pair->t->put_signal(pair->ctx[pe], &to, &from,
                                                    sizeof from, &signal, &done)) !=
                           -EAGAIN,
                       "a put with signal to be posted");
            CHECK(error == 0, "a put with signal was refused");
            PAIR_UNTIL(pair, pair->t->quiet(pair->ctx[pe]) == 0, "quiet");
        }
    for (int pe = 0; pe < PAIR_PES; pe++)
        CHECK(pair->heap[pe][TO] == from && pair->heap[pe][SIGNAL] == TURNS,
              "PE %d has data %llx, signal %llu", pe,
              (unsigned long long)pair->heap[pe][TO],
              (unsigned long long)pair->heap[pe][SIGNAL]);
}
