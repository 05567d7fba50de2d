/* SPDX-License-Identifier: BSD-3-Clause */
/* data.c - puts and gets of every size, offset and kind of memory.  Uses: suite. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/transport/suite.h"

enum {
    SMALL = 300, /* every size up to this one is tested */
    POWER_MIN = 8,
    POWER_MAX = 22, /* 4 MiB */
    STACK_MAX = 2000,
    OFFSETS = 61, /* start offsets are smaller than this: covers every alignment */
    CONST_BYTES = 512,
};

/* The memory of a put's source or a get's destination. */
enum memory { ON_STACK, ON_HEAP, READ_ONLY, IN_HEAP_SEGMENT, IN_DATA_SEGMENT, MEMORIES };

#define BYTES_8(n)                                                                       \
    (n), (n) ^ 91, (n) ^ 7, (n) ^ 200, (n) ^ 19, (n) ^ 130, (n) ^ 66, (n) ^ 33
#define BYTES_64(n)                                                                      \
    BYTES_8(n), BYTES_8((n) ^ 8), BYTES_8((n) ^ 16), BYTES_8((n) ^ 24),                  \
        BYTES_8((n) ^ 32), BYTES_8((n) ^ 40), BYTES_8((n) ^ 48), BYTES_8((n) ^ 56)
static const unsigned char constant[CONST_BYTES] = {
    BYTES_64(0),   BYTES_64(64), BYTES_64(128), BYTES_64(192),
    BYTES_64(101), BYTES_64(77), BYTES_64(150), BYTES_64(222)};

/* The i-th tested size: 1..SMALL, then 2^k - 1, 2^k, 2^k + 1.  0 = end of the list. */
static size_t size_at(unsigned i)
{
    const unsigned k = POWER_MIN + (i - SMALL) / 3;

    if (i < SMALL)
        return i + 1;
    return k > POWER_MAX ? 0 : ((size_t)1 << k) + (i - SMALL) % 3 - 1;
}

static bool fits(enum memory kind, size_t len)
{
    return (kind != ON_STACK || len <= STACK_MAX) &&
           (kind != READ_ONLY || len <= CONST_BYTES - OFFSETS) &&
           (kind != IN_DATA_SEGMENT || len < DATA_SLOT / 2);
}

/* Private buffers of one PE; `heap` has space for every length. */
struct buffers {
    unsigned char stack[STACK_MAX + 2 * GUARD + OFFSETS];
    unsigned char *heap;
};

static unsigned char *buffer(struct pe *pe, struct buffers *b, enum memory kind,
                             size_t shift)
{
    switch (kind) {
    case ON_STACK:
        return b->stack + GUARD + shift;
    case IN_HEAP_SEGMENT:
        return own(pe, slot_symaddr(pe, pe->me, SEGMENT_HEAP, pe->npes, GUARD + shift));
    case IN_DATA_SEGMENT:
        return own(pe, slot_symaddr(pe, pe->me, SEGMENT_DATA, pe->npes, GUARD + shift));
    default:
        return b->heap + GUARD + shift;
    }
}

/* One transfer, derived from its length and its number. */
struct turn {
    size_t len, shift;
    enum memory kind;
    struct transport_symaddr symaddr;
    bool nbi;
    uint64_t seed;
};

static struct turn turn_at(const struct pe *pe, size_t len, unsigned i)
{
    const uint64_t r = mix(len * 1000 + i * 100 + (unsigned)pe->me);
    struct turn t = {.len = len, .shift = (r >> 8) % OFFSETS, .seed = r};
    const enum transport_segment segment =
        (r >> 20) % 2 && len < DATA_SLOT / 2 ? SEGMENT_DATA : SEGMENT_HEAP;

    t.kind = (enum memory)((r >> 24) % MEMORIES);
    if (!fits(t.kind, len))
        t.kind = len < MAX_LEN / 2 && (r >> 28) % 2 ? IN_HEAP_SEGMENT : ON_HEAP;
    t.nbi = i % 2;
    t.symaddr =
        slot_symaddr(pe, (int)(((unsigned)pe->me + i / 2 + len) % (unsigned)pe->npes),
                     segment, pe->me, GUARD + (r >> 32) % OFFSETS);
    return t;
}

static const unsigned char *fill_source(struct pe *pe, struct buffers *b, struct turn *t)
{
    unsigned char *source = buffer(pe, b, t->kind, t->shift);

    if (t->kind == READ_ONLY)
        return constant + t->shift;
    memcpy(source, pattern(t->seed), t->len);
    return source;
}

static void turn_put(struct pe *pe, struct buffers *b, struct turn *t)
{
    unsigned char *target = view(pe, t->symaddr);
    const unsigned char *should =
        t->kind == READ_ONLY ? constant + t->shift : pattern(t->seed);
    const unsigned char *source = fill_source(pe, b, t);

    guards_set(target, t->len);
    memset(target, (int)~should[0] & 0xFF, t->len);
    if (t->nbi)
        put_nbi(&pe->ctx0, t->symaddr, source, t->len);
    else
        put(&pe->ctx0, t->symaddr, source, t->len);
    if (!t->nbi && t->kind != READ_ONLY)
        memset(buffer(pe, b, t->kind, t->shift), 0, t->len);
    quiet(&pe->ctx0);
    check_bytes(pe, target, should, t->len, t->nbi ? "put nbi" : "put");
    guards_check(pe, target, t->len, "put");
    if (t->nbi)
        check_bytes(pe, source, should, t->len, "the source of a put");
}

