/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks.h - put and get of non-contiguous data, described by layouts.
 *
 * A mapped PE's memory is accessed in one pass without a buffer.  For a remote PE each
 * long block is a put or get of its own.  If blocks are short, the transfer is cut into
 * fragments (net_put_blocks): the data travel packed, with a description of the symmetric
 * memory, and the target's progress copies them.  A put is
 * outstanding until quiet and ordered by fence, as any put; its source is reusable on
 * return.  A get is complete on return.
 * Uses: core/peer, core/net, rma, order, datatype/pack.  Used by: strided.
 */
#ifndef PGAS_RMA_BLOCKS_H
#define PGAS_RMA_BLOCKS_H

#include "include/shmem.h"
#include "pgas/datatype/layout/layout.h"

/* Both layouts have the same number of bytes; blocks of the target do not overlap. */
void rma_put_layout(shmem_ctx_t ctx, void *dest, const struct layout *dest_layout,
                    const void *source, const struct layout *source_layout, int pe,
                    const char *fn);
void rma_get_layout(shmem_ctx_t ctx, void *dest, const struct layout *dest_layout,
                    const void *source, const struct layout *source_layout, int pe,
                    const char *fn);

#endif
