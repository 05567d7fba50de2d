/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ft_wire.h - packing and bounds-checked parsing of the frames of ft_proto.
 *
 * All integers are little-endian and unaligned.  A frame begins with four bytes: version,
 * type and two zero bytes.  A set of n members (n is known to both sides) is one byte
 * `form` and FT_FORM_RANGES  count (4 bytes), then count pairs first, length (4 + 4
 * bytes), ascending and not adjacent FT_FORM_BITS    (n + 7) / 8 bytes; bits at and
 * beyond n are 0 The writer chooses the shorter form.
 *
 * An error is sticky: after `bad` is set, put functions write nothing and get functions
 * return 0, so that a caller checks once at the end.
 * Uses: ft_types.  Used by: ft_proto.
 */
#ifndef PGAS_FT_WIRE_H
#define PGAS_FT_WIRE_H

#include "pgas/ft/ft_types.h"

enum { FT_WIRE_VERSION = 1, FT_WIRE_HEADER = 4 };
enum { FT_FORM_RANGES = 0, FT_FORM_BITS = 1 };

struct ft_writer {
    uint8_t *at, *end;
    bool bad;
};

struct ft_reader {
    const uint8_t *at, *end;
    bool bad;
};

/* `size` bytes (1..8) of an integer. */
void ft_wire_put(struct ft_writer *w, uint64_t value, size_t size);
uint64_t ft_wire_get(struct ft_reader *r, size_t size);

void ft_wire_put_bytes(struct ft_writer *w, const void *bytes, size_t len);
const uint8_t *ft_wire_get_bytes(struct ft_reader *r, size_t len); /* NULL if bad */

void ft_wire_put_set(struct ft_writer *w, const uint64_t *set, uint32_t n);
void ft_wire_get_set(struct ft_reader *r, uint64_t *set, uint32_t n); /* overwrites set */
size_t ft_wire_set_max(uint32_t n); /* longest encoding */

/* The first member at or after i of a set of n members; n if there is none. */
uint32_t ft_set_next(const uint64_t *set, uint32_t n, uint32_t i);
uint32_t ft_set_count(const uint64_t *set, uint32_t n);

#endif
