/* SPDX-License-Identifier: BSD-3-Clause */
/* done.c - completion: quiet, completions, nonblocking operations.  Uses: suite. */
#include <stdlib.h>
#include <string.h>

#include "tests/transport/suite.h"

enum { ROUND_SCRATCH = 64 << 10, COUNT_WORD = 0 };

static int next(const struct pe *pe, int by)
{
    return (pe->me + by) % pe->npes;
}

/* -- quiet ---------------------------------------------------------------------- */

static const size_t quiet_lens[] = {1, 8, 65, 500, 4097, 20000, 150001, 16};
enum { QUIET_LENS = sizeof quiet_lens / sizeof quiet_lens[0] };

static struct transport_symaddr quiet_symaddr(const struct pe *pe, int to, int from,
                                              int i)
{
    return slot_symaddr(pe, to, SEGMENT_HEAP, from, (size_t)i * 4 * ROUND_SCRATCH + 5);
}

static void quiet_post(struct pe *pe, unsigned round)
{
    for (int i = 0; i < QUIET_LENS; i++) {
        put_nbi(&pe->ctx0, quiet_symaddr(pe, next(pe, 1), pe->me, i),
                pattern(round * 64 + (unsigned)(pe->me * QUIET_LENS + i)), quiet_lens[i]);
        amo_nbi(&pe->ctx0, word_symaddr(next(pe, 1), COUNT_WORD), TRANSPORT_AMO_ADD, 8,
                1);
    }
    quiet(&pe->ctx0);
}

/* After quiet and a barrier outside the transport, the data are visible at the target and
 * to a get of a third PE. */
static void quiet_visible(struct pe *pe)
{
    const int from = next(pe, pe->npes - 1), before = next(pe, 2 * pe->npes - 2);
    unsigned char *got = malloc(3 * ROUND_SCRATCH);

    CHECK(pe, got, "no memory");
    for (unsigned round = 1; round <= times(pe, 40); round++) {
        quiet_post(pe, round);
        barrier(pe);
        CHECK(pe, load(own_word(pe, COUNT_WORD)) == (uint64_t)round * QUIET_LENS,
              "%llu adds are visible after quiet, not %u",
              (unsigned long long)load(own_word(pe, COUNT_WORD)), round * QUIET_LENS);
        for (int i = 0; i < QUIET_LENS; i++) {
            check_bytes(pe, own(pe, quiet_symaddr(pe, pe->me, from, i)),
                        pattern(round * 64 + (unsigned)(from * QUIET_LENS + i)),
                        quiet_lens[i], "put and quiet, at the target");
            get(&pe->ctx0, got, quiet_symaddr(pe, from, before, i), quiet_lens[i]);
            check_bytes(pe, got,
                        pattern(round * 64 + (unsigned)(before * QUIET_LENS + i)),
                        quiet_lens[i], "put and quiet, read by a third PE");
        }
        barrier(pe);
    }
    free(got);
}

/* An amo without a result has been performed when its completion is done. */
static void amo_done(struct pe *pe)
{
    const int to = next(pe, 1);

    for (unsigned i = 1; i <= times(pe, 300); i++) {
        const struct transport_amo add = {
            .op = TRANSPORT_AMO_ADD, .size = 8, .operand = 1};
        struct transport_completion done = NOT_DONE;

        CHECK(pe, try_amo(&pe->ctx0, word_symaddr(to, COUNT_WORD), &add, &done) == 0,
              "an add was refused");
        done_wait(&pe->ctx0, &done, "an add without result");
        CHECK(pe, load(view_word(pe, to, COUNT_WORD)) == i,
              "an add is done, but the word is %llu, not %u",
              (unsigned long long)load(view_word(pe, to, COUNT_WORD)), i);
    }
    barrier(pe);
}

/* -- sources -------------------------------------------------------------------- */

