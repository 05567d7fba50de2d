/* SPDX-License-Identifier: BSD-3-Clause */
/* pack.c - see pack.h. */
#include "config.h"

#include <errno.h>

#include "pgas/datatype/copy.h"
#include "pgas/datatype/layout_cursor.h"
#include "pgas/datatype/pack.h"
#include "pgas/datatype/pack_choice.h"

void pack_vector(struct vector_copy v)
{
    if (v.count <= 1 || (pack_to_is_dense(&v) && pack_from_is_dense(&v))) {
        copy_bytes(v.to, v.from, v.block * v.count);
        return;
    }
    size_t bits = v.block | (size_t)v.to_stride | (size_t)v.from_stride | LAYOUT_UNIT_MAX;
    v.unit = bits & -bits;
    pack_choice_run(&v);
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

int pack_from(const struct layout *l, const void *memory, size_t offset, void *packed,
              size_t n)
{
    struct layout_cursor c;
    struct layout_strip s;

    if (!pack_in_stream(l, offset, n))
        return pack_refuse();
    layout_cursor_seek(&c, l, offset);
    for (char *to = packed; layout_cursor_strip(&c, n, &s); n -= s.block * s.count) {
        pack_vector((struct vector_copy){to, (const char *)memory + s.at,
                                         (ptrdiff_t)s.block, s.stride, s.block, s.count,
                                         0});
        to += s.block * s.count;
    }
    return 0;
}

int pack_into(const struct layout *l, void *memory, size_t offset, const void *packed,
              size_t n)
{
    struct layout_cursor c;
    struct layout_strip s;

    if (!pack_in_stream(l, offset, n) || l->overlap)
        return pack_refuse();
    layout_cursor_seek(&c, l, offset);
    for (const char *from = packed; layout_cursor_strip(&c, n, &s);
         n -= s.block * s.count) {
        pack_vector((struct vector_copy){(char *)memory + s.at, from, s.stride,
                                         (ptrdiff_t)s.block, s.block, s.count, 0});
        from += s.block * s.count;
    }
    return 0;
}

/* Takes n blocks from the front of a strip. */
static void pack_strip_advance(struct layout_strip *s, size_t n)
{
    s->at += (ptrdiff_t)n * s->stride;
    s->count -= n;
}

/* Block sizes differ: blocks of one side are visited one by one, where both sides have
 * the same block size as vectors. */
static void pack_walk(struct layout_cursor *t, char *to, struct layout_cursor *f,
                      const char *from)
{
    struct layout_strip a = {0}, b = {0};

    for (;;) {
        if (a.count == 0 && !layout_cursor_strip(t, SIZE_MAX, &a))
            return;
        if (b.count == 0 && !layout_cursor_strip(f, SIZE_MAX, &b))
            return;
        if (a.block == b.block) {
            size_t n = a.count < b.count ? a.count : b.count;
            pack_vector((struct vector_copy){to + a.at, from + b.at, a.stride, b.stride,
                                             a.block, n, 0});
            pack_strip_advance(&a, n);
            pack_strip_advance(&b, n);
            continue;
        }
        size_t n = a.block < b.block ? a.block : b.block;
        copy_bytes(to + a.at, from + b.at, n);
        /* The rest of a block is visited alone. */
        layout_cursor_seek(t, t->l, t->pos - a.block * a.count + n);
        layout_cursor_seek(f, f->l, f->pos - b.block * b.count + n);
        a.count = b.count = 0;
    }
}

int pack_between(const struct layout *to_layout, void *to,
                 const struct layout *from_layout, const void *from)
{
    struct layout_cursor t, f;

    if (to_layout->bytes != from_layout->bytes || to_layout->overlap)
        return pack_refuse();
    layout_cursor_seek(&t, to_layout, 0);
    layout_cursor_seek(&f, from_layout, 0);
    pack_walk(&t, to, &f, from);
    return 0;
}
