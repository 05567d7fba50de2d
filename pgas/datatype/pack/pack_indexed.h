/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pack_indexed.h - copies between a packed stream and blocks of equal size whose
 * displacements are in the table of a layout.  The rules of pack_table.h hold.
 * Uses: layout, pack_choice.  Used by: pack, pack_avx512.
 */
#ifndef PGAS_DATATYPE_PACK_INDEXED_H
#define PGAS_DATATYPE_PACK_INDEXED_H

#include "pgas/datatype/layout/layout.h"

/* n > 0 blocks; block i is at base + table[i].at. */
void pack_indexed_from(char *packed, const char *base, const struct layout_block *table,
                       size_t block, size_t n);
void pack_indexed_into(char *base, const char *packed, const struct layout_block *table,
                       size_t block, size_t n);

/* pack_avx512.c: with gathers, for blocks of 4 and of 8 bytes; n is a multiple of 8. */
typedef void (*pack_indexed_gather)(char *packed, const char *base,
                                    const struct layout_block *table, size_t n);
void pack_indexed_gather_4(char *packed, const char *base,
                           const struct layout_block *table, size_t n);
void pack_indexed_gather_8(char *packed, const char *base,
                           const struct layout_block *table, size_t n);

#endif
