/* SPDX-License-Identifier: BSD-3-Clause */
/* layout_cursor.c - see layout_cursor.h. */
#include "config.h"

#include "pgas/datatype/layout/layout_cursor.h"

static size_t layout_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The block of a table that contains byte pos of the stream */
static size_t layout_table_find(const struct layout *l, size_t pos)
{
    size_t low = 0, high = l->nblocks;

    while (high - low > 1) { /* table[low].start <= pos < table[high].start */
        size_t mid = low + (high - low) / 2;
        if (l->table[mid].start <= pos)
            low = mid;
        else
            high = mid;
    }
    return low;
}

void layout_cursor_seek(struct layout_cursor *c, const struct layout *l, size_t pos)
{
    *c = (struct layout_cursor){.l = l, .pos = pos};
    if (l->nblocks > 0 && pos < l->bytes)
        c->index = layout_table_find(l, pos);
}

static struct layout_strip layout_table_strip(struct layout_cursor *c, size_t max)
{
    const struct layout_block *b = &c->l->table[c->index];
    size_t in = c->pos - b->start, n = layout_least(b[1].start - c->pos, max);

    c->pos += n;
    c->index += c->pos == b[1].start;
    return (struct layout_strip){c->l->base + b->at + (ptrdiff_t)in, 0, n, 1};
}

static struct layout_strip layout_regular_strip(struct layout_cursor *c, size_t max)
{
    const struct layout *l = c->l;
    size_t index = c->pos / l->block, in = c->pos % l->block, row = 1;
    struct layout_strip s = {.at = l->base + (ptrdiff_t)in};

    for (unsigned i = 0; i < l->levels; i++) {
        size_t k = index % l->level[i].count;
        s.at += (ptrdiff_t)k * l->level[i].stride;
        index /= l->level[i].count;
        if (i == 0) {
            row = l->level[0].count - k;
            s.stride = l->level[0].stride;
        }
    }
    if (in > 0 || max < l->block) {
        s.block = layout_least(l->block - in, max);
        s.count = 1;
    } else {
        s.block = l->block;
        s.count = layout_least(row, max / l->block);
    }
    c->pos += s.block * s.count;
    return s;
}

bool layout_cursor_strip(struct layout_cursor *c, size_t max, struct layout_strip *strip)
{
    if (max == 0 || c->pos >= c->l->bytes)
        return false;
    *strip =
        c->l->nblocks > 0 ? layout_table_strip(c, max) : layout_regular_strip(c, max);
    return true;
}

bool layout_cursor_next(struct layout_cursor *c, size_t max, struct layout_part *part)
{
    struct layout_strip s;
    size_t in = c->l->block != 0 ? c->pos % c->l->block : 0;

    if (c->l->nblocks == 0 && c->l->block != 0)
        max = layout_least(max, c->l->block - in);
    if (!layout_cursor_strip(c, max, &s))
        return false;
    *part = (struct layout_part){s.at, s.block};
    return true;
}
