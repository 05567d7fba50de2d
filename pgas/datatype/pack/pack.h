/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack.h - copies between the memory of a layout and its packed stream, and between two
 * layouts.
 *
 * Source and target must not overlap; nothing is checked about addresses.  Gaps of a
 * target are not written, gaps of a source may be read.  Safe from several threads.
 * Uses: layout, layout_cursor, pack_table, pack_choice, pack_indexed.  Used by: tests,
 * bench.
 */
#ifndef PGAS_DATATYPE_PACK_H
#define PGAS_DATATYPE_PACK_H

#include "pgas/datatype/layout/layout.h"
#include "pgas/datatype/pack/pack_table.h"

/* Copies bytes offset <= b < offset + n of the packed stream of the layout at `memory`.
 * Returns 0, or -1 with errno EINVAL if the stream is shorter or, for a target, if blocks
 * of the layout overlap. */
int pack_from(const struct layout *l, const void *memory, size_t offset, void *packed,
              size_t n);
int pack_into(const struct layout *l, void *memory, size_t offset, const void *packed,
              size_t n);

/* Copies the stream of one layout to that of another one of equal length, in one pass.
 * Returns 0, or -1 with errno EINVAL if the lengths differ or if blocks of to_layout
 * overlap. */
int pack_between(const struct layout *to_layout, void *to,
                 const struct layout *from_layout, const void *from);

/* Copies a vector.  Target blocks must not overlap. */
void pack_vector(const struct vector_copy *v);

#endif
