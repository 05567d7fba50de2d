/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layouts.h - layouts as handles of the program: constructors, serialisation and packing
 * with checked arguments (shmemx.h, "layouts").
 *
 * Each function returns 0, or -1 after a message that names the routine `fn`, the
 * argument and its value; a failed constructor stores SHMEMX_LAYOUT_INVALID.  Only puts
 * and gets need shmem_init.  Handles are immutable, so that threads may share them;
 * whoever creates one frees it when no thread uses it. Uses: datatype/layout,
 * layout_wire, pack, pack_choice; core/log, peer; blocks.  Used by: api_layout.
 */
#ifndef PGAS_RMA_LAYOUTS_H
#define PGAS_RMA_LAYOUTS_H

#include "include/shmemx.h"
#include "pgas/datatype/layout/layout.h"

int layouts_contiguous(size_t bytes, shmemx_layout_t *handle, const char *fn);
int layouts_vector(size_t block, ptrdiff_t stride, size_t count, shmemx_layout_t *handle,
                   const char *fn);
int layouts_nested(size_t block, int levels, const size_t *count, const ptrdiff_t *stride,
                   shmemx_layout_t *handle, const char *fn);
int layouts_indexed_block(size_t block, const ptrdiff_t *offset, size_t n,
                          shmemx_layout_t *handle, const char *fn);
int layouts_indexed(const size_t *bytes, const ptrdiff_t *offset, size_t n,
                    shmemx_layout_t *handle, const char *fn);
int layouts_struct(const shmemx_layout_t *member, const ptrdiff_t *offset, size_t n,
                   shmemx_layout_t *handle, const char *fn);
void layouts_free(shmemx_layout_t *handle);

/* The layout of a handle.  SHMEMX_LAYOUT_INVALID ends the job with a message: it is an
 * error of the program for which the queries have no return value. */
const struct layout *layouts_of(shmemx_layout_t handle, const char *fn);

size_t layouts_write(shmemx_layout_t handle, void *buffer, size_t bytes, const char *fn);
int layouts_read(const void *buffer, size_t bytes, shmemx_layout_t *handle,
                 const char *fn);

int layouts_pack(shmemx_layout_t handle, const void *memory, size_t offset, void *packed,
                 size_t n, const char *fn);
int layouts_unpack(shmemx_layout_t handle, void *memory, size_t offset,
                   const void *packed, size_t n, const char *fn);
int layouts_copy(void *dest, shmemx_layout_t to, const void *source, shmemx_layout_t from,
                 const char *fn);

/* The only functions that need the library to be initialised; pe is a world PE. */
int layouts_put(shmem_ctx_t ctx, void *dest, shmemx_layout_t to, const void *source,
                shmemx_layout_t from, int pe, const char *fn);
int layouts_get(shmem_ctx_t ctx, void *dest, shmemx_layout_t to, const void *source,
                shmemx_layout_t from, int pe, const char *fn);

#endif
