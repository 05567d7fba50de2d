/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pair.h - two PEs of one transport in one process and one thread, for tests that send
 * malformed messages or replace functions of the provider.
 *
 * Both nets are open between pair_open and pair_close.  The transports make progress only
 * when the test calls them, so a test controls which messages have been received.  A
 * failed CHECK ends the process with status 1.
 * Uses: transport.h.
 */
#ifndef TESTS_TRANSPORT_PAIR_H
#define TESTS_TRANSPORT_PAIR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "pgas/transport/transport.h"

enum { PAIR_WAIT_MS = 20000 }; /* upper limit of what load may prolong */
enum { PAIR_PES = 2, PAIR_WORDS = 4096, PAIR_TEXT_MAX = 512 };

struct pair {
    const struct transport *t;
    struct transport_world world[PAIR_PES];
    struct transport_net *net[PAIR_PES];
    struct transport_ctx *ctx[PAIR_PES]; /* context 0 of each */
    uint64_t heap[PAIR_PES][PAIR_WORDS]; /* their symmetric heaps; no data segment */
    int failures[PAIR_PES], failed_pe[PAIR_PES]; /* calls of world->failed; the last PE */
    char message[PAIR_PES][PAIR_TEXT_MAX];       /* of the last call */
};

#define CHECK(ok, ...)                                                                   \
    do {                                                                                 \
        if (!(ok)) {                                                                     \
            fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                              \
            fprintf(stderr, __VA_ARGS__);                                                \
            fprintf(stderr, "\n");                                                       \
            exit(EXIT_FAILURE);                                                          \
        }                                                                                \
    } while (0)

/* Exits with status 77 if the transport cannot be opened here. */
void pair_open(struct pair *pair, const struct transport *t, const char *avoid,
               uint64_t timeout_ms);
void pair_close(struct pair *pair);
/* Calls progress once for each PE. */
void pair_progress(struct pair *pair);
/* Progress until the condition holds; fails after PAIR_WAIT_MS. */
#define PAIR_UNTIL(pair, until, what)                                                    \
    for (uint64_t end_ = pair_now_ms() + PAIR_WAIT_MS; !(until); pair_progress(pair))    \
    CHECK(pair_now_ms() < end_, "waited %d ms for %s", PAIR_WAIT_MS, what)
/* Progress until world->failed was called `failures` times in PE pe; fails if it was
 * called more often. */
void pair_until_failed(struct pair *pair, int pe, int failures, const char *what);
/* Calls progress for `ms`, so that a message that must have no effect is processed. */
void pair_idle(struct pair *pair, unsigned ms);
uint64_t pair_now_ms(void);

/* PE pe adds `operand` to word i of the other PE and waits; returns the old value. */
uint64_t pair_add(struct pair *pair, int pe, unsigned i, uint64_t operand);
/* Checks fetching atomics and puts with signal in both directions. */
void pair_check_works(struct pair *pair);

#endif
