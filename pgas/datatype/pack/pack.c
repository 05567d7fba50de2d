/* SPDX-License-Identifier: BSD-3-Clause */
/* pack.c - see pack.h. */
#include "config.h"

#include <errno.h>

#include "pgas/datatype/copy.h"
#include "pgas/datatype/layout/layout_cursor.h"
#include "pgas/datatype/pack/pack.h"
#include "pgas/datatype/pack/pack_choice.h"
#include "pgas/datatype/pack/pack_indexed.h"
#include "pgas/threads/atomic.h"

void pack_vector(const struct vector_copy *v)
{
    if (unlikely(v->count <= 1 || (pack_to_is_dense(v) && pack_from_is_dense(v))))
        copy_bytes(v->to, v->from, v->block * v->count);
    else
        pack_choice_run(v);
}

static int pack_refuse(void)
{
    errno = EINVAL;
    return -1;
}

static bool pack_in_stream(const struct layout *l, size_t offset, size_t n)
{
    return offset <= l->bytes && n <= l->bytes - offset;
}

/* The whole layout, if it is one vector: most copies need no cursor. */
static bool pack_is_vector(const struct layout *l, size_t offset, size_t n)
{
    return offset == 0 && n == l->bytes && l->levels == 1;
}

/* In a table of equal blocks: the number of whole blocks within the next n bytes */
static size_t pack_table_blocks(const struct layout_cursor *c, size_t n)
{
    const struct layout *l = c->l;

    return l->nblocks == 0 || l->block == 0 || c->pos % l->block != 0 ? 0 : n / l->block;
}

int pack_from(const struct layout *l, const void *memory, size_t offset, void *packed,
              size_t n)
{
    struct layout_cursor c;
    struct layout_strip s;
    char *to = packed;

    if (!pack_in_stream(l, offset, n))
        return pack_refuse();
    if (pack_is_vector(l, offset, n)) {
        pack_vector(&(struct vector_copy){to, (const char *)memory + l->base,
                                          (ptrdiff_t)l->block, l->level[0].stride,
                                          l->block, l->level[0].count});
        return 0;
    }
    layout_cursor_seek(&c, l, offset);
    while (n > 0) {
        size_t blocks = pack_table_blocks(&c, n), bytes = blocks * l->block;
        if (blocks > 0) {
            pack_indexed_from(to, (const char *)memory + l->base, &l->table[c.index],
                              l->block, blocks);
            layout_cursor_seek(&c, l, c.pos + bytes);
        } else {
            layout_cursor_strip(&c, n, &s);
            bytes = s.block * s.count;
            pack_vector(&(struct vector_copy){to, (const char *)memory + s.at,
                                              (ptrdiff_t)s.block, s.stride, s.block,
                                              s.count});
        }
        to += bytes;
        n -= bytes;
    }
    return 0;
}

int pack_into(const struct layout *l, void *memory, size_t offset, const void *packed,
              size_t n)
{
    struct layout_cursor c;
    struct layout_strip s;
    const char *from = packed;

    if (!pack_in_stream(l, offset, n) || l->overlap)
        return pack_refuse();
    if (pack_is_vector(l, offset, n)) {
        pack_vector(&(struct vector_copy){(char *)memory + l->base, from,
                                          l->level[0].stride, (ptrdiff_t)l->block,
                                          l->block, l->level[0].count});
        return 0;
    }
    layout_cursor_seek(&c, l, offset);
    while (n > 0) {
        size_t blocks = pack_table_blocks(&c, n), bytes = blocks * l->block;
        if (blocks > 0) {
            pack_indexed_into((char *)memory + l->base, from, &l->table[c.index],
                              l->block, blocks);
            layout_cursor_seek(&c, l, c.pos + bytes);
        } else {
            layout_cursor_strip(&c, n, &s);
            bytes = s.block * s.count;
            pack_vector(&(struct vector_copy){(char *)memory + s.at, from, s.stride,
                                              (ptrdiff_t)s.block, s.block, s.count});
        }
        from += bytes;
        n -= bytes;
    }
    return 0;
}

/* ---- between layouts --------------------------------------------------------------- */

/* One side: what is left of the current vector, without the first `in` bytes of its first
 * block */
struct pack_side {
    struct layout_cursor c;
    struct layout_strip s;
    size_t in;
};

/* False at the end of the stream */
static bool pack_side_fill(struct pack_side *p)
{
    return p->s.count > 0 || layout_cursor_strip(&p->c, SIZE_MAX, &p->s);
}

static ptrdiff_t pack_side_at(const struct pack_side *p)
{
    return p->s.at + (ptrdiff_t)p->in;
}

/* The bytes up to the end of the first block */
static size_t pack_side_left(const struct pack_side *p)
{
    return p->s.block - p->in;
}

/* Takes n bytes within the first block, or n whole blocks */
static void pack_side_advance(struct pack_side *p, size_t n, bool blocks)
{
    p->in += blocks ? 0 : n;
    n = blocks ? n : p->in == p->s.block;
    if (n > 0) {
        p->in = 0;
        p->s.at += (ptrdiff_t)n * p->s.stride;
        p->s.count -= n;
    }
}

static size_t pack_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Copies the longest part that is a vector: equal blocks on both sides, or several whole
 * blocks of one side in a block of the other. */
static void pack_step(struct pack_side *t, char *to, struct pack_side *f,
                      const char *from)
{
    size_t x = pack_side_left(t), y = pack_side_left(f), block = x < y ? x : y, n = 1;
    bool t_whole = t->in == 0 && x <= y, f_whole = f->in == 0 && y <= x;
    struct vector_copy v = {to + pack_side_at(t), from + pack_side_at(f), 0, 0, block, 1};

    if (t_whole && f_whole)
        n = pack_least(t->s.count, f->s.count);
    else if (t_whole)
        n = pack_least(t->s.count, y / x);
    else if (f_whole)
        n = pack_least(f->s.count, x / y);
    v.count = n;
    v.to_stride = t_whole ? t->s.stride : (ptrdiff_t)block;
    v.from_stride = f_whole ? f->s.stride : (ptrdiff_t)block;
    if (n > 1)
        pack_vector(&v);
    else
        copy_bytes(v.to, v.from, block);
    pack_side_advance(t, t_whole ? n : n * block, t_whole);
    pack_side_advance(f, f_whole ? n : n * block, f_whole);
}

int pack_between(const struct layout *to_layout, void *to,
                 const struct layout *from_layout, const void *from)
{
    struct pack_side t = {.in = 0}, f = {.in = 0};

    if (to_layout->bytes != from_layout->bytes || to_layout->overlap)
        return pack_refuse();
    if (to_layout->levels == 1 && from_layout->levels == 1 &&
        to_layout->block == from_layout->block) { /* no cursors needed */
        pack_vector(&(struct vector_copy){
            (char *)to + to_layout->base, (const char *)from + from_layout->base,
            to_layout->level[0].stride, from_layout->level[0].stride, to_layout->block,
            to_layout->level[0].count});
        return 0;
    }
    layout_cursor_seek(&t.c, to_layout, 0);
    layout_cursor_seek(&f.c, from_layout, 0);
    while (pack_side_fill(&t) && pack_side_fill(&f))
        pack_step(&t, to, &f, from);
    return 0;
}
