/* SPDX-License-Identifier: BSD-3-Clause */
/* layout_overlap.c - do two blocks of a layout share a byte?  See layout.h. */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>

#include "pgas/datatype/layout/layout.h"
#include "pgas/datatype/layout/layout_cursor.h"

/* Interleaved vectors are compared block by block up to this number: a description from
 * another process must not cost more. */
enum { OVERLAP_BLOCKS_MAX = 1 << 16 };

static size_t layout_magnitude(ptrdiff_t stride)
{
    return stride < 0 ? -(size_t)stride : (size_t)stride;
}

/*
 * Sufficient for disjoint blocks: with the levels in order of |stride|, each |stride| is
 * at least the extent of the levels below.  For one level it is also necessary.
 */
static bool layout_levels_are_disjoint(const struct layout *l)
{
    bool used[LAYOUT_LEVELS] = {false};
    size_t extent = l->block;

    for (unsigned n = 0; n < l->levels; n++) {
        unsigned least = LAYOUT_LEVELS;
        for (unsigned i = 0; i < l->levels; i++)
            if (!used[i] &&
                (least == LAYOUT_LEVELS || layout_magnitude(l->level[i].stride) <
                                               layout_magnitude(l->level[least].stride)))
                least = i;
        used[least] = true;
        size_t stride = layout_magnitude(l->level[least].stride);
        if (stride < extent)
            return false;
        extent += stride * (l->level[least].count - 1);
    }
    return true;
}

static int layout_part_order(const void *a, const void *b)
{
    const struct layout_part *x = a, *y = b;

    return (x->at > y->at) - (x->at < y->at);
}

/* Sorts all blocks by address. */
static bool layout_blocks_overlap(const struct layout *l, size_t n)
{
    struct layout_part *part = malloc(n * sizeof *part);
    struct layout_cursor c;
    size_t got = 0;
    bool sorted = true, overlap = false;

    if (part == NULL)
        return true;
    layout_cursor_seek(&c, l, 0);
    while (got < n && layout_cursor_next(&c, SIZE_MAX, &part[got])) {
        sorted = sorted && (got == 0 || part[got].at > part[got - 1].at);
        got++;
    }
    if (!sorted)
        qsort(part, got, sizeof *part, layout_part_order);
    for (size_t i = 1; i < got; i++)
        overlap |= part[i].at - part[i - 1].at < (ptrdiff_t)part[i - 1].bytes;
    free(part);
    return overlap;
}

bool layout_overlaps(const struct layout *l)
{
    if (l->nblocks > 0)
        return layout_blocks_overlap(l, l->nblocks);
    if (l->bytes == 0 || layout_levels_are_disjoint(l))
        return false;
    /* More bytes than the range has: at least one byte is used twice. */
    if (l->levels == 1 || l->bytes > (size_t)(l->high - l->low) ||
        l->bytes / l->block > OVERLAP_BLOCKS_MAX)
        return true;
    return layout_blocks_overlap(l, l->bytes / l->block);
}
