/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ops.c - operations that must succeed, symmetric addresses, patterns and guard bytes.
 * Uses: suite.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/transport/suite.h"

enum {
    SHIFT = 8191, /* prime; patterns start at a byte below it that depends on the seed */
    GUARD_BYTE = 0xA5,
    WORD = 8,
};

/* -- operations ----------------------------------------------------------------- */

static void posted(struct chan *chan, int status, const char *what, int target)
{
    CHECK(chan->pe, status == 0, "%s to PE %d: %s (%d)", what, target,
          status < 0 ? strerror(-status) : "not a status", status);
}

void put_nbi(struct chan *chan, struct transport_symaddr to, const void *from, size_t len)
{
    posted(chan, try_put(chan, to, from, len, NULL), "put", to.pe);
}

void get_nbi(struct chan *chan, void *to, struct transport_symaddr from, size_t len)
{
    posted(chan, try_get(chan, to, from, len, NULL), "get", from.pe);
}

void done_wait(struct chan *chan, struct transport_completion *done, const char *what)
{
    WAIT_OPS(chan, what, __atomic_load_n(&done->pending, __ATOMIC_ACQUIRE) == 0);
    CHECK(chan->pe, done->error <= 0, "%s: done->error is %d", what, done->error);
    CHECK(chan->pe, done->error == 0 || chan->pe->expect_failed, "%s: %s", what,
          strerror(-done->error));
}

void put(struct chan *chan, struct transport_symaddr to, const void *from, size_t len)
{
    struct transport_completion done = NOT_DONE;

    posted(chan, try_put(chan, to, from, len, &done), "put", to.pe);
    done_wait(chan, &done, "a put's source");
}

void get(struct chan *chan, void *to, struct transport_symaddr from, size_t len)
{
    struct transport_completion done = NOT_DONE;

    posted(chan, try_get(chan, to, from, len, &done), "get", from.pe);
    done_wait(chan, &done, "a get");
}

void amo_nbi(struct chan *chan, struct transport_symaddr at, enum transport_amo_op op,
             uint32_t size, uint64_t operand)
{
    const struct transport_amo amo = {.op = op, .size = size, .operand = operand};

    posted(chan, try_amo(chan, at, &amo, NULL), "amo", at.pe);
}

uint64_t amo_fetch(struct chan *chan, struct transport_symaddr at,
                   enum transport_amo_op op, uint32_t size, uint64_t operand,
                   uint64_t cond)
{
    uint64_t result[3] = {0, 0, 0}; /* result[1]; the others are guards */
    const struct transport_amo amo = {
        .op = op, .size = size, .operand = operand, .cond = cond, .result = &result[1]};
    struct transport_completion done = NOT_DONE;

    posted(chan, try_amo(chan, at, &amo, &done), "fetching amo", at.pe);
    done_wait(chan, &done, "a fetching amo");
    CHECK(chan->pe, !result[0] && !result[2] && (size == WORD || !(result[1] >> 32)),
          "an amo of %u bytes wrote outside its result", size);
    return result[1];
}

void put_signal_nbi(struct chan *chan, struct transport_symaddr to, const void *from,
                    size_t len, const struct transport_signal *signal)
{
    const struct pe *pe = chan->pe;
    const struct transport_amo after = {.op = signal->op,
                                        .size = signal->size,
                                        .operand = signal->operand,
                                        .after_puts = true};

    if (len <= pe->t->signal_max(pe->net)) {
        posted(chan, try_put_signal(chan, to, from, len, signal, NULL), "put with signal",
               to.pe);
        return;
    }
    put_nbi(chan, to, from, len);
    posted(chan, try_amo(chan, signal->at, &after, NULL), "signal", to.pe);
}

void quiet(struct chan *chan)
{
    const int status = try_quiet(chan);

    CHECK(chan->pe, status == 0 || chan->pe->expect_failed, "quiet returned %d", status);
    CHECK(chan->pe, pending(chan, NULL) == 0, "pending() is %llu after quiet",
          (unsigned long long)pending(chan, NULL));
}

void fence(struct chan *chan)
{
    const int status = try_fence(chan);

    CHECK(chan->pe, status == 0 || chan->pe->expect_failed, "fence returned %d", status);
}

/* -- memory --------------------------------------------------------------------- */

struct transport_symaddr slot_symaddr(const struct pe *pe, int target,
                                      enum transport_segment segment, int origin,
                                      size_t offset)
{
    return (struct transport_symaddr){
        .pe = target,
        .segment = segment,
        .offset = WORDS + (uint64_t)origin * pe->layout->slot[segment] + offset};
}

struct transport_symaddr word_symaddr(int target, unsigned i)
{
    return (struct transport_symaddr){
        .pe = target, .segment = SEGMENT_HEAP, .offset = (uint64_t)i * WORD};
}

unsigned char *view(const struct pe *pe, struct transport_symaddr symaddr)
{
    return pe->view[symaddr.segment][symaddr.pe] + symaddr.offset;
}

uint64_t *view_word(const struct pe *pe, int target, unsigned i)
{
    return (uint64_t *)(void *)view(pe, word_symaddr(target, i));
}

unsigned char *own(const struct pe *pe, struct transport_symaddr symaddr)
{
    return (unsigned char *)pe->world.segment[symaddr.segment].base + symaddr.offset;
}

uint64_t *own_word(const struct pe *pe, unsigned i)
{
    return (uint64_t *)(void *)own(pe, word_symaddr(pe->me, i));
}

void words_clear(struct pe *pe)
{
    barrier(pe);
    memset(own_word(pe, 0), 0, WORDS);
    memset(pe->mine->word, 0, sizeof pe->mine->word);
    barrier(pe);
}

uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

void store(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* One step of splitmix64. */
uint64_t mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

unsigned times(const struct pe *pe, unsigned n)
{
    return n * pe->options->scale;
}

const unsigned char *pattern(uint64_t seed)
{
    static uint64_t bytes[(MAX_LEN + SHIFT) / WORD + 1];
    static bool made;

    if (!made)
        for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++)
            bytes[i] = mix(i);
    made = true;
    return (const unsigned char *)bytes + mix(seed) % SHIFT;
}

void check_bytes_at(struct pe *pe, const char *file, int line, const unsigned char *is,
                    const unsigned char *should, size_t len, const char *what)
{
    size_t at = 0, wrong = 0;

    if (memcmp(is, should, len) == 0)
        return;
    for (size_t i = len; i-- > 0;)
        if (is[i] != should[i]) {
            at = i;
            wrong++;
        }
    fail(pe, file, line, "%s: %zu of %zu bytes are wrong, first byte %zu: %02x, not %02x",
         what, wrong, len, at, is[at], should[at]);
}

void guards_set(unsigned char *at, size_t len)
{
    memset(at - GUARD, GUARD_BYTE, GUARD);
    memset(at + len, GUARD_BYTE, GUARD);
}

void guards_check_at(struct pe *pe, const char *file, int line, const unsigned char *at,
                     size_t len, const char *what)
{
    for (int i = 1; i <= GUARD; i++)
        if (at[-i] != GUARD_BYTE)
            fail(pe, file, line, "%s: byte %d before %zu bytes was changed", what, i,
                 len);
    for (size_t i = 0; i < GUARD; i++)
        if (at[len + i] != GUARD_BYTE)
            fail(pe, file, line, "%s: byte %zu after %zu bytes was changed", what, i,
                 len);
}
