/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * race.c - concurrent atomic operations on one word: no update is lost or torn.  Each
 * case runs long enough for the PEs to contend, however fast the transport is.
 * Uses: suite.
 */
#include "config.h"

#include <sched.h>

#include "tests/transport/suite.h"

/* Indices of words in the heap. */
enum {
    LOCK_WORD = 0,
    PAIR_WORD = 1, /* and 2: equal whenever the lock is free */
    CHAIN_WORD = 8,
    TORN_WORD = 16,
    ADD_WORD = 24,
    HALVES_WORD = 25, /* two of 4 bytes */
    XOR_WORD = 26,
};

/* Indices of each PE's words in shared memory. */
enum { TURNS, ADDED_NEXT, IN, OUT, READY };

enum {
    BYTES_4 = 4,
    BYTES_8 = 8,
    PES_MAX = 16,
    RACE_MS = 300,
    RACE_CPU_MS = 40,
    NS_PER_MS = 1000000
};

/* -- a race --------------------------------------------------------------------- */

/* A PE executes at least `turns` turns, then continues until it has used RACE_CPU_MS of
 * processor time, or RACE_MS have passed. */
struct race {
    struct pe *pe;
    uint64_t end;
    double cpu;
    unsigned turns, i;
    cpu_set_t allowed;
};

/* PEs on one processor contend only when one is preempted: bind them to different
 * processors. */
