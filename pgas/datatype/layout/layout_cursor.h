/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout_cursor.h - a position in the packed stream of a layout, from which its memory is
 * visited in stream order, as blocks or as vectors.  The cursor refers to the layout,
 * which must outlive it.  Seeking costs O(1), in a table O(log nblocks). Uses: layout.
 * Used by: layout, layout_overlap, layout_wire, pack.
 */
#ifndef PGAS_DATATYPE_LAYOUT_CURSOR_H
#define PGAS_DATATYPE_LAYOUT_CURSOR_H

#include "pgas/datatype/layout/layout.h"

struct layout_cursor {
    const struct layout *l;
    size_t pos;   /* next byte of the stream */
    size_t index; /* tables: the block that contains pos */
};

/* `count` blocks, `stride` bytes apart, the first one at byte `at` */
struct layout_strip {
    ptrdiff_t at, stride;
    size_t block, count;
};

/* pos <= l->bytes */
void layout_cursor_seek(struct layout_cursor *c, const struct layout *l, size_t pos);

/* The next part, up to the end of its block and of at most `max` bytes; false at the end
 * of the stream or if max is 0. */
bool layout_cursor_next(struct layout_cursor *c, size_t max, struct layout_part *part);

/* The longest vector from the position on that takes at most `max` bytes.  A block is
 * partial only if it is alone in its strip. */
bool layout_cursor_strip(struct layout_cursor *c, size_t max, struct layout_strip *strip);

#endif