/* A put's source may be changed as soon as its completion is done. */
static void reuse(struct pe *pe)
{
    static const size_t lens[] = {1,    8,    63,   64,   65,    200,
                                  1000, 4000, 8192, 8193, 16384, 30000};
    enum { LENS = sizeof lens / sizeof lens[0], SLOTS = 32, ROOM = 30011 };
    unsigned char *source = malloc(ROOM);

    CHECK(pe, source, "no memory");
    for (unsigned round = 0; round < times(pe, 60); round++) {
        const int to = next(pe, (int)round);
        const uint64_t seed = (uint64_t)round * 1000 + (uint64_t)pe->me * 100;

        for (unsigned i = 0; i < SLOTS; i++) {
            memcpy(source, pattern(seed + i), lens[(round + i) % LENS]);
            put(&pe->ctx0, slot_symaddr(pe, to, SEGMENT_HEAP, pe->me, i * ROOM), source,
                lens[(round + i) % LENS]);
            memset(source, 0x77, ROOM);
        }
        quiet(&pe->ctx0);
        for (unsigned i = 0; i < SLOTS; i++)
            check_bytes(pe,
                        view(pe, slot_symaddr(pe, to, SEGMENT_HEAP, pe->me, i * ROOM)),
                        pattern(seed + i), lens[(round + i) % LENS],
                        "a put whose source was changed after its completion");
    }
    free(source);
}

/* From a put without completion to quiet, the transport must not write to the source. */
static void nbi_source(struct pe *pe)
{
    static const size_t lens[] = {8, 64, 1000, 16384, 200000};

    for (unsigned round = 0; round < times(pe, 20); round++)
        for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
            const struct transport_symaddr from =
                slot_symaddr(pe, pe->me, SEGMENT_HEAP, pe->npes, GUARD + round);
            unsigned char *source = own(pe, from);
            const struct transport_symaddr to =
                slot_symaddr(pe, next(pe, (int)round), SEGMENT_HEAP, pe->me, GUARD);

            guards_set(source, lens[i]);
            memcpy(source, pattern(round + i), lens[i]);
            put_nbi(&pe->ctx0, to, source, lens[i]);
            check_bytes(pe, source, pattern(round + i), lens[i],
                        "the source of a put nbi");
            quiet(&pe->ctx0);
            check_bytes(pe, source, pattern(round + i), lens[i],
                        "the source after quiet");
            guards_check(pe, source, lens[i], "the source of a put nbi");
            check_bytes(pe, view(pe, to), pattern(round + i), lens[i], "a put nbi");
        }
}

/* -- many outstanding ----------------------------------------------------------- */

static void many_small(struct pe *pe)
{
    enum { MANY = 10000 };
    const int to = next(pe, 1);
    const struct transport_symaddr at = slot_symaddr(pe, to, SEGMENT_HEAP, pe->me, 0);
    uint64_t *from = malloc(MANY * sizeof from[0]), *got = calloc(MANY, sizeof got[0]);

    CHECK(pe, from && got, "no memory");
    for (unsigned i = 0; i < MANY; i++) {
        struct transport_symaddr word = at;

        word.offset += i * sizeof from[0];
        from[i] = mix(i + (unsigned)pe->me * MANY);
        put_nbi(&pe->ctx0, word, &from[i], sizeof from[i]);
    }
    quiet(&pe->ctx0);
    check_bytes(pe, view(pe, at), (unsigned char *)from, MANY * sizeof from[0],
                "10000 puts");
    for (unsigned i = 0; i < MANY; i++) {
        struct transport_symaddr word = at;

        word.offset += i * sizeof got[0];
        get_nbi(&pe->ctx0, &got[i], word, sizeof got[i]);
    }
    quiet(&pe->ctx0);
    check_bytes(pe, (unsigned char *)got, (unsigned char *)from, MANY * sizeof got[0],
                "10000 gets");
    free(from);
    free(got);
}

