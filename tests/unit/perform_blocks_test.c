/* SPDX-License-Identifier: BSD-3-Clause */
/* perform_blocks_test.c - copies to and from blocks that messages describe. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "pgas/transport/perform_blocks.h"

enum { LEN = 4096, VECTORS = 3, ROUNDS = 3000, GAP = 0x5c, PACKED = 2 * LEN };

static unsigned char heap[LEN], data[LEN / 2];
static const struct perform_segment segments[SEGMENTS] = {
    [SEGMENT_HEAP] = {heap, sizeof heap}, [SEGMENT_DATA] = {data, sizeof data}};

static unsigned any(unsigned below)
{
    return (unsigned)rand() % below;
}

/* A vector in the given part of a segment. */
static struct transport_vector vector_in(unsigned segment, size_t from, size_t len)
{
    struct transport_vector v = {.segment = segment, .block = 1 + any(20)};
    unsigned step = v.block + any(20);

    v.count = 1 + any((unsigned)((len - v.block) / step + 1));
    v.stride = (int64_t)step;
    v.offset = from + any((unsigned)(len - v.block - (v.count - 1) * step + 1));
    if (any(3) == 0) {
        v.offset += (v.count - 1) * step;
        v.stride = -v.stride;
    }
    return v;
}

/* Copies as the vectors say, byte by byte. */
static size_t copy_naively(const struct transport_vector *v, unsigned n,
                           unsigned char *to, bool put)
{
    size_t at = 0;

    for (unsigned i = 0; i < n; i++)
        for (uint64_t b = 0; b < v[i].count; b++)
            for (uint32_t k = 0; k < v[i].block; k++, at++) {
                unsigned char *byte = (unsigned char *)segments[v[i].segment].base +
                                      v[i].offset + (int64_t)b * v[i].stride + k;
                if (put)
                    *byte = to[at];
                else
                    to[at] = *byte;
            }
    return at;
}

/* The vectors of a message need not be aligned. */
static unsigned make_vectors(struct transport_vector *v, char *message)
{
    unsigned n = 1 + any(VECTORS);

    for (unsigned i = 0; i < n; i++)
        v[i] = i == 0 ? vector_in(SEGMENT_DATA, 0, sizeof data)
                      : vector_in(SEGMENT_HEAP, (i - 1) * sizeof heap / VECTORS,
                                  sizeof heap / VECTORS);
    memcpy(message, v, n * sizeof *v);
    return n;
}

Test(perform_blocks, copies_what_the_vectors_say)
{
    static unsigned char packed[PACKED], expected[PACKED], heap_2[LEN], data_2[LEN / 2];
    struct transport_vector v[VECTORS];
    char message[sizeof v + 1];

    for (int round = 0; round < ROUNDS; round++) {
        unsigned n = make_vectors(v, message + round % 2);
        for (size_t i = 0; i < sizeof packed; i++)
            packed[i] = (unsigned char)any(256);
        memset(heap, GAP, sizeof heap);
        memset(data, GAP, sizeof data);
        size_t bytes = copy_naively(v, n, packed, true);
        memcpy(heap_2, heap, sizeof heap);
        memcpy(data_2, data, sizeof data);
        memset(heap, GAP, sizeof heap);
        memset(data, GAP, sizeof data);
        cr_assert_eq(perform_put_blocks(segments, message + round % 2, n, packed, bytes),
                     0);
        cr_assert_arr_eq(heap, heap_2, sizeof heap);
        cr_assert_arr_eq(data, data_2, sizeof data);
        memset(packed, GAP, sizeof packed);
        memset(expected, GAP, sizeof expected);
        copy_naively(v, n, expected, false);
        cr_assert_eq(perform_get_blocks(segments, message + round % 2, n, packed, bytes),
                     0);
        cr_assert_arr_eq(packed, expected, sizeof packed);
    }
}

static int put_error(struct transport_vector v, size_t bytes)
{
    static unsigned char packed[PACKED];

    memset(heap, GAP, sizeof heap);
    int error = perform_put_blocks(segments, &v, 1, packed, bytes);
    for (size_t i = 0; error != 0 && i < sizeof heap; i++)
        cr_assert_eq(heap[i], GAP, "byte %zu was changed by a put that failed", i);
    return error;
}

static int get_error(struct transport_vector v, size_t bytes)
{
    static unsigned char packed[PACKED];

    memset(packed, GAP, sizeof packed);
    int error = perform_get_blocks(segments, &v, 1, packed, bytes);
    for (size_t i = 0; error != 0 && i < sizeof packed; i++)
        cr_assert_eq(packed[i], GAP, "byte %zu was changed by a get that failed", i);
    return error;
}

