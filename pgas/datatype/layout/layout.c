/* SPDX-License-Identifier: BSD-3-Clause */
/* layout.c - see layout.h.  Uses: layout_cursor (to flatten the members of a struct). */
#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pgas/datatype/layout/layout.h"
#include "pgas/datatype/layout/layout_cursor.h"

static struct layout *layout_alloc(size_t entries)
{
    struct layout *l = calloc(1, sizeof *l + entries * sizeof l->table[0]);

    if (l == NULL)
        errno = ENOMEM;
    return l;
}

static struct layout *layout_fail(struct layout *l, int error)
{
    free(l);
    errno = error;
    return NULL;
}

void layout_free(struct layout *l)
{
    free(l);
}

/* The largest power of two up to LAYOUT_UNIT_MAX that divides the or of some sizes */
static size_t layout_unit(size_t bits)
{
    bits |= LAYOUT_UNIT_MAX;
    return bits & -bits;
}

/* ---- regular --------------------------------------------------------------------- */

static void layout_drop_level(struct layout *l, unsigned i)
{
    l->levels--;
    memmove(&l->level[i], &l->level[i + 1], (l->levels - i) * sizeof l->level[0]);
}

/* Level i continues level i - 1: its stride is the length of the whole lower vector. */
static bool layout_continues(const struct layout *l, unsigned i)
{
    ptrdiff_t whole;

    return !__builtin_mul_overflow((ptrdiff_t)l->level[i - 1].count,
                                   l->level[i - 1].stride, &whole) &&
           whole == l->level[i].stride;
}

/* The product of block and counts fits ptrdiff_t: no product here overflows. */
static void layout_collapse(struct layout *l)
{
    for (unsigned i = l->levels; i-- > 0;)
        if (l->level[i].count == 1)
            layout_drop_level(l, i);
    for (unsigned i = l->levels; i-- > 1;)
        if (layout_continues(l, i)) {
            l->level[i - 1].count *= l->level[i].count;
            layout_drop_level(l, i);
        }
    while (l->levels > 0 && l->level[0].stride == (ptrdiff_t)l->block) {
        l->block *= l->level[0].count;
        layout_drop_level(l, 0);
    }
}

static bool layout_measure_regular(struct layout *l)
{
    ptrdiff_t reach, end;
    size_t bits = l->block;

    if (__builtin_add_overflow(l->base, (ptrdiff_t)l->block, &end))
        return false;
    l->low = l->base;
    l->high = end;
    for (unsigned i = 0; i < l->levels; i++) {
        if (__builtin_mul_overflow((ptrdiff_t)(l->level[i].count - 1), l->level[i].stride,
                                   &reach) ||
            (reach < 0 ? __builtin_add_overflow(l->low, reach, &l->low)
                       : __builtin_add_overflow(l->high, reach, &l->high)))
            return false;
        bits |= (size_t)l->level[i].stride;
    }
    l->unit = layout_unit(bits);
    return !__builtin_sub_overflow(l->high, l->low, &reach);
}

struct layout *layout_regular(ptrdiff_t base, size_t block,
                              const struct layout_level *level, unsigned levels)
{
    if (levels > LAYOUT_LEVELS)
        return layout_fail(NULL, EINVAL);
    struct layout *l = layout_alloc(1);
    if (l == NULL)
        return NULL;
    l->unit = LAYOUT_UNIT_MAX;
    ptrdiff_t bytes = (ptrdiff_t)block;
    bool empty = block == 0, overflow = block > PTRDIFF_MAX;
    for (unsigned i = 0; i < levels; i++)
        empty |= level[i].count == 0;
    if (empty)
        return l;
    for (unsigned i = 0; i < levels; i++)
        overflow |= level[i].count > PTRDIFF_MAX ||
                    __builtin_mul_overflow(bytes, (ptrdiff_t)level[i].count, &bytes);
    if (overflow)
        return layout_fail(l, EOVERFLOW);
    l->base = base;
    l->block = block;
    l->bytes = (size_t)bytes;
    l->levels = levels;
    if (levels > 0)
        memcpy(l->level, level, levels * sizeof *level);
    layout_collapse(l);
    if (!layout_measure_regular(l))
        return layout_fail(l, EOVERFLOW);
    l->overlap = layout_overlaps(l);
    return l;
}

struct layout *layout_contiguous(size_t bytes)
{
    return layout_regular(0, bytes, NULL, 0);
}

struct layout *layout_vector(size_t block, ptrdiff_t stride, size_t count)
{
    return layout_regular(0, block, &(struct layout_level){count, stride}, 1);
}

struct layout *layout_nested(size_t block, const struct layout_level *level,
                             unsigned levels)
{
    return layout_regular(0, block, level, levels);
}

/* ---- table ----------------------------------------------------------------------- */

/* Appends a block, or extends the last one if the new one follows it in memory.  `high`
 * is the end of the last block.  Offsets in the table are absolute until layout_finish.
 */
