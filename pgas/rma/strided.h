/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * strided.h - strided and block-strided put and get (9.6.1.3, 9.6.1.4, 9.6.1.7, 9.6.1.8).
 * Uses: rma.  Used by: api_strided, coll/alltoalls.
 */
#ifndef PGAS_RMA_STRIDED_H
#define PGAS_RMA_STRIDED_H

#include <stddef.h>

#include "include/shmem.h"

/* nblocks blocks of bsize elements of `size` bytes.  dst and sst are the strides between
 * block starts in the destination and the source, in elements.  iput has bsize 1. */
struct strided {
    ptrdiff_t dst, sst;
    size_t bsize, nblocks, size;
};

/* Copy between local arrays. */
void strided_copy(char *to, const char *from, const struct strided *s);

void strided_put(shmem_ctx_t ctx, void *dest, const void *source, struct strided s,
                 int pe, const char *fn);
void strided_get(shmem_ctx_t ctx, void *dest, const void *source, struct strided s,
                 int pe, const char *fn);

#endif
