/* SPDX-License-Identifier: BSD-3-Clause */
/* amo.c - atomic operations, one at a time: results and operand truncation.  Uses: suite.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/transport/suite.h"

enum { FETCH_WORD = 100, BYTES_4 = 4, BYTES_8 = 8 };

/* -- values --------------------------------------------------------------------- */

static const uint64_t bit_patterns[] = {
    0,          UINT64_MAX, 1,          0x8000000000000000, 0x0123456789ABCDEF,
    0x80000000, 0x7FFFFFFF, 0xFFFFFFFF, 0xAAAAAAAA55555555, 0x7FFFFFFFFFFFFFFF};
enum { PATTERNS = sizeof bit_patterns / sizeof bit_patterns[0] };

static uint64_t cut(uint64_t value, uint32_t size)
{
    return size == BYTES_4 ? (uint32_t)value : value;
}

static uint64_t model(enum transport_amo_op op, uint64_t old, uint64_t operand,
                      uint64_t cond)
{
    switch (op) {
    case TRANSPORT_AMO_SET:
    case TRANSPORT_AMO_SWAP:
        return operand;
    case TRANSPORT_AMO_COMPARE_SWAP:
        return old == cond ? operand : old;
    case TRANSPORT_AMO_ADD:
        return old + operand;
    case TRANSPORT_AMO_AND:
        return old & operand;
    case TRANSPORT_AMO_OR:
        return old | operand;
    case TRANSPORT_AMO_XOR:
        return old ^ operand;
    default:
        return old;
    }
}

/* One operation on one word.  done: complete it by its completion, not by quiet only. */
struct trial {
    struct transport_symaddr at;
    enum transport_amo_op op;
    uint32_t size;
    bool fetch, done;
    uint64_t old, operand, cond;
};

static void word_set(unsigned char *at, uint32_t size, uint64_t value)
{
    guards_set(at, size);
    memcpy(at, &value, size); /* little endian: the low bytes */
}

static uint64_t word_get(const unsigned char *at, uint32_t size)
{
    uint64_t value = 0;

    memcpy(&value, at, size);
    return value;
}

static uint64_t perform(struct chan *chan, const struct trial *t)
{
    const struct transport_amo amo = {
        .op = t->op, .size = t->size, .operand = t->operand, .cond = t->cond};
    struct transport_completion done = NOT_DONE;

    if (t->fetch)
        return amo_fetch(chan, t->at, t->op, t->size, t->operand, t->cond);
    CHECK(chan->pe, try_amo(chan, t->at, &amo, t->done ? &done : NULL) == 0,
          "an amo was refused");
    if (t->done)
        done_wait(chan, &done, "an amo");
    quiet(chan);
    return t->old;
}

static void try_one(struct pe *pe, const struct trial *t)
{
    static const char *const names[] = {
#define X(name, fetches, text) text,
        TRANSPORT_AMO_TABLE(X)
#undef X
    };
    unsigned char *word = view(pe, t->at);
    uint64_t old, now;

    word_set(word, t->size, t->old);
    old = perform(&pe->ctx0, t);
    now = word_get(word, t->size);
    CHECK(pe, old == t->old,
          "%s of %u bytes on %#llx with %#llx (cond %#llx) fetched %#llx", names[t->op],
          t->size, (unsigned long long)t->old, (unsigned long long)t->operand,
          (unsigned long long)t->cond, (unsigned long long)old);
    CHECK(pe,
          now ==
              cut(model(t->op, t->old, cut(t->operand, t->size), cut(t->cond, t->size)),
                  t->size),
          "%s of %u bytes on %#llx with %#llx (cond %#llx) stored %#llx", names[t->op],
          t->size, (unsigned long long)t->old, (unsigned long long)t->operand,
          (unsigned long long)t->cond, (unsigned long long)now);
    guards_check(pe, word, t->size, names[t->op]);
}

/* The high bytes of 4-byte operands are not zero; the transport must ignore them. */
static void try_operands(struct pe *pe, struct trial *t)
{
    for (int i = 0; i < PATTERNS; i++)
        for (int j = 0; j < PATTERNS; j++) {
            t->old = cut(bit_patterns[i], t->size);
            t->operand = bit_patterns[j];
            t->cond = (i + j) % 3 ? t->old : bit_patterns[(i + j) % PATTERNS];
            if (t->size == BYTES_4)
                t->cond |= (uint64_t)j << 32;
            t->done = j % 2;
            try_one(pe, t);
        }
}

static const bool fetches[] = {
#define X(name, fetch, text) fetch,
    TRANSPORT_AMO_TABLE(X)
#undef X
};

static void values(struct pe *pe)
{
    struct trial t;

    memset(&t, 0, sizeof t);
    for (int i = 0; i < TRANSPORT_AMO_OPS * 4; i++) {
        t.op = (enum transport_amo_op)(i / 4);
        t.size = i % 2 ? BYTES_4 : BYTES_8;
        t.fetch = i % 4 / 2;
        if (t.fetch ? t.op == TRANSPORT_AMO_SET : fetches[t.op])
            continue;
        t.at =
            slot_symaddr(pe, (pe->me + i) % pe->npes, i % 3 ? SEGMENT_HEAP : SEGMENT_DATA,
                         pe->me, 2 * GUARD + (i % 2 ? BYTES_4 : 0));
        try_operands(pe, &t);
    }
}

/* Nonblocking fetches: the results have arrived after quiet. */
static void fetch_nbi(struct pe *pe)
{
    enum { MANY = 200 };
    uint64_t old[MANY + 2];
    const int to = (pe->me + 1) % pe->npes;

    for (unsigned round = 0; round < times(pe, 5); round++) {
        memset(old, 0, sizeof old);
        for (unsigned i = 1; i <= MANY; i++) {
            const struct transport_amo amo = {
                .op = TRANSPORT_AMO_FETCH, .size = BYTES_8, .result = &old[i]};

            store(view_word(pe, to, FETCH_WORD + i), mix(i + round));
            CHECK(pe,
                  try_amo(&pe->ctx0, word_symaddr(to, FETCH_WORD + i), &amo, NULL) == 0,
                  "a fetch was refused");
        }
        quiet(&pe->ctx0);
        for (unsigned i = 1; i <= MANY; i++)
            CHECK(pe, old[i] == mix(i + round), "fetch %u returned %#llx", i,
                  (unsigned long long)old[i]);
        CHECK(pe, old[0] == 0 && old[MANY + 1] == 0, "a fetch wrote outside its result");
    }
}

const struct test_case amo_cases[] = {
    {.name = "amo.values", .run = values},
    {.name = "amo.fetch_nbi", .run = fetch_nbi},
    {.name = NULL},
};
