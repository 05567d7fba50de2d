/* SPDX-License-Identifier: BSD-3-Clause */
/* perform_blocks.c - see perform_blocks.h. */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/datatype/pack/pack.h"
#include "pgas/transport/perform_blocks.h"

void perform_own_segments(const struct transport_world *world,
                          struct perform_segment segment[SEGMENTS])
{
    for (int s = 0; s < SEGMENTS; s++)
        segment[s] =
            (struct perform_segment){world->segment[s].base, world->segment[s].len};
}

static struct transport_vector perform_vector(const void *vectors, unsigned i)
{
    struct transport_vector v;

    memcpy(&v, (const char *)vectors + perform_vectors_size(i), sizeof v);
    return v;
}

/* 0; -EFAULT: a block is outside its segment; -EINVAL: the vector is malformed.  Adds its
 * length to *bytes. */
static int perform_check_vector(const struct perform_segment segment[SEGMENTS],
                                const struct transport_vector *v, size_t *bytes)
{
    uint64_t step = v->stride < 0 ? 0 - (uint64_t)v->stride : (uint64_t)v->stride;
    uint64_t span, length, end;

    if (v->segment >= SEGMENTS || v->block == 0 || v->count == 0 ||
        __builtin_mul_overflow(v->count, v->block, &length) ||
        __builtin_add_overflow(*bytes, length, bytes) ||
        __builtin_mul_overflow(v->count - 1, step, &span))
        return -EINVAL;
    uint64_t len = segment[v->segment].len, above = v->stride < 0 ? 0 : span;
    if (__builtin_add_overflow(v->offset, above, &end) ||
        __builtin_add_overflow(end, v->block, &end) || end > len ||
        (v->stride < 0 && span > v->offset))
        return -EFAULT;
    return 0;
}

static int perform_check_vectors(const struct perform_segment segment[SEGMENTS],
                                 const void *vectors, unsigned nvectors, size_t bytes,
                                 bool put)
{
    size_t sum = 0;

    for (unsigned i = 0; i < nvectors; i++) {
        struct transport_vector v = perform_vector(vectors, i);
        int error = perform_check_vector(segment, &v, &sum);
        if (error != 0)
            return error;
        int64_t block = v.block;
        if (put && v.count > 1 && v.stride > -block && v.stride < block)
            return -EINVAL; /* its blocks overlap */
    }
    return sum == bytes ? 0 : -EINVAL;
}

int perform_put_blocks(const struct perform_segment segment[SEGMENTS],
                       const void *vectors, unsigned nvectors, const void *packed,
                       size_t bytes)
{
    int error = perform_check_vectors(segment, vectors, nvectors, bytes, true);
    const char *from = packed;

    if (error != 0)
        return error;
    for (unsigned i = 0; i < nvectors; i++) {
        struct transport_vector v = perform_vector(vectors, i);
        char *to = (char *)segment[v.segment].base + v.offset;
        pack_vector(&(struct vector_copy){to, from, (ptrdiff_t)v.stride,
                                          (ptrdiff_t)v.block, v.block, (size_t)v.count});
        from += v.block * v.count;
    }
    return 0;
}

int perform_get_blocks(const struct perform_segment segment[SEGMENTS],
                       const void *vectors, unsigned nvectors, void *packed, size_t bytes)
{
    int error = perform_check_vectors(segment, vectors, nvectors, bytes, false);
    char *to = packed;

    if (error != 0)
        return error;
    for (unsigned i = 0; i < nvectors; i++) {
        struct transport_vector v = perform_vector(vectors, i);
        const char *from = (const char *)segment[v.segment].base + v.offset;
        pack_vector(&(struct vector_copy){to, from, (ptrdiff_t)v.block,
                                          (ptrdiff_t)v.stride, v.block, (size_t)v.count});
        to += v.block * v.count;
    }
    return 0;
}

int perform_put_message(const struct transport_world *world, uint64_t nvectors,
                        const void *message, size_t len)
{
    struct perform_segment segment[SEGMENTS];

    if (nvectors > len / sizeof(struct transport_vector))
        return -EINVAL;
    size_t vectors = perform_vectors_size((unsigned)nvectors);
    perform_own_segments(world, segment);
    return perform_put_blocks(segment, message, (unsigned)nvectors,
                              (const char *)message + vectors, len - vectors);
}

int perform_get_message(const struct transport_world *world, uint64_t nvectors,
                        const void *message, size_t len, void *packed, size_t bytes)
{
    struct perform_segment segment[SEGMENTS];

    if (nvectors > len / sizeof(struct transport_vector) ||
        perform_vectors_size((unsigned)nvectors) != len)
        return -EINVAL;
    perform_own_segments(world, segment);
    return perform_get_blocks(segment, message, (unsigned)nvectors, packed, bytes);
}

int perform_blocks_here(const struct perform_segment segment[SEGMENTS],
                        const struct transport_blocks *blocks, bool put)
{
    char *packed = malloc(blocks->bytes);

    if (packed == NULL)
        return -ENOMEM;
    if (put)
        blocks->copy(blocks, packed);
    int error = (put ? perform_put_blocks(segment, blocks->vector, blocks->nvectors,
                                          packed, blocks->bytes)
                     : perform_get_blocks(segment, blocks->vector, blocks->nvectors,
                                          packed, blocks->bytes));
    if (!put && error == 0)
        blocks->copy(blocks, packed);
    free(packed);
    return error;
}