static void many_amos(struct pe *pe)
{
    enum { MANY = 4000 };
    const struct transport_symaddr at = word_symaddr(next(pe, 1), COUNT_WORD);
    uint64_t *old = calloc(MANY, sizeof old[0]), sum = 0;

    CHECK(pe, old, "no memory");
    for (unsigned i = 0; i < MANY; i++) {
        const struct transport_amo add = {.op = TRANSPORT_AMO_ADD,
                                          .size = 8,
                                          .operand = 1,
                                          .result = i % 2 ? &old[i] : NULL};

        CHECK(pe, try_amo(&pe->ctx0, at, &add, NULL) == 0, "an add was refused");
    }
    quiet(&pe->ctx0);
    CHECK(pe, load(view_word(pe, at.pe, COUNT_WORD)) == MANY,
          "%llu of %d adds were performed",
          (unsigned long long)load(view_word(pe, at.pe, COUNT_WORD)), MANY);
    for (unsigned i = 1; i < MANY; i += 2) {
        CHECK(pe, old[i] < MANY, "add %u fetched %llu", i, (unsigned long long)old[i]);
        sum += old[i];
    }
    CHECK(pe, sum > 0, "no add fetched anything");
    barrier(pe);
    free(old);
}

static void many_large(struct pe *pe)
{
    enum { MANY = 64, LEN = 65000 };
    const int to = next(pe, 1);
    unsigned char *got = malloc(MANY * LEN);

    CHECK(pe, got, "no memory");
    for (unsigned i = 0; i < MANY; i++)
        put_nbi(&pe->ctx0, slot_symaddr(pe, to, SEGMENT_HEAP, pe->me, i * LEN),
                pattern(i + (unsigned)pe->me * MANY), LEN);
    quiet(&pe->ctx0);
    for (unsigned i = 0; i < MANY; i++)
        get_nbi(&pe->ctx0, got + i * LEN,
                slot_symaddr(pe, to, SEGMENT_HEAP, pe->me, i * LEN), LEN);
    quiet(&pe->ctx0);
    for (unsigned i = 0; i < MANY; i++)
        check_bytes(pe, got + i * LEN, pattern(i + (unsigned)pe->me * MANY), LEN,
                    "64 large puts and gets");
    free(got);
}

/* -- floods --------------------------------------------------------------------- */

static void flood_to_all(struct pe *pe, struct chan *chan)
{
    enum { MANY = 4, LEN = 1000003 };
    const size_t all = (size_t)pe->npes * LEN;
    unsigned char *got = malloc(all);

    CHECK(pe, got, "no memory");
    for (unsigned i = 0; i < MANY; i++)
        for (int to = 0; to < pe->npes; to++)
            put_nbi(chan, slot_symaddr(pe, to, SEGMENT_HEAP, pe->me, i * LEN),
                    pattern(i * 100 + (unsigned)(pe->me * pe->npes + to)), LEN);
    quiet(chan);
    for (int to = 0; to < pe->npes; to++)
        get_nbi(chan, got + (size_t)to * LEN,
                slot_symaddr(pe, to, SEGMENT_HEAP, pe->me, (MANY - 1) * LEN), LEN);
    quiet(chan);
    for (int to = 0; to < pe->npes; to++) {
        check_bytes(pe, got + (size_t)to * LEN,
                    pattern((MANY - 1) * 100 + (unsigned)(pe->me * pe->npes + to)), LEN,
                    "a flood, read back");
        for (unsigned i = 0; i < MANY; i++)
            check_bytes(pe, view(pe, slot_symaddr(pe, to, SEGMENT_HEAP, pe->me, i * LEN)),
                        pattern(i * 100 + (unsigned)(pe->me * pe->npes + to)), LEN,
                        "a flood");
    }
    free(got);
}

/* All PEs put to all, and each makes progress only in its own calls: the service threads
 * are paused. */
static void flood(struct pe *pe)
{
    service_pause(pe, true);
    barrier(pe);
    flood_to_all(pe, &pe->ctx0);
    barrier(pe);
    service_pause(pe, false);
}

