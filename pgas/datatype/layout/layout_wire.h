/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout_wire.h - a layout as a sequence of bytes for another process.
 *
 * Words of 64 bits, little endian:
 *   regular: 1 | levels << 8, base, block, then count and stride of each level
 *   table:   2, number of blocks, then offset and bytes of each block
 *
 * Reading trusts nothing: the length must be exact, and the layout is created anew from
 * the words, with all checks.  The receiver must still compare low and high with the
 * memory that the sender may access.  Uses: layout.
 */
#ifndef PGAS_DATATYPE_LAYOUT_WIRE_H
#define PGAS_DATATYPE_LAYOUT_WIRE_H

#include "pgas/datatype/layout/layout.h"

/* Bytes that layout_wire_write needs */
size_t layout_wire_size(const struct layout *l);
void layout_wire_write(const struct layout *l, void *wire);

/* A new layout, or NULL with errno: EINVAL (malformed), EOVERFLOW, ENOMEM. */
struct layout *layout_wire_read(const void *wire, size_t bytes);

#endif
