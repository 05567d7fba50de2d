/* SPDX-License-Identifier: BSD-3-Clause */
/* many.c - cases with a thousand PEs, in the sim transport.  Uses: suite. */
#include "tests/transport/suite.h"

enum { COUNT_WORD = 0, ROUND_WORD = 1, EPOCHS = 20, ARRIVED = 0 };

/* All PEs add to one word of PE 0; the fetched values are a permutation of 0..n-1. */
static void all_to_one(struct pe *pe)
{
    const uint64_t n = (uint64_t)pe->npes;
    uint64_t old, sum = 0;

    old = amo_fetch(&pe->ctx0, word_symaddr(0, COUNT_WORD), TRANSPORT_AMO_ADD, 8, 1, 0);
    CHECK(pe, old < n, "an add fetched %llu", (unsigned long long)old);
    store(&pe->mine->word[0], old);
    barrier(pe);
    if (pe->me == 0) {
        for (int i = 0; i < pe->npes; i++)
            sum += load(&pe->shared->pe[i].word[0]);
        CHECK(pe, load(own_word(pe, COUNT_WORD)) == n && sum == n * (n - 1) / 2,
              "%llu adds of %llu; the sum of what they fetched is %llu",
              (unsigned long long)load(own_word(pe, COUNT_WORD)), (unsigned long long)n,
              (unsigned long long)sum);
    }
    barrier(pe);
}

/* A dissemination barrier of log2(n) rounds of adds: no PE leaves before all have
 * arrived. */
static void dissemination(struct pe *pe)
{
    uint64_t *arrived = &pe->shared->pe[0].word[ARRIVED];

    for (uint64_t epoch = 1; epoch <= EPOCHS; epoch++) {
        unsigned round = 0;

        __atomic_fetch_add(arrived, 1, __ATOMIC_ACQ_REL);
        for (int by = 1; by < pe->npes; by *= 2, round++) {
            amo_nbi(&pe->ctx0, word_symaddr((pe->me + by) % pe->npes, ROUND_WORD + round),
                    TRANSPORT_AMO_ADD, 8, 1);
            WAIT_MEMORY(&pe->ctx0, "a round of the dissemination",
                        load(own_word(pe, ROUND_WORD + round)) >= epoch);
        }
        CHECK(pe, load(arrived) >= epoch * (uint64_t)pe->npes,
              "left barrier %llu after %llu arrivals", (unsigned long long)epoch,
              (unsigned long long)load(arrived));
    }
    quiet(&pe->ctx0);
}

/* Each PE puts a block to its right neighbour, fences, and sets a flag there. */
static void ring(struct pe *pe)
{
    const int to = (pe->me + 1) % pe->npes, from = (pe->me + pe->npes - 1) % pe->npes;
    const struct transport_symaddr at = {
        .pe = to, .segment = SEGMENT_HEAP, .offset = WORDS};
    struct transport_symaddr mine = at;
    enum { LEN = 1000 };

    put_nbi(&pe->ctx0, at, pattern((unsigned)pe->me), LEN);
    fence(&pe->ctx0);
    amo_nbi(&pe->ctx0, word_symaddr(to, COUNT_WORD), TRANSPORT_AMO_SET, 8, 1);
    WAIT_MEMORY(&pe->ctx0, "the flag of the neighbour",
                load(own_word(pe, COUNT_WORD)) == 1);
    mine.pe = pe->me;
    check_bytes(pe, own(pe, mine), pattern((unsigned)from), LEN, "the neighbour's block");
    quiet(&pe->ctx0);
}

const struct test_case many_cases[] = {
    {.name = "many.all_to_one", .run = all_to_one, .flags = CASE_SIM | CASE_MANY},
    {.name = "many.dissemination", .run = dissemination, .flags = CASE_SIM | CASE_MANY},
    {.name = "many.ring", .run = ring, .flags = CASE_SIM | CASE_MANY},
    {.name = NULL},
};
