/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks.c - put_blocks and get_blocks: random shapes of every size, order with other
 * operations, many at once.
 * Uses: suite.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/transport/blocks.h"

enum {
    SPACE = 256 << 10, /* bytes of symmetric memory of a fragment */
    ROUNDS = 60,
    MANY = 80, /* fragments that are posted at once */
    FLAG = 3,  /* word */
    GAP = 0x5c,
    BLOCK_MAX = 48,
};

/* ---- fragments ------------------------------------------------------------------- */

static void fragment_pack(const struct transport_blocks *blocks, void *packed)
{
    const struct fragment *f = blocks->arg;

    memcpy(packed, f->packed, blocks->bytes);
}

static void fragment_unpack(const struct transport_blocks *blocks, void *packed)
{
    struct fragment *f = blocks->arg;

    memcpy(f->packed, packed, blocks->bytes);
}

/* A vector in [offset, offset + space), of at most max bytes. */
static struct transport_vector vector_make(struct transport_symaddr at, size_t space,
                                           size_t max, uint64_t r)
{
    struct transport_vector v = {.offset = at.offset, .segment = (uint32_t)at.segment};
    uint64_t stride;

    v.block = (uint32_t)(1 + r % BLOCK_MAX);
    if (v.block > max)
        v.block = (uint32_t)max;
    stride = v.block + (r >> 8) % BLOCK_MAX;
    v.count = 1 + (space - v.block) / stride;
    if (v.count > max / v.block)
        v.count = max / v.block;
    if ((r >> 16) % 4 == 0)
        v.count = 1 + (r >> 20) % v.count;
    v.stride = (int64_t)stride;
    if ((r >> 18) % 4 == 0) { /* backwards */
        v.offset += (v.count - 1) * stride;
        v.stride = -v.stride;
    }
    return v;
}

void fragment_make(struct fragment *f, struct transport_symaddr at, size_t space,
                   size_t max, uint64_t seed)
{
    unsigned n = 1 + (unsigned)(mix(seed) % BLOCKS_VECTORS);
    size_t part = space / n;

    max = max < sizeof f->packed ? max : sizeof f->packed;
    while (n > 1 && max / n < TRANSPORT_BLOCKS_MIN)
        n--;
    f->blocks = (struct transport_blocks){
        .pe = at.pe, .nvectors = n, .vector = f->vector, .arg = f};
    for (unsigned i = 0; i < n; i++) {
        f->vector[i] =
            vector_make(at, part, max / n - sizeof f->vector[i], mix(seed + 31 * i));
        f->blocks.bytes += f->vector[i].count * f->vector[i].block;
        at.offset += part;
    }
    memcpy(f->packed, pattern(seed), f->blocks.bytes);
}

void fragment_set_copy(struct fragment *f, bool put)
{
    f->blocks.copy = put ? fragment_pack : fragment_unpack;
}

void fragment_put(struct chan *chan, struct fragment *f)
{
    fragment_set_copy(f, true);
    int status = try_put_blocks(chan, &f->blocks);
    CHECK(chan->pe, status == 0, "put_blocks returned %d", status);
}

void fragment_get(struct chan *chan, struct fragment *f)
{
    fragment_set_copy(f, false);
    f->done = NOT_DONE;
    int status = try_get_blocks(chan, &f->blocks, &f->done);
    CHECK(chan->pe, status == 0, "get_blocks returned %d", status);
}

void fragment_check(struct pe *pe, const struct fragment *f, const unsigned char *memory,
                    size_t space, unsigned char gap)
{
    unsigned char *should = malloc(space);
    const unsigned char *from = f->packed;
    uint64_t low = f->vector[0].offset;

    CHECK(pe, should != NULL, "no memory");
    memset(should, gap, space);
    if (f->vector[0].stride < 0)
        low -= (f->vector[0].count - 1) * (uint64_t)-f->vector[0].stride;
    for (unsigned i = 0; i < f->blocks.nvectors; i++) {
        const struct transport_vector *v = &f->vector[i];
        for (uint64_t b = 0; b < v->count; b++, from += v->block)
            memcpy(should + (v->offset - low) + (int64_t)b * v->stride, from, v->block);
    }
    check_bytes(pe, memory, should, space, "blocks");
    free(should);
}

/* ---- cases ----------------------------------------------------------------------- */