Test(perform_blocks, addresses_outside_the_segments_are_refused)
{
    static const struct transport_vector v[] = {
        {.offset = LEN - 15, .stride = 8, .count = 2, .block = 8},
        {.offset = LEN, .stride = 8, .count = 2, .block = 8},
        {.offset = UINT64_MAX, .stride = 8, .count = 2, .block = 8},
        {.offset = UINT64_MAX - 8, .stride = -8, .count = 2, .block = 8},
        {.offset = 7, .stride = -8, .count = 2, .block = 8},
        {.offset = 0, .stride = LEN - 7, .count = 2, .block = 8},
        {.offset = LEN - 8, .stride = -(LEN - 7), .count = 2, .block = 8},
        {.offset = 8, .stride = INT64_MIN, .count = 2, .block = 8},
        {.offset = 8, .stride = INT64_MAX, .count = 2, .block = 8},
        {.segment = SEGMENT_DATA,
         .offset = LEN / 2 - 15,
         .stride = 8,
         .count = 2,
         .block = 8},
    };

    for (size_t i = 0; i < sizeof v / sizeof v[0]; i++) {
        cr_assert_eq(put_error(v[i], 16), -EFAULT, "put of vector %zu", i);
        cr_assert_eq(get_error(v[i], 16), -EFAULT, "get of vector %zu", i);
    }
}

Test(perform_blocks, malformed_vectors_are_refused)
{
    static const struct {
        struct transport_vector v;
        size_t bytes;
    } bad[] = {
        {{.stride = 8, .count = 2, .block = 8, .segment = SEGMENTS}, 16},
        {{.stride = 8, .count = 2, .block = 8, .segment = UINT32_MAX}, 16},
        {{.stride = 8, .count = 2, .block = 0}, 0},
        {{.stride = 8, .count = 0, .block = 8}, 0},
        {{.stride = 8, .count = 2, .block = 8}, 15},
        {{.stride = 8, .count = 2, .block = 8}, 17},
        {{.stride = 8, .count = UINT64_MAX / 8 + 2, .block = 8}, 8},
        {{.stride = 1LL << 62, .count = 5, .block = 8}, 40},
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cr_assert_eq(put_error(bad[i].v, bad[i].bytes), -EINVAL, "put %zu", i);
        cr_assert_eq(get_error(bad[i].v, bad[i].bytes), -EINVAL, "get %zu", i);
    }
}

/* The order in which overlapping blocks are stored is not defined; to read them is. */
Test(perform_blocks, blocks_of_a_put_do_not_overlap)
{
    for (int64_t stride = -8; stride <= 8; stride++) {
        const struct transport_vector v = {
            .offset = 64, .stride = stride, .count = 2, .block = 8};
        bool overlaps = stride > -8 && stride < 8;
        cr_assert_eq(put_error(v, 16), overlaps ? -EINVAL : 0);
        cr_assert_eq(get_error(v, 16), 0);
    }
}

Test(perform_blocks, lengths_of_messages_are_checked)
{
    const struct transport_world world = {
        .segment[SEGMENT_HEAP] = {.base = heap, .len = sizeof heap},
        .segment[SEGMENT_DATA] = {.base = data, .len = sizeof data}};
    struct {
        struct transport_vector v;
        unsigned char bytes[16];
    } m = {.v = {.stride = 8, .count = 2, .block = 8}};
    unsigned char packed[16];

    cr_assert_eq(perform_put_message(&world, 1, &m, sizeof m), 0);
    cr_assert_eq(perform_put_message(&world, 1, &m, sizeof m - 1), -EINVAL);
    cr_assert_eq(perform_put_message(&world, 1, &m, sizeof m.v), -EINVAL);
    cr_assert_eq(perform_put_message(&world, 1, &m, sizeof m.v - 1), -EINVAL);
    cr_assert_eq(perform_put_message(&world, 2, &m, sizeof m), -EINVAL);
    cr_assert_eq(perform_put_message(&world, UINT64_MAX, &m, sizeof m), -EINVAL);
    cr_assert_eq(perform_put_message(&world, 1ULL << 59, &m, sizeof m), -EINVAL);
    cr_assert_eq(perform_put_message(&world, 0, &m, sizeof m), -EINVAL);
    cr_assert_eq(perform_get_message(&world, 1, &m, sizeof m.v, packed, 16), 0);
    cr_assert_eq(perform_get_message(&world, 1, &m, sizeof m, packed, 16), -EINVAL);
    cr_assert_eq(perform_get_message(&world, 1, &m, sizeof m.v - 1, packed, 16), -EINVAL);
    cr_assert_eq(perform_get_message(&world, UINT64_MAX, &m, sizeof m.v, packed, 16),
                 -EINVAL);
}

static void copy_pattern(const struct transport_blocks *blocks, void *packed)
{
    for (size_t i = 0; i < blocks->bytes; i++)
        if (blocks->arg == NULL)
            ((unsigned char *)packed)[i] = (unsigned char)i;
        else
            ((unsigned char *)blocks->arg)[i] = ((unsigned char *)packed)[i];
}

Test(perform_blocks, mapped_segments_are_copied_through_a_buffer)
{
    const struct transport_vector v = {.offset = 5, .stride = 9, .count = 7, .block = 3};
    unsigned char got[21];
    struct transport_blocks blocks = {
        .nvectors = 1, .bytes = sizeof got, .vector = &v, .copy = copy_pattern};

    cr_assert_eq(perform_blocks_here(segments, &blocks, true), 0);
    blocks.arg = got;
    cr_assert_eq(perform_blocks_here(segments, &blocks, false), 0);
    for (size_t i = 0; i < sizeof got; i++) {
        cr_assert_eq(got[i], i);
        cr_assert_eq(heap[5 + i / 3 * 9 + i % 3], i);
    }
}
