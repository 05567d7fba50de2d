/* SPDX-License-Identifier: BSD-3-Clause */
/* random_layout.c - see random_layout.h. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/kernels/random_layout.h"

enum { PARTS = 40, MEMBERS = 3 };

size_t random_below(uint64_t *state, size_t n)
{
    *state ^= *state << 13; /* xorshift64 */
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (size_t)((*state * 0x2545f4914f6cdd1du) >> 33) % n;
}

static void random_add(struct random_layout *r, ptrdiff_t at, size_t bytes)
{
    for (size_t i = 0; i < bytes && r->bytes < RANDOM_BYTES_MAX; i++)
        r->at[r->bytes++] = at + (ptrdiff_t)i;
}

/* A multiple of a random unit, up to 300 bytes */
static size_t random_block(uint64_t *state)
{
    static const size_t unit[] = {1, 2, 4, 8, 16, 4, 8};
    size_t u = unit[random_below(state, 7)];

    return random_below(state, 3) > 0 ? u * (1 + random_below(state, 8))
                                      : u * (1 + random_below(state, 300 / u));
}

/* A stride of at least `extent` bytes in either direction: mostly a small gap in units of
 * the block, sometimes none, sometimes pages */
static ptrdiff_t random_stride(uint64_t *state, size_t block, size_t extent)
{
    size_t u = block & -block, gap = 0;

    u = u > 16 ? 16 : u;
    switch (random_below(state, 8)) {
    case 0:
        break;
    case 1:
        gap = 4096 + u * random_below(state, 64);
        break;
    case 2:
        gap = u * random_below(state, 100);
        break;
    case 3:
        gap = random_below(state, 20);
        break;
    default:
        gap = u * random_below(state, 9);
        break;
    }
    ptrdiff_t stride = (ptrdiff_t)(extent + gap);
    return random_below(state, 4) == 0 ? -stride : stride;
}

/* How many repetitions of `bytes` bytes, `stride` bytes apart, a layout may have */
static size_t random_repetitions(const struct random_layout *r, size_t bytes,
                                 size_t stride)
{
    size_t most = (r->small ? RANDOM_SMALL_BYTES : RANDOM_BYTES_MAX) / bytes;

    if (r->small && stride > 0 && most > RANDOM_SMALL_RANGE / stride)
        most = RANDOM_SMALL_RANGE / stride;
    return most > 250 ? 250 : most < 1 ? 1 : most;
}

/* Vectors of up to `most` levels, not too long */
static int random_nested(struct random_layout *r, uint64_t *state, unsigned most)
{
    struct layout_level level[LAYOUT_LEVELS];
    size_t k[LAYOUT_LEVELS] = {0}, block = random_block(state), extent = block, n = 1;
    unsigned levels = 1 + (unsigned)random_below(state, most);

    for (unsigned i = 0; i < levels; i++) {
        level[i].stride = random_stride(state, block, extent);
        /* Sometimes the higher level is interleaved with the lower one, or overlaps. */
        if (i > 0 && random_below(state, 6) == 0)
            level[i].stride = random_stride(state, block, block);
        size_t limit = random_repetitions(r, block * n, (size_t)labs(level[i].stride));
        level[i].count = 1 + random_below(state, i > 0 && limit > 9 ? 9 : limit);
        n *= level[i].count;
        extent += (size_t)labs(level[i].stride) * (level[i].count - 1);
    }
    for (size_t b = 0; b < n; b++) {
        ptrdiff_t at = 0;
        for (unsigned i = 0; i < levels; i++)
            at += (ptrdiff_t)k[i] * level[i].stride;
        random_add(r, at, block);
        for (unsigned i = 0; i < levels && ++k[i] == level[i].count; i++)
            k[i] = 0;
    }
    snprintf(r->text, sizeof r->text,
             "block %zu, %u levels: %zu x %td, %zu x %td, %zu x %td", block, levels,
             level[0].count, level[0].stride, levels > 1 ? level[1].count : 0,
             levels > 1 ? level[1].stride : 0, levels > 2 ? level[2].count : 0,
             levels > 2 ? level[2].stride : 0);
    r->l = layout_nested(block, level, levels);
    return r->l == NULL ? -1 : 0;
}

