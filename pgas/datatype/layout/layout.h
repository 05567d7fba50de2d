/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout.h - description of non-contiguous data, in bytes relative to an address.
 *
 * A layout is a sequence of blocks.  Its packed stream is the concatenation of the blocks
 * in that order.  A regular layout is a block repeated by at most LAYOUT_LEVELS nested
 * vectors, level 0 innermost; any other layout is a table of blocks.  Creation
 * normalises: empty blocks are dropped, blocks that follow each other in memory and in
 * the stream are merged, levels that continue each other are collapsed, and a table of
 * equal blocks at equal distances becomes regular.
 *
 * A layout is immutable, so that threads may share it.  The creator owns it and calls
 * layout_free.  A leaf.  Used by: layout_cursor, layout_wire, pack.
 */
#ifndef PGAS_DATATYPE_LAYOUT_H
#define PGAS_DATATYPE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

enum {
    LAYOUT_LEVELS = 3,
    LAYOUT_UNIT_MAX = 16,
    LAYOUT_BLOCKS_MAX = 1 << 24, /* of a table; bounds memory and the overlap check */
};

struct layout_level {
    size_t count;
    ptrdiff_t stride; /* bytes between the starts of two repetitions */
};

/* A block of a table, at byte `at` from base and `start` of the packed stream. */
struct layout_block {
    ptrdiff_t at;
    size_t start;
};

/* A contiguous part of memory, as an argument. */
struct layout_part {
    ptrdiff_t at;
    size_t bytes;
};

struct layout {
    size_t bytes;        /* of the packed stream */
    ptrdiff_t low, high; /* bytes low <= b < high enclose all blocks */
    ptrdiff_t base;      /* start of the first block */
    size_t block;        /* bytes of a block if all are equal, else 0 */
    size_t unit;         /* the largest of 1, 2, 4, 8, 16 that divides all block sizes
                          * and all distances between blocks */
    bool overlap;        /* two blocks share a byte, or might: not a valid target */
    unsigned levels;     /* of a regular layout */
    struct layout_level level[LAYOUT_LEVELS];
    size_t nblocks; /* in table; 0: regular */
    /* nblocks entries, and a last one whose start is `bytes` */
    struct layout_block table[];
};

/* Each returns a new layout, or NULL with errno: EINVAL (argument), EOVERFLOW (a size or
 * an offset exceeds ptrdiff_t, or a table LAYOUT_BLOCKS_MAX), ENOMEM. */
struct layout *layout_contiguous(size_t bytes);
struct layout *layout_vector(size_t block, ptrdiff_t stride, size_t count);
struct layout *layout_nested(size_t block, const struct layout_level *level,
                             unsigned levels);
struct layout *layout_indexed_block(size_t block, const ptrdiff_t *at, size_t n);
struct layout *layout_indexed(const struct layout_part *part, size_t n);
struct layout *layout_struct(const struct layout *const *member, const ptrdiff_t *at,
                             size_t n);
/* A regular layout whose first block starts at `base` */
struct layout *layout_regular(ptrdiff_t base, size_t block,
                              const struct layout_level *level, unsigned levels);
void layout_free(struct layout *l);

/* layout_overlap.c: true if two blocks share a byte.  Also true if interleaved
 * vectors have too many blocks to decide, or memory is short, so that false is a proof.
 */
bool layout_overlaps(const struct layout *l);

#endif
