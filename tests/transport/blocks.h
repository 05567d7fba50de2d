/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks.h - fragments of non-contiguous data for put_blocks and get_blocks.
 * Uses: suite.
 */
#ifndef TESTS_TRANSPORT_BLOCKS_H
#define TESTS_TRANSPORT_BLOCKS_H

#include "tests/transport/suite.h"

enum { BLOCKS_VECTORS = 6, BLOCKS_BYTES = 64 << 10 };

struct fragment {
    struct transport_blocks blocks;
    struct transport_vector vector[BLOCKS_VECTORS];
    struct transport_completion done; /* of a get */
    unsigned char packed[BLOCKS_BYTES];
};

/* Fill f with blocks of `at.pe` from address `at` on, in at most `space` bytes and of at
 * most `max` bytes with their vectors; their shape depends on the seed.  Fills f->packed
 * with a pattern. */
void fragment_make(struct fragment *f, struct transport_symaddr at, size_t space,
                   size_t max, uint64_t seed);
/* Set blocks.copy to read from f->packed (of a put), or to store to it. */
void fragment_set_copy(struct fragment *f, bool put);
void fragment_put(struct chan *chan, struct fragment *f);
/* Post a get that stores to f->packed. */
void fragment_get(struct chan *chan, struct fragment *f);
/* Checks the `space` bytes at `memory`, which begin at f's first vector: blocks have the
 * bytes of f->packed, the others `gap`. */
void fragment_check(struct pe *pe, const struct fragment *f, const unsigned char *memory,
                    size_t space, unsigned char gap);

#endif
