/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slice.h - partition of n elements into one slice per PE.
 *
 * In a reduction or a scan only PE i of the team reads the elements of slice i in all
 * sources and writes them in all dests.  Therefore dest may be equal to source, the work
 * is divided evenly, and all PEs receive the same bits.
 * A leaf.  Used by: reduce, scan, schedule.
 */
#ifndef PGAS_COLL_SLICE_H
#define PGAS_COLL_SLICE_H

#include <stddef.h>

#include "pgas/core/boot/node.h"

struct slice {
    size_t first, end; /* elements first .. end - 1 */
};

/* Elements of `size` bytes in a cache line; at least 1. */
static inline size_t slice_line(size_t size)
{
    return size < NODE_LINE ? NODE_LINE / size : 1;
}

/* Elements of a full slice, if n elements are divided into slices that start at multiples
 * of `line`; the last slices may be shorter or empty. */
static inline size_t slice_most(size_t n, size_t line, int slices)
{
    size_t each = n / (size_t)slices + (n % (size_t)slices != 0);

    return (each + line - 1) / line * line;
}

/* Slice i of n elements; slices start at multiples of `line`. */
static inline struct slice slice_aligned(size_t n, size_t line, int i, int slices)
{
    size_t each = slice_most(n, line, slices);
    size_t first = each * (size_t)i < n ? each * (size_t)i : n;

    return (struct slice){first, n - first < each ? n : first + each};
}

/* Slice i of n elements of `size` bytes; slices start at multiples of a cache line. */
static inline struct slice slice_of(size_t n, size_t size, int i, int npes)
{
    return slice_aligned(n, slice_line(size), i, npes);
}

#endif
