/* SPDX-License-Identifier: BSD-3-Clause */
/* ft_wire.c - packing and parsing of frames (ft_wire.h). */
#include "config.h"

#include "pgas/ft/protocol/ft_wire.h"

#include <string.h>

enum { RANGE_BYTES = 8 };

/* ---- integers and bytes
 * ------------------------------------------------------------------ */

void ft_wire_put(struct ft_writer *w, uint64_t value, size_t size)
{
    if (w->bad || (size_t)(w->end - w->at) < size) {
        w->bad = true;
        return;
    }
    for (size_t i = 0; i < size; i++)
        *w->at++ = (uint8_t)(value >> (8 * i));
}

uint64_t ft_wire_get(struct ft_reader *r, size_t size)
{
    uint64_t value = 0;

    if (r->bad || (size_t)(r->end - r->at) < size) {
        r->bad = true;
        return 0;
    }
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)*r->at++ << (8 * i);
    return value;
}

void ft_wire_put_bytes(struct ft_writer *w, const void *bytes, size_t len)
{
    if (w->bad || (size_t)(w->end - w->at) < len) {
        w->bad = true;
        return;
    }
    if (len > 0)
        memcpy(w->at, bytes, len);
    w->at += len;
}

const uint8_t *ft_wire_get_bytes(struct ft_reader *r, size_t len)
{
    const uint8_t *bytes = r->at;

    if (r->bad || (size_t)(r->end - r->at) < len) {
        r->bad = true;
        return NULL;
    }
    r->at += len;
    return bytes;
}

/* ---- sets
 * -------------------------------------------------------------------------------- */

uint32_t ft_set_next(const uint64_t *set, uint32_t n, uint32_t i)
{
    while (i < n) {
        uint64_t rest = set[i / 64] >> (i % 64);

        if (rest != 0) {
            uint32_t found = i + (uint32_t)__builtin_ctzll(rest);

            return found < n ? found : n;
        }
        i = (i / 64 + 1) * 64;
    }
    return n;
}

uint32_t ft_set_count(const uint64_t *set, uint32_t n)
{
    uint32_t count = 0;

    for (size_t i = 0; i < FT_SET_WORDS(n); i++)
        count += (uint32_t)__builtin_popcountll(set[i]);
    return count;
}

/* The end of the range of members that starts at `first`. */
static uint32_t ft_set_range_end(const uint64_t *set, uint32_t n, uint32_t first)
{
    uint32_t end = first + 1;

    while (end < n && ft_set_has(set, end))
        end++;
    return end;
}

static uint32_t ft_set_count_ranges(const uint64_t *set, uint32_t n)
{
    uint64_t carry = 0;
    uint32_t count = 0;

    for (size_t i = 0; i < FT_SET_WORDS(n); i++) {
        uint64_t starts = set[i] & ~(set[i] << 1 | carry);

        count += (uint32_t)__builtin_popcountll(starts);
        carry = set[i] >> 63;
    }
    return count;
}

size_t ft_wire_set_max(uint32_t n)
{
    /* Ranges are chosen only if they are not longer than the bits. */
    return 1 + 4 + ((size_t)n + 7) / 8;
}

void ft_wire_put_set(struct ft_writer *w, const uint64_t *set, uint32_t n)
{
    uint32_t ranges = ft_set_count_ranges(set, n);
    size_t bytes = ((size_t)n + 7) / 8;

    if ((size_t)ranges * RANGE_BYTES > bytes) {
        ft_wire_put(w, FT_FORM_BITS, 1);
        for (size_t i = 0; i < bytes; i++)
            ft_wire_put(w, set[i / 8] >> (8 * (i % 8)), 1);
        return;
    }
    ft_wire_put(w, FT_FORM_RANGES, 1);
    ft_wire_put(w, ranges, 4);
    for (uint32_t i = ft_set_next(set, n, 0); i < n;) {
        uint32_t end = ft_set_range_end(set, n, i);

        ft_wire_put(w, i, 4);
        ft_wire_put(w, end - i, 4);
        i = ft_set_next(set, n, end);
    }
}

static void ft_wire_get_ranges(struct ft_reader *r, uint64_t *set, uint32_t n)
{
    uint64_t count = ft_wire_get(r, 4), min = 0;

    for (; count > 0 && !r->bad; count--) {
        uint64_t first = ft_wire_get(r, 4), len = ft_wire_get(r, 4);

        /* Ascending and not adjacent: so there are fewer than n ranges. */
        if (first < min || len == 0 || first + len > n) {
            r->bad = true;
            return;
        }
        for (uint64_t i = first; i < first + len; i++)
            ft_set_add(set, (uint32_t)i);
        min = first + len + 1;
    }
}

void ft_wire_get_set(struct ft_reader *r, uint64_t *set, uint32_t n)
{
    size_t bytes = ((size_t)n + 7) / 8;
    uint64_t form = ft_wire_get(r, 1);

    memset(set, 0, FT_SET_WORDS(n) * sizeof *set);
    if (form == FT_FORM_RANGES) {
        ft_wire_get_ranges(r, set, n);
    } else if (form == FT_FORM_BITS) {
        const uint8_t *bits = ft_wire_get_bytes(r, bytes);

        if (bits == NULL)
            return;
        for (size_t i = 0; i < bytes; i++)
            set[i / 8] |= (uint64_t)bits[i] << (8 * (i % 8));
        if (n % 64 != 0 && set[n / 64] >> (n % 64) != 0)
            r->bad = true;
    } else {
        r->bad = true;
    }
}