/* Fragments of all lengths, from the shortest to the longest, in both segments. */
static void shapes(struct pe *pe)
{
    struct fragment *f = malloc(sizeof *f);

    CHECK(pe, f != NULL, "no memory");
    for (unsigned i = 0; i < times(pe, ROUNDS); i++) {
        uint64_t r = mix(i * 100 + (unsigned)pe->me);
        enum transport_segment segment = r % 2 ? SEGMENT_DATA : SEGMENT_HEAP;
        int to = (int)((unsigned)pe->me + i) % pe->npes;
        struct transport_symaddr at =
            slot_symaddr(pe, to, segment, pe->me, GUARD + r / 2 % GUARD);
        size_t max = blocks_max(&pe->ctx0, to, SPACE);
        CHECK(pe, max >= TRANSPORT_BLOCKS_MIN, "blocks_max returned %zu", max);
        if (i % 3 != 0)
            max = TRANSPORT_BLOCKS_MIN +
                  (r >> 10) % ((max - TRANSPORT_BLOCKS_MIN) >> (i % 8));
        fragment_make(f, at, SPACE, max, r);
        memset(view(pe, at), GAP, SPACE);
        guards_set(view(pe, at), SPACE);
        fragment_put(&pe->ctx0, f);
        quiet(&pe->ctx0);
        fragment_check(pe, f, view(pe, at), SPACE, GAP);
        guards_check(pe, view(pe, at), SPACE, "put_blocks");
        memset(f->packed, GAP, sizeof f->packed);
        fragment_get(&pe->ctx0, f);
        done_wait(&pe->ctx0, &f->done, "a get of blocks");
        check_bytes(pe, f->packed, pattern(r), f->blocks.bytes, "a get of blocks");
        quiet(&pe->ctx0);
    }
    free(f);
}

/* Data of put_blocks are visible before what is posted after a fence, on two contexts. */
static void ordered(struct pe *pe)
{
    int to = (pe->me + 1) % pe->npes, from = (pe->me + pe->npes - 1) % pe->npes;
    struct fragment *f = malloc(sizeof *f);
    struct chan own_chan, *chan = &pe->ctx0;
    bool opened = chan_open(pe, &own_chan, false);

    CHECK(pe, f != NULL, "no memory");
    words_clear(pe);
    for (unsigned i = 1; i <= times(pe, ROUNDS); i++) {
        struct transport_symaddr at = slot_symaddr(pe, to, SEGMENT_HEAP, pe->me, 0),
                                 mine = slot_symaddr(pe, pe->me, SEGMENT_HEAP, from, 0);
        size_t max = blocks_max(chan, to, SPACE);
        size_t len = max >> (i % 7) > TRANSPORT_BLOCKS_MIN ? max >> (i % 7) : max;
        memset(own(pe, mine), GAP, SPACE);
        barrier(pe);
        fragment_make(f, at, SPACE, len, i);
        fragment_put(chan, f);
        fence(chan);
        amo_nbi(chan, word_symaddr(to, FLAG), TRANSPORT_AMO_SET, 8, i);
        quiet(chan);
        WAIT_MEMORY(&pe->ctx0, "the flag", load(own_word(pe, FLAG)) == i);
        fragment_check(pe, f, own(pe, mine), SPACE, GAP);
        barrier(pe);
        if (opened)
            chan = i % 2 ? &own_chan : &pe->ctx0;
    }
    if (opened)
        chan_close(&own_chan);
    free(f);
}

/* Many puts to all PEs at once, then gets of the same memory. */
static void many(struct pe *pe)
{
    enum { ROOM = 32 << 10 };
    struct fragment *f = calloc(MANY, sizeof *f);

    CHECK(pe, f != NULL, "no memory");
    for (int pass = 0; pass < 2; pass++) {
        for (unsigned i = 0; i < MANY; i++) {
            int to = (int)((unsigned)pe->me + i) % pe->npes;
            size_t max = blocks_max(&pe->ctx0, to, SPACE);
            struct transport_symaddr at =
                slot_symaddr(pe, to, SEGMENT_HEAP, pe->me, (size_t)i * ROOM);
            fragment_make(&f[i], at, ROOM, max, mix(i));
            if (pass == 0) {
                fragment_put(&pe->ctx0, &f[i]);
                continue;
            }
            memset(f[i].packed, GAP, f[i].blocks.bytes);
            fragment_get(&pe->ctx0, &f[i]);
        }
        quiet(&pe->ctx0);
    }
    for (unsigned i = 0; i < MANY; i++)
        check_bytes(pe, f[i].packed, pattern(mix(i)), f[i].blocks.bytes,
                    "one of many gets of blocks");
    free(f);
}

const struct test_case blocks_cases[] = {
    {.name = "blocks.shapes", .run = shapes},
    {.name = "blocks.order", .run = ordered},
    {.name = "blocks.many", .run = many},
    {.name = NULL},
};