static bool layout_append(struct layout *l, struct layout_part part)
{
    ptrdiff_t end, size;

    if (part.bytes == 0)
        return true;
    if (part.bytes > PTRDIFF_MAX ||
        __builtin_add_overflow(part.at, (ptrdiff_t)part.bytes, &end) ||
        __builtin_add_overflow((ptrdiff_t)l->bytes, (ptrdiff_t)part.bytes, &size))
        return false;
    if (l->nblocks == 0 || l->high != part.at)
        l->table[l->nblocks++] = (struct layout_block){part.at, l->bytes};
    l->bytes = (size_t)size;
    l->high = end;
    l->table[l->nblocks].start = l->bytes;
    return true;
}

/* Range, unit and common block size of a table; offsets become relative to base. */
static bool layout_measure_table(struct layout *l)
{
    const size_t n = l->nblocks;
    size_t bits = 0;
    ptrdiff_t range;

    l->base = l->table[0].at;
    l->low = l->high = l->base;
    l->block = l->table[1].start;
    for (size_t i = 0; i < n; i++) {
        struct layout_block *b = &l->table[i];
        size_t bytes = b[1].start - b->start;
        ptrdiff_t end = b->at + (ptrdiff_t)bytes; /* layout_append has checked it */
        l->low = b->at < l->low ? b->at : l->low;
        l->high = end > l->high ? end : l->high;
        if (__builtin_sub_overflow(b->at, l->base, &b->at))
            return false;
        bits |= bytes | (size_t)b->at;
        if (bytes != l->block)
            l->block = 0;
    }
    l->unit = layout_unit(bits);
    return !__builtin_sub_overflow(l->high, l->low, &range);
}

/* True if the table is a vector, whose stride is then table[1].at. */
static bool layout_is_vector(const struct layout *l)
{
    if (l->block == 0)
        return false;
    for (size_t i = 2; i < l->nblocks; i++)
        if (l->table[i].at - l->table[i - 1].at != l->table[1].at)
            return false;
    return true;
}

/* Takes ownership of l. */
static struct layout *layout_finish(struct layout *l)
{
    struct layout_level level;
    struct layout *regular;

    if (l->nblocks == 0) {
        l->low = l->high = 0;
        l->unit = LAYOUT_UNIT_MAX;
        return l;
    }
    if (!layout_measure_table(l))
        return layout_fail(l, EOVERFLOW);
    if (!layout_is_vector(l)) {
        l->overlap = layout_overlaps(l);
        return l;
    }
    level = (struct layout_level){l->nblocks, l->nblocks > 1 ? l->table[1].at : 0};
    regular = layout_regular(l->base, l->block, &level, 1);
    layout_free(l);
    return regular;
}

static struct layout *layout_alloc_table(size_t n)
{
    return n > LAYOUT_BLOCKS_MAX ? layout_fail(NULL, EOVERFLOW) : layout_alloc(n + 1);
}

struct layout *layout_indexed(const struct layout_part *part, size_t n)
{
    struct layout *l = layout_alloc_table(n);

    for (size_t i = 0; l != NULL && i < n; i++)
        if (!layout_append(l, part[i]))
            return layout_fail(l, EOVERFLOW);
    return l == NULL ? NULL : layout_finish(l);
}

struct layout *layout_indexed_block(size_t block, const ptrdiff_t *at, size_t n)
{
    struct layout *l = layout_alloc_table(n);

    for (size_t i = 0; l != NULL && i < n; i++)
        if (!layout_append(l, (struct layout_part){at[i], block}))
            return layout_fail(l, EOVERFLOW);
    return l == NULL ? NULL : layout_finish(l);
}

/* ---- struct ---------------------------------------------------------------------- */

static size_t layout_count_blocks(const struct layout *l)
{
    return l->nblocks > 0 ? l->nblocks : l->block == 0 ? 0 : l->bytes / l->block;
}

static bool layout_append_member(struct layout *l, const struct layout *member,
                                 ptrdiff_t at)
{
    struct layout_cursor c;
    struct layout_part part;

    layout_cursor_seek(&c, member, 0);
    while (layout_cursor_next(&c, SIZE_MAX, &part))
        if (__builtin_add_overflow(part.at, at, &part.at) || !layout_append(l, part))
            return false;
    return true;
}

struct layout *layout_struct(const struct layout *const *member, const ptrdiff_t *at,
                             size_t n)
{
    size_t blocks = 0;

    for (size_t i = 0; i < n; i++)
        if (__builtin_add_overflow(blocks, layout_count_blocks(member[i]), &blocks))
            return layout_fail(NULL, EOVERFLOW);
    struct layout *l = layout_alloc_table(blocks);
    for (size_t i = 0; l != NULL && i < n; i++)
        if (!layout_append_member(l, member[i], at[i]))
            return layout_fail(l, EOVERFLOW);
    return l == NULL ? NULL : layout_finish(l);
}