static void turn_get(struct pe *pe, struct buffers *b, struct turn *t)
{
    unsigned char *to, *from = view(pe, t->symaddr);

    if (t->kind == READ_ONLY)
        t->kind = ON_HEAP;
    to = buffer(pe, b, t->kind, t->shift);
    memcpy(from, pattern(t->seed), t->len);
    guards_set(to, t->len);
    memset(to, (int)~pattern(t->seed)[0] & 0xFF, t->len);
    if (t->nbi) {
        get_nbi(&pe->ctx0, to, t->symaddr, t->len);
        quiet(&pe->ctx0);
    } else {
        get(&pe->ctx0, to, t->symaddr, t->len);
    }
    check_bytes(pe, to, pattern(t->seed), t->len, t->nbi ? "get nbi" : "get");
    guards_check(pe, to, t->len, "get");
    check_bytes(pe, from, pattern(t->seed), t->len, "the source of a get");
}

static void all_sizes(struct pe *pe,
                      void (*run)(struct pe *, struct buffers *, struct turn *))
{
    const unsigned turns = times(pe, 2);
    const size_t space = MAX_LEN + 2 * GUARD;
    struct buffers b;

    b.heap =
        mmap(NULL, space, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pe, b.heap != MAP_FAILED, "no memory");
    for (unsigned i = 0; size_at(i); i++)
        for (unsigned j = 0; j < turns; j++) {
            struct turn t = turn_at(pe, size_at(i), j);

            run(pe, &b, &t);
        }
    munmap(b.heap, space);
}

static void put_sizes(struct pe *pe)
{
    all_sizes(pe, turn_put);
}

static void get_sizes(struct pe *pe)
{
    all_sizes(pe, turn_get);
}

/* -- segment boundaries --------------------------------------------------------- */

/* Put to and get from the first or last `len` bytes of a segment. */
static void edge(struct pe *pe, int target, enum transport_segment segment, bool last,
                 size_t len)
{
    const size_t end = pe->layout->len[segment];
    const struct transport_symaddr symaddr = {
        .pe = target, .segment = segment, .offset = last ? end - len : 0};
    const unsigned char *should = pattern(symaddr.offset + len + (size_t)target);
    unsigned char *at = view(pe, symaddr), got[2 * GUARD + DATA_SLOT / 64];

    if (last)
        memset(at - GUARD, 0x11, GUARD);
    put(&pe->ctx0, symaddr, should, len);
    quiet(&pe->ctx0);
    check_bytes(pe, at, should, len, last ? "the last bytes" : "the first bytes");
    for (int i = 1; last && i <= GUARD; i++)
        CHECK(pe, at[-i] == 0x11, "byte %d before the last %zu was changed", i, len);
    guards_set(got + GUARD, len);
    get(&pe->ctx0, got + GUARD, symaddr, len);
    check_bytes(pe, got + GUARD, should, len, "a get of the segment's ends");
    guards_check(pe, got + GUARD, len, "a get of the segment's ends");
}

static void edges(struct pe *pe)
{
    static const size_t lens[] = {1,  2,  3,  4,    7,    8,    9,
                                  63, 64, 65, 1000, 4096, 4097, 9001};

    for (int owner = 0; owner < pe->npes; owner++) {
        for (size_t i = 0; owner == pe->me && i < sizeof lens / sizeof lens[0]; i++)
            for (int target = 0; target < pe->npes; target++)
                for (int j = 0; j < 2 * SEGMENTS; j++)
                    edge(pe, target, (enum transport_segment)(j / 2), j % 2, lens[i]);
        barrier(pe);
    }
}

/* -- all pairs at once ---------------------------------------------------------- */

/* Nonblocking puts to all PEs are in flight at the same time, then gets of the same
 * data. */
static void pairs(struct pe *pe)
{
    static const size_t lens[] = {8, 65, 1000, 8193, 70001};
    enum { LENS = sizeof lens / sizeof lens[0], ROOM = 80000, ROUNDS = 6 };
    unsigned char *got = malloc((size_t)pe->npes * LENS * ROOM);

    CHECK(pe, got, "no memory");
    for (unsigned round = 0; round < times(pe, ROUNDS); round++) {
        for (int i = 0; i < pe->npes * LENS; i++)
            put_nbi(&pe->ctx0,
                    slot_symaddr(pe, i / LENS, SEGMENT_HEAP, pe->me,
                                 (size_t)(i % LENS) * ROOM),
                    pattern(round * 1000 + (unsigned)(pe->me * 100 + i)), lens[i % LENS]);
        quiet(&pe->ctx0);
        for (int i = 0; i < pe->npes * LENS; i++)
            get_nbi(&pe->ctx0, got + (size_t)i * ROOM,
                    slot_symaddr(pe, i / LENS, SEGMENT_HEAP, pe->me,
                                 (size_t)(i % LENS) * ROOM),
                    lens[i % LENS]);
        quiet(&pe->ctx0);
        for (int i = 0; i < pe->npes * LENS; i++)
            check_bytes(pe, got + (size_t)i * ROOM,
                        pattern(round * 1000 + (unsigned)(pe->me * 100 + i)),
                        lens[i % LENS], "put and got back");
    }
    free(got);
}

const struct test_case data_cases[] = {
    {.name = "data.put", .run = put_sizes},
    {.name = "data.get", .run = get_sizes},
    {.name = "data.edges", .run = edges},
    {.name = "data.pairs", .run = pairs},
    {.name = NULL},
};
