/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slice.h - partition of n elements into one slice per PE.
 *
 * In a reduction or a scan only PE i of the team reads the elements of slice i in all
 * sources and writes them in all dests.  Therefore dest may be equal to source, the work
 * is divided evenly, and all PEs receive the same bits.
 * A leaf.  Used by: reduce, scan.
 */
#ifndef PGAS_COLL_SLICE_H
#define PGAS_COLL_SLICE_H

#include <stddef.h>

#include "pgas/core/boot/node.h"

struct slice {
    size_t first, end; /* elements first .. end - 1 */
};

/* Slice i of n elements of `size` bytes; slices start at multiples of a cache line. */
static inline struct slice slice_of(size_t n, size_t size, int i, int npes)
{
    size_t line = size < NODE_LINE ? NODE_LINE / size : 1;
    size_t each = n / (size_t)npes + (n % (size_t)npes != 0);

    each = (each + line - 1) / line * line;
    size_t first = each * (size_t)i < n ? each * (size_t)i : n;
    size_t end = n - first < each ? n : first + each;
    return (struct slice){first, end};
}

#endif
