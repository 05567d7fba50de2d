/* SPDX-License-Identifier: BSD-3-Clause */
/* layout_wire.c - see layout_wire.h. */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "pgas/datatype/layout/layout_wire.h"

enum {
    WORD = 8,
    WIRE_REGULAR = 1,
    WIRE_TABLE = 2,
    WIRE_LEVELS_SHIFT = 8,
    HEAD_REGULAR = 3, /* words before the levels */
    HEAD_TABLE = 2,   /* words before the blocks */
};

static void wire_put(unsigned char **at, uint64_t word)
{
    for (int i = 0; i < WORD; i++)
        *(*at)++ = (unsigned char)(word >> 8 * i);
}

static uint64_t wire_get(const unsigned char **at)
{
    uint64_t word = 0;

    for (int i = 0; i < WORD; i++)
        word |= (uint64_t) * (*at)++ << 8 * i;
    return word;
}

size_t layout_wire_size(const struct layout *l)
{
    size_t words =
        l->nblocks > 0 ? HEAD_TABLE + 2 * l->nblocks : HEAD_REGULAR + 2 * l->levels;

    return WORD * words;
}

void layout_wire_write(const struct layout *l, void *wire)
{
    unsigned char *at = wire;

    if (l->nblocks == 0) {
        wire_put(&at, WIRE_REGULAR | (uint64_t)l->levels << WIRE_LEVELS_SHIFT);
        wire_put(&at, (uint64_t)l->base);
        wire_put(&at, l->block);
        for (unsigned i = 0; i < l->levels; i++) {
            wire_put(&at, l->level[i].count);
            wire_put(&at, (uint64_t)l->level[i].stride);
        }
        return;
    }
    wire_put(&at, WIRE_TABLE);
    wire_put(&at, l->nblocks);
    for (size_t i = 0; i < l->nblocks; i++) {
        wire_put(&at, (uint64_t)(l->base + l->table[i].at));
        wire_put(&at, l->table[i + 1].start - l->table[i].start);
    }
}

static struct layout *wire_malformed(void)
{
    errno = EINVAL;
    return NULL;
}

static struct layout *wire_read_regular(uint64_t head, const unsigned char *at,
                                        size_t words)
{
    struct layout_level level[LAYOUT_LEVELS];
    uint64_t levels = head >> WIRE_LEVELS_SHIFT;

    if (levels > LAYOUT_LEVELS || words != HEAD_REGULAR + 2 * levels)
        return wire_malformed();
    ptrdiff_t base = (ptrdiff_t)wire_get(&at);
    size_t block = wire_get(&at);
    for (unsigned i = 0; i < levels; i++) {
        level[i].count = wire_get(&at);
        level[i].stride = (ptrdiff_t)wire_get(&at);
    }
    return layout_regular(base, block, level, (unsigned)levels);
}

/* The length bounds the number of blocks, so that memory is allocated only for blocks
 * that have been sent. */
static struct layout *wire_read_table(const unsigned char *at, size_t words)
{
    uint64_t n = words < HEAD_TABLE ? 0 : wire_get(&at);

    if (n == 0 || n > LAYOUT_BLOCKS_MAX || words != HEAD_TABLE + 2 * n)
        return wire_malformed();
    struct layout_part *part = malloc(n * sizeof *part);
    if (part == NULL)
        return NULL;
    for (uint64_t i = 0; i < n; i++) {
        part[i].at = (ptrdiff_t)wire_get(&at);
        part[i].bytes = wire_get(&at);
    }
    struct layout *l = layout_indexed(part, n);
    free(part);
    return l;
}

struct layout *layout_wire_read(const void *wire, size_t bytes)
{
    const unsigned char *at = wire;

    if (bytes < WORD || bytes % WORD != 0)
        return wire_malformed();
    uint64_t head = wire_get(&at);
    if ((head & 0xff) == WIRE_REGULAR)
        return wire_read_regular(head, at, bytes / WORD);
    return head == WIRE_TABLE ? wire_read_table(at, bytes / WORD) : wire_malformed();
}