static int random_indexed(struct random_layout *r, uint64_t *state)
{
    struct layout_part part[PARTS];
    ptrdiff_t at[PARTS], end = 0;
    size_t n = random_below(state, PARTS), same = random_block(state);
    int equal = random_below(state, 2) == 0;

    for (size_t i = 0; i < n; i++) {
        size_t bytes = equal ? same : random_block(state) - random_below(state, 2);
        ptrdiff_t next = end + (ptrdiff_t)random_below(state, 3) * 4;
        if (random_below(state, 8) == 0)
            next -= (ptrdiff_t)random_below(state, 5000);
        else if (random_below(state, 16) == 0)
            next += (ptrdiff_t)random_below(state, 5000);
        part[i] = (struct layout_part){next, bytes};
        at[i] = next;
        end = next + (ptrdiff_t)bytes;
        random_add(r, next, bytes);
    }
    snprintf(r->text, sizeof r->text, "%zu %s parts, the first of %zu bytes", n,
             equal ? "equal" : "different", n > 0 ? part[0].bytes : 0);
    r->l = equal ? layout_indexed_block(same, at, n) : layout_indexed(part, n);
    return r->l == NULL ? -1 : 0;
}

static int random_struct(struct random_layout *r, uint64_t *state)
{
    static struct random_layout member;
    struct layout *l[MEMBERS];
    ptrdiff_t at[MEMBERS], end = 0;
    size_t n = 1 + random_below(state, MEMBERS);
    int status = 0;

    member.small = r->small;
    for (size_t m = 0; m < n; m++) {
        member.bytes = 0;
        status |= random_below(state, 2) == 0 ? random_nested(&member, state, 1)
                                              : random_indexed(&member, state);
        l[m] = member.l;
        if (status == 0 && r->bytes + member.bytes > RANDOM_BYTES_MAX) {
            layout_free(l[m]);
            n = m;
            break;
        }
        at[m] = status == 0 ? end - l[m]->low : 0;
        for (size_t i = 0; i < member.bytes; i++)
            random_add(r, at[m] + member.at[i], 1);
        end +=
            status == 0 ? l[m]->high - l[m]->low + (ptrdiff_t)random_below(state, 3) : 0;
    }
    r->l = layout_struct((const struct layout *const *)l, at, n);
    for (size_t m = 0; m < n; m++)
        layout_free(l[m]);
    snprintf(r->text, sizeof r->text, "struct of %zu members, the last: %.100s", n,
             member.text);
    return status != 0 || r->l == NULL ? -1 : 0;
}

int random_layout_make(struct random_layout *r, uint64_t *state)
{
    r->bytes = 0;
    switch (random_below(state, 8)) {
    case 0:
        return random_indexed(r, state);
    case 1:
        return random_struct(r, state);
    default:
        return random_nested(r, state, LAYOUT_LEVELS);
    }
}

int random_layout_vector(struct random_layout *r, uint64_t *state)
{
    r->bytes = 0;
    return random_nested(r, state, 1);
}

int random_layout_overlaps(const struct random_layout *r)
{
    const struct layout *l = r->l;
    unsigned char *seen = calloc((size_t)(l->high - l->low) + 1, 1);
    int overlaps = 0;

    for (size_t i = 0; i < r->bytes; i++)
        overlaps |= seen[r->at[i] - l->low]++ != 0;
    free(seen);
    return overlaps;
}

bool random_layout_uses(const struct layout *l, enum pack_kernel k)
{
    struct vector_copy v = {
        NULL, NULL, (ptrdiff_t)l->block, l->level[0].stride, l->block, l->level[0].count};

    return l->levels > 0 && (k == PACK_KERNELS || pack_kernel_can(k, &v));
}
