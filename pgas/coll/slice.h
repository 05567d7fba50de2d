/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slice.h - the share of a PE in work on n elements.
 *
 * In a reduction or a scan PE i of the team alone reads the elements of its slice in all
 * sources, and alone writes them in all dests.  So dest may be source, the work is shared
 * out, and all PEs get the same bits.
 * A leaf.  Used by: reduce, scan.
 */
#ifndef PGAS_COLL_SLICE_H
#define PGAS_COLL_SLICE_H

#include <stddef.h>

#include "pgas/core/node.h"

struct slice {
    size_t first, end; /* elements first .. end - 1 */
};

/* Slice i of n elements of `size` bytes, cut where cache lines end. */
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
