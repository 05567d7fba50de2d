/* SPDX-License-Identifier: BSD-3-Clause */
/* api_layout.c - API entry points of layouts and packing (shmemx.h).  Uses: layouts. */
#include "config.h"

#include "include/shmemx.h"
#include "pgas/rma/api.h"
#include "pgas/rma/layouts.h"

/* clang-format off */

/* Addresses may be NULL where nothing is accessed, and a layout's memory also where its
 * offsets are absolute addresses. */
#define LAYOUT     (shmemx_layout_t, layout, ANY)
#define NEW_LAYOUT (shmemx_layout_t *, layout, POINTER)

ROUTINE(int, shmemx_layout_contiguous, 0, ANYTIME, (size_t, bytes, ANY), NEW_LAYOUT)
{ return layouts_contiguous(bytes, layout, fn); }

ROUTINE(int, shmemx_layout_vector, 0, ANYTIME, (size_t, block, ANY),
        (ptrdiff_t, stride, ANY), (size_t, count, ANY), NEW_LAYOUT)
{ return layouts_vector(block, stride, count, layout, fn); }

ROUTINE(int, shmemx_layout_nested, 0, ANYTIME, (size_t, block, ANY), (int, levels, ANY),
        (const size_t *, count, OPTIONAL), (const ptrdiff_t *, stride, OPTIONAL),
        NEW_LAYOUT)
{ return layouts_nested(block, levels, count, stride, layout, fn); }

ROUTINE(int, shmemx_layout_indexed_block, 0, ANYTIME, (size_t, block, ANY),
        (const ptrdiff_t *, offset, OPTIONAL), (size_t, n, ANY), NEW_LAYOUT)
{ return layouts_indexed_block(block, offset, n, layout, fn); }

ROUTINE(int, shmemx_layout_indexed, 0, ANYTIME, (const size_t *, bytes, OPTIONAL),
        (const ptrdiff_t *, offset, OPTIONAL), (size_t, n, ANY), NEW_LAYOUT)
{ return layouts_indexed(bytes, offset, n, layout, fn); }

ROUTINE(int, shmemx_layout_struct, 0, ANYTIME,
        (const shmemx_layout_t *, member, OPTIONAL),
        (const ptrdiff_t *, offset, OPTIONAL), (size_t, n, ANY), NEW_LAYOUT)
{ return layouts_struct(member, offset, n, layout, fn); }

ROUTINE(void, shmemx_layout_free, 0, ANYTIME, NEW_LAYOUT)
{ (void)fn; layouts_free(layout); }

/* ---- queries, serialisation ------------------------------------------------------ */

ROUTINE(size_t, shmemx_layout_size, 0, ANYTIME, LAYOUT)
{ return layouts_of(layout, fn)->bytes; }

ROUTINE(void, shmemx_layout_bounds, 0, ANYTIME, LAYOUT, (ptrdiff_t *, low, POINTER),
        (ptrdiff_t *, high, POINTER))
{ *low = layouts_of(layout, fn)->low, *high = layouts_of(layout, fn)->high; }

ROUTINE(int, shmemx_layout_overlaps, 0, ANYTIME, LAYOUT)
{ return layouts_of(layout, fn)->overlap; }

ROUTINE(size_t, shmemx_layout_write, 0, ANYTIME, LAYOUT, (void *, buffer, OPTIONAL),
        (size_t, bytes, ANY))
{ return layouts_write(layout, buffer, bytes, fn); }

ROUTINE(int, shmemx_layout_read, 0, ANYTIME, (const void *, buffer, POINTER),
        (size_t, bytes, ANY), NEW_LAYOUT)
{ return layouts_read(buffer, bytes, layout, fn); }

/* ---- copies ---------------------------------------------------------------------- */

ROUTINE(int, shmemx_pack, 0, ANYTIME, LAYOUT, (const void *, memory, OPTIONAL),
        (size_t, offset, ANY), (void *, packed, OPTIONAL), (size_t, n, ANY))
{ return layouts_pack(layout, memory, offset, packed, n, fn); }

ROUTINE(int, shmemx_unpack, 0, ANYTIME, LAYOUT, (void *, memory, OPTIONAL),
        (size_t, offset, ANY), (const void *, packed, OPTIONAL), (size_t, n, ANY))
{ return layouts_unpack(layout, memory, offset, packed, n, fn); }

ROUTINE(int, shmemx_copy_layout, 0, ANYTIME, (void *, dest, OPTIONAL),
        (shmemx_layout_t, dest_layout, ANY), (const void *, source, OPTIONAL),
        (shmemx_layout_t, source_layout, ANY))
{ return layouts_copy(dest, dest_layout, source, source_layout, fn); }

/* ---- puts and gets --------------------------------------------------------------- */

#define ENDS                                                                             \
    (void *, dest, ANY), (shmemx_layout_t, dest_layout, ANY),                            \
    (const void *, source, ANY), (shmemx_layout_t, source_layout, ANY), (int, pe, PE)
#define TRANSFER(move)                                                                   \
    ROUTINE(int, shmemx_##move##_layout, 0, ALONE, ENDS)                                 \
    { return layouts_##move(SHMEM_CTX_DEFAULT, dest, dest_layout, source, source_layout, \
                            pe, fn); }                                                   \
    ROUTINE(int, shmemx_ctx_##move##_layout, 0, ALONE, (shmem_ctx_t, ctx, CTX), ENDS)    \
    { return layouts_##move(ctx, dest, dest_layout, source, source_layout,               \
                            ctx_world_pe(ctx, pe, fn), fn); }
TRANSFER(put)
TRANSFER(get)

/* clang-format on */