static void spread(struct race *r)
{
    int skip;
    size_t cpu = 0;
    cpu_set_t one;

    if (sched_getaffinity(0, sizeof r->allowed, &r->allowed) != 0)
        return;
    skip = r->pe->me % CPU_COUNT(&r->allowed);
    while (!CPU_ISSET(cpu, &r->allowed) || skip-- > 0)
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

/* All PEs start together: each polls until all others have arrived. */
static struct race start(struct pe *pe, unsigned turns)
{
    struct race r = {.pe = pe, .turns = times(pe, turns)};

    spread(&r);
    store(&pe->mine->word[READY], 1);
    for (int i = 0; i < pe->npes; i++)
        WAIT_MEMORY(&pe->ctx0, "the start", load(&pe->shared->pe[i].word[READY]));
    r.end = now_ns() + (uint64_t)times(pe, RACE_MS) * NS_PER_MS;
    r.cpu = cpu_ms() + times(pe, RACE_CPU_MS);
    return r;
}

static bool continues(const struct race *r)
{
    enum { TURNS_PER_CHECK = 16 };

    if (r->i < r->turns || r->i % TURNS_PER_CHECK != 0)
        return true;
    return !r->pe->options->sim && now_ns() < r->end && cpu_ms() < r->cpu;
}

/* Completes the operations of this PE, waits for all PEs, and returns the number of turns
 * of PEs first..npes-1. */
static uint64_t finish(struct race *r, int first)
{
    struct pe *pe = r->pe;
    uint64_t turns = 0;

    sched_setaffinity(0, sizeof r->allowed, &r->allowed);
    quiet(&pe->ctx0);
    store(&pe->mine->word[TURNS], r->i);
    barrier(pe);
    for (int i = first; i < pe->npes; i++)
        turns += load(&pe->shared->pe[i].word[TURNS]);
    return turns;
}

/* The bit mask of the PEs first..npes-1 that executed an odd number of turns. */
static uint64_t odd_turns(const struct pe *pe, int first)
{
    uint64_t odd = 0;

    for (int i = first; i < pe->npes; i++)
        odd |= (load(&pe->shared->pe[i].word[TURNS]) & 1) << i;
    return odd;
}

static void check_word(struct pe *pe, unsigned word, uint64_t should, const char *what)
{
    const uint64_t is = load(own_word(pe, word));

    CHECK(pe, is == should, "%s: the word is %llu, not %llu: %lld updates were lost",
          what, (unsigned long long)is, (unsigned long long)should,
          (long long)(should - is));
}

/* -- through the transport alone ------------------------------------------------ */

static void contend(struct race *r, int to, uint64_t *last)
{
    struct pe *pe = r->pe;
    struct transport_symaddr half = word_symaddr(to, HALVES_WORD);
    const uint64_t old = amo_fetch(&pe->ctx0, word_symaddr(to, ADD_WORD),
                                   TRANSPORT_AMO_ADD, BYTES_8, 1, 0);

    CHECK(pe, old >= *last + (r->i > 0), "an add fetched %llu after %llu",
          (unsigned long long)old, (unsigned long long)*last);
    *last = old;
    half.offset += r->i % 2 ? BYTES_4 : 0;
    amo_nbi(&pe->ctx0, half, TRANSPORT_AMO_ADD, BYTES_4, 1);
    amo_nbi(&pe->ctx0, word_symaddr(to, XOR_WORD), TRANSPORT_AMO_XOR, BYTES_8,
            1ull << pe->me);
}

/* All PEs add to words of all PEs; the values that a PE fetches from a word increase. */
static void contended(struct pe *pe)
{
    uint64_t last[PES_MAX] = {0}, turns, halves;
    struct race r = start(pe, 200);

    for (; continues(&r); r.i++)
        for (int to = 0; to < pe->npes; to++)
            contend(&r, to, &last[to]);
    turns = finish(&r, 0);
    check_word(pe, ADD_WORD, turns, "adds");
    halves = load(own_word(pe, HALVES_WORD));
    CHECK(pe, (uint32_t)halves + (halves >> 32) == turns,
          "4-byte adds were lost: the word is %#llx after %llu adds",
          (unsigned long long)halves, (unsigned long long)turns);
    check_word(pe, XOR_WORD, odd_turns(pe, 0), "xors");
    barrier(pe);
}

static void take_lock(struct pe *pe)
{
    const uint64_t mine = (uint64_t)pe->me + 1;

    WAIT_MEMORY(&pe->ctx0, "the lock",
                amo_fetch(&pe->ctx0, word_symaddr(0, LOCK_WORD),
                          TRANSPORT_AMO_COMPARE_SWAP, BYTES_8, mine, 0) == 0);
}

/* A lock made of compare_swap and set protects two words, which are read by get and
 * written by put. */
static void lock(struct pe *pe)
{
    struct race r = start(pe, 40);
    uint64_t pair[2], turns;

    for (; continues(&r); r.i++) {
        take_lock(pe);
        get(&pe->ctx0, pair, word_symaddr(0, PAIR_WORD), sizeof pair);
        CHECK(pe, pair[0] == pair[1], "the words differ under the lock: %llu and %llu",
              (unsigned long long)pair[0], (unsigned long long)pair[1]);
        pair[0]++;
        pair[1]++;
        put(&pe->ctx0, word_symaddr(0, PAIR_WORD), &pair[0], sizeof pair[0]);
        put(&pe->ctx0, word_symaddr(0, PAIR_WORD + 1), &pair[1], sizeof pair[1]);
        if (r.i % 2)
            fence(&pe->ctx0);
        else
            quiet(&pe->ctx0);
        amo_nbi(&pe->ctx0, word_symaddr(0, LOCK_WORD), TRANSPORT_AMO_SET, BYTES_8, 0);
    }
    turns = finish(&r, 0);
    if (pe->me == 0)
        check_word(pe, PAIR_WORD, turns, "increments under the lock");
    barrier(pe);
}

/* Every PE swaps unique tokens into one word: each token is fetched exactly once or
 * remains in the word. */
static void swap_chain(struct pe *pe)
{
    struct race r = start(pe, 200);
    uint64_t out = 0, in = 0;

    for (; continues(&r); r.i++) {
        const uint64_t token = mix(((uint64_t)pe->me << 32) + r.i) | 1;

        in += token;
        out += amo_fetch(&pe->ctx0, word_symaddr(0, CHAIN_WORD), TRANSPORT_AMO_SWAP,
                         BYTES_8, token, 0);
    }
    store(&pe->mine->word[IN], in);
    store(&pe->mine->word[OUT], out);
    finish(&r, 0);
    out = load(view_word(pe, 0, CHAIN_WORD));
    in = 0;
    for (int i = 0; i < pe->npes; i++) {
        in += load(&pe->shared->pe[i].word[IN]);
        out += load(&pe->shared->pe[i].word[OUT]);
    }
    CHECK(pe, out == in, "a token was lost or fetched twice");
    barrier(pe);
}

/* -- the target's processor and the transport ----------------------------------- */

/* Adds STEPS to a word with CPU atomics. */
static void hammer(uint64_t *word, uint64_t *added)
{
    enum { STEPS = 50 };

    for (int i = 0; i < STEPS; i++)
        if (i % 2) {
            __atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
        } else {
            uint64_t old = load(word);

            while (!__atomic_compare_exchange_n(word, &old, old + 1, false,
                                                __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
                ;
        }
    *added += STEPS;
}

/* Every PE adds with CPU atomics to its own word and to its neighbour's, and through the
 * transport to the words of all PEs. */
static void owner(struct pe *pe)
{
    const int next = (pe->me + 1) % pe->npes;
    uint64_t added = 0, added_next = 0;
    struct race r = start(pe, 200);

    for (; continues(&r); r.i++) {
        for (int to = 0; to < pe->npes; to++)
            if (r.i % 8 == 7)
                amo_fetch(&pe->ctx0, word_symaddr(to, ADD_WORD), TRANSPORT_AMO_ADD,
                          BYTES_8, 1, 0);
            else
                amo_nbi(&pe->ctx0, word_symaddr(to, ADD_WORD), TRANSPORT_AMO_ADD, BYTES_8,
                        1);
        hammer(own_word(pe, ADD_WORD), &added);
        hammer(view_word(pe, next, ADD_WORD), &added_next);
    }
    store(&pe->shared->pe[next].word[ADDED_NEXT], added_next);
    added += finish(&r, 0) + load(&pe->mine->word[ADDED_NEXT]);
    check_word(pe, ADD_WORD, added, "adds of the owner, a neighbour, and the transport");
    barrier(pe);
}

static void hammer_until_quiet(struct pe *pe, uint64_t *added)
{
    enum { FLIPS = 25 };
    bool all = false;

    while (!all && now_ns() < pe->deadline) {
        hammer(own_word(pe, ADD_WORD), added);
        for (int i = 0; i < 2 * FLIPS; i++)
            __atomic_fetch_xor(own_word(pe, XOR_WORD), 1, __ATOMIC_RELAXED);
        if (pe->options->sim)
            relax(&pe->ctx0);
        all = true;
        for (int i = 1; i < pe->npes; i++)
            all &= load(&pe->shared->pe[i].word[OUT]) == 1;
    }
}

/* PE 0 only updates its words with CPU atomics; the others only add and xor through the
 * transport. */
static void owner_alone(struct pe *pe)
{
    struct race r = start(pe, 500);
    uint64_t added = 0, turns;

    if (pe->me == 0) {
        hammer_until_quiet(pe, &added);
    } else {
        for (; continues(&r); r.i++) {
            amo_nbi(&pe->ctx0, word_symaddr(0, ADD_WORD), TRANSPORT_AMO_ADD, BYTES_8, 1);
            amo_nbi(&pe->ctx0, word_symaddr(0, XOR_WORD), TRANSPORT_AMO_XOR, BYTES_8,
                    1ull << pe->me);
        }
        quiet(&pe->ctx0);
        store(&pe->mine->word[OUT], 1);
    }
    turns = finish(&r, 1);
    if (pe->me == 0) {
        check_word(pe, ADD_WORD, added + turns, "adds while the owner adds");
        check_word(pe, XOR_WORD, odd_turns(pe, 1), "xors while the owner xors");
    }
    barrier(pe);
}

/* A word that is SET to values of eight equal bytes is never seen with unequal bytes. */
static void torn(struct pe *pe)
{
    enum { LOADS = 20, KINDS = 255 };
    const uint64_t each = 0x0101010101010101u;
    const int to = (pe->me + 1) % pe->npes;
    struct race r = start(pe, 300);

    for (; continues(&r); r.i++) {
        amo_nbi(&pe->ctx0, word_symaddr(to, TORN_WORD), TRANSPORT_AMO_SET, BYTES_8,
                each * (r.i % KINDS));
        for (int j = 0; j < LOADS; j++) {
            const uint64_t seen = load(own_word(pe, TORN_WORD));

            CHECK(pe, seen == each * (seen & 0xFF), "a torn set is visible: %#llx",
                  (unsigned long long)seen);
        }
    }
    finish(&r, 0);
}

const struct test_case race_cases[] = {
    {.name = "race.contended", .run = contended},
    {.name = "race.owner", .run = owner},
    {.name = "race.owner_alone", .run = owner_alone},
    {.name = "race.lock", .run = lock},
    {.name = "race.swap_chain", .run = swap_chain},
    {.name = "race.torn", .run = torn},
    {.name = NULL},
};