static void flood_ctx(struct pe *pe)
{
    struct chan chan;

    chan_open(pe, &chan, true);
    flood_to_all(pe, &chan);
    chan_close(&chan);
}

/* -- quiet_all ------------------------------------------------------------------ */

/* Lengths around the switches of protocol; the last one is that of a put. */
static const size_t unacked_lens[] = {0, 8, 100, 512, 513, 5000, 60000};
enum { UNACKED_LENS = sizeof unacked_lens / sizeof unacked_lens[0], UNACKED_ROUNDS = 3 };

static struct transport_symaddr unacked_symaddr(const struct pe *pe, int to, int i)
{
    return slot_symaddr(pe, to, SEGMENT_HEAP, pe->me, (size_t)i * ROUND_SCRATCH);
}

/* Puts with unacknowledged signals to all other PEs, as far as the transport takes them
 * in one message; returns their number. */
static unsigned unacked_post(struct pe *pe, unsigned round)
{
    unsigned n = 0;

    for (int to = 0; to < pe->npes; to++)
        for (int i = 0; i < UNACKED_LENS && to != pe->me; i++) {
            const struct transport_signal signal = {.at = word_symaddr(to, COUNT_WORD),
                                                    .op = TRANSPORT_AMO_ADD,
                                                    .size = 8,
                                                    .operand = 1,
                                                    .unacked = true};
            if (unacked_lens[i] > pe->t->signal_max(pe->net))
                continue;
            try_put_signal(&pe->ctx0, unacked_symaddr(pe, to, i),
                           pattern(round * UNACKED_LENS + (unsigned)i), unacked_lens[i],
                           &signal, NULL);
            n += to == 1;
        }
    return n;
}

/* After quiet_all unacknowledged puts are visible, although their targets make no
 * progress at first.  PE 0 looks at the memory of the others. */
static void quiet_all(struct pe *pe)
{
    uint64_t n = 0, got;

    for (int to = 0; to < pe->npes; to++)
        get(&pe->ctx0, &got, word_symaddr(to, COUNT_WORD), sizeof got); /* connect */
    for (unsigned round = 1; round <= UNACKED_ROUNDS; round++) {
        barrier(pe);
        service_pause(pe, pe->me != 0);
        barrier(pe);
        if (pe->me == 0) {
            n += unacked_post(pe, round);
            CHECK(pe, try_quiet_all(&pe->ctx0) == 0, "quiet_all failed");
            for (int to = 1; to < pe->npes; to++) {
                got = load((uint64_t *)(void *)view(pe, word_symaddr(to, COUNT_WORD)));
                CHECK(pe, got == n, "PE %d has %llu of %llu signals after quiet_all", to,
                      (unsigned long long)got, (unsigned long long)n);
                for (int i = 0; i < UNACKED_LENS; i++)
                    if (unacked_lens[i] <= pe->t->signal_max(pe->net))
                        check_bytes(pe, view(pe, unacked_symaddr(pe, to, i)),
                                    pattern(round * UNACKED_LENS + (unsigned)i),
                                    unacked_lens[i], "unacknowledged put");
            }
        } else {
            nap(pe, 30);
            service_pause(pe, false);
        }
    }
    CHECK(pe, try_quiet_all(&pe->ctx0) == 0, "quiet_all failed");
    words_clear(pe);
}

const struct test_case done_cases[] = {
    {.name = "done.quiet", .run = quiet_visible},
    {.name = "done.amo", .run = amo_done},
    {.name = "done.reuse", .run = reuse},
    {.name = "done.nbi_source", .run = nbi_source},
    {.name = "done.many_small", .run = many_small},
    {.name = "done.many_amos", .run = many_amos},
    {.name = "done.many_large", .run = many_large},
    {.name = "done.flood", .run = flood},
    {.name = "done.flood_ctx", .run = flood_ctx},
    {.name = "done.quiet_all", .run = quiet_all, .flags = CASE_ALONE | CASE_SURVIVES},
    {.name = NULL},
};
